package sessiondb

import (
	"context"
	"slices"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// summed is a session on the way to the one that a list shows for it.
type summed struct {
	parent string // only where the session continues it
	active float64
	first  bool // continues none
}

// fewShown is up to how many sessions each one's chain is looked up by itself.
// Tests change it.
var fewShown = 1000

// sumUp ranks every session of the list by the last activity along its chain.
// It looks up one index entry a session and reads no message.
func (l *listing) sumUp(ctx context.Context) ([]ranked, error) {
	var out []ranked
	err := eachRow(ctx, l.q, func(r engine.Rows) error {
		var s ranked
		err := r.Scan(&s.id, startColumn{&s.started})
		out = append(out, s)
		return err
	}, `SELECT c.id, c.started_at`+withParentSQL+l.where, l.args...)
	if err != nil {
		return nil, err
	}
	activity := l.activityOfMany
	if len(out) <= fewShown {
		activity = l.activityOfFew
	}
	active, err := activity(ctx, out)
	for i := range out {
		out[i].active = active[out[i].id]
	}
	return out, err
}

// activityOfMany reads the activity of the whole store.
func (l *listing) activityOfMany(ctx context.Context, shown []ranked) (map[string]float64, error) {
	all, err := activityOfAll(ctx, l.q, l.latest, !l.f.ownActivity)
	if err != nil {
		return nil, err
	}
	liftActivity(all)
	active := make(map[string]float64, len(shown))
	for _, s := range shown {
		if a := all[s.id]; a != nil {
			active[s.id] = a.active
		}
	}
	return active, nil
}

// activityOfFew reads the activity along the chains of some sessions.
func (l *listing) activityOfFew(ctx context.Context, shown []ranked) (map[string]float64, error) {
	active := make(map[string]float64, len(shown))
	for batch := range slices.Chunk(shown, projectBatch) {
		ids := make([]string, len(batch))
		for i, s := range batch {
			ids[i] = s.id
		}
		nodes, err := continuations(ctx, l.q, l.latest, ids...)
		if err != nil {
			return nil, err
		}
		for _, n := range nodes {
			if l.f.ownActivity && n.id != n.root {
				continue
			}
			if at, ok := active[n.root]; !ok || n.active > at {
				active[n.root] = n.active
			}
		}
	}
	return active, nil
}

// activityOfAll returns the activity of every session, and if wanted which one
// it continues.
func activityOfAll(ctx context.Context, q engine.Queryer, latest float64, chained bool) (map[string]*summed, error) {
	all := map[string]*summed{}
	query := `SELECT c.id, CASE WHEN ` + continuationSQL + ` THEN p.id END, ` + lastActiveSQL + withParentSQL + ` WHERE c.id IS NOT NULL`
	err := eachRow(ctx, q, func(r engine.Rows) error {
		var id string
		var parent *string
		var s summed
		err := r.Scan(&id, &parent, activeColumn{&s.active, latest})
		if parent != nil && chained {
			s.parent = *parent
		}
		all[id] = &s
		return err
	}, query, latest)
	return all, err
}

// liftActivity gives every session the newest activity of all that continue it,
// from the ends of the chains on up, and finds where each chain begins.
func liftActivity(all map[string]*summed) {
	waiting := map[string]int{} // for so many that continue it
	for _, s := range all {
		if s.parent != "" {
			waiting[s.parent]++
		}
	}
	var ready []string
	for id := range all {
		if waiting[id] == 0 {
			ready = append(ready, id)
		}
	}
	for len(ready) > 0 {
		s := all[ready[len(ready)-1]]
		ready = ready[:len(ready)-1]
		if s.parent == "" {
			s.first = true
			continue
		}
		p := all[s.parent]
		p.active = max(p.active, s.active)
		if waiting[s.parent]--; waiting[s.parent] == 0 {
			ready = append(ready, s.parent)
		}
	}
	// What still waits stands in cycles.
	for id := range all {
		if waiting[id] > 0 {
			liftCycle(all, id, waiting)
		}
	}
}

// liftCycle gives the members of a cycle the newest activity among them. The
// smallest is the first, as for climb.
func liftCycle(all map[string]*summed, id string, waiting map[string]int) {
	least, newest := id, all[id].active
	for up := all[id].parent; up != id; up = all[up].parent {
		least, newest = min(least, up), max(newest, all[up].active)
	}
	all[least].first = true
	for waiting[id] > 0 {
		all[id].active = newest
		waiting[id] = 0
		id = all[id].parent
	}
}

// activeColumn reads a time of activity as a number to order by. What is no
// time, or too far in the future to be believed, goes last.
type activeColumn struct {
	dst    *float64
	latest float64
}

func (c activeColumn) Scan(src any) error {
	err := startColumn{c.dst}.Scan(src)
	if *c.dst > c.latest {
		*c.dst = epoch(noTime)
	}
	return err
}
