package postgres

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// check is one look at what is PostgreSQL's.
type check struct {
	what string
	full bool // only when all is to be looked at
	run  func(*tx, context.Context) ([]engine.Finding, error)
}

var checks = []check{
	{"version", false, (*tx).checkVersion},
	{"tables and indexes", false, (*tx).checkObjects},
	{"search index", false, (*tx).checkTerms},
	{"search index against text", true, (*tx).checkTexts},
	{"rows that are gone", false, (*tx).checkDead},
}

// Check implements [engine.Maintenance]. It looks whether all is there that
// schema.sql makes, whether every message can be found, and whether the server comes
// to clean up. What the server keeps, it looks after by itself: pg_amcheck reads it
// through.
func (s *store) Check(ctx context.Context, o engine.CheckOptions) (out []engine.Finding, err error) {
	for i, c := range checks {
		if c.full && !o.Full {
			continue
		}
		if o.Progress != nil {
			o.Progress(c.what, int64(i), int64(len(checks)))
		}
		err := s.Read(ctx, func(q engine.Queryer) error {
			found, err := c.run(q.(*tx), ctx)
			out = append(out, found...)
			return err
		})
		switch {
		case sqlState(err) == undefinedTable: // which was found before
			out = append(out, engine.Finding{Code: "check_waits", What: c.what + ": looked at when the table is there again"})
		case err != nil:
			return out, fmt.Errorf("%s: %w", c.what, err)
		}
	}
	return out, nil
}

func (t *tx) checkVersion(ctx context.Context) ([]engine.Finding, error) {
	var n int
	err := t.QueryRow(ctx, `SELECT COUNT(*) FROM schema_version`).Scan(&n)
	switch {
	case err != nil || n == 1:
		return nil, err
	case n == 0:
		return []engine.Finding{{Code: "version_missing", What: "the table schema_version is empty"}}, nil
	}
	return []engine.Finding{{Code: "version_several", What: fmt.Sprintf("the table schema_version has %d rows", n)}}, nil
}

var madeTable, madeIndex, madeTrigger = made(`TABLE IF NOT EXISTS`), made(`(?:UNIQUE )?INDEX IF NOT EXISTS`), made(`OR REPLACE TRIGGER`)

// made are the names of what schema.sql makes, found when they are first asked for.
func made(what string) func() []string {
	return sync.OnceValue(func() (names []string) {
		for _, m := range regexp.MustCompile(`(?m)^CREATE `+what+` (\w+)`).FindAllStringSubmatch(schemaSQL, -1) {
			names = append(names, m[1])
		}
		return names
	})
}

// objects are what there is of the schema.
type objects struct {
	have     []string // tables and indexes
	invalid  []string // indexes whose making failed
	triggers []string // those that run
}

func (t *tx) objects(ctx context.Context) (o objects, err error) {
	rows, err := t.conn.Query(ctx, `SELECT c.relname::text, COALESCE(i.indisvalid, true), false FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
 LEFT JOIN pg_index i ON i.indexrelid = c.oid WHERE n.nspname = $1 AND c.relkind IN ('r', 'p', 'i', 'I')
UNION ALL SELECT g.tgname::text, g.tgenabled <> 'D', true FROM pg_trigger g JOIN pg_class c ON c.oid = g.tgrelid JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname = $1 AND NOT g.tgisinternal`, t.store.schema)
	if err != nil {
		return o, err
	}
	var name string
	var good, trigger bool
	_, err = pgx.ForEachRow(rows, []any{&name, &good, &trigger}, func() error {
		switch {
		case !trigger && !good:
			o.invalid = append(o.invalid, name)
			fallthrough
		case !trigger:
			o.have = append(o.have, name)
		case good:
			o.triggers = append(o.triggers, name)
		}
		return nil
	})
	return o, err
}

func (t *tx) checkObjects(ctx context.Context) (out []engine.Finding, err error) {
	var stored string
	err = t.QueryRow(ctx, `SELECT COALESCE(MAX(value), '') FROM state_meta WHERE key = ?`, layoutKey).Scan(&stored)
	if err == nil && layoutOf(stored) < layout && !t.writes {
		return []engine.Finding{{Code: "schema_older", What: "an older release made it: the first command that writes adds what is new"}}, nil
	}
	if err != nil {
		return nil, err
	}
	o, err := t.objects(ctx)
	if err != nil {
		return nil, err
	}
	lacking := func(code, what string, want, have []string) {
		for _, name := range want {
			if !slices.Contains(have, name) {
				out = append(out, engine.Finding{Code: code, What: fmt.Sprintf("there is no %s %s", what, name)})
			}
		}
	}
	lacking("object_missing", "table", madeTable(), o.have)
	lacking("object_missing", "index", madeIndex(), o.have)
	lacking("trigger_missing", "active trigger", madeTrigger(), o.triggers)
	for _, name := range o.invalid {
		if slices.Contains(madeIndex(), name) {
			out = append(out, engine.Finding{Code: "object_missing", What: "the index " + name + " is not valid: making it was broken off"})
		}
	}
	return out, nil
}

// withoutTerms are the messages m that no search finds.
const withoutTerms = ` FROM messages m WHERE NOT EXISTS (SELECT 1 FROM sessiondb_terms t WHERE t.message_id = m.id)
 AND NOT EXISTS (SELECT 1 FROM sessiondb_unindexed u WHERE u.id = m.id)`

func (t *tx) checkTerms(ctx context.Context) ([]engine.Finding, error) {
	var n int64
	if err := t.QueryRow(ctx, `SELECT COUNT(*)`+withoutTerms).Scan(&n); err != nil || n == 0 {
		return nil, err
	}
	return []engine.Finding{{Code: "index_rows", What: fmt.Sprintf("%d messages are missing in the search index", n)}}, nil
}

func (t *tx) checkTexts(ctx context.Context) ([]engine.Finding, error) {
	n := 0
	err := t.eachWrong(ctx, func(ids []int64) error {
		n += len(ids)
		return nil
	})
	if err != nil || n == 0 {
		return nil, err
	}
	return []engine.Finding{{Code: "index_text", What: fmt.Sprintf("%d messages say something else than the search index", n)}}, nil
}

// checkStep is how many messages are compared at a time.
const checkStep = 200

// eachWrong calls fn with messages whose terms are others than those of their text.
func (t *tx) eachWrong(ctx context.Context, fn func(ids []int64) error) error {
	var last *int64
	for {
		texts := map[int64]said{}
		err := t.eachText(ctx, func(id int64, m said) { texts[id] = m }, `SELECT m.id, `+textColumns+` FROM messages m WHERE ($1::bigint IS NULL OR m.id > $1)
 AND EXISTS (SELECT 1 FROM sessiondb_terms t WHERE t.message_id = m.id) ORDER BY m.id LIMIT $2`, last, checkStep)
		if err != nil || len(texts) == 0 {
			return err
		}
		var wrong []int64
		for id, m := range texts {
			if last == nil || id > *last {
				last = &id
			}
			right, err := t.termsFit(ctx, id, m)
			if err != nil {
				return err
			}
			if !right {
				wrong = append(wrong, id)
			}
		}
		if len(wrong) > 0 {
			if err := fn(wrong); err != nil {
				return err
			}
		}
	}
}

// termsFit compares the terms of a message with those of its text.
func (t *tx) termsFit(ctx context.Context, id int64, m said) (bool, error) {
	var b pgx.Batch
	parts := 0
	for i, p := range m.parts() {
		b.Queue(`SELECT COUNT(*) FROM sessiondb_terms WHERE message_id = $1 AND part = $2 AND words = $3::text::tsvector AND grams = $4::text::tsvector`, id, i, p.words, p.grams)
		parts++
	}
	b.Queue(`SELECT COUNT(*) FROM sessiondb_terms WHERE message_id = $1`, id)
	r := t.conn.SendBatch(ctx, &b)
	right := true
	for i := range b.Len() {
		var n int
		if err := r.QueryRow().Scan(&n); err != nil {
			_ = r.Close()
			return false, err
		}
		right = right && (n == 1 || i == parts && n == parts)
	}
	return right, r.Close()
}

// A table has many rows that are gone when they are so many, and so great a part.
const (
	manyDead     = 10_000
	manyDeadPart = 5 // one of so many
)

func (t *tx) checkDead(ctx context.Context) (out []engine.Finding, err error) {
	rows, err := t.conn.Query(ctx, `SELECT relname::text, n_dead_tup, n_live_tup FROM pg_stat_user_tables WHERE schemaname = $1
 AND n_dead_tup > $2 AND n_dead_tup * $3 > n_live_tup ORDER BY 1`, t.store.schema, manyDead, manyDeadPart)
	if err != nil {
		return nil, err
	}
	var name string
	var dead, live int64
	_, err = pgx.ForEachRow(rows, []any{&name, &dead, &live}, func() error {
		what := fmt.Sprintf("%s keeps the room of %d rows that are gone, beside %d: autovacuum does not come to it", name, dead, live)
		out = append(out, engine.Finding{Code: "free_pages", What: what})
		return nil
	})
	return out, err
}

// Repair implements [engine.Maintenance]. It makes what is missing of the schema, and
// puts messages into the search index.
func (s *store) Repair(ctx context.Context, o engine.RepairOptions) error {
	if s.refusal != nil {
		return s.refusal
	}
	did := func(code, format string, args ...any) {
		if o.Done != nil {
			o.Done(engine.Repaired{Code: code, What: fmt.Sprintf(format, args...)})
		}
	}
	if err := s.repairSchema(ctx, did); err != nil {
		return err
	}
	var added, wrong int64
	err := s.Write(ctx, func(e engine.Execer) (err error) {
		t := e.(*tx)
		wrong = 0
		if o.Full {
			if wrong, err = t.forgetWrong(ctx); err != nil {
				return err
			}
		}
		added, err = e.Exec(ctx, `INSERT INTO sessiondb_unindexed SELECT m.id`+withoutTerms+` ON CONFLICT DO NOTHING`)
		return err
	})
	if err != nil {
		return err
	}
	if err := s.indexAll(ctx); err != nil {
		return mapError(err)
	}
	if wrong > 0 {
		did("index_text", "%d messages were put into the search index anew", wrong)
	}
	if added > wrong {
		did("index_rows", "%d messages were added to the search index", added-wrong)
	}
	return nil
}

// forgetWrong drops the terms that are not those of their message.
func (t *tx) forgetWrong(ctx context.Context) (n int64, err error) {
	err = t.eachWrong(ctx, func(ids []int64) error {
		n += int64(len(ids))
		_, err := t.conn.Exec(ctx, `DELETE FROM sessiondb_terms WHERE message_id = ANY($1)`, ids)
		return err
	})
	return n, err
}

// repairSchema makes what is missing.
func (s *store) repairSchema(ctx context.Context, did func(code, format string, args ...any)) error {
	var before []engine.Finding
	err := s.Write(ctx, func(e engine.Execer) (err error) {
		t := e.(*tx)
		o, err := t.objects(ctx)
		if err != nil {
			return err
		}
		if before, err = t.checkObjects(ctx); err != nil {
			return err
		}
		versions, err := t.checkVersion(ctx)
		before = append(before, versions...)
		for _, name := range o.invalid {
			if err == nil && slices.Contains(madeIndex(), name) {
				_, err = t.conn.Exec(ctx, `DROP INDEX `+name)
			}
		}
		if err == nil && len(versions) > 0 {
			_, err = t.conn.Exec(ctx, `DELETE FROM schema_version WHERE ctid <> (SELECT ctid FROM schema_version ORDER BY version DESC LIMIT 1)`)
		}
		return err
	})
	if err != nil || len(before) == 0 {
		return err
	}
	c, err := s.acquire(ctx)
	if err != nil {
		return mapError(err)
	}
	defer c.Release()
	if err := s.migrate(ctx, c.Conn()); err != nil {
		return mapError(err)
	}
	for _, name := range madeTrigger() {
		if _, err := c.Exec(ctx, `ALTER TABLE messages ENABLE TRIGGER `+name); err != nil {
			return mapError(err)
		}
	}
	for _, f := range before {
		did(f.Code, "%s", strings.TrimPrefix(f.What, "there is no ")+": mended")
	}
	return nil
}
