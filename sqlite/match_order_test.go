package sqlite

import (
	"testing"

	"github.com/sessiondb-go/sessiondb"
)

// The newest take the place of the best only where an index of times finds them.
func TestMaxRankedNeedsIndex(t *testing.T) {
	s, _ := timedStore(t)
	db := sessiondb.New(s, sessiondb.Config{})
	for _, activity := range []bool{true, false} {
		s.activity.Store(activity)
		for _, text := range []string{"docker", "doc*", "docker OR 배포"} {
			r, err := db.Search(t.Context(), sessiondb.SearchQuery{Text: text, MaxRanked: 1})
			if err != nil || r.NewestFirst != activity || len(r.Hits) != 20 {
				t.Errorf("%q, index of times %v: newest first %v, %d hits, %v", text, activity, r.NewestFirst, len(r.Hits), err)
			}
		}
	}
}
