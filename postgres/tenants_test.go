package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sessiondb-go/sessiondb"
)

// tenantsSQL are the statements that docs/postgres.md gives for tenants: those for
// the database, those for each tenant, and those for who may read of one.
func tenantsSQL(t *testing.T) (once, each, report string) {
	t.Helper()
	b, err := os.ReadFile("../docs/postgres.md")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile("(?s)\n```sql\n(REVOKE .*?)\n\n(CREATE ROLE .*?)```\n.*?\n```sql\n(CREATE ROLE report .*?)```\n").FindSubmatch(b)
	if m == nil {
		t.Fatal("docs/postgres.md says nothing of tenants")
	}
	return string(m[1]), string(m[2]), string(m[3])
}

// tenants are those of a database that was made as the documentation says.
type tenants struct {
	admin              *pgx.Conn // the superuser
	url                url.URL
	database           string
	alice, bob, report string // roles; the first two have a schema of that name
}

func newTenants(t *testing.T) *tenants {
	t.Helper()
	needServer(t)
	u, err := url.Parse(server)
	if err != nil || u.Scheme == "" {
		t.Skip("the connection string is no URL")
	}
	mark := fmt.Sprintf("_%d_%d", os.Getpid(), schemas.Add(1))
	h := &tenants{url: *u, database: "agents" + mark, alice: "alice" + mark, bob: "bob" + mark, report: "report" + mark}
	if _, err := raw(t, server).Exec(t.Context(), `CREATE DATABASE `+h.database); sqlState(err) == insufficientRights {
		t.Skip("this user may make no database")
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { execute(t, `DROP ROLE IF EXISTS `+h.alice+`, `+h.bob+`, `+h.report) })
	t.Cleanup(func() { dropDatabase(t, h.database) })
	h.url.Path = "/" + h.database
	h.admin = raw(t, h.url.String())
	return h
}

// run runs statements of the documentation, for one of the tenants.
func (h *tenants) run(t *testing.T, sql, tenant string) {
	t.Helper()
	for name, its := range map[string]string{"agents": h.database, "alice": tenant, "report": h.report} {
		sql = regexp.MustCompile(`\b`+name+`\b`).ReplaceAllString(sql, its)
	}
	if _, err := h.admin.Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
}

// as is the connection string of a role, with parameters.
func (h *tenants) as(role string, params ...string) string {
	u, q := h.url, h.url.Query()
	q.Set("user", role)
	q.Set("password", "secret")
	for i := 0; i < len(params); i += 2 {
		q.Set(params[i], params[i+1])
	}
	u.User, u.RawQuery = url.UserPassword(role, "secret"), q.Encode()
	return u.String()
}

// dropDatabase ends what is still connected, too.
func dropDatabase(t *testing.T, name string) {
	t.Helper()
	c, err := pgx.Connect(context.Background(), server)
	if err != nil {
		t.Error(err)
		return
	}
	defer func() { _ = c.Close(context.Background()) }()
	if _, err := c.Exec(context.Background(), `DROP DATABASE IF EXISTS `+name+` WITH (FORCE)`); err != nil {
		t.Error(err)
	}
}

func TestTenants(t *testing.T) {
	once, each, report := tenantsSQL(t)
	h := newTenants(t)
	h.run(t, once, "")
	alice, bob := h.alice, h.bob
	for _, name := range []string{alice, bob} {
		h.run(t, each+`ALTER ROLE alice PASSWORD 'secret'`, name)
		tenantWorks(t, openAt(t, h.as(name, "search_path", name)), name)
	}
	t.Run("the server refuses", func(t *testing.T) { tenantReaches(t, raw(t, h.as(bob)), alice) })
	for what, c := range map[string]struct{ address, named string }{
		"search_path":                 {h.as(bob, "search_path", alice), alice},
		"options":                     {h.as(bob, "options", "-csearch_path="+alice), alice},
		"role":                        {h.as(bob, "search_path", alice, "role", alice), alice},
		"a schema that is to be made": {h.as(bob, "search_path", "other"), "other"},
	} {
		t.Run("by "+what, func(t *testing.T) {
			_, err := Open(t.Context(), c.address, Options{})
			if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), c.named) || strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "secret") {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("an empty schema of another", func(t *testing.T) { tenantEmpty(t, h) })
	t.Run("locks", func(t *testing.T) { tenantLocks(t, h.as(alice, "search_path", alice), h.as(bob, "search_path", bob)) })
	t.Run("who may read of one", func(t *testing.T) {
		h.run(t, report+`ALTER ROLE report PASSWORD 'secret'`, alice)
		id := say(t, openAt(t, h.as(alice, "search_path", alice)), "s", "for all to read")
		tenantReport(t, openAt(t, h.as(h.report, "search_path", alice)), id, raw(t, h.as(h.report)), bob)
	})
}

// tenantEmpty names a schema that is there, but is another's and has no tables.
func tenantEmpty(t *testing.T, h *tenants) {
	t.Helper()
	schema := "empty_of_" + h.alice
	if _, err := h.admin.Exec(t.Context(), `CREATE SCHEMA `+schema+` AUTHORIZATION `+h.alice); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), h.as(h.bob, "search_path", schema), Options{}); !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), schema) {
		t.Errorf("got %v", err)
	}
	var made int
	if err := h.admin.QueryRow(t.Context(), `SELECT COUNT(*) FROM pg_class WHERE relnamespace = $1::regnamespace`, schema).Scan(&made); err != nil || made > 0 {
		t.Errorf("%d things were made there: %v", made, err)
	}
	session(t, openAt(t, h.as(h.alice, "search_path", schema)), "the owner may")
}

// tenantReport reads the store of a tenant, changes nothing, and sees nothing of another.
func tenantReport(t *testing.T, db *sessiondb.DB, last int64, c *pgx.Conn, other string) {
	t.Helper()
	if n := hits(t, db, sessiondb.SearchQuery{Text: "secret"}); n != 1 {
		t.Errorf("%d messages are found", n)
	}
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	for m, err := range db.Watch(ctx, sessiondb.WatchFilter{After: last - 1, Every: time.Millisecond}) {
		if err != nil || m.ID != last {
			t.Errorf("saw %d, not %d: %v", m.ID, last, err)
		}
		break
	}
	if err := db.SetTitle(t.Context(), "s", "no"); !errors.Is(err, sessiondb.ErrReadOnly) {
		t.Errorf("set title: %v", err)
	}
	if _, err := c.Exec(t.Context(), `TABLE `+other+`.sessions`); sqlState(err) != insufficientRights {
		t.Errorf("of another: %v", err)
	}
}

// tenantWorks does what a tenant does, and finds only its own.
func tenantWorks(t *testing.T, db *sessiondb.DB, name string) {
	t.Helper()
	session(t, db, "s")
	say(t, db, "s", "a secret of "+name)
	if n := hits(t, db, sessiondb.SearchQuery{Text: "secret"}); n != 1 {
		t.Errorf("%s finds %d messages", name, n)
	}
	if all, err := db.Sessions(t.Context(), sessiondb.ListFilter{}); err != nil || len(all) != 1 {
		t.Errorf("%s lists %d sessions: %v", name, len(all), err)
	}
	if n, err := db.ExportAll(t.Context(), io.Discard, sessiondb.ExportFilter{}); err != nil || n != 1 {
		t.Errorf("%s exports %d sessions: %v", name, n, err)
	}
	if _, err := db.Space(t.Context()); err != nil {
		t.Errorf("%s: space: %v", name, err)
	}
	if _, err := db.UsageByModel(t.Context(), sessiondb.UsageFilter{}); err != nil {
		t.Errorf("%s: usage: %v", name, err)
	}
	if found, err := db.Check(t.Context(), sessiondb.CheckOptions{Full: true}); err != nil || len(found) > 0 {
		t.Errorf("%s: check: %v %v", name, found, err)
	}
	if _, err := db.Compact(t.Context(), sessiondb.CompactOptions{}); err != nil {
		t.Errorf("%s: compact: %v", name, err)
	}
	if err := db.Backup(t.Context(), t.TempDir()+"/dump"); err != nil {
		t.Errorf("%s: backup: %v", name, err)
	}
}

// tenantReaches tries to get at the store of another tenant with SQL.
func tenantReaches(t *testing.T, c *pgx.Conn, other string) {
	t.Helper()
	for _, sql := range []string{
		`SELECT content FROM %s.messages`,
		`SELECT words FROM %s.sessiondb_terms`,
		`TABLE %s.sessions`,
		`INSERT INTO %s.state_meta VALUES ('k', 'v')`,
		`DELETE FROM %s.messages`,
		`SELECT last_value FROM %s.messages_id_seq`,
		`SELECT setval('%s.messages_id_seq', 1)`,
		`CREATE TABLE %s.mine (a int)`,
		`CREATE FUNCTION %s.mine() RETURNS int LANGUAGE sql AS 'SELECT 1'`,
		`GRANT USAGE ON SCHEMA %s TO CURRENT_USER`,
		`SET ROLE %s`,
		`SET SESSION AUTHORIZATION %s`,
		`ALTER SCHEMA %s OWNER TO CURRENT_USER`,
		`DROP SCHEMA %s CASCADE`,
		`CREATE SCHEMA of_%s`,
		`CREATE TABLE public.of_%s (a int)`,
	} {
		sql = fmt.Sprintf(sql, other)
		if _, err := c.Exec(t.Context(), sql); sqlState(err) != insufficientRights {
			t.Errorf("%s: %v", sql, err)
		}
	}
	_, err := c.Exec(t.Context(), `SET search_path = `+other+`; SELECT content FROM messages`)
	if sqlState(err) != undefinedTable {
		t.Errorf("with the search path of another: %v", err)
	}
}

// tenantLocks holds a write of one tenant open: another one writes and watches.
func tenantLocks(t *testing.T, one, two string) {
	t.Helper()
	everything := begun(t, storeAt(t, one), "s")
	defer everything()
	db := openAt(t, two)
	say(t, db, "s", "not held up")
	if _, err := db.DeleteSession(t.Context(), "s", sessiondb.DeleteOptions{}); err != nil {
		t.Errorf("a write about everything: %v", err)
	}
	session(t, db, "s")
	id := say(t, db, "s", "seen at once")
	ctx, stop := context.WithTimeout(t.Context(), time.Minute) // a watch that is held up fails, and does not hang
	defer stop()
	for m, err := range db.Watch(ctx, sessiondb.WatchFilter{After: id - 1, Every: time.Millisecond}) {
		if err != nil || m.ID != id {
			t.Errorf("saw %d, not %d: %v", m.ID, id, err)
		}
		break
	}
}
