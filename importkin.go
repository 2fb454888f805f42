package sessiondb

import (
	"cmp"
	"context"
	"slices"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// kin is a session of a transcript that may have come from another one, which may be
// imported later.
type kin struct {
	id, source string
	started    float64
	from       string // the session that it was copied from, if that is known
	told       bool   // by its file
	after      uint64 // else the message that it follows
	there      bool   // it was there before this import
}

// rank is lower for what is more certain.
func (k kin) rank() int {
	switch {
	case k.told:
		return 0
	case k.from == "":
		return 1
	}
	return 2
}

// meetKin notes where a session may have come from: what its file says, or who had its
// first message, or counts what it used.
func (im *Importer) meetKin(s *transcribed, created bool, counts string) {
	m := &s.meta
	k := kin{id: s.id, source: m.Source, started: epochOrZero(&m.Session), from: m.ForkedFrom, told: m.ForkedFrom != "", there: !created}
	if m.Delegate || m.ParentID != nil || s.seen == 0 {
		return
	}
	if k.from == "" && created {
		if k.from = im.index.brought(s.first); k.from == "" || k.from == s.id {
			k.from = counts
		}
	}
	if m.After != "" {
		k.after = number(m.After, 0)
	}
	if k.from == m.ID || k.from == s.id {
		k.from, k.told = "", false
	}
	if k.from != "" || k.after != 0 {
		im.kin = append(im.kin, k)
	}
}

// joinKin gives sessions their place in a lineage, once all has come: a copy is a fork,
// what goes on in a session of its own is resumed. What files say comes first: what is
// concluded never makes a session its own ancestor.
func (im *Importer) joinKin(ctx context.Context) error {
	if len(im.kin) == 0 || im.o.DryRun {
		return nil
	}
	slices.SortStableFunc(im.kin, func(a, b kin) int { return cmp.Compare(a.rank(), b.rank()) })
	var found int
	run := func(q engine.Queryer, tx engine.Execer) error {
		found = 0
		for _, k := range im.kin {
			o, err := im.originOf(ctx, q, k)
			if err != nil || o.parent == "" {
				if err != nil {
					return err
				}
				continue
			}
			if found++; tx == nil {
				return nil
			}
			at := max(epoch(im.db.now()), k.started) // else it would be remembered of an older session of that id
			if err := rememberOrphans(ctx, tx, []orphan{o}, at); err != nil {
				return err
			}
		}
		return nil
	}
	err := im.db.read(ctx, func(q engine.Queryer) error { return run(q, nil) })
	if err == nil && found > 0 {
		err = im.db.write(ctx, func(tx engine.Execer) error { return run(tx, tx) })
	}
	return err
}

// originOf finds what a session came from, no parent if it came from none or the store
// knows. A fork may come before the session that it was copied from.
func (im *Importer) originOf(ctx context.Context, q engine.Queryer, k kin) (o orphan, err error) {
	if k.there {
		if parent, kind, err := parentOf(ctx, q, k.id); err != nil || parent != "" || kind != Root {
			return o, err
		}
		if _, kind, err := rememberedOf(ctx, q, k.id); err != nil || kind != "" {
			return o, err
		}
	}
	if k.told {
		o = orphan{id: k.id, parent: k.from, kind: forked}
		return o, k.resolve(ctx, q, &o)
	}
	if o = (orphan{id: k.id, parent: k.from, kind: forked}); k.from == "" {
		index, err := im.indexed(ctx, q)
		if err != nil {
			return o, err
		}
		o.parent, o.kind = index.brought(k.after), resumed
	}
	up, err := ancestors(ctx, q, o.parent)
	if o.parent == k.id || slices.ContainsFunc(up, func(s Session) bool { return s.ID == k.id }) {
		return orphan{}, err
	}
	return o, err
}

// resolve finds the id under which the store has the session that a file names.
func (k kin) resolve(ctx context.Context, q engine.Queryer, o *orphan) error {
	for _, id := range []string{k.from, k.source + ":" + k.from} {
		s, err := storedSession(ctx, q, id)
		if err != nil {
			return err
		}
		if s != nil && s.Source == k.source {
			o.parent = id
			return nil
		}
	}
	return nil
}
