package sqlite

import (
	"context"
	"errors"
	"fmt"

	"github.com/sessiondb-go/sessiondb"
)

// textsLost counts messages that lost text which a full-text index still has: a
// page behind their row holds nothing but zeros, which SQLite takes for text.
func textsLost(ctx context.Context, c *conn, index string) (n, first int64, err error) {
	rows, err := c.query(ctx, "SELECT m.id, "+indexedText+", i.c0 FROM main.messages m NOT INDEXED JOIN main."+index+
		"_content i ON i.id = m.id WHERE"+otherText+" AND typeof(i.c0) = 'text' AND instr("+indexedText+", char(0)) > 0 ORDER BY m.id")
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var id int64
		var have, want string
		if err := rows.Scan(&id, &have, &want); err != nil {
			return 0, 0, err
		}
		if !zeroed(have, want) {
			continue
		}
		if n++; n == 1 {
			first = id
		}
	}
	return n, first, rows.Err()
}

// zeroed says that a text is another one of which bytes were lost: a row knows
// how long its text is even where a page of it is gone.
func zeroed(text, was string) bool {
	if len(text) != len(was) || text == was {
		return false
	}
	for i := range len(text) {
		if text[i] != was[i] && text[i] != 0 {
			return false
		}
	}
	return true
}

// keepTexts fails where messages lost text that a full-text index still has:
// made anew, it would lose it too.
func keepTexts(ctx context.Context, c *conn, sh *shape) error {
	for _, index := range indexes {
		if sh.version != SchemaVersion || !sh.has("messages") || !sh.has(index+"_content") {
			continue
		}
		n, first, err := textsLost(ctx, c, index)
		switch {
		case errors.Is(err, sessiondb.ErrCorrupt): // nothing more can be known
		case err != nil:
			return err
		case n > 0:
			return fmt.Errorf("%w: %s", sessiondb.ErrCorrupt, whatLost(n, first, index))
		}
	}
	return nil
}

func whatLost(n, first int64, index string) string {
	return fmt.Sprintf("%d messages, the first of them %d, lost text that full-text index %s still has", n, first, index)
}
