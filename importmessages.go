package sessiondb

import (
	"context"
	"strings"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// importedRow is a message that waits to be stored, by messageColumns.
type importedRow struct {
	row     []any
	ordered *bool // of its session: its messages keep their ids
}

var (
	importedMessage  = `(` + placeholders(len(messageColumns)) + `)`
	intoMessagesSQL  = `INSERT INTO messages (` + strings.Join(messageColumns, ", ") + `) VALUES `
	importMessageSQL = intoMessagesSQL + importedMessage + ` ON CONFLICT (id) DO NOTHING`
)

// insertMessages stores the messages of a session, but for the first few, at the
// latest with flush. Their ids are those of the file and the base, so that they
// stand among those of other sessions as they did; where that can't be, they are new.
func (b *importBatch) insertMessages(ctx context.Context, s *importedSession, started any, skip int64) error {
	ordered := s.ordered && skip == 0
	return s.eachRow(started, func(row []any) error {
		if skip--; skip >= 0 {
			return nil
		}
		if err := b.findBase(ctx, row); err != nil {
			return err
		}
		if ordered {
			row[messageIDAt] = b.base + row[messageIDAt].(int64)
		}
		b.rows = append(b.rows, importedRow{row, &ordered})
		if b.size += rowSize(row); len(b.rows) < insertedRows && b.size < insertedBytes {
			return nil
		}
		return b.flush(ctx)
	})
}

// flush stores the messages that wait: together, if all of them keep their ids or
// none does.
func (b *importBatch) flush(ctx context.Context) error {
	waiting, rows := b.rows, make([][]any, len(b.rows))
	b.rows, b.size = b.rows[:0], 0
	keep := 0
	for i, w := range waiting {
		rows[i] = w.row
		if *w.ordered {
			keep++
		}
	}
	switch keep {
	case 0:
		for i, row := range rows {
			rows[i] = row[1:]
		}
		_, err := insertMessages(ctx, b.tx, rows)
		return err
	case len(rows):
		if free, err := idsAreFree(ctx, b.tx, rows); err != nil {
			return err
		} else if free {
			return insertRows(ctx, b.tx, intoMessagesSQL, importedMessage, rows)
		}
	}
	for _, w := range waiting {
		if err := b.insertOne(ctx, w); err != nil {
			return err
		}
	}
	return nil
}

// idsAreFree reports whether rows have ids that no other message has, and no other
// of the rows.
func idsAreFree(ctx context.Context, q engine.Queryer, rows [][]any) (bool, error) {
	ids, seen := make([]any, len(rows)), map[any]bool{}
	for i, row := range rows {
		ids[i] = row[messageIDAt]
		seen[ids[i]] = true
	}
	if len(seen) < len(ids) {
		return false, nil
	}
	var taken bool
	err := q.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM messages WHERE id IN (`+placeholders(len(ids))+`))`, ids...).Scan(&taken)
	return !taken, err
}

// insertOne stores a message, under a new id if its own is taken or was for one
// before it in its session.
func (b *importBatch) insertOne(ctx context.Context, w importedRow) error {
	if *w.ordered {
		made, err := b.tx.Exec(ctx, importMessageSQL, w.row...)
		if *w.ordered = made > 0; *w.ordered || err != nil {
			return err
		}
	}
	_, err := b.insertNew(ctx, w.row)
	return err
}

// insertNew stores a message under a new id, higher than all others.
func (b *importBatch) insertNew(ctx context.Context, row []any) (id int64, err error) {
	err = b.tx.QueryRow(ctx, insertMessageSQL, row[1:]...).Scan(&id)
	return id, err
}

// findBase finds an id that all ids ever used are below of, once an import.
func (b *importBatch) findBase(ctx context.Context, row []any) error {
	if b.base > 0 {
		return nil
	}
	probe := make([]any, len(row)) // nothing is said in it that would be indexed
	for _, at := range []int{messageSessionAt, messageRoleAt, messageTimeAt} {
		probe[at] = row[at]
	}
	id, err := b.insertNew(ctx, probe)
	if err == nil {
		b.base = id
		_, err = b.tx.Exec(ctx, `DELETE FROM messages WHERE id = ?`, id)
	}
	return err
}
