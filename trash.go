package sessiondb

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// What is deleted may go to the trash: tables of our own with the same columns as
// those that the rows are taken from, whichever those are, and one more that tells
// which deletion a row belongs to. No index of texts looks there, and other
// programs pass them over.

// TrashRetention is how long a conversation stays in the trash.
const TrashRetention = 30 * 24 * time.Hour

// trashTable has a row for each conversation in the trash. session_id is the
// first session of it, parent_id and kind what that one came from.
var trashTable = addedTable{"sessiondb_trash", `CREATE TABLE IF NOT EXISTS sessiondb_trash (
    id TEXT PRIMARY KEY,
    session_id TEXT NOT NULL,
    parent_id TEXT,
    kind TEXT NOT NULL,
    deleted_at DOUBLE PRECISION NOT NULL,
    sessions BIGINT NOT NULL,
    messages BIGINT NOT NULL
)`}

// trashed is a table whose rows go to the trash with a session.
type trashed struct {
	name string
	key  string      // the column that names the session
	made *addedTable // nil for those that every store has
	// within are the columns that tell the rows of one deletion apart.
	within []string
}

// trashedTables come in the order in which they are put back.
var trashedTables = []trashed{
	{"sessions", "id", nil, []string{"id"}},
	{"messages", "session_id", nil, []string{"id"}},
	{orphansTable.name, "session_id", &orphansTable, []string{"session_id"}},
	{modelUsageTable.name, "session_id", &modelUsageTable, []string{"session_id", "model"}},
	{tagsTable.name, "session_id", &tagsTable, []string{"session_id", "tag"}},
}

// orphansTrash keeps what is remembered of sessions in the trash.
const orphansTrash = "sessiondb_trash_orphans"

// trash is where the rows go.
func (t trashed) trash() string { return "sessiondb_trash_" + strings.TrimPrefix(t.name, "sessiondb_") }

// prepare makes the table in the trash, or gives it the columns that it lacks. It
// returns the columns of the one that rows are taken from, none where there is
// no such table.
func (t trashed) prepare(ctx context.Context, tx engine.Execer) (columns []engine.Column, err error) {
	if columns, err = tx.Columns(ctx, t.name); err != nil || len(columns) == 0 {
		return nil, err
	}
	have, err := tx.Columns(ctx, t.trash())
	if err != nil {
		return nil, err
	}
	if len(have) == 0 {
		_, err := tx.Exec(ctx, `CREATE TABLE IF NOT EXISTS `+t.trash()+` AS SELECT CAST('' AS TEXT) AS trash_id, t.* FROM `+t.name+` t WHERE 1 = 0`)
		if err == nil {
			_, err = tx.Exec(ctx, `CREATE INDEX IF NOT EXISTS `+t.trash()+`_id ON `+t.trash()+` (trash_id, `+strings.Join(t.within, ", ")+`)`)
		}
		return columns, err
	}
	for _, c := range columns {
		if slices.ContainsFunc(have, func(h engine.Column) bool { return h.Name == c.Name }) {
			continue
		}
		if _, err := tx.Exec(ctx, `ALTER TABLE `+t.trash()+` ADD COLUMN `+names([]engine.Column{c})+` `+c.Type); err != nil {
			return nil, err
		}
	}
	return columns, nil
}

// exists reports whether there is such a table in the trash.
func (t trashed) exists(ctx context.Context, q engine.Queryer) (bool, error) {
	columns, err := q.Columns(ctx, t.trash())
	return len(columns) > 0, err
}

// make makes the table in the trash, and the one that rows are taken from.
func (t trashed) make(ctx context.Context, tx engine.Execer) error {
	if t.made != nil {
		if err := t.made.make(ctx, tx); err != nil {
			return err
		}
	}
	_, err := t.prepare(ctx, tx)
	return err
}

// put copies the rows of sessions to the trash and returns how many.
func (t trashed) put(ctx context.Context, tx engine.Execer, trashID string, columns []engine.Column, ids []string) (n int64, err error) {
	list := names(columns)
	for batch := range slices.Chunk(ids, inBatch) {
		made, err := tx.Exec(ctx, `INSERT INTO `+t.trash()+` (trash_id, `+list+`) SELECT CAST(? AS TEXT), `+list+
			` FROM `+t.name+` t WHERE t.`+t.key+` IN (`+placeholders(len(batch))+`)`, append([]any{trashID}, anys(batch)...)...)
		if err != nil {
			return n, err
		}
		n += made
	}
	return n, nil
}

// conversation is what one row of the trash stands for.
type conversation struct {
	root   string
	parent string // of the root
	kind   Kind   // of the root
	ids    []string
}

// conversations tells which of the sessions that go belong together: those that
// continue one another.
func conversations(ctx context.Context, q engine.Queryer, ids []string) (out []conversation, err error) {
	type origin struct {
		parent string
		kind   Kind
	}
	from := make(map[string]origin, len(ids))
	err = eachIn(ctx, q, func(r engine.Rows) error {
		var id string
		var o origin
		err := r.Scan(&id, &o.parent, &o.kind)
		from[id] = o
		return err
	}, `SELECT c.id, COALESCE(p.id, ''), `+kindSQL+withParentSQL+` WHERE c.id IN`, ids)
	if err != nil {
		return nil, err
	}
	at := map[string]int{}
	for _, id := range ids {
		root := id
		for steps := 0; from[root].kind == Continuation && steps < len(ids); steps++ {
			if _, goes := from[from[root].parent]; !goes {
				break
			}
			root = from[root].parent
		}
		i, ok := at[root]
		if !ok {
			i = len(out)
			at[root] = i
			out = append(out, conversation{root: root, parent: from[root].parent, kind: from[root].kind})
		}
		out[i].ids = append(out[i].ids, id)
	}
	return out, nil
}

// putInTrash copies conversations to the trash, before they are deleted.
func putInTrash(ctx context.Context, tx engine.Execer, all []conversation, now float64) error {
	if some, err := trashTable.exists(ctx, tx); err != nil {
		return err
	} else if !some {
		if err := trashTable.make(ctx, tx); err != nil {
			return err
		}
	}
	columns := make([][]engine.Column, len(trashedTables))
	for i, t := range trashedTables {
		var err error
		if columns[i], err = t.prepare(ctx, tx); err != nil {
			return err
		}
	}
	for _, c := range all {
		trashID := newTrashID()
		var rows [2]int64 // of sessions and messages
		for i, t := range trashedTables {
			if columns[i] == nil {
				continue
			}
			n, err := t.put(ctx, tx, trashID, columns[i], c.ids)
			if err != nil {
				return err
			}
			if i < len(rows) {
				rows[i] = n
			}
		}
		if _, err := tx.Exec(ctx, `INSERT INTO sessiondb_trash (id, session_id, parent_id, kind, deleted_at, sessions, messages) VALUES (?, ?, ?, ?, ?, ?, ?)`,
			trashID, c.root, textOrNull(c.parent), string(c.kind), now, rows[0], rows[1]); err != nil {
			return err
		}
	}
	return nil
}

// newTrashID names a deletion: the same session may be deleted again.
func newTrashID() string {
	var b [6]byte
	_, _ = rand.Read(b[:])
	return hex.EncodeToString(b[:])
}
