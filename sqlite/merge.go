package sqlite

import (
	"context"
	"errors"
)

// soundIndexes makes the full-text indexes anew if one is not what its texts
// say, be it damaged, or written by a release of SQLite that split text another
// way.
func (c *compaction) soundIndexes(ctx context.Context) error {
	if c.done.Rebuilt {
		return nil
	}
	wrong, older, err := c.mismatched(ctx)
	if err != nil || !wrong {
		return err
	}
	c.done.Rebuilt, err = c.reindex(ctx, c.report)
	c.done.Older = older
	return err
}

// mismatched says that one of the full-text indexes does not match the messages,
// and whether that is only since an older release of SQLite filled it.
func (c *compaction) mismatched(ctx context.Context) (wrong, older bool, err error) {
	older = true
	for _, index := range indexes {
		c.report("compare "+index+" with the messages", 0, 0)
		err := c.step(ctx, func() error { return c.inTx(ctx, func() error { return c.compare(ctx, index) }) })
		if err == nil {
			continue
		}
		if !errors.Is(err, errStale) && !indexSuspect(err) {
			return false, false, err
		}
		wrong = true
		if older = older && !errors.Is(err, errStale); older {
			if older, err = c.olderIndex(ctx)(index); err != nil {
				return false, false, err
			}
		}
	}
	return wrong, older, nil
}

// reindex makes the full-text indexes anew from the messages, in one
// transaction.
func (s *store) reindex(ctx context.Context, report func(what string, done, total int64)) (rebuilt bool, err error) {
	err = s.step(ctx, func() error {
		return s.inTx(ctx, func() error {
			m, err := s.migrating(ctx, s.w)
			if err != nil {
				return err
			}
			m.report = report
			return m.relay(ctx, m.layout)
		})
	})
	return err == nil, err
}

var errStale = errors.New("full-text index is stale")

// staleUnless is an error, or that of a stale index.
func staleUnless(fresh bool, err error) error {
	if err == nil && !fresh {
		return errStale
	}
	return err
}

// compare has SQLite compare a full-text index with its copy of the text, or
// with the messages where it has none, and compares such a copy with the
// messages. It writes nothing, but SQLite takes it for a write.
func (s *store) compare(ctx context.Context, index string) error {
	stale, err := s.stale()
	if err = staleUnless(!stale, err); err != nil {
		return err
	}
	sh, err := readShape(ctx, s.w)
	if err != nil {
		return err
	}
	if sh.layout().keepsText {
		differ, err := copyDiffers(ctx, s.w, index)
		if err = staleUnless(!differ, err); err != nil {
			return err
		}
	}
	_, err = s.w.exec(ctx, "INSERT INTO "+index+" ("+index+", rank) VALUES ('integrity-check', 1)")
	return err
}

// copyDiffers says whether the text that an index keeps is not that of the
// messages.
func copyDiffers(ctx context.Context, c *conn, index string) (differ bool, err error) {
	err = c.queryRow(ctx, []any{&differ}, "SELECT (SELECT COUNT(*) FROM messages) <> (SELECT COUNT(*) FROM "+index+"_content) OR EXISTS (SELECT 1 FROM messages m LEFT JOIN "+
		index+"_content i ON i.id = m.id WHERE"+otherText+")")
	return differ, err
}

// mergeStep is how many pages a transaction merges.
const mergeStep = 1000

// mergeIndexes merges the segments of each full-text index into one. What was
// deleted is gone from it then.
func (c *compaction) mergeIndexes(ctx context.Context) error {
	for _, index := range indexes {
		err := c.mergeIndex(ctx, index)
		if errors.Is(err, errStale) || err != nil && indexSuspect(err) {
			c.done.Rebuilt, err = c.reindex(ctx, c.report)
			return err
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *compaction) mergeIndex(ctx context.Context, index string) error {
	var leaves int64
	for n := int64(0); ; n++ {
		changed := false
		err := c.step(ctx, func() error {
			return c.inTx(ctx, func() (err error) {
				if n == 0 {
					leaves, err = c.leaves(ctx, index)
				}
				if err == nil {
					changed, err = c.merge(ctx, index, n == 0)
				}
				return err
			})
		})
		// Others may add segments all the time: at some point it is enough.
		if err != nil || !changed || n*mergeStep > 2*leaves+10*mergeStep {
			return err
		}
		c.report("merge "+index+", pages", min(n*mergeStep, leaves), leaves)
	}
}

// leaves is about how many pages an index has.
func (s *store) leaves(ctx context.Context, index string) (n int64, err error) {
	stale, err := s.stale()
	if err = staleUnless(!stale, err); err != nil {
		return 0, err
	}
	err = s.w.queryRow(ctx, []any{&n}, "SELECT COUNT(*) FROM "+index+"_idx")
	return n, err
}

// merge does a part of the work; changed is false when there is nothing left to
// do. The first call asks for one segment, further ones go on with that.
func (s *store) merge(ctx context.Context, index string, first bool) (changed bool, err error) {
	pages := mergeStep
	if first {
		pages = -mergeStep
	}
	var before, after int64
	if err := s.w.queryRow(ctx, []any{&before}, "SELECT total_changes()"); err != nil {
		return false, err
	}
	if _, err := s.w.exec(ctx, "INSERT INTO "+index+" ("+index+", rank) VALUES ('merge', ?)", pages); err != nil {
		return false, err
	}
	err = s.w.queryRow(ctx, []any{&after}, "SELECT total_changes()")
	return after-before >= 2, err
}
