package sessiondb

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// One statement inserts so many rows at most, and fewer where they are long. FTS5
// writes what it has gathered to the file when a statement begins that runs
// triggers, so that rows inserted one by one make a segment of the index each,
// which are then merged.
const (
	insertedRows  = 100
	insertedBytes = 4 << 20
)

// insertedAtOnce yields rows in parts of one statement each.
func insertedAtOnce(rows [][]any) iter.Seq[[][]any] {
	return func(yield func([][]any) bool) {
		from, size := 0, 0
		for i, row := range rows {
			n := rowSize(row)
			if i > from && (i-from == insertedRows || size+n > insertedBytes) {
				if !yield(rows[from:i]) {
					return
				}
				from, size = i, 0
			}
			size += n
		}
		if from < len(rows) {
			yield(rows[from:])
		}
	}
}

// together makes of a statement that inserts one row one that inserts n.
func together(before, one string, n int, after string) string {
	return before + one + strings.Repeat(", "+one, n-1) + after
}

// insertMessages inserts rows of insertMessageSQL and returns their ids, in order.
func insertMessages(ctx context.Context, tx engine.Execer, rows [][]any) ([]int64, error) {
	ids := make([]int64, 0, len(rows))
	before := strings.TrimSuffix(insertMessageSQL, oneMessage+returningID)
	for part := range insertedAtOnce(rows) {
		err := eachRow(ctx, tx, func(r engine.Rows) error {
			var id int64
			err := r.Scan(&id)
			ids = append(ids, id)
			return err
		}, together(before, oneMessage, len(part), returningID), slices.Concat(part...)...)
		if err != nil {
			return nil, err
		}
	}
	if len(ids) != len(rows) {
		return nil, fmt.Errorf("%d of %d messages were inserted: a trigger left some out", len(ids), len(rows))
	}
	slices.Sort(ids) // rows come back in any order
	return ids, nil
}

// insertRows inserts rows; before and one are of a statement that inserts one.
func insertRows(ctx context.Context, tx engine.Execer, before, one string, rows [][]any) error {
	for part := range insertedAtOnce(rows) {
		if _, err := tx.Exec(ctx, together(before, one, len(part), ""), slices.Concat(part...)...); err != nil {
			return err
		}
	}
	return nil
}
