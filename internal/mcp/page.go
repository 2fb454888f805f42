package mcp

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/sessiondb-go/sessiondb"
)

// A cursor is the kind of place it stands for and the place: "offset:20". A
// model gives it back as it got it.
const (
	byOffset  = "offset"
	byMessage = "message"
)

func cursor(kind string, at int64) string { return fmt.Sprintf("%s:%d", kind, at) }

// place reads a cursor; an empty one is the beginning.
func place(kind, cursor string) (int64, error) {
	if cursor == "" {
		return 0, nil
	}
	text, ok := strings.CutPrefix(cursor, kind+":")
	at, err := strconv.ParseInt(text, 10, 64)
	if !ok || err != nil || at < 0 {
		return 0, fmt.Errorf("the cursor %q is not one that this tool gave for such a call; leave it out to begin anew: %w", cursor, sessiondb.ErrInvalid)
	}
	return at, nil
}

// offset reads the cursor of a list.
func offset(cursor string) (int, error) {
	at, err := place(byOffset, cursor)
	if err == nil && at > 1<<31-1 {
		err = fmt.Errorf("the cursor %q is past any end; leave it out to begin anew: %w", cursor, sessiondb.ErrInvalid)
	}
	return int(at), err
}

// next cuts a list that was read one entry too long and tells the cursor of
// what follows.
func next[T any](found []T, limit, offset int) ([]T, string) {
	if len(found) <= limit {
		return found, ""
	}
	return found[:limit], cursor(byOffset, int64(offset+limit))
}
