package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
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

// Said reports whether an error is one that the server itself told of, or of the
// connection to it.
func Said(err error) bool { return sqlState(err) != "" || errors.Is(err, sessiondb.ErrConnection) }

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
	idleInTransaction    = "25P03"
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
	case insufficientRights:
		if errors.Is(err, fs.ErrPermission) { // see tx.mapError
			return err
		}
		return named(sessiondb.ErrReadOnly, err)
	case readOnlyTransaction:
		return named(sessiondb.ErrReadOnly, err)
	case ioError:
		return named(sessiondb.ErrIO, err)
	case tooManyConnections:
		return named(sessiondb.ErrBusy, err)
	default:
		if endsConnection(err) {
			return named(sessiondb.ErrConnection, err)
		}
		return err
	}
	if isLost(err) {
		return named(sessiondb.ErrConnection, err)
	}
	return err
}

// endsConnection says that the server ended the connection, or refused it for now.
func endsConnection(err error) bool {
	code := sqlState(err)
	return strings.HasPrefix(code, "08") || strings.HasPrefix(code, "57P") || code == idleInTransaction
}

// goneError says that there is no connection to the server, and that nothing was
// asked of it that could have been done.
type goneError struct{ error }

func (e *goneError) Unwrap() error { return e.error }

// lostBefore is the error of a transaction whose commit was not asked for yet: if
// the connection is lost, the server undoes it.
func lostBefore(ctx context.Context, c *pgx.Conn, err error) error {
	if err != nil && ctx.Err() == nil && (c.IsClosed() || endsConnection(err)) {
		return &goneError{named(sessiondb.ErrConnection, err)}
	}
	return err
}

// unreached is the error of a try to connect.
func unreached(err error) error {
	connect := (*pgconn.ConnectError)(nil)
	if (errors.As(err, &connect) || isLost(err)) && sqlState(err) == "" || endsConnection(err) {
		return &goneError{err}
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
	if sqlState(err) == insufficientRights { // for the database, or the role that is to be
		return fmt.Errorf("%w: the server refuses the user: %s", fs.ErrPermission, strings.Join(reasons(connect.Unwrap(), nil), "; "))
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
