package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/api"
	"github.com/sessiondb-go/sessiondb/internal/fixture"
	"github.com/sessiondb-go/sessiondb/sqlite"
)

// skipped are kinds of recorded answers that are not about methods: private
// functions of the program that gave them, and tables of its own.
var skipped = []string{"sanitize_fts5", "cjk", "telegram"}

// TestGolden holds every method to the recorded answers: the same answer, or
// one that is better on purpose and listed as such.
func TestGolden(t *testing.T) {
	table := readImprovements(t)
	searches := readSearchImprovements(t)
	dbs := stores{}
	for _, c := range fixture.Golden(t) {
		if slices.Contains(skipped, c.Kind) || c.Call == storeCalls {
			continue
		}
		if c.Call == "search_messages" && searches == nil {
			continue
		}
		db := dbs.open(t, c.DB)
		t.Run(c.Case, func(t *testing.T) {
			got, err := ask(t.Context(), db, c.Call, c.Args)
			diff := compare(t, c, got, err)
			if c.Call == "search_messages" {
				searches.check(t, c, diff)
			} else {
				table.check(t, c, diff)
			}
		})
	}
	table.finish(t)
}

// stores are the fixtures that cases only read.
type stores map[string]*sessiondb.DB

func (s stores) open(t *testing.T, name string) *sessiondb.DB {
	if s[name] == nil {
		s[name] = openCopy(t, fixture.Copy(t, name))
	}
	return s[name]
}

func openCopy(t *testing.T, path string) *sessiondb.DB {
	t.Helper()
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{Now: func() time.Time { return time.Unix(fixture.Now, 0) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func jsonOf(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// ask calls a method as a face does.
func ask(ctx context.Context, db *sessiondb.DB, name string, args any) (json.RawMessage, error) {
	m, ok := api.Lookup(name)
	if !ok {
		return nil, fmt.Errorf("there is no method %s", name)
	}
	params, err := json.Marshal(args)
	if err != nil {
		return nil, err
	}
	call, err := m.Bind(params)
	if err != nil {
		return nil, err
	}
	result, err := call.Do(ctx, db)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err = e.Encode(result)
	return bytes.TrimSpace(b.Bytes()), err
}
