package crashtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	_ "modernc.org/sqlite" // the judge speaks plain SQL

	"github.com/sessiondb-go/sessiondb/sqlite"
)

// judge is a plain connection that looks for what is wrong with a file.
type judge struct {
	db    *sql.DB
	found []string
}

func plain(path string) *judge {
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", OmitHost: true, Path: path, RawQuery: "_busy_timeout=5000"}).String())
	if err != nil {
		return &judge{found: []string{err.Error()}}
	}
	db.SetMaxOpenConns(1)
	return &judge{db: db}
}

func (j *judge) close() []string {
	if j.db != nil {
		_ = j.db.Close()
	}
	return j.found
}

func (j *judge) say(format string, args ...any) {
	j.found = append(j.found, fmt.Sprintf(format, args...))
}

// rows runs a query and returns each row as one string.
func (j *judge) rows(query string, args ...any) (out []string) {
	rows, err := j.db.Query(query, args...)
	if err != nil {
		j.say("%s: %v", query, err)
		return nil
	}
	defer func() { _ = rows.Close() }()
	columns, _ := rows.Columns()
	for rows.Next() {
		vals, dest := make([]any, len(columns)), make([]any, len(columns))
		for i := range vals {
			dest[i] = &vals[i]
		}
		if err := rows.Scan(dest...); err != nil {
			j.say("%s: %v", query, err)
		}
		out = append(out, strings.Trim(fmt.Sprint(vals...), "[]"))
	}
	if err := rows.Err(); err != nil {
		j.say("%s: %v", query, err)
	}
	return out
}

// none says what is wrong if a query has rows.
func (j *judge) none(what, query string) {
	if rows := j.rows(query); len(rows) > 0 {
		j.say("%s: %d, first %s", what, len(rows), rows[0])
	}
}

// pages looks at the file as SQLite sees it, before we have opened it.
func pages(path string) []string {
	j := plain(path)
	j.pages()
	return j.close()
}

func (j *judge) pages() {
	if got := j.rows("PRAGMA integrity_check"); !slices.Equal(got, []string{"ok"}) {
		j.say("integrity_check: %s", strings.Join(got, "; "))
	}
}

// sound looks at all that must agree in a store, whoever wrote it.
func (j *judge) sound() {
	j.pages()
	j.none("dangling references", "PRAGMA foreign_key_check")
	if got := strings.Join(j.rows("SELECT version FROM schema_version"), " "); got != fmt.Sprint(sqlite.SchemaVersion) {
		j.say("schema version %q", got)
	}
	j.none("counts of messages", `SELECT s.id, s.message_count, COUNT(m.id) FROM sessions s LEFT JOIN messages m ON m.session_id = s.id
 GROUP BY s.id HAVING s.message_count <> COUNT(m.id)`)
	for _, index := range []string{"messages_fts", "messages_fts_trigram"} {
		if _, err := j.db.Exec("INSERT INTO " + index + " (" + index + ", rank) VALUES ('integrity-check', 0)"); err != nil {
			j.say("%s: %v", index, err)
		}
	}
	j.indexed()
}

// indexed holds both full-text indexes against the messages.
func (j *judge) indexed() {
	for _, index := range []string{"messages_fts", "messages_fts_trigram"} {
		j.none(index+" lacks", "SELECT id FROM messages EXCEPT SELECT id FROM "+index+"_docsize")
		j.none(index+" has of old", "SELECT id FROM "+index+"_docsize EXCEPT SELECT id FROM messages")
		j.none(index+" differs", `SELECT m.id FROM messages m JOIN `+index+` f ON f.rowid = m.id
 WHERE f.content <> COALESCE(m.content, '') || ' ' || COALESCE(m.tool_name, '') || ' ' || COALESCE(m.tool_calls, '')`)
	}
}

// reachable is sound for a store that another release of SQLite filled, whose
// full-text tables this one may call malformed.
func (j *judge) reachable() {
	for _, line := range j.rows("PRAGMA integrity_check") {
		if line != "ok" && !strings.Contains(line, "FTS5") {
			j.say("integrity_check: %s", line)
		}
	}
	if got := strings.Join(j.rows("SELECT version FROM schema_version"), " "); got != fmt.Sprint(sqlite.SchemaVersion) {
		j.say("schema version %q", got)
	}
}

// ourCounts looks at the counters of sessions that only we wrote.
func (j *judge) ourCounts() {
	j.none("counts of tool calls", `SELECT s.id, s.tool_call_count, SUM(json_array_length(m.tool_calls)) FROM sessions s JOIN messages m ON m.session_id = s.id
 GROUP BY s.id HAVING s.tool_call_count <> COALESCE(SUM(json_array_length(m.tool_calls)), 0)`)
}

// stored reads what is stored of each lane.
func (j *judge) stored() map[string]state {
	out := map[string]state{}
	of := func(source string) state {
		s, ok := out[source]
		if !ok {
			s = state{Sessions: map[string]session{}}
			out[source] = s
		}
		return s
	}
	source := map[string]string{}
	j.each("SELECT id, source, COALESCE(title, ''), COALESCE(system_prompt, ''), COALESCE(end_reason, ''), input_tokens FROM sessions", func(scan func(...any) error) error {
		var id, src string
		var s session
		err := scan(&id, &src, &s.Title, &s.Prompt, &s.Reason, &s.Tokens)
		of(src).Sessions[id], source[id] = s, src
		return err
	})
	j.each("SELECT id, session_id, content FROM messages ORDER BY id", func(scan func(...any) error) error {
		var id string
		var m message
		err := scan(&m.ID, &id, &m.Text)
		s := of(source[id]).Sessions[id]
		s.Messages = append(s.Messages, m)
		of(source[id]).Sessions[id] = s
		return err
	})
	j.each("SELECT substr(key, 7), value FROM state_meta WHERE key LIKE 'crash:%'", func(scan func(...any) error) error {
		var lane, value string
		err := scan(&lane, &value)
		s := of(lane)
		s.Meta = value
		out[lane] = s
		return err
	})
	return out
}

func (j *judge) each(query string, fn func(scan func(...any) error) error) {
	rows, err := j.db.Query(query)
	if err != nil {
		j.say("%s: %v", query, err)
		return
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := fn(rows.Scan); err != nil {
			j.say("%s: %v", query, err)
		}
	}
	if err := rows.Err(); err != nil {
		j.say("%s: %v", query, err)
	}
}

// mend makes the full-text index anew if messages were stored past it, as a
// store says it needs.
func mend(ctx context.Context, path string) error {
	j := plain(path)
	stale := len(j.rows("SELECT 1 FROM state_meta WHERE key = 'sessiondb_fts_stale'")) > 0
	if j.close(); !stale {
		return nil
	}
	db, err := sqlite.Open(ctx, path, sqlite.Options{})
	if err != nil {
		return err
	}
	return errors.Join(db.Vacuum(ctx), db.Close())
}

// settle compares what is stored with what a lane was told. What was under way
// may have been done or not; the lane then goes on from what is there.
func (l *lane) settle(stored state) (problems []string) {
	before, after := l.state, l.state
	if l.open != nil {
		after = l.after(l.open, nil)
	}
	done := l.open != nil && len(differ(after, stored)) == 0
	switch {
	case done:
		l.state = after
	case l.open != nil && l.open.several():
		return l.settleEach(before, after, stored)
	default:
		problems = differ(before, stored)
	}
	if len(problems) > 0 {
		under := "nothing"
		if l.open != nil {
			under = fmt.Sprintf("%+v", *l.open)
		}
		problems = append(problems, fmt.Sprintf("%s: under way was %s", l.name, under))
	}
	l.open = nil
	return problems
}

// settleEach is settle for a call of several transactions.
func (l *lane) settleEach(before, after, stored state) (problems []string) {
	ids := slices.Concat(slices.Collect(maps.Keys(before.Sessions)), slices.Collect(maps.Keys(after.Sessions)), slices.Collect(maps.Keys(stored.Sessions)))
	slices.Sort(ids)
	next := state{Sessions: map[string]session{}, Meta: before.Meta}
	for _, id := range slices.Compact(ids) {
		from := before
		if len(differ(one(after, id), one(stored, id))) == 0 {
			from = after
		}
		problems = append(problems, differ(one(from, id), one(stored, id))...)
		if s, ok := from.Sessions[id]; ok {
			next.Sessions[id] = s
		}
	}
	l.state, l.open = next, nil
	return problems
}

func one(s state, id string) state {
	out := state{Sessions: map[string]session{}}
	if it, ok := s.Sessions[id]; ok {
		out.Sessions[id] = it
	}
	return out
}

// differ says how what is stored differs from what should be.
func differ(want, got state) (out []string) {
	if want.Meta != got.Meta {
		out = append(out, fmt.Sprintf("meta is %.40q, want %.40q", got.Meta, want.Meta))
	}
	for id, w := range want.Sessions {
		g, ok := got.Sessions[id]
		if !ok {
			out = append(out, fmt.Sprintf("session %s with %d messages is lost", id, len(w.Messages)))
			continue
		}
		out = append(out, w.differ(id, g)...)
	}
	for id := range got.Sessions {
		if _, ok := want.Sessions[id]; !ok {
			out = append(out, fmt.Sprintf("session %s was never there, or deleted", id))
		}
	}
	return out
}

func (s session) differ(id string, got session) (out []string) {
	if s.Title != got.Title || s.Prompt != got.Prompt || s.Reason != got.Reason || s.Tokens != got.Tokens {
		out = append(out, fmt.Sprintf("session %s has title %q, reason %q, tokens %d, %d bytes of prompt; want %q, %q, %d, %d",
			id, got.Title, got.Reason, got.Tokens, len(got.Prompt), s.Title, s.Reason, s.Tokens, len(s.Prompt)))
	}
	if len(s.Messages) != len(got.Messages) {
		return append(out, fmt.Sprintf("session %s has %d messages, want %d", id, len(got.Messages), len(s.Messages)))
	}
	for i, m := range s.Messages {
		if g := got.Messages[i]; m.Text != g.Text || m.ID != 0 && m.ID != g.ID {
			out = append(out, fmt.Sprintf("message %d of %s is %d %.30q, want %d %.30q", i, id, g.ID, g.Text, m.ID, m.Text))
		}
	}
	return out
}

// reopen opens a store for writing as a program does, and closes it.
func reopen(ctx context.Context, path string) error {
	db, err := sqlite.Open(ctx, path, sqlite.Options{})
	if err != nil {
		return err
	}
	return errors.Join(db.SetMeta(ctx, "reopened", "yes"), db.Close())
}
