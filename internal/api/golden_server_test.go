package api_test

import (
	"encoding/json"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/fixture"
	"github.com/sessiondb-go/sessiondb/internal/pgtest"
	"github.com/sessiondb-go/sessiondb/postgres"
)

// onServer is a copy of a store in PostgreSQL.
func onServer(t *testing.T, file *sessiondb.DB) *sessiondb.DB {
	t.Helper()
	dsn, stop, err := pgtest.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	if dsn == "" {
		t.Skip(pgtest.Missing)
	}
	u, err := url.Parse(dsn)
	if err != nil || u.Scheme == "" {
		t.Skip("the connection string is no URL")
	}
	q := u.Query()
	q.Set("search_path", "sessiondb_api_test")
	u.RawQuery = q.Encode()
	db, err := postgres.Open(t.Context(), u.String(), postgres.Options{Now: func() time.Time { return time.Unix(fixture.Now, 0) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	// A server that stays has the copy of an earlier run.
	if _, err := sessiondb.Copy(t.Context(), file, db, sessiondb.CopyOptions{}); err != nil && !errors.Is(err, sessiondb.ErrNotEmpty) {
		t.Fatal(err)
	}
	return db
}

// TestGoldenServer holds a store on a server to the recorded answers, and to those
// of the file it was copied from: the same ones, but for the rank of hits.
func TestGoldenServer(t *testing.T) {
	if testing.Short() {
		t.Skip("the same methods ran on a file")
	}
	table := readImprovements(t)
	file := stores{}.open(t, "hermes-v11.db")
	server := onServer(t, file)
	for _, c := range fixture.Golden(t) {
		if slices.Contains(skipped, c.Kind) || c.Call == storeCalls {
			continue
		}
		t.Run(c.Case, func(t *testing.T) {
			if c.Call == "search_messages" {
				sameHits(t, file, server, c.Args)
				return
			}
			got, err := ask(t.Context(), server, c.Call, c.Args)
			table.check(t, c, compare(t, c, got, err))
		})
	}
}

// sameHits asks for hits as the case does, and for all there are.
func sameHits(t *testing.T, file, server *sessiondb.DB, recorded map[string]json.RawMessage) {
	t.Helper()
	args := maps.Clone(recorded)
	for _, all := range []bool{false, true} {
		if all {
			args["limit"], args["offset"] = []byte(`1000`), []byte(`0`)
		}
		want, wantErr := ask(t.Context(), file, "search_messages", args)
		got, err := ask(t.Context(), server, "search_messages", args)
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%s: %v, the file says %v", jsonOf(args), err, wantErr)
		}
		if err != nil {
			return
		}
		have, hits := list(t, got), list(t, want)
		if len(have) != len(hits) {
			t.Errorf("%s: %d hits, not %d", jsonOf(args), len(have), len(hits))
		}
		if !all && !strings.Contains(string(args["sort"]), "est") { // by rank
			continue
		}
		if !strings.Contains(string(args["sort"]), "est") {
			slices.Sort(have)
			slices.Sort(hits)
		}
		if d := cmp.Diff(hits, have); d != "" {
			t.Errorf("%s: %s", jsonOf(args), d)
		}
	}
}

// list is the items of an answer, each as it is.
func list(t *testing.T, answer json.RawMessage) (out []string) {
	t.Helper()
	var items []json.RawMessage
	if err := json.Unmarshal(answer, &items); err != nil {
		t.Fatalf("%v: %.200s", err, answer)
	}
	for _, item := range items {
		out = append(out, string(item))
	}
	return out
}
