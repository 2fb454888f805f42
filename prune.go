package sessiondb

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// PruneFilter says what is old. Source narrows to conversations whose first
// session has it; OlderThan is measured from the last activity, 0 means 90
// days.
type PruneFilter struct {
	OlderThan time.Duration
	Source    string
}

const defaultRetention = 90 * 24 * time.Hour

// One transaction of a prune deletes so many conversations and messages, so
// that other writers get their turn in between.
const (
	pruneConversations = 100
	pruneMessages      = 1000
)

// Prune deletes ended conversations whose last activity, the newest message or
// else the start, is older than the filter says. A compression chain is judged
// as a whole: it is as old as its newest activity, has ended if its tip has,
// and goes or stays as one. What never ended stays and is counted. Branches
// and delegates are conversations of their own here; those that stay are
// orphaned when their parent goes.
//
// It works oldest first in short transactions, each of which judges again what
// it deletes. An error, or the end of ctx, stops it in between: the report then
// tells what was deleted until then.
func (db *DB) Prune(ctx context.Context, f PruneFilter, o DeleteOptions) (r DeleteReport, err error) {
	defer wrap(&err, "prune")
	if f.OlderThan < 0 {
		return r, fmt.Errorf("%w: older than %v", ErrInvalid, f.OlderThan)
	}
	cutoff := epoch(db.now().Add(-cmp.Or(f.OlderThan, defaultRetention)))
	o.Only = false
	roots, err := db.oldConversations(ctx, cutoff, f.Source)
	if err != nil {
		return r, err
	}
	s := db.newSweep(ctx, o, &r)
	defer s.close()
	for done := 0; done < len(roots); {
		n, err := s.prune(ctx, roots[done:], cutoff)
		if err != nil {
			return r, err
		}
		done += n
		s.progress(done, len(roots))
	}
	return r, nil
}

// sweep is a deletion in several transactions.
type sweep struct {
	db      *DB
	o       DeleteOptions
	files   *sessionFiles
	deleted map[string]bool
	report  *DeleteReport
}

func (db *DB) newSweep(ctx context.Context, o DeleteOptions, r *DeleteReport) *sweep {
	files, err := openSessionFiles(o.SessionsDir, o.DryRun)
	if err != nil {
		r.FileErrors = append(r.FileErrors, err.Error())
	}
	return &sweep{db: db, o: o, files: files, deleted: map[string]bool{}, report: r}
}

// close leaves out of the report the orphans that were deleted later.
func (s *sweep) close() {
	s.files.close()
	s.report.Orphaned = slices.DeleteFunc(s.report.Orphaned, func(id string) bool { return s.deleted[id] })
}

func (s *sweep) progress(done, total int) {
	if s.o.Progress != nil {
		s.o.Progress(int64(done), int64(total))
	}
}

// take deletes in one transaction what choose returns, and then the files.
func (s *sweep) take(ctx context.Context, choose func(engine.Queryer) ([]string, error)) error {
	d, err := s.db.remove(ctx, s.o, choose)
	if err != nil {
		return err
	}
	for _, id := range d.ids {
		s.deleted[id] = true
	}
	s.report.add(d)
	// The rows are gone: their files go too, even if ctx ends now.
	names, problems := s.files.remove(context.WithoutCancel(ctx), s.db, d.ids)
	s.report.Files = append(s.report.Files, names...)
	s.report.FileErrors = append(s.report.FileErrors, problems...)
	return nil
}

// prune deletes the first of roots that are still old and returns how many it
// looked at.
func (s *sweep) prune(ctx context.Context, roots []string, cutoff float64) (looked int, err error) {
	var open int64
	err = s.take(ctx, func(q engine.Queryer) (ids []string, err error) {
		ids, looked, open, err = s.db.judge(ctx, q, roots[:min(len(roots), pruneConversations)], cutoff)
		return ids, err
	})
	if err == nil {
		s.report.SkippedOpen += open
	}
	return looked, err
}

// oldConversations returns the first sessions of the chains without activity
// since the cutoff, oldest first.
func (db *DB) oldConversations(ctx context.Context, cutoff float64, source string) (roots []string, err error) {
	err = db.read(ctx, func(q engine.Queryer) error {
		all, err := activityOfAll(ctx, q, db.latest(), true)
		if err != nil {
			return err
		}
		liftActivity(all)
		roots = nil
		for id, s := range all {
			if s.active < cutoff && s.first {
				roots = append(roots, id)
			}
		}
		slices.SortFunc(roots, func(a, b string) int {
			return cmp.Or(cmp.Compare(all[a].active, all[b].active), cmp.Compare(a, b))
		})
		if source == "" {
			return nil
		}
		ids, err := queryStrings(ctx, q, `SELECT id FROM sessions WHERE source = ?`, source)
		of := map[string]bool{}
		for _, id := range ids {
			of[id] = true
		}
		roots = slices.DeleteFunc(roots, func(id string) bool { return !of[id] })
		return err
	})
	return roots, err
}

// judge returns the sessions of the chains that may go, until a transaction has
// enough; how many chains it looked at; and how many sessions keep an old chain
// because they never ended.
func (db *DB) judge(ctx context.Context, q engine.Queryer, roots []string, cutoff float64) (ids []string, looked int, open int64, err error) {
	nodes, err := continuations(ctx, q, db.latest(), roots...)
	if err != nil {
		return nil, 0, 0, err
	}
	chains := byRoot(nodes)
	var messages int64
	for _, root := range roots {
		chain := chains[root]
		old, n, err := db.isOld(ctx, q, chain, cutoff)
		if err != nil {
			return nil, 0, 0, err
		}
		if messages += n; old && looked > 0 && messages > pruneMessages {
			break
		}
		looked++
		if !old {
			continue
		}
		if path := tipPath(root, chain); !path[len(path)-1].ended {
			open += countOpen(chain)
			continue
		}
		for _, c := range chain {
			ids = append(ids, c.id)
		}
	}
	return ids, looked, open, nil
}

func countOpen(chain []chainNode) (n int64) {
	for _, c := range chain {
		if !c.ended {
			n++
		}
	}
	return n
}

// isOld reports whether a chain had no activity since the cutoff, and how many
// messages it has. A start that is no time tells nothing, and what tells
// nothing is not old. A message whose time is text counts by what it says.
func (db *DB) isOld(ctx context.Context, q engine.Queryer, chain []chainNode, cutoff float64) (old bool, messages int64, err error) {
	ids := make([]string, len(chain))
	for i, c := range chain {
		ids[i] = c.id
		if c.active == epoch(noTime) || c.active >= cutoff {
			return false, 0, nil
		}
	}
	latest := db.latest()
	old = len(chain) > 0
	err = eachIn(ctx, q, func(r engine.Rows) error {
		var t time.Time
		err := r.Scan(timeColumn{"", &t, new(odd)})
		if at := epoch(t); at >= cutoff && at <= latest {
			old = false
		}
		return err
	}, `SELECT timestamp FROM messages WHERE NOT (timestamp <= 1e11) AND session_id IN`, ids)
	if err != nil || !old {
		return false, 0, err
	}
	err = eachIn(ctx, q, func(r engine.Rows) error {
		var n int64
		err := r.Scan(&n)
		messages += n
		return err
	}, `SELECT COUNT(*) FROM messages WHERE session_id IN`, ids)
	return old, messages, err
}
