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
		return r.plan()
	}
	r.m.Order = engine.Newest
	p, err := r.plan()
	if err != nil {
		return nil, err
	}
	if many, err := r.tooMany(p); many || err != nil {
		return p, err
	}
	if r.m.Order = engine.ByRank; r.spelled == nil {
		return p, nil
	}
	ranked, err := r.plan()
	if err == nil && ranked.index == "" {
		ranked.all = p.all
	}
	return ranked, err
}

// tooMany says that more messages match than may be ranked. Those that it takes
// more than an index to find are not looked for a second time.
func (r *matching) tooMany(p *matchPlan) (bool, error) {
	if p.index != "" {
		return r.moreThan(p.cheapest(), r.m.MaxRanked)
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
