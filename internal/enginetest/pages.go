package enginetest

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sessiondb-go/sessiondb"
)

// testPages holds that pages put together are the whole list, each session on
// one page: pages and whole lists are read in different ways.
func testPages(t *testing.T, h *harness) {
	filters := map[string]sessiondb.ListFilter{
		"by start":    {},
		"by activity": {ByLastActive: true},
		"children":    {ByLastActive: true, Children: true},
		"plain":       {ByLastActive: true, NoProjection: true},
		"one source":  {ByLastActive: true, Source: "telegram"},
		"no source":   {ByLastActive: true, ExcludeSources: []string{"cli", "telegram"}},
	}
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			db, c := h.store(t)
			scatter(t, db, c, rand.New(rand.NewPCG(seed, 1)))
			for name, f := range filters {
				f.Limit = -1
				whole := shown(must[[]sessiondb.ListedSession](t)(db.Sessions(t.Context(), f)))
				var pages []string
				for f.Limit = 3; ; f.Offset += f.Limit {
					page := shown(must[[]sessiondb.ListedSession](t)(db.Sessions(t.Context(), f)))
					if len(page) == 0 {
						break
					}
					pages = append(pages, page...)
				}
				if d := cmp.Diff(whole, pages); d != "" {
					t.Errorf("%s: whole list (-), pages (+):\n%s", name, d)
				}
			}
		})
	}
}

func shown(ss []sessiondb.ListedSession) []string {
	out := make([]string, len(ss))
	for i, s := range ss {
		out[i] = s.LineageRoot + ">" + s.ID + " " + s.LastActive.UTC().Format(time.RFC3339) + " " + s.Preview
	}
	return out
}

// scatter makes sessions of all kinds at times that collide, jump back, and lie
// in the future.
func scatter(t *testing.T, db *sessiondb.DB, c *clock, r *rand.Rand) {
	t.Helper()
	ctx := t.Context()
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	var ids []string
	for i := range 40 {
		c.add(time.Duration(r.IntN(5)-1) * time.Second)
		n := sessiondb.NewSession{ID: fmt.Sprintf("s%02d", i), Source: pick("cli", "telegram", "cron", "subagent")}
		if i > 0 && r.IntN(2) == 0 {
			n.ParentID = pick(ids...)
			noError(t, db.EndSession(ctx, n.ParentID, pick("compression", "compression", "branched", "done")))
		}
		must[string](t)(db.CreateSession(ctx, n))
		ids = append(ids, n.ID)
		for range r.IntN(3) {
			m := sessiondb.Message{Role: pick("user", "assistant"), Content: sessiondb.Text(fmt.Sprint("said in ", n.ID)), Timestamp: c.now()}
			switch r.IntN(12) {
			case 0:
				m.Timestamp = m.Timestamp.AddDate(5, 0, 0)
			case 1:
				m.Timestamp = m.Timestamp.AddDate(-1, 0, 0)
			}
			must[int64](t)(db.AppendMessage(ctx, pick(ids...), m))
		}
	}
}
