package api_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/fixture"
	"github.com/sessiondb-go/sessiondb/sqlite"
)

// step is one call of many on the same store, which may write. A name that
// begins with an underscore looks at the file itself.
type step struct {
	Call   string                     `json:"call"`
	Args   map[string]json.RawMessage `json:"args"`
	Result json.RawMessage            `json:"result"`
	Error  json.RawMessage            `json:"error"`
	Hang   string                     `json:"hang"` // it never answered
}

// storeCalls is the call of cases that are steps.
const storeCalls = "COMPAT"

// TestGoldenStores opens files of every version, and damaged ones, and holds
// what is then read and written to the recorded answers.
func TestGoldenStores(t *testing.T) {
	table := readImprovements(t)
	searches := readSearchImprovements(t)
	stores := append(fixture.Names(t, "fixtures"), fixture.Names(t, "damaged")...)
	for _, c := range fixture.Golden(t) {
		if c.Call != storeCalls || !slices.Contains(stores, filepath.Base(c.DB)) {
			continue
		}
		t.Run(c.Case, func(t *testing.T) {
			var steps []step
			if err := json.Unmarshal(c.Result, &steps); err != nil {
				t.Fatal(err)
			}
			if searches == nil {
				steps = slices.DeleteFunc(steps, func(s step) bool { return s.Call == "search_messages" })
			}
			table.check(t, c, runSteps(t, fixture.Copy(t, filepath.Base(c.DB)), steps))
		})
	}
	table.finish(t)
}

// runSteps returns the differences of all steps, each with the number of its
// step. The first step opens the store; if that fails there are no others.
func runSteps(t *testing.T, path string, steps []step) (diff []string) {
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{Now: func() time.Time { return time.Unix(fixture.Now, 0) }})
	if err != nil {
		if !errors.Is(err, sessiondb.ErrNotStore) && !errors.Is(err, sessiondb.ErrCorrupt) {
			t.Errorf("neither called damaged nor foreign: %v", err)
		}
		if steps[0].Error == nil {
			return []string{"0 _open: error: " + strings.ReplaceAll(err.Error(), path, "PATH")}
		}
		return nil
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	if steps[0].Error != nil {
		return []string{"0 _open: no error, not " + string(steps[0].Error)}
	}
	for i, s := range steps[1:] {
		got, err := runStep(t.Context(), db, path, s)
		if s.Hang != "" {
			if err != nil {
				t.Errorf("%s %s: %v", s.Call, jsonOf(s.Args), err)
			}
			continue
		}
		for _, d := range compare(t, fixture.Case{Result: s.Result, Error: s.Error}, got, err) {
			diff = append(diff, fmt.Sprintf("%d %s %s", i+1, s.Call, d))
		}
	}
	return diff
}

func runStep(ctx context.Context, db *sessiondb.DB, path string, s step) (json.RawMessage, error) {
	switch s.Call {
	case "_schema":
		return schemaAs(ctx, path, s.Result)
	case "_sql":
		var query string
		if err := json.Unmarshal(s.Args["sql"], &query); err != nil {
			return nil, err
		}
		return queryFile(ctx, path, query)
	case "_integrity":
		return integrity(ctx, path)
	}
	return ask(ctx, db, s.Call, s.Args)
}

// queryFile runs a query on the file beside the open store, as another program
// would.
func queryFile(ctx context.Context, path, query string) (json.RawMessage, error) {
	rows, columns, err := rowsOf(ctx, path, query)
	if err != nil {
		return nil, err
	}
	return json.Marshal(map[string]any{"columns": columns, "rows": rows, "changes": -1})
}

func rowsOf(ctx context.Context, path, query string) (out [][]any, columns []string, err error) {
	file, err := sql.Open("sqlite", path)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	rows, err := file.QueryContext(ctx, query)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	if columns, err = rows.Columns(); err != nil {
		return nil, nil, err
	}
	out = [][]any{}
	for rows.Next() {
		row, targets := make([]any, len(columns)), make([]any, len(columns))
		for i := range row {
			targets[i] = &row[i]
		}
		if err := rows.Scan(targets...); err != nil {
			return nil, nil, err
		}
		out = append(out, row)
	}
	return out, columns, rows.Err()
}

// schemaAs returns the recorded part of the schema: there may be more.
func schemaAs(ctx context.Context, path string, recorded json.RawMessage) (json.RawMessage, error) {
	var want [][]any
	if err := json.Unmarshal(recorded, &want); err != nil {
		return nil, err
	}
	rows, _, err := rowsOf(ctx, path, `SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name`)
	if err != nil {
		return nil, err
	}
	rows = slices.DeleteFunc(rows, func(row []any) bool {
		return !slices.ContainsFunc(want, func(w []any) bool { return w[0] == row[0] && w[1] == row[1] })
	})
	return json.Marshal(rows)
}

// integrity looks at the file with the checks that SQLite has, and at what the
// search indexes hold. What the check says about an index that an older SQLite
// built of text with NUL is left out: that one calls it sound.
func integrity(ctx context.Context, path string) (json.RawMessage, error) {
	out := map[string]any{"messages_fts": "ok", "messages_fts_trigram": "ok"}
	check, _, err := rowsOf(ctx, path, `PRAGMA integrity_check`)
	if err != nil {
		return nil, err
	}
	var lines []any
	for _, row := range check {
		if row[0] == "malformed inverted index for FTS5 table main.messages_fts_trigram" {
			row[0] = "ok"
		}
		lines = append(lines, row[0])
	}
	out["integrity_check"] = lines
	if out["foreign_key_check"], _, err = rowsOf(ctx, path, `SELECT "table", rowid, parent, fkid FROM pragma_foreign_key_check`); err != nil {
		return nil, err
	}
	for _, table := range []string{"messages_fts", "messages_fts_trigram"} {
		rows, _, err := rowsOf(ctx, path, `SELECT COUNT(*) FROM `+table)
		if err != nil {
			return nil, err
		}
		out[table+"_rows"] = rows[0][0]
	}
	return json.Marshal(out)
}
