package sqlite

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/engine"
	"github.com/sessiondb-go/sessiondb/internal/searchql"
)

// TestBestFirst compares the hits that an index ranks first, looked at alone, with
// those of all hits.
func TestBestFirst(t *testing.T) {
	halved, whole := rankedStore(t)
	r := rand.New(rand.NewPCG(11, 12))
	var more []sessiondb.Message
	for range 100 {
		var text string
		for range 1 + r.IntN(6) {
			text += []string{"a", "b", "er", "docker", "deploy"}[r.IntN(5)] + " "
		}
		more = append(more, sessiondb.Message{Role: "user", Content: sessiondb.Text(text)})
	}
	if _, err := db(halved).AppendMessages(t.Context(), "s", more); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"docker -deploy", "docker OR 배포", "배 OR deploy OR 오류", "a -배", "(docker OR er) -(배포 OR deploy)", "(docker deploy) OR 배", "docker -er -ab", "docker a -배", "docker (a OR er) -ab", "((a b) OR docker) er -ab", "((a b) OR er) docker -ab", "docker OR ค้น",
	} {
		for _, limit := range []int{1, 7, 50, 0} {
			m := engine.Match{Query: searchql.Parse(text, searchql.Options{}), Limit: limit, Offset: limit / 2}
			want := byAllRanks(t, whole, m)
			for _, s := range []*store{halved, whole} {
				err := s.Read(t.Context(), func(q engine.Queryer) error {
					got, err := s.Match(t.Context(), q, m)
					if !slices.Equal(matchedIDs(got.Hits), want) {
						t.Errorf("%s, %d: %v, not %v", text, limit, matchedIDs(got.Hits), want)
					}
					return err
				})
				if err != nil {
					t.Fatalf("%s: %v", text, err)
				}
			}
		}
	}
}

// byAllRanks looks for all hits before it delivers the first.
func byAllRanks(t *testing.T, s *store, m engine.Match) (ids []int64) {
	t.Helper()
	err := s.Read(t.Context(), func(q engine.Queryer) error {
		ix, err := s.textIndexes(t.Context(), q)
		if err != nil {
			return err
		}
		r := &matching{ctx: t.Context(), quick: t.Context(), q: q, m: m, store: s, indexes: ix}
		r.each = func(h engine.Hit) bool {
			ids = append(ids, h.MessageID)
			return true
		}
		p, err := r.plan()
		if err != nil {
			return err
		}
		return r.allByRanks(p)
	})
	if err != nil || len(ids) == 0 && m.Offset == 0 {
		t.Fatalf("%s, limit %d: %d hits, %v", m.Query, m.Limit, len(ids), err)
	}
	return ids
}

func matchedIDs(hits []engine.Hit) (ids []int64) {
	for _, h := range hits {
		ids = append(ids, h.MessageID)
	}
	return ids
}
