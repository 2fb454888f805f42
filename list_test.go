package sessiondb_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/fixture"
	"github.com/sessiondb-go/sessiondb/sqlite"
)

// A list is the same whether the activity is read chain by chain or of the
// whole store.
func TestListFewOrMany(t *testing.T) {
	for _, store := range []string{"hermes-v11.db", "v11-cycle.db", "v11-odd-types.db"} {
		db, err := sqlite.Open(t.Context(), fixture.Copy(t, store), sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = db.Close() }()
		tagSome(t, db)
		for _, f := range []sessiondb.ListFilter{
			{Limit: -1}, {Limit: -1, Source: "telegram"}, {Limit: -1, Children: true}, {Limit: -1, NoProjection: true},
			{Limit: -1, Tags: []string{"even"}}, {Limit: 2, Tags: []string{"even", "third"}}, {Limit: -1, Children: true, Tags: []string{"third", "even"}},
		} {
			f.ByLastActive = true
			t.Run(fmt.Sprintf("%s %+v", store, f), func(t *testing.T) {
				few, err := db.Sessions(t.Context(), f)
				if err != nil || len(few) == 0 {
					t.Fatalf("%d sessions, %v", len(few), err)
				}
				defer sessiondb.SetFewShown(0)()
				many, err := db.Sessions(t.Context(), f)
				if err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(few, many, cmpopts.IgnoreUnexported(sessiondb.Session{})); d != "" {
					t.Errorf("chain by chain (-), whole store (+):\n%s", d)
				}
			})
		}
	}
}

// tagSome tags every second conversation of a list, and every third.
func tagSome(t *testing.T, db *sessiondb.DB) {
	t.Helper()
	all, err := db.Sessions(t.Context(), sessiondb.ListFilter{Limit: -1})
	for i, s := range all {
		var tags []string
		if i%2 == 0 {
			tags = append(tags, "even")
		}
		if i%3 == 0 {
			tags = append(tags, "third")
		}
		if err == nil {
			_, err = db.Tag(t.Context(), s.ID, tags, nil)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}
