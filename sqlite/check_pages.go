package sqlite

import (
	"context"
	"slices"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// pages looks at every page, and lets each full-text index look at itself: that
// is part of what SQLite does here, and writes nothing.
func (k *checker) pages(ctx context.Context, c *conn) error {
	d, err := newDamages(ctx, c)
	if err != nil {
		return err
	}
	k.looked = d
	pragma := "quick_check"
	if k.full {
		pragma = "integrity_check"
	}
	return firstError(d.everything(ctx, c, pragma), d.leaves(ctx, c))
}

// weigh tells what is wrong with the pages.
func (k *checker) weigh(ctx context.Context) error {
	if k.looked == nil {
		return nil
	}
	faults, older, err := k.looked.judged(k.olderIndex(ctx))
	for _, index := range older {
		k.add("index_older_sqlite", "full-text index %s was filled by a release of SQLite before 3.46", index)
	}
	for _, f := range faults {
		k.faults = append(k.faults, f)
		if f.code == "page_waste" && lost(faults) != nil {
			continue // no compact works there, and recover leaves such pages behind
		}
		k.found = append(k.found, k.described(f))
	}
	return err
}

// judged are the faults that count. An index that another release of SQLite
// filled is not damaged: those are apart.
func (d *damages) judged(isOlder func(index string) (bool, error)) (faults []*fault, older []string, err error) {
	for _, f := range d.settled() {
		is := false
		if f.code == "index_damage" && !f.torn && !f.own && slices.Contains(indexes, f.name) && err == nil {
			is, err = isOlder(f.name)
		}
		if is {
			older = append(older, f.name)
		} else {
			faults = append(faults, f)
		}
	}
	return faults, older, err
}

// olderIndex is fromOlderSQLite. Each index has a snapshot of its own for that:
// SQLite writes nothing more in one that met damage, not even temporary tables.
func (s *store) olderIndex(ctx context.Context) func(index string) (bool, error) {
	return func(index string) (older bool, err error) {
		err = s.Read(ctx, func(q engine.Queryer) (err error) {
			c := q.(*readTx).c
			sh, err := readShape(ctx, c)
			if err == nil {
				older, err = fromOlderSQLite(ctx, c, sh, index)
			}
			return err
		})
		return older, err
	}
}

// described is a fault as a finding. An index can't be made anew of a table that
// has two rows of one key: only into another file, without it.
func (k *checker) described(f *fault) engine.Finding {
	out := k.looked.finding(f)
	if f.code == "btree_index" && f.twice {
		path := sessiondb.ShellQuote(k.path)
		out.Fix = "sessiondb recover " + path + " " + path + ".recovered"
	}
	return out
}

// indexDamaged says that a full-text index is damaged, so that nothing more can
// be said of it.
func (k *checker) indexDamaged(index string) bool {
	return slices.ContainsFunc(k.faults, func(f *fault) bool { return f.code == "index_damage" && f.name == index })
}

// awaits says that what met damage needs an index that is damaged, and nothing
// else is.
func (k *checker) awaits() bool { return len(k.faults) > 0 && lost(k.faults) == nil }
