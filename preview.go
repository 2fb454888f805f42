package sessiondb

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// previewChars is how many characters of a message stand for its session.
const previewChars = 60

// firstUserMessageSQL looks through the first messages of a session, by id,
// after a given one. The inner query reads the index alone: the rows of a
// session, which may be wide and many, are not sorted.
const firstUserMessageSQL = `SELECT m.content
 FROM (SELECT id FROM messages WHERE session_id = ? AND id > ? ORDER BY id LIMIT ?) k
 JOIN messages m ON m.id = k.id
 WHERE m.role = 'user' AND m.content IS NOT NULL ORDER BY m.id LIMIT 1`

// openingSQL is the user message that opens session c, if it is among the first
// few: mostly it is the first or the second.
const openingSQL = `(SELECT m.content
 FROM (SELECT id FROM messages WHERE session_id = c.id ORDER BY id LIMIT 8) k
 JOIN messages m ON m.id = k.id
 WHERE m.role = 'user' AND m.content IS NOT NULL ORDER BY m.id LIMIT 1)`

const nthMessageSQL = `SELECT id FROM messages WHERE session_id = ? AND id > ? ORDER BY id LIMIT 1 OFFSET ?`

// preview is the beginning of the first user message of a session.
func preview(ctx context.Context, q engine.Queryer, id string) (string, error) {
	after := int64(0)
	for n := 8; ; n *= 16 {
		var c Content
		var o odd
		err := q.QueryRow(ctx, firstUserMessageSQL, id, after, n).Scan(contentColumn{&c, &o})
		if err == nil {
			return cutPreview(c.PlainText()), nil
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return "", err
		}
		err = q.QueryRow(ctx, nthMessageSQL, id, after, n-1).Scan(&after)
		if errors.Is(err, sql.ErrNoRows) {
			return "", nil
		}
		if err != nil {
			return "", err
		}
	}
}

// cutPreview makes one line of the first 60 characters. It looks at no more of
// a message, which may be large.
func cutPreview(s string) string {
	if n := (previewChars + 3) * utf8.UTFMax; len(s) > n {
		s = strings.ToValidUTF8(s[:n], "")
	}
	r := []rune(s)
	cut := strings.TrimSpace(strings.NewReplacer("\n", " ", "\r", " ").Replace(string(r[:min(len(r), previewChars+3)])))
	if r = []rune(cut); len(r) > previewChars {
		return string(r[:previewChars]) + "..."
	}
	return cut
}
