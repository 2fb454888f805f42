package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sessiondb-go/sessiondb"
)

// stopTimeout is how long calls that were told to end may take for it.
const stopTimeout = 5 * time.Second

var errStopped = errors.New("the server was told to stop before this was done; look whether what it should write was written")

// Serve speaks with one client, a JSON message a line, until in ends and all that
// was asked is answered, however long that takes. A line that is no message is
// answered with an error. When ctx ends, the calls under way end, what is not done
// is answered with an error, and so does Serve, unless nothing was under way.
func Serve(ctx context.Context, db *sessiondb.DB, in io.Reader, out io.Writer, o Options) error {
	l := newLines(in, out)
	s := newServer(db, o)
	s.AddReceivingMiddleware(until(ctx))
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	cut := make(chan int, 1)
	ended := context.AfterFunc(ctx, func() {
		defer stop()
		cut <- l.pending()
		defer time.AfterFunc(stopTimeout, func() { _ = l.Close() }).Stop()
		l.drained()
	})
	err := s.Run(running, &sdk.IOTransport{Reader: l, Writer: l, MaxLineLength: -1})
	if ended() {
		return err
	}
	n := <-cut
	if err := l.giveUp(); err != nil || n == 0 {
		return err
	}
	return fmt.Errorf("told to stop with %d requests under way: %w", n, ctx.Err())
}

// until ends calls when ctx does: the SDK lets them run on.
func until(ctx context.Context) sdk.Middleware {
	return func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(call context.Context, method string, r sdk.Request) (sdk.Result, error) {
			call, cancel := context.WithCancel(call)
			defer cancel()
			defer context.AfterFunc(ctx, cancel)()
			return next(call, method, r)
		}
	}
}
