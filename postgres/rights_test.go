package postgres

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/sessiondb-go/sessiondb"
)

// reader is a connection string of a user who owns nothing, with some rights in a
// schema. The user is dropped after the test.
func reader(t *testing.T, dsn, schema string, grants ...string) string {
	t.Helper()
	role := fmt.Sprintf("sessiondb_test_%d_%d", os.Getpid(), schemas.Add(1))
	c := raw(t, dsn)
	if _, err := c.Exec(t.Context(), `CREATE ROLE `+role+` LOGIN; GRANT `+role+` TO CURRENT_USER`); sqlState(err) == insufficientRights {
		t.Skip("this user may not make others")
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { execute(t, `DROP OWNED BY `+role+`; DROP ROLE `+role) })
	for _, grant := range grants {
		if _, err := c.Exec(t.Context(), fmt.Sprintf(grant, schema, role)); err != nil {
			t.Fatal(err)
		}
	}
	return dsn + "&role=" + role
}

func TestRights(t *testing.T) {
	if !strings.Contains(server, "?") {
		needServer(t)
		t.Skip("the connection string takes no parameter")
	}
	dsn, schema := newSchema(t)
	session(t, openAt(t, dsn), "s")
	t.Run("a user who may read", func(t *testing.T) {
		db := openAt(t, reader(t, dsn, schema, `GRANT USAGE ON SCHEMA %s TO %s`, `GRANT SELECT ON ALL TABLES IN SCHEMA %s TO %s`))
		if _, err := db.Session(t.Context(), "s"); err != nil {
			t.Error(err)
		}
		if err := db.SetTitle(t.Context(), "s", "no"); !errors.Is(err, sessiondb.ErrReadOnly) {
			t.Errorf("set title: %v", err)
		}
		if _, err := db.Compact(t.Context(), sessiondb.CompactOptions{}); !errors.Is(err, sessiondb.ErrReadOnly) {
			t.Errorf("compact: %v", err)
		}
	})
	t.Run("a user who may read some of it", func(t *testing.T) {
		grants := []string{`GRANT USAGE ON SCHEMA %s TO %s`, `GRANT SELECT ON ALL TABLES IN SCHEMA %s TO %s`, `REVOKE SELECT ON %s.messages, sessiondb_unindexed FROM %s`}
		db := openAt(t, reader(t, dsn, schema, grants...))
		_, err := db.Messages(t.Context(), "s")
		_, searched := db.Search(t.Context(), sessiondb.SearchQuery{Text: "word"})
		for table, err := range map[string]error{"messages": err, "sessiondb_unindexed": searched} {
			if !errors.Is(err, fs.ErrPermission) || errors.Is(err, sessiondb.ErrReadOnly) || !strings.Contains(err.Error(), table) {
				t.Errorf("%s: %v", table, err)
			}
		}
	})
	t.Run("a user who may nothing", func(t *testing.T) {
		_, err := Open(t.Context(), reader(t, dsn, schema), Options{ReadOnly: true})
		if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), schema) {
			t.Errorf("got %v", err)
		}
	})
}

// A watch goes on when the server answers again, and misses nothing.
func TestWatchReconnects(t *testing.T) {
	dsn, _ := newSchema(t)
	db, other := openAt(t, dsn), openAt(t, dsn)
	session(t, db, "s")
	say(t, db, "s", "one")
	said := []string{"one", "two", "three"}
	var losses int
	f := sessiondb.WatchFilter{Every: time.Millisecond, Lost: func(err error) bool {
		if losses++; !errors.Is(err, sessiondb.ErrConnection) || !errors.Is(err, sessiondb.ErrIO) {
			t.Errorf("lost: %v", err)
		}
		return true
	}}
	for m, err := range db.Watch(t.Context(), f) {
		if err != nil {
			t.Fatal(err)
		}
		if m.Content.PlainText() != said[0] {
			t.Errorf("%q, not %q", m.Content.PlainText(), said[0])
		}
		if said = said[1:]; len(said) == 0 {
			break
		}
		if _, err := raw(t, dsn).Exec(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND application_name = 'sessiondb'`); err != nil {
			t.Fatal(err)
		}
		for done := false; !done; { // its own connections are lost as well
			_, err := other.AppendMessage(t.Context(), "s", sessiondb.Message{Role: "user", Content: sessiondb.Text(said[0])})
			if done = err == nil; !done && !errors.Is(err, sessiondb.ErrConnection) {
				t.Fatal(err)
			}
		}
	}
	if losses == 0 {
		t.Error("no connection was lost")
	}
}
