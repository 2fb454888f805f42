package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// Compact implements [engine.Engine]. It merges the segments of the full-text
// indexes, which deleting leaves behind, makes what is missing of our own, gives
// free pages back and shortens the log. Every step is a transaction of its own;
// others write in between.
func (s *store) Compact(ctx context.Context, o engine.CompactOptions) (done engine.Compacted, err error) {
	if err := s.refused(); err != nil {
		return done, err
	}
	c := &compaction{store: s, o: o, done: &done}
	steps := []func(context.Context) error{c.hasRoom, c.layOut, c.soundIndexes, c.mergeIndexes, c.addIndex, c.vacuum, c.shorten}
	if o.IfPays {
		pays, err := c.pays(ctx)
		if err != nil {
			return done, err
		}
		steps = []func(context.Context) error{c.mergeIndexes, c.addIndex, c.vacuum, c.shorten}
		if !pays {
			steps = steps[3:]
		}
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return done, s.locate(err)
		}
	}
	return done, nil
}

// compaction is one run of Compact.
type compaction struct {
	*store
	o    engine.CompactOptions
	done *engine.Compacted
}

func (c *compaction) report(what string, done, total int64) {
	if c.o.Progress != nil {
		c.o.Progress(what, done, total)
	}
}

// step runs fn while none of our processes writes.
func (s *store) step(ctx context.Context, fn func() error) error {
	return s.writer.alone(ctx, func() error {
		release, err := s.queue.acquire(ctx)
		if err != nil {
			return err
		}
		defer release()
		return s.retry(ctx, func() error {
			if err := s.ident.check(); err != nil {
				return err
			}
			if err := s.haveWriter(ctx); err != nil {
				return err
			}
			return fn()
		})
	})
}

// inTx runs fn in a write transaction of the engine's own.
func (s *store) inTx(ctx context.Context, fn func() error) (err error) {
	if err := s.begin(ctx); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			s.rollback()
		}
	}()
	if err := fn(); err != nil {
		return err
	}
	if err := s.commit(); err != nil {
		return err
	}
	s.cookie, err = s.readCookie()
	return err
}

// layOut moves the full-text indexes to the layout that is asked for.
func (c *compaction) layOut(ctx context.Context) error {
	to := inline
	switch c.o.Layout {
	case "":
		return nil
	case engine.Inline:
	case engine.External:
		to = external
	default:
		return fmt.Errorf("%w: there is no layout %q", sessiondb.ErrInvalid, c.o.Layout)
	}
	return c.step(ctx, func() error {
		return c.inTx(ctx, func() error {
			m, err := c.migrating(ctx, c.w)
			if err != nil || m.layout == to {
				return err
			}
			if names := m.from.strangers(); len(names) > 0 && !to.keepsText {
				return fmt.Errorf("%w: %s of another program use the full-text indexes and may need their copy of the text",
					sessiondb.ErrReferenced, strings.Join(names, ", "))
			}
			m.report = c.report
			c.done.Rebuilt = true
			return m.relay(ctx, to)
		})
	})
}

// addIndex makes the index that only our own stores have.
func (c *compaction) addIndex(ctx context.Context) error {
	return c.step(ctx, func() error { return c.createActivityIndex(ctx) })
}

func (s *store) createActivityIndex(ctx context.Context) error {
	if s.activity.Load() {
		return nil
	}
	err := s.inTx(ctx, func() error { return s.w.script(ctx, createIfMissing(activityIndex)) })
	if err == nil {
		s.activity.Store(true)
		s.wantActivity = false
	}
	return err
}

// smallStore is how many messages a store of other programs may hold for the
// activity index to be made on the way. It takes about as many milliseconds as
// there are hundreds.
const smallStore = 100_000

// offerActivityIndex makes that index before the first write to a small store
// that another program made. Listing works without, so nobody waits for it.
func (s *store) offerActivityIndex() {
	if !s.wantActivity || s.w == nil {
		return
	}
	s.wantActivity = false
	ctx := context.Background()
	var newest int64
	err := s.w.queryRow(ctx, []any{&newest}, "SELECT COALESCE(MAX(id), 0) FROM messages")
	if err == nil && newest <= smallStore {
		err = s.createActivityIndex(ctx)
	}
	if err != nil {
		s.log.Debug("activity index not made", "path", s.path, "cause", err)
	}
}

// stale says that messages were stored past the full-text index.
func (s *store) stale() (bool, error) {
	err := s.w.queryRow(context.Background(), []any{new(string)}, "SELECT key FROM state_meta WHERE key = ?", staleKey)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}
