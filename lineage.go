package sessiondb

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// Kind tells how a session came from its parent.
type Kind string

// The kinds of sessions.
const (
	Root         Kind = "root"
	Continuation Kind = "continuation" // the parent was compressed, this goes on
	Branch       Kind = "branch"
	Delegate     Kind = "delegate" // a subagent's session
)

// The edges of a lineage, for a child c and its parent p. A clock may be set
// back between the end of the parent and the start of the child: a few seconds
// are allowed, and beyond that the ids of the messages, which never go back,
// tell that the child went on where the parent stopped, although it seems to
// have started before. A delegate that outlives a silent parent does not.
const (
	notDelegateSQL = `c.source NOT IN ('subagent', 'tool', 'delegate')`

	startedAfterSQL = `(p.ended_at IS NULL OR c.started_at >= p.ended_at - 5)`

	goesOnSQL = `(c.source = p.source AND c.started_at < (SELECT MAX(timestamp) FROM messages WHERE session_id = p.id)
  AND (SELECT MIN(id) FROM messages WHERE session_id = c.id)
  > (SELECT MAX(id) FROM messages WHERE session_id = p.id))`

	continuationSQL = `(p.end_reason = 'compression' AND ` + notDelegateSQL + ` AND (` + startedAfterSQL + ` OR ` + goesOnSQL + `))`

	branchSQL = `(p.end_reason = 'branched' AND ` + notDelegateSQL + ` AND ` + startedAfterSQL + `)`

	kindSQL = `CASE WHEN p.id IS NULL THEN 'root' WHEN ` + continuationSQL + ` THEN 'continuation'
 WHEN ` + branchSQL + ` THEN 'branch' ELSE 'delegate' END`

	// withParentSQL joins each session c with its parent p. A session that is
	// its own parent has none.
	withParentSQL = ` FROM sessions c LEFT JOIN sessions p ON p.id = c.parent_session_id AND p.id <> c.id`
)

// LineageNode is one session of a lineage.
type LineageNode struct {
	Session
	Kind  Kind
	Depth int
}

// parentOf returns the id of a session's parent, empty if it has none, and how
// the session came from it.
func parentOf(ctx context.Context, q engine.Queryer, id string) (parent string, kind Kind, err error) {
	var p *string
	err = q.QueryRow(ctx, `SELECT p.id, `+kindSQL+withParentSQL+` WHERE c.id = ?`, id).Scan(&p, &kind)
	if errors.Is(err, sql.ErrNoRows) {
		return "", Root, nil
	}
	if p != nil {
		parent = *p
	}
	return parent, kind, err
}

// climb goes up from a session while follow accepts the parent and the edge to
// it, and returns the ids passed, the session first, and the kind of the last. It ends
// in a cycle too: then the smallest id of the cycle is the last, so that every
// member finds the same.
func climb(ctx context.Context, q engine.Queryer, id string, follow func(parent string, k Kind) bool) (path []string, top Kind, err error) {
	seen := map[string]int{}
	for {
		if at, ok := seen[id]; ok {
			return append(path, smallest(path[at:])), Root, nil
		}
		seen[id] = len(path)
		path = append(path, id)
		parent, kind, err := parentOf(ctx, q, id)
		if err != nil || parent == "" || !follow(parent, kind) {
			return path, kind, err
		}
		id = parent
	}
}

func smallest(ids []string) string {
	least := ids[0]
	for _, id := range ids {
		if id < least {
			least = id
		}
	}
	return least
}

func isContinuation(_ string, k Kind) bool { return k == Continuation }

func anyKind(string, Kind) bool { return true }

// chainRoot returns the first session of the compression chain that a session
// belongs to, and how that one came from its own parent.
func chainRoot(ctx context.Context, q engine.Queryer, id string) (string, Kind, error) {
	path, kind, err := climb(ctx, q, id, isContinuation)
	if err != nil {
		return "", "", err
	}
	return path[len(path)-1], kind, nil
}

// Chain returns the ids of all sessions that are one conversation with a session, as
// lists show them: those that were compressed and what continues them, each behind
// the one that it continues. A session that is alone is its own chain.
func (db *DB) Chain(ctx context.Context, id string) (ids []string, err error) {
	defer wrap(&err, "chain of %s", id)
	err = db.readPast(ctx, func(q engine.Queryer) error {
		root, _, err := chainRoot(ctx, q, id)
		if err != nil {
			return err
		}
		nodes, err := continuations(ctx, q, 0, root)
		ids = downwards(root, nodes)
		return err
	})
	return ids, err
}

// downwards are the ids of a chain, each behind the one that it continues.
func downwards(root string, nodes []chainNode) (ids []string) {
	slices.SortFunc(nodes, func(a, b chainNode) int {
		return cmp.Or(cmp.Compare(a.started, b.started), cmp.Compare(a.id, b.id))
	})
	below := map[string][]string{}
	for _, n := range nodes {
		if n.id == root {
			ids = []string{root}
		} else {
			below[n.parent] = append(below[n.parent], n.id)
		}
	}
	for i := 0; i < len(ids); i++ {
		ids = append(ids, below[ids[i]]...)
	}
	return ids
}

// chainIDs returns every session of the compression chain that a session
// belongs to, forks included: what a list shows as one conversation.
func chainIDs(ctx context.Context, q engine.Queryer, id string) ([]string, error) {
	root, _, err := chainRoot(ctx, q, id)
	if err != nil {
		return nil, err
	}
	nodes, err := continuations(ctx, q, 0, root)
	if err != nil {
		return nil, err
	}
	return idsOf(nodes), nil
}

// Ancestors returns a session's chain of parents, root first, without itself.
func (db *DB) Ancestors(ctx context.Context, id string) (out []Session, err error) {
	defer wrap(&err, "ancestors of %s", id)
	err = db.readPast(ctx, func(q engine.Queryer) error {
		out, err = ancestors(ctx, q, id)
		return err
	})
	return out, err
}

func ancestors(ctx context.Context, q engine.Queryer, id string) ([]Session, error) {
	seen := map[string]bool{id: true}
	var up []Session
	for {
		parent, _, err := originOf(ctx, q, id)
		if err != nil {
			return nil, err
		}
		if parent == "" || seen[parent] {
			break
		}
		s, err := sessionByID(ctx, q, parent)
		if err != nil {
			return nil, err
		}
		seen[parent] = true
		up = append(up, s)
		id = parent
	}
	for i, j := 0, len(up)-1; i < j; i, j = i+1, j-1 {
		up[i], up[j] = up[j], up[i]
	}
	return up, nil
}

// Descendants returns everything below a session, depth first, without itself.
func (db *DB) Descendants(ctx context.Context, id string) (out []LineageNode, err error) {
	defer wrap(&err, "descendants of %s", id)
	err = db.readPast(ctx, func(q engine.Queryer) error {
		out, err = subtree(ctx, q, id)
		return err
	})
	if len(out) > 0 {
		out = out[1:]
	}
	return out, err
}

// Lineage returns the whole tree a session belongs to, root first, depth
// first. Cycles in damaged data end the walk. Unknown is [ErrNotFound].
func (db *DB) Lineage(ctx context.Context, id string) (out []LineageNode, err error) {
	defer wrap(&err, "lineage of %s", id)
	err = db.readPast(ctx, func(q engine.Queryer) error {
		top, err := treeTop(ctx, q, id)
		if err != nil {
			return err
		}
		out, err = subtree(ctx, q, top)
		if err == nil && len(out) == 0 {
			err = ErrNotFound
		}
		return err
	})
	return out, err
}

// treeTop returns the first session of the tree that a session belongs to.
func treeTop(ctx context.Context, q engine.Queryer, id string) (string, error) {
	for seen := map[string]bool{}; ; {
		path, _, err := climb(ctx, q, id, anyKind)
		if err != nil {
			return "", err
		}
		id = path[len(path)-1]
		from, _, err := originOf(ctx, q, id)
		if err != nil || from == "" || seen[id] {
			return id, err
		}
		seen[id] = true
		id = from
	}
}

var subtreeSQL = `WITH RECURSIVE tree(id) AS (
 SELECT id FROM sessions WHERE id = ?
 UNION SELECT c.id FROM tree JOIN sessions c ON c.parent_session_id = tree.id)
SELECT ` + selectColumns("c", sessionColumns) + `, ` + kindSQL + withParentSQL + ` JOIN tree ON tree.id = c.id
 ORDER BY c.started_at, c.id`

// subtree returns a session and everything below it, depth first; siblings by
// start, and after them the forks that only the store's own table tells of.
func subtree(ctx context.Context, q engine.Queryer, root string) ([]LineageNode, error) {
	children := map[string][]LineageNode{}
	top, ids, err := branchOut(ctx, q, root, children)
	if err != nil || top == nil {
		return nil, err
	}
	for seen := map[string]bool{root: true}; len(ids) > 0; {
		forks, err := forksOf(ctx, q, ids)
		if err != nil {
			return nil, err
		}
		ids = nil
		for _, parent := range slices.Sorted(maps.Keys(forks)) {
			for _, id := range forks[parent] {
				if seen[id] {
					continue
				}
				seen[id] = true
				fork, more, err := branchOut(ctx, q, id, children)
				if err != nil {
					return nil, err
				}
				fork.Kind, fork.ParentID = Branch, &parent
				children[parent] = append(children[parent], *fork)
				ids = append(ids, more...)
			}
		}
	}
	return depthFirst(*top, children), nil
}

// branchOut reads a session and what its rows say is below it. It adds children
// and returns the ids.
func branchOut(ctx context.Context, q engine.Queryer, root string, children map[string][]LineageNode) (top *LineageNode, ids []string, err error) {
	err = eachRow(ctx, q, func(r engine.Rows) error {
		var n LineageNode
		if err := r.Scan(append(n.scanTargets(), &n.Kind)...); err != nil {
			return err
		}
		ids = append(ids, n.ID)
		if n.ID == root {
			top = &n
		} else if n.ParentID != nil {
			children[*n.ParentID] = append(children[*n.ParentID], n)
		}
		return nil
	}, subtreeSQL, root)
	return top, ids, err
}

// depthFirst lays a tree out in the order it is read. It uses a stack of its
// own: a chain can be longer than is good for recursion.
func depthFirst(top LineageNode, children map[string][]LineageNode) (out []LineageNode) {
	stack := []LineageNode{top}
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		out = append(out, n)
		below := children[n.ID]
		for i := len(below) - 1; i >= 0; i-- {
			below[i].Depth = n.Depth + 1
			stack = append(stack, below[i])
		}
	}
	return out
}
