package sqlite

import (
	"strings"
	"testing"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/fixture"
)

// In a store that another program wrote, of whatever version, nothing has a tag, and
// to ask for one changes nothing.
func TestNoTagsOfOtherPrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long, and no goroutines meet in it")
	}
	for _, name := range fixture.Names(t, "fixtures") {
		if !strings.HasPrefix(name, "hermes-v") {
			continue
		}
		db, err := Open(t.Context(), fixture.Copy(t, name), Options{ReadOnly: true})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		hits := map[string]int{}
		for _, query := range []string{"terminal", "terminal tag:work", "terminal -tag:work"} {
			r, err := db.Search(t.Context(), sessiondb.SearchQuery{Text: query, Limit: -1})
			if hits[query] = len(r.Hits); err != nil {
				t.Errorf("%s: %s: %v", name, query, err)
			}
		}
		if all := hits["terminal"]; all == 0 || hits["terminal tag:work"] != 0 || hits["terminal -tag:work"] != all {
			t.Errorf("%s: %v", name, hits)
		}
		list, err := db.Sessions(t.Context(), sessiondb.ListFilter{Tags: []string{"work"}})
		if err != nil || len(list) > 0 {
			t.Errorf("%s: lists %d, %v", name, len(list), err)
		}
		tags, err := db.AllTags(t.Context())
		if err != nil || len(tags) > 0 {
			t.Errorf("%s: tags %v, %v", name, tags, err)
		}
		if rows, err := db.UsageByModel(t.Context(), sessiondb.UsageFilter{Tags: []string{"work"}}); err != nil || len(rows) > 0 {
			t.Errorf("%s: usage %v, %v", name, rows, err)
		}
		_ = db.Close()
	}
}
