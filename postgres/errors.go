package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sessiondb-go/sessiondb"
)

// sqlState is the code of an error of the server, empty when it has none.
func sqlState(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// The codes that are treated by themselves.
const (
	serializationFailure = "40001"
	deadlockDetected     = "40P01"
	lockNotAvailable     = "55P03"
	uniqueViolation      = "23505"
	foreignKeyViolation  = "23503"
	readOnlyTransaction  = "25006"
	insufficientRights   = "42501"
	undefinedTable       = "42P01"
	diskFull             = "53100"
	tooManyConnections   = "53300"
	dataCorrupted        = "XX001"
	indexCorrupted       = "XX002"
	ioError              = "58030"
)

// isBusy says that another writer was in the way: what was begun is undone, and
// can be tried again. A key that another one took in between is seen by the next
// try.
func isBusy(err error) bool {
	switch sqlState(err) {
	case serializationFailure, deadlockDetected, lockNotAvailable, uniqueViolation:
		return true
	}
	return false
}

// mapError gives an error of the server or of the connection the name that
// callers know. Its own stays within reach of errors.As.
func mapError(err error) error {
	if err == nil {
		return nil
	}
	if connect := (*pgconn.ConnectError)(nil); errors.As(err, &connect) && sqlState(err) != tooManyConnections {
		return unconnected(connect, err)
	}
	switch code := sqlState(err); code {
	case "":
	case diskFull:
		return named(sessiondb.ErrFull, err)
	case dataCorrupted, indexCorrupted:
		return named(sessiondb.ErrCorrupt, err)
	case foreignKeyViolation:
		return named(sessiondb.ErrReferenced, err)
	case readOnlyTransaction, insufficientRights:
		return named(sessiondb.ErrReadOnly, err)
	case ioError:
		return named(sessiondb.ErrIO, err)
	case tooManyConnections:
		return named(sessiondb.ErrBusy, err)
	default:
		if strings.HasPrefix(code, "08") || strings.HasPrefix(code, "57P") {
			return named(sessiondb.ErrConnection, err)
		}
		return err
	}
	if isLost(err) {
		return named(sessiondb.ErrConnection, err)
	}
	return err
}

// isLost says that there is no connection any more.
func isLost(err error) bool {
	var network net.Error
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &network) && !isContext(err)
}

// connectError says in one line why there is no connection. Its text names each
// reason once: the driver tries an address again without TLS.
type connectError struct {
	text  string
	cause error
}

func (e *connectError) Error() string { return e.text }
func (e *connectError) Unwrap() error { return e.cause }
func (e *connectError) Is(target error) bool {
	return target == sessiondb.ErrConnection || target == sessiondb.ErrIO
}

func unconnected(connect *pgconn.ConnectError, err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return &connectError{sessiondb.ErrConnection.Error() + ": " + strings.Join(reasons(connect.Unwrap(), nil), "; "), err}
}

// reasons are the texts of the errors that others are made of.
func reasons(err error, sofar []string) []string {
	var text string
	switch e := err.(type) {
	case *pgconn.PgError:
		text = e.Message
	case *net.OpError:
		text = e.Error()
	case interface{ Unwrap() []error }:
		for _, part := range e.Unwrap() {
			sofar = reasons(part, sofar)
		}
		return sofar
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil {
			return reasons(inner, sofar)
		}
		text = err.Error()
	default:
		text = err.Error()
	}
	if slices.Contains(sofar, text) {
		return sofar
	}
	return append(sofar, text)
}

func isContext(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

func named(name, err error) error {
	if errors.Is(err, name) {
		return err
	}
	return fmt.Errorf("%w: %w", name, err)
}
