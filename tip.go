package sessiondb

import (
	"context"
	"time"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// clockTolerance is how far ahead of our clock another one may be. A message
// from further in the future says nothing about when a session was active.
const clockTolerance = 24 * time.Hour

// latest is the newest time that counts as activity.
func (db *DB) latest() float64 { return epoch(db.now().Add(clockTolerance)) }

const (
	// lastActiveSQL is the time of the newest message of session c, or its start;
	// the parameter is the latest time that counts.
	lastActiveSQL = `COALESCE((SELECT MAX(timestamp) FROM messages WHERE session_id = c.id AND timestamp <= ?), c.started_at)`

	hasMessagesSQL = `EXISTS (SELECT 1 FROM messages WHERE session_id = c.id)`
)

// chainNode is a session of a compression chain that may have forked.
type chainNode struct {
	root    string // where the walk began
	id      string
	parent  string
	started float64
	ended   bool
	active  float64 // time of the newest message, else the start
	full    bool    // has messages
}

// continuations returns the sessions that continue each root, over any number
// of steps, and the roots themselves.
func continuations(ctx context.Context, q engine.Queryer, latest float64, roots ...string) (out []chainNode, err error) {
	if len(roots) == 0 {
		return nil, nil
	}
	query := `WITH RECURSIVE chain(root, id) AS (
 SELECT id, id FROM sessions WHERE id IN (` + placeholders(len(roots)) + `)
 UNION SELECT chain.root, c.id FROM chain
  JOIN sessions p ON p.id = chain.id JOIN sessions c ON c.parent_session_id = p.id AND c.id <> p.id
  WHERE ` + continuationSQL + `)
SELECT chain.root, c.id, COALESCE(c.parent_session_id, ''), c.started_at, c.ended_at IS NOT NULL, ` + lastActiveSQL + `, ` + hasMessagesSQL + `
 FROM chain JOIN sessions c ON c.id = chain.id`
	err = eachRow(ctx, q, func(r engine.Rows) error {
		var n chainNode
		err := r.Scan(&n.root, &n.id, &n.parent, startColumn{&n.started}, &n.ended, activeColumn{&n.active, latest}, &n.full)
		out = append(out, n)
		return err
	}, query, append(anys(roots), latest)...)
	return out, err
}

func idsOf(nodes []chainNode) []string {
	ids := make([]string, len(nodes))
	for i, n := range nodes {
		ids[i] = n.id
	}
	return ids
}

// better reports whether the chain goes on with a rather than with b: the one
// with messages, then the one that is not ended, then the most recent activity,
// then the latest start. Ids break ties.
func (a branchEnd) better(b branchEnd) bool {
	switch {
	case a.hasMessages != b.hasMessages:
		return a.hasMessages
	case a.alive != b.alive:
		return a.alive
	case a.active != b.active:
		return a.active > b.active
	case a.started != b.started:
		return a.started > b.started
	}
	return a.id > b.id
}

// branchEnd sums up one continuation and all that continues it.
type branchEnd struct {
	id          string
	started     float64
	hasMessages bool
	alive       bool // a session with messages that has not ended
	active      float64
}

// tipPath returns the way from root to the tip of its chain, both included.
func tipPath(root string, nodes []chainNode) (path []chainNode) {
	at := map[string]int{}
	children := map[string][]int{}
	for i, n := range nodes {
		at[n.id] = i
		if n.id != root {
			children[n.parent] = append(children[n.parent], i)
		}
	}
	i, ok := at[root]
	if !ok {
		return nil
	}
	ends := endsBelow(i, nodes, children)
	for {
		path = append(path, nodes[i])
		below := children[nodes[i].id]
		if len(below) == 0 {
			return path
		}
		i = below[0]
		for _, c := range below[1:] {
			if ends[c].better(ends[i]) {
				i = c
			}
		}
	}
}

// endsBelow computes the branchEnd of every node below top, leaves first.
func endsBelow(top int, nodes []chainNode, children map[string][]int) map[int]branchEnd {
	order := []int{top}
	for k := 0; k < len(order); k++ {
		order = append(order, children[nodes[order[k]].id]...)
	}
	ends := make(map[int]branchEnd, len(order))
	for k := len(order) - 1; k >= 0; k-- {
		n := nodes[order[k]]
		e := branchEnd{id: n.id, started: n.started}
		if n.full {
			e.hasMessages, e.alive, e.active = true, !n.ended, n.active
		}
		for _, c := range children[n.id] {
			e.hasMessages = e.hasMessages || ends[c].hasMessages
			e.alive = e.alive || ends[c].alive
			if ends[c].active > e.active {
				e.active = ends[c].active
			}
		}
		ends[order[k]] = e
	}
	return ends
}

// CompressionTip follows compression continuations from a session to the live
// end. Where a chain forked, it goes on with the fork that has messages, is not
// ended, and was active last. A session that was not compressed is its own tip;
// so is an unknown id.
func (db *DB) CompressionTip(ctx context.Context, id string) (tip string, err error) {
	defer wrap(&err, "compression tip of %s", id)
	path, err := db.pathToTip(ctx, id)
	if err != nil || len(path) == 0 {
		return id, err
	}
	return path[len(path)-1].id, nil
}

// ResumeSessionID returns the session to go on with: the tip of the chain, or
// the last one before it that has messages; the id itself if none has.
func (db *DB) ResumeSessionID(ctx context.Context, id string) (_ string, err error) {
	defer wrap(&err, "resume %s", id)
	path, err := db.pathToTip(ctx, id)
	for i := len(path) - 1; i >= 0; i-- {
		if path[i].full {
			return path[i].id, nil
		}
	}
	return id, err
}

func (db *DB) pathToTip(ctx context.Context, id string) (path []chainNode, err error) {
	err = db.readPast(ctx, func(q engine.Queryer) error {
		nodes, err := continuations(ctx, q, db.latest(), id)
		path = tipPath(id, nodes)
		return err
	})
	return path, err
}
