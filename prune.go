package sessiondb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// PruneFilter says what is old. Source narrows to conversations whose first
// session has it, Tags to those that have all of them; OlderThan is measured from the last activity, 0 means 90
// days.
type PruneFilter struct {
	OlderThan time.Duration
	Source    string
	Tags      []string
}

const defaultRetention = 90 * 24 * time.Hour

// One transaction of a prune deletes so many conversations and messages, so
// that other writers get their turn in between.
const (
	pruneConversations = 100
	pruneMessages      = 300
)

// Prune deletes ended conversations whose last activity, the newest message or
// else the start, is older than the filter says. A compression chain is judged
// as a whole: it is as old as its newest activity, has ended if its tip has,
// and goes or stays as one. What never ended stays and is counted. Branches
// and delegates are conversations of their own here; those that stay are
// orphaned when their parent goes.
//
// It works oldest first in short transactions, each of which judges again what
// it deletes. What rows of another program refer to stays and is reported. An
// error, or the end of ctx, stops it in between: the report then tells what was
// deleted until then. Keys of appends ([Once]) that are over a week old are
// forgotten too.
func (db *DB) Prune(ctx context.Context, f PruneFilter, o DeleteOptions) (r DeleteReport, err error) {
	defer wrap(&err, "prune")
	if f.OlderThan < 0 {
		return r, fmt.Errorf("%w: older than %v", ErrInvalid, f.OlderThan)
	}
	cutoff := epoch(db.now().Add(-cmp.Or(f.OlderThan, defaultRetention)))
	o.Only = false
	roots, err := db.oldConversations(ctx, cutoff, f)
	if err != nil {
		return r, err
	}
	s := db.newSweep(ctx, o, &r)
	defer s.close(ctx)
	budget := int64(pruneMessages)
	if o.DryRun {
		budget = math.MaxInt64 // nobody waits for a reader
	}
	err = s.run(ctx, roots, func(q engine.Queryer, roots []string) (choice, error) {
		return db.judge(ctx, q, roots, cutoff, budget)
	})
	if err == nil && !o.DryRun {
		err = db.forgetKeys(ctx)
	}
	return r, err
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
func (s *sweep) close(ctx context.Context) {
	if s.o.Trash && !s.o.DryRun && len(s.deleted) > 0 {
		s.db.expireTrash(ctx)
	}
	s.files.close()
	s.report.Orphaned = slices.DeleteFunc(s.report.Orphaned, func(id string) bool { return s.deleted[id] })
}

// choice is what goes of the conversations that one transaction looks at.
type choice struct {
	ids    []string
	looked int   // how many of them it got to
	open   int64 // sessions that never ended and so keep theirs
}

// run deletes what choose makes of roots, part by part.
func (s *sweep) run(ctx context.Context, roots []string, choose func(engine.Queryer, []string) (choice, error)) error {
	size := pruneConversations
	for done := 0; done < len(roots); {
		n, err := s.part(ctx, roots[done:min(done+size, len(roots))], choose)
		if err != nil {
			return err
		}
		size = min(2*n, pruneConversations) // no use to judge what there is no room for
		if done += n; s.o.Progress != nil {
			s.o.Progress(int64(done), int64(len(roots)))
		}
	}
	return nil
}

// part deletes in one transaction and returns how many roots are done. Where
// another program's rows forbid it, fewer are tried, until it is clear which
// one has to stay.
func (s *sweep) part(ctx context.Context, roots []string, choose func(engine.Queryer, []string) (choice, error)) (int, error) {
	var c choice
	err := s.take(ctx, func(q engine.Queryer) (_ []string, err error) {
		c, err = choose(q, roots)
		return c.ids, err
	})
	switch {
	case err == nil:
		s.report.SkippedOpen += c.open
		return c.looked, nil
	case !errors.Is(err, ErrReferenced):
		return 0, err
	case len(roots) == 1:
		s.report.Referenced = append(s.report.Referenced, roots[0])
		return 1, nil
	}
	return s.part(ctx, roots[:len(roots)/2], choose)
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

// oldConversations returns the first sessions of the chains without activity
// since the cutoff, oldest first.
func (db *DB) oldConversations(ctx context.Context, cutoff float64, f PruneFilter) (roots []string, err error) {
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
		if f.Source != "" {
			ids, err := queryStrings(ctx, q, `SELECT id FROM sessions WHERE source = ?`, f.Source)
			if err != nil {
				return err
			}
			roots = among(roots, ids)
		}
		if len(f.Tags) > 0 {
			ids, err := taggedSessions(ctx, q, f.Tags)
			if err != nil {
				return err
			}
			roots = among(roots, ids)
		}
		return nil
	})
	return roots, err
}

// among are those of a list that are in another one too.
func among(list, other []string) []string {
	in := make(map[string]bool, len(other))
	for _, id := range other {
		in[id] = true
	}
	return slices.DeleteFunc(list, func(id string) bool { return !in[id] })
}

// judge says which chains may go, until they have as many messages as the
// budget, or one has more.
func (db *DB) judge(ctx context.Context, q engine.Queryer, roots []string, cutoff float64, budget int64) (c choice, err error) {
	nodes, err := continuations(ctx, q, db.latest(), roots...)
	if err != nil {
		return c, err
	}
	chains := byRoot(nodes)
	used, err := db.odditiesSince(ctx, q, nodes, cutoff)
	if err != nil {
		return c, err
	}
	messages, err := countBySession(ctx, q, nodes)
	if err != nil {
		return c, err
	}
	for _, root := range roots {
		chain := chains[root]
		if !isOld(chain, used, cutoff) {
			c.looked++
			continue
		}
		if path := tipPath(root, chain); !path[len(path)-1].ended {
			c.looked++
			c.open += countOpen(chain)
			continue
		}
		for _, n := range chain {
			budget -= messages[n.id]
		}
		if budget < 0 && len(c.ids) > 0 {
			break
		}
		c.looked++
		for _, n := range chain {
			c.ids = append(c.ids, n.id)
		}
	}
	return c, nil
}

func countOpen(chain []chainNode) (n int64) {
	for _, c := range chain {
		if !c.ended {
			n++
		}
	}
	return n
}

// isOld reports whether a chain had no activity since the cutoff. A start that
// is no time tells nothing, and what tells nothing is not old.
func isOld(chain []chainNode, used map[string]bool, cutoff float64) bool {
	for _, c := range chain {
		if c.active == epoch(noTime) || c.active >= cutoff || used[c.id] {
			return false
		}
	}
	return len(chain) > 0
}

// odditiesSince returns the sessions that have a message whose time is text
// that tells a time since the cutoff, or no time at all.
func (db *DB) odditiesSince(ctx context.Context, q engine.Queryer, nodes []chainNode, cutoff float64) (map[string]bool, error) {
	used := map[string]bool{}
	latest := db.latest()
	err := eachIn(ctx, q, func(r engine.Rows) error {
		var id string
		var t time.Time
		err := r.Scan(&id, timeColumn{"", &t, new(odd)})
		if at := epoch(t); at >= cutoff && at <= latest || t.IsZero() || at > 1e11 {
			used[id] = true
		}
		return err
	}, `SELECT session_id, timestamp FROM messages WHERE timestamp > 1e11 AND session_id IN`, idsOf(nodes))
	return used, err
}

func countBySession(ctx context.Context, q engine.Queryer, nodes []chainNode) (map[string]int64, error) {
	messages := map[string]int64{}
	err := eachIn(ctx, q, func(r engine.Rows) error {
		var id string
		var n int64
		err := r.Scan(&id, &n)
		messages[id] = n
		return err
	}, `SELECT c.id, (SELECT COUNT(*) FROM messages WHERE session_id = c.id) FROM sessions c WHERE c.id IN`, idsOf(nodes))
	return messages, err
}
