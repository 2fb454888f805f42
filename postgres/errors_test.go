package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/sessiondb-go/sessiondb"
)

// A connection that ends in the middle of an answer is lost, whatever the end of it
// looks like; one that its own caller ended is not.
func TestLostConnection(t *testing.T) {
	reset := &net.OpError{Op: "read", Net: "tcp", Err: errors.New("connection reset by peer")}
	for _, err := range []error{io.ErrUnexpectedEOF, reset} {
		if got := mapError(fmt.Errorf("receive message: %w", err)); !errors.Is(got, sessiondb.ErrIO) || !errors.Is(got, err) {
			t.Errorf("%v is told as %v", err, got)
		}
	}
	if got := mapError(fmt.Errorf("%w: %w", context.Canceled, reset)); errors.Is(got, sessiondb.ErrIO) {
		t.Errorf("a call that was given up is told as %v", got)
	}
}
