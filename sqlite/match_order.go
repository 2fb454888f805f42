package sqlite

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// ordered makes the plan, and sees to the order where that depends on how many
// messages match. They are counted as a search by time finds them, which looks for
// an unfinished word in a quicker way. Without an index there is no rank; without
// that of times the newest of many hits take longer than the best.
func (r *matching) ordered() (*matchPlan, error) {
	if r.m.MaxRanked == 0 || r.m.Order != engine.ByRank || r.m.Count || !r.indexes.used() || !r.store.activity.Load() {
		if err := r.narrow(); err != nil {
			return nil, err
		}
		return r.plan()
	}
	r.m.Order = engine.Newest
	p, err := r.plan()
	if err != nil {
		return nil, err
	}
	many, err := r.tooMany(p)
	if err != nil {
		return nil, err
	}
	if !many {
		r.m.Order = engine.ByRank
	}
	if err := r.narrow(); err != nil || r.few == nil && (many || r.spelled == nil) {
		return p, err
	}
	again, err := r.plan()
	if err == nil && !many && again.index == "" {
		again.all = p.all
	}
	return again, err
}

// tooMany says that more messages match than may be ranked. Those that it takes
// more than an index to find are not looked for a second time.
func (r *matching) tooMany(p *matchPlan) (bool, error) {
	if many, err := r.moreThan(p.atLeast(), r.m.MaxRanked); many || err != nil || p.index != "" {
		return many, err
	}
	if err := p.complete(); err != nil {
		return false, err
	}
	if p.c.within.listed() && p.c.within.n <= r.m.MaxRanked {
		return false, nil
	}
	found, err := r.ids(fragment{`SELECT id FROM (` + p.all.sql + `) LIMIT ?`, join(p.all.args, []any{r.m.MaxRanked + 1})})
	if len(found) > r.m.MaxRanked || err != nil {
		return true, err
	}
	p.all = listed(slices.Sorted(maps.Keys(found)))
	return false, nil
}

// listed is a query for ids that are known.
func listed(ids []int64) fragment {
	list, _ := json.Marshal(ids) // numbers always can be
	return fragment{`SELECT value AS id FROM json_each(?)`, []any{string(list)}}
}
