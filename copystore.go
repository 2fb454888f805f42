package sessiondb

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// store stores rows that the target lacks, in one transaction. If that fails for
// what is in them, they are stored one by one, so that the error names the row.
func (c *copier) store(ctx context.Context, t *copyTable, rows [][]any) error {
	if len(rows) == 0 {
		return nil
	}
	err := c.storeTogether(ctx, t, rows)
	if err == nil || passing(ctx, err) {
		return err
	}
	for _, row := range rows {
		if err := c.storeTogether(ctx, t, [][]any{row}); err != nil {
			return fmt.Errorf("%w: %s: %w", ErrUncopied, t.rowName(row), err)
		}
	}
	return nil
}

func (c *copier) storeTogether(ctx context.Context, t *copyTable, rows [][]any) error {
	mark := c.mark
	mark.add(t, int64(len(rows)))
	if id, ok := rows[len(rows)-1][0].(int64); ok && t == messagesCopied {
		mark.Last = &id
	}
	err := c.to.write(ctx, func(tx engine.Execer) error {
		if err := t.insert(ctx, tx, rows); err != nil {
			return err
		}
		return mark.write(ctx, tx)
	})
	if err == nil {
		c.mark = mark
		c.r.Stored += int64(len(rows))
	}
	return err
}

// insert stores new rows. Sessions get their parents later.
func (t *copyTable) insert(ctx context.Context, tx engine.Execer, rows [][]any) error {
	if t.own != nil {
		if err := t.own.make(ctx, tx); err != nil {
			return err
		}
	}
	if t == sessionsCopied {
		rows = slices.Clone(rows)
		for i, row := range rows {
			rows[i] = slices.Clone(row)
			rows[i][parentAt] = nil
		}
	}
	return insertRows(ctx, tx, `INSERT INTO `+t.name+` (`+strings.Join(t.columns, ", ")+`) VALUES `, `(`+placeholders(len(t.columns))+`)`, rows)
}

// correct makes rows of the target what they are in the source, and sees that they
// are read back as they were written.
func (c *copier) correct(ctx context.Context, t *copyTable, rows [][]any) error {
	mark := c.mark
	err := c.to.write(ctx, func(tx engine.Execer) error {
		mark = c.mark
		found, err := t.find(ctx, tx, rows)
		if err != nil {
			return err
		}
		for _, row := range rows {
			if found[t.keyOf(row)] == nil {
				err = t.insert(ctx, tx, [][]any{row})
				mark.add(t, 1)
			}
			if err == nil {
				err = t.update(ctx, tx, row)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", t.rowName(row), err)
			}
		}
		if err := c.readBack(ctx, tx, t, rows); err != nil {
			return err
		}
		return mark.write(ctx, tx)
	})
	if err == nil {
		c.mark = mark
	}
	return err
}

func (c *copier) readBack(ctx context.Context, q engine.Queryer, t *copyTable, rows [][]any) error {
	found, err := t.find(ctx, q, rows)
	if err != nil {
		return err
	}
	for _, row := range rows {
		if err := errUnlike(t, row, found[t.keyOf(row)]); err != nil {
			return err
		}
	}
	return nil
}

// update sets all columns of a row but its key.
func (t *copyTable) update(ctx context.Context, tx engine.Execer, row []any) error {
	n := len(t.key)
	_, err := tx.Exec(ctx, `UPDATE `+t.name+` SET `+strings.Join(t.columns[n:], " = ?, ")+` = ? WHERE `+strings.Join(t.key, " = ? AND ")+` = ?`,
		append(slices.Clone(row[n:]), row[:n]...)...)
	return err
}

// removeGone removes from the target what the source had when it was copied and has
// no more, if there is any.
func (c *copier) removeGone(ctx context.Context, q engine.Queryer, t *copyTable, want int64) (removed int64, err error) {
	var have int64
	err = c.to.read(ctx, func(q engine.Queryer) error {
		have, err = t.count(ctx, q)
		return err
	})
	var after []any
	for err == nil && removed < have-want {
		var rows, gone [][]any
		err = c.to.read(ctx, func(q engine.Queryer) error {
			rows, after, err = t.page(ctx, q, t.key, after, copyRows)
			return err
		})
		if err != nil || len(rows) == 0 {
			break
		}
		found, e := t.find(ctx, q, rows)
		if e != nil {
			return removed, e
		}
		for _, row := range rows {
			if found[t.keyOf(row)] == nil {
				gone = append(gone, row)
			}
		}
		err = c.remove(ctx, t, gone)
		removed += int64(len(gone))
	}
	return removed, err
}

func (c *copier) remove(ctx context.Context, t *copyTable, rows [][]any) error {
	if len(rows) == 0 {
		return nil
	}
	mark := c.mark
	mark.add(t, -int64(len(rows)))
	err := c.to.write(ctx, func(tx engine.Execer) error {
		for _, row := range rows {
			if t == sessionsCopied { // children that are not gone have another parent by now
				if _, err := tx.Exec(ctx, `UPDATE sessions SET parent_session_id = NULL WHERE parent_session_id = ?`, row[0]); err != nil {
					return err
				}
			}
			if _, err := tx.Exec(ctx, `DELETE FROM `+t.name+` WHERE `+strings.Join(t.key, " = ? AND ")+` = ?`, row[:len(t.key)]...); err != nil {
				return fmt.Errorf("remove %s: %w", t.rowName(row), err)
			}
		}
		return mark.write(ctx, tx)
	})
	if err == nil {
		c.mark = mark
	}
	return err
}
