package sqlite

import (
	"context"
	"errors"

	lib "modernc.org/sqlite/lib"
)

// staleKey in state_meta says that messages were stored past a damaged
// full-text index. Whoever rebuilds the index removes it.
const staleKey = "sessiondb_fts_stale"

// indexSuspect says that an error may come from a full-text index rather than
// from the tables. A damaged index also fails with the codes of a key that is
// taken twice; if it was one, the second attempt says so.
func indexSuspect(err error) bool {
	switch extendedCode(err) {
	case lib.SQLITE_ERROR, // a part of it is gone
		lib.SQLITE_CONSTRAINT, lib.SQLITE_CONSTRAINT_VTAB, lib.SQLITE_CONSTRAINT_PRIMARYKEY,
		lib.SQLITE_CONSTRAINT_ROWID, lib.SQLITE_CONSTRAINT_UNIQUE:
		return true
	}
	return primaryCode(err) == lib.SQLITE_CORRUPT
}

// runUnindexed does writes that the full-text index may have stopped again,
// past the index: a damaged index must not keep a message from being stored.
func (s *store) runUnindexed(jobs []*job) {
	for _, j := range jobs {
		if !j.unindex {
			continue
		}
		was := j.err
		err := s.retry(j.ctx, func() error { return s.runPastIndex(j) })
		if err != nil {
			j.err = was
			continue
		}
		s.log.Warn("the full-text index is damaged: a message was stored without it", "path", s.path, "cause", was)
	}
}

// runPastIndex runs one job while the triggers that fill the index are off,
// for this transaction alone.
func (s *store) runPastIndex(j *job) error {
	ctx := context.Background()
	return s.inTx(j.ctx, func() error {
		m, err := s.migrating(ctx, s.w)
		if err != nil {
			return err
		}
		for _, index := range indexes {
			if err := m.dropTriggers(ctx, index); err != nil {
				return err
			}
		}
		if err := s.runJob(j, false); err != nil {
			return err
		}
		if j.err != nil || j.panicked != nil {
			return errors.Join(j.err, errPanicked)
		}
		for _, index := range indexes {
			if err := m.createTriggers(ctx, index); err != nil {
				return err
			}
		}
		_, err = s.w.exec(ctx, "INSERT INTO state_meta (key, value) VALUES (?, '1') ON CONFLICT (key) DO NOTHING", staleKey)
		return err
	})
}

var errPanicked = errors.New("write past the index failed")
