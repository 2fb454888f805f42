package sessiondb

import (
	"context"
	"slices"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// importIndex tells which session of the store brought a message of a transcript, or
// counts a response: the first that had it, of messages one that is no copy before those
// that are.
type importIndex struct {
	ids            []string
	copies         []bool
	messages, uses map[uint64]uint32 // place in ids
}

func newImportIndex() *importIndex {
	return &importIndex{messages: map[uint64]uint32{}, uses: map[uint64]uint32{}}
}

// indexed returns the index, which is read from the marks of all sessions when it is
// first asked for.
func (im *Importer) indexed(ctx context.Context, q engine.Queryer) (*importIndex, error) {
	if im.index != nil {
		return im.index, nil
	}
	x := newImportIndex()
	err := eachRow(ctx, q, func(r engine.Rows) error {
		var s Session
		var mark string
		err := r.Scan(textColumn{"id", &s.ID, &s.odd}, timeColumn{"started_at", &s.StartedAt, &s.odd}, textColumn{"value", &mark, &s.odd})
		if m := parseMark(mark, &s); m != nil {
			x.add(s.ID, m.Fork, slices.Collect(m.Known.all()), slices.Collect(m.Used.all()))
		}
		return err
	}, `SELECT s.id, s.started_at, m.value FROM sessions s JOIN state_meta m ON m.key = '`+markPrefix+`' || s.id ORDER BY s.started_at, s.id`)
	if err == nil {
		im.index = x
	}
	return x, err
}

// add notes what a session brought, and counts.
func (x *importIndex) add(id string, isCopy bool, messages, uses []uint64) {
	at := uint32(len(x.ids)) // #nosec G115 -- more have no room in memory
	x.ids, x.copies = append(x.ids, id), append(x.copies, isCopy)
	for _, n := range messages {
		if by, ok := x.messages[n]; !ok || x.copies[by] && !isCopy {
			x.messages[n] = at
		}
	}
	for _, n := range uses {
		if _, ok := x.uses[n]; !ok {
			x.uses[n] = at
		}
	}
}

// brought is the session that brought a message first, empty if none did.
func (x *importIndex) brought(n uint64) string { return x.in(x.messages, n) }

// counts is the session that counts a response, empty if none does.
func (x *importIndex) counts(n uint64) string { return x.in(x.uses, n) }

func (x *importIndex) in(of map[uint64]uint32, n uint64) string {
	if at, ok := of[n]; ok {
		return x.ids[at]
	}
	return ""
}
