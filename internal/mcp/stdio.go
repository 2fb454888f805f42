package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
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
	var cut atomic.Int64
	s.AddReceivingMiddleware(until(ctx, &cut))
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	ended := context.AfterFunc(ctx, func() {
		defer stop()
		defer time.AfterFunc(stopTimeout, func() { _ = l.Close() }).Stop()
		l.drained()
	})
	err := s.Run(running, &sdk.IOTransport{Reader: l, Writer: l, MaxLineLength: -1})
	if ended() {
		return err
	}
	left, err := l.giveUp()
	if n := int(cut.Load()) + left; err == nil && n > 0 {
		err = fmt.Errorf("told to stop with %d requests under way: %w", n, ctx.Err())
	}
	return err
}

// until ends calls when ctx does, which the SDK lets run on, and counts those to which a
// client expects an answer.
func until(ctx context.Context, cut *atomic.Int64) sdk.Middleware {
	return func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(call context.Context, method string, r sdk.Request) (sdk.Result, error) {
			call, cancel := context.WithCancel(call)
			defer cancel()
			defer context.AfterFunc(ctx, cancel)()
			out, err := next(call, method, r)
			if ctx.Err() != nil && !strings.HasPrefix(method, "notifications/") {
				cut.Add(1)
			}
			return out, err
		}
	}
}
