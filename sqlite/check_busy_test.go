package sqlite

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/engine"
	"github.com/sessiondb-go/sessiondb/internal/retry"
)

// A check waits for who has the whole file for himself, as a writer does.
func TestCheckWaits(t *testing.T) {
	path := newPath(t)
	fillStore(t, path, sessiondb.InlineIndexes)
	other := raw(t, path)
	run(t, other, "PRAGMA journal_mode = DELETE")
	pauses := 0
	s := openWith(t, path, Options{ReadOnly: true}, settings{busy: 1, pause: func(context.Context, time.Duration) error {
		if pauses++; pauses == 2 {
			return other.script(t.Context(), "COMMIT")
		}
		return nil
	}})
	run(t, other, "BEGIN EXCLUSIVE")
	found, err := s.Check(t.Context(), engine.CheckOptions{})
	if err != nil || pauses != 2 {
		t.Errorf("after %d pauses: %v, %v", pauses, found, err)
	}
	run(t, other, "BEGIN EXCLUSIVE")
	_, err = s.Check(t.Context(), engine.CheckOptions{})
	var busy *sessiondb.BusyError
	if !errors.As(err, &busy) || busy.Attempts < retry.Attempts {
		t.Errorf("while it lasts: %v", err)
	}
	run(t, other, "COMMIT")
}
