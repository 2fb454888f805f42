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
		db, err := sqlite.Open(t.Context(), fixture.Copy(t, store), sqlite.Options{ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = db.Close() }()
		for _, f := range []sessiondb.ListFilter{{}, {Source: "telegram"}, {Children: true}, {NoProjection: true}} {
			f.ByLastActive, f.Limit = true, -1
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
