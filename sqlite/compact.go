package sqlite

import (
	"context"
	"database/sql"
	"errors"
)

// smallStore is how many messages a store of other programs may hold for the
// activity index to be made on the way. It takes about as many milliseconds as
// there are hundreds.
const smallStore = 100_000

// Compact implements [engine.Engine]. It merges the segments of the full-text
// index, which deleting leaves behind, makes what is missing of our own, gives
// free pages back and empties the log. It needs about as much free space as
// the store takes.
func (s *store) Compact(ctx context.Context) error {
	if err := s.refused(); err != nil {
		return err
	}
	return s.writer.alone(ctx, func() error {
		release, err := s.queue.acquire(ctx)
		if err != nil {
			return err
		}
		defer release()
		return s.compact(ctx)
	})
}

func (s *store) compact(ctx context.Context) error {
	for _, step := range []func(context.Context) error{s.mergeIndexes, s.createActivityIndex, s.vacuum, s.truncateLog} {
		if err := s.ident.check(); err != nil {
			return err
		}
		if err := s.retry(ctx, func() error { return step(ctx) }); err != nil {
			return err
		}
	}
	return nil
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

// mergeIndexes optimizes the full-text tables, and rebuilds them when messages
// were stored past them or they can't be merged.
func (s *store) mergeIndexes(ctx context.Context) error {
	for _, index := range indexes {
		err := s.inTx(ctx, func() error {
			stale, err := s.stale()
			if err != nil || stale {
				return errors.Join(err, errStale)
			}
			_, err = s.w.exec(ctx, "INSERT INTO "+index+" ("+index+") VALUES ('optimize')")
			return err
		})
		switch {
		case errors.Is(err, errStale) || err != nil && indexSuspect(err):
			return s.inTx(ctx, func() error { return s.rebuildIndexes(ctx) })
		case err != nil:
			return err
		}
	}
	return nil
}

var errStale = errors.New("full-text index is stale")

// stale says that messages were stored past the full-text index.
func (s *store) stale() (bool, error) {
	err := s.w.queryRow(context.Background(), []any{new(string)}, "SELECT key FROM state_meta WHERE key = ?", staleKey)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

func (s *store) rebuildIndexes(ctx context.Context) error {
	m := &migration{store: s, c: s.w}
	for _, index := range indexes {
		if err := m.rebuild(ctx, index); err != nil {
			return err
		}
	}
	_, err := s.w.exec(ctx, "DELETE FROM state_meta WHERE key = ?", staleKey)
	return err
}

// createActivityIndex makes the index that only our own stores have.
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

// offerActivityIndex makes that index before the first write to a small store
// that another program made. Listing works without, so nobody waits for it.
func (s *store) offerActivityIndex() {
	if !s.wantActivity {
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

// vacuum rewrites the database without its free pages. The copy goes to a
// temporary file, never to memory.
func (s *store) vacuum(ctx context.Context) error {
	_, err := s.w.exec(ctx, "VACUUM")
	return err
}

func (s *store) truncateLog(ctx context.Context) error {
	return s.w.queryRow(ctx, []any{new(any), new(any), new(any)}, "PRAGMA wal_checkpoint(TRUNCATE)")
}
