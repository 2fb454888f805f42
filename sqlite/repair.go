package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// Repair implements [engine.Engine].
func (s *store) Repair(ctx context.Context, o engine.RepairOptions) error {
	if err := s.refused(); err != nil {
		return err
	}
	return s.locate(s.writer.alone(ctx, func() error {
		if err := s.migrate(ctx, s.w); err != nil {
			return err
		}
		k, err := s.diagnose(ctx, o.Full)
		if err != nil {
			return err
		}
		release, err := s.queue.acquire(ctx)
		if err != nil {
			return err
		}
		defer release()
		return (&mender{store: s, found: k, told: o.Done}).run(ctx)
	}))
}

// diagnose looks for what a repair mends, and refuses a store that lost more
// than an index.
func (s *store) diagnose(ctx context.Context, full bool) (*checker, error) {
	k := &checker{store: s, full: full}
	looks := []func(*checker, context.Context) error{
		inSnapshot((*checker).schema), inSnapshot((*checker).pages), (*checker).weigh,
		inSnapshot((*checker).indexRows), inSnapshot((*checker).indexTexts),
	}
	for _, look := range looks {
		if err := look(k, ctx); err != nil && !(errors.Is(err, sessiondb.ErrCorrupt) && k.awaits()) {
			return nil, err
		}
		if f := lost(k.faults); f != nil {
			return nil, fmt.Errorf("%w: %s", sessiondb.ErrCorrupt, k.looked.finding(f).What)
		}
	}
	if k.lostTexts != "" {
		return nil, fmt.Errorf("%w: %s", sessiondb.ErrCorrupt, k.lostTexts)
	}
	return k, nil
}

// mender mends what a checker found, a transaction a step.
type mender struct {
	*store
	found *checker
	told  func(engine.Repaired)
}

func (m *mender) did(code, format string, args ...any) {
	if m.told != nil {
		m.told(engine.Repaired{Code: code, What: fmt.Sprintf(format, args...)})
	}
}

func (m *mender) run(ctx context.Context) error {
	for _, step := range []func(context.Context) error{m.indexes, m.fulltext, m.foreignFulltext, m.unmark, m.log} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// tx runs fn in a transaction of its own, as often as it takes.
func (m *mender) tx(ctx context.Context, fn func() error) error {
	if err := m.ident.check(); err != nil {
		return err
	}
	return m.retry(ctx, func() error { return m.inTx(ctx, fn) })
}

// fulltext brings the full-text indexes up to date, or makes one anew that is
// damaged.
func (m *mender) fulltext(ctx context.Context) error {
	for _, index := range indexes {
		damaged := m.found.indexDamaged(index)
		if !damaged && !m.found.behind(index) {
			continue
		}
		// Only an index that keeps the text knows what to take out.
		anew := damaged || !m.found.shape.has(index+"_content")
		var err error
		if !anew {
			err = m.refresh(ctx, index)
		}
		if anew || indexSuspect(err) {
			err = m.rebuildOne(ctx, index)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// behind says that an index is not up to date.
func (k *checker) behind(index string) bool { return slices.Contains(k.stale, index) }

func (m *mender) rebuildOne(ctx context.Context, index string) error {
	torn := slices.ContainsFunc(m.found.faults, func(f *fault) bool { return f.torn && f.name == index })
	n, err := m.makeAnew(ctx, index, torn)
	if !torn && errors.Is(err, sessiondb.ErrCorrupt) {
		n, err = m.makeAnew(ctx, index, true)
	}
	if err == nil {
		m.did("index_damage", "made full-text index %s anew from %d messages", index, n)
	}
	return err
}

// makeAnew makes a full-text index anew, of n messages.
func (m *mender) makeAnew(ctx context.Context, index string, leavePages bool) (n int64, err error) {
	err = m.tx(ctx, func() error {
		mig, err := m.migrating(ctx, m.w)
		if err != nil {
			return err
		}
		mig.leavePages = leavePages
		if err := mig.rebuild(ctx, index); err != nil {
			return err
		}
		return m.w.queryRow(ctx, []any{&n}, "SELECT COUNT(*) FROM messages")
	})
	return n, err
}

// refresh gives an index the messages that it lacks, takes out those that are
// gone, and replaces text that is another.
func (m *mender) refresh(ctx context.Context, index string) error {
	var missing, extra, other int64
	err := m.tx(ctx, func() (err error) {
		if missing, extra, err = missedRows(ctx, m.w, index); err != nil {
			return err
		}
		other, err = m.w.exec(ctx, "DELETE FROM "+index+" WHERE rowid IN (SELECT m.id FROM messages m JOIN "+index+"_content i ON i.id = m.id WHERE"+otherText+")")
		if err != nil {
			return err
		}
		mig, err := m.migrating(ctx, m.w)
		if err != nil {
			return err
		}
		return mig.resync(ctx, index)
	})
	if err == nil {
		m.did("index_rows", "brought full-text index %s up to date: %d messages added, %d taken out, %d with another text", index, missing, extra, other)
	}
	return err
}

// unmark takes away the mark that the indexes are behind, once they are not.
func (m *mender) unmark(ctx context.Context) error {
	var n int64
	err := m.tx(ctx, func() (err error) {
		for _, index := range indexes {
			missing, extra, err := missedRows(ctx, m.w, index)
			if err != nil || missing+extra > 0 {
				return err
			}
		}
		n, err = m.w.exec(ctx, "DELETE FROM state_meta WHERE key = ?", staleKey)
		return err
	})
	if err == nil && n > 0 {
		m.did("index_stale", "took away the mark that the full-text indexes lack messages")
	}
	return err
}

// log empties a log that has grown.
func (m *mender) log(ctx context.Context) error {
	info, err := os.Stat(m.real + "-wal")
	if err != nil || info.Size() < largeWAL {
		return nil
	}
	err = m.w.queryRow(ctx, []any{new(any), new(any), new(any)}, "PRAGMA wal_checkpoint(TRUNCATE)")
	if isBusy(err) {
		return nil // a reader needs it; it starts over when that ends
	}
	if err == nil {
		m.did("wal_large", "emptied the write-ahead log of %d MiB", info.Size()>>20)
	}
	return err
}
