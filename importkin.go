package sessiondb

import (
	"cmp"
	"context"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// kin is a session of a transcript that may have come from another one, which may be
// imported later.
type kin struct {
	id, source string
	started    float64
	from       string // the session that it was copied from, if that is known
	after      uint64 // else the message that it follows
	there      bool   // it was there before this import
}

// meetKin notes where a session may have come from: what its file says, or who had its
// first message, or counts what it used.
func (im *Importer) meetKin(s *transcribed, created bool, counts string) {
	m := &s.meta
	k := kin{id: s.id, source: m.Source, started: epochOrZero(&m.Session), from: m.ForkedFrom, there: !created}
	if m.Delegate || m.ParentID != nil || s.seen == 0 {
		return
	}
	if k.from == "" && created {
		k.from = cmp.Or(im.index.brought(s.first), counts)
	}
	if m.After != "" {
		k.after = number(m.After, 0)
	}
	if k.from == m.ID || k.from == s.id {
		k.from = ""
	}
	if k.from != "" || k.after != 0 {
		im.kin = append(im.kin, k)
	}
}

// joinKin gives sessions their place in a lineage, once all has come: a copy is a fork,
// what goes on in a session of its own is resumed.
func (im *Importer) joinKin(ctx context.Context) error {
	if len(im.kin) == 0 || im.o.DryRun {
		return nil
	}
	found := map[float64][]orphan{} // by the time to remember them at
	err := im.db.read(ctx, func(q engine.Queryer) error {
		clear(found)
		for _, k := range im.kin {
			o, err := im.originOf(ctx, q, k)
			if err != nil {
				return err
			}
			if o.parent != "" {
				at := max(epoch(im.db.now()), k.started) // else it would be remembered of an older session of that id
				found[at] = append(found[at], o)
			}
		}
		return nil
	})
	if err != nil || len(found) == 0 {
		return err
	}
	return im.db.write(ctx, func(tx engine.Execer) error {
		for at, orphans := range found {
			if err := rememberOrphans(ctx, tx, orphans, at); err != nil {
				return err
			}
		}
		return nil
	})
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
	if k.from == "" {
		index, err := im.indexed(ctx, q)
		if err != nil {
			return o, err
		}
		if from := index.brought(k.after); from != k.id {
			return orphan{id: k.id, parent: from, kind: resumed}, nil
		}
		return o, nil
	}
	for _, id := range []string{k.from, k.source + ":" + k.from} {
		s, err := storedSession(ctx, q, id)
		if err != nil {
			return o, err
		}
		if s != nil && s.Source == k.source {
			return orphan{id: k.id, parent: id, kind: forked}, nil
		}
	}
	return orphan{id: k.id, parent: k.from, kind: forked}, nil
}
