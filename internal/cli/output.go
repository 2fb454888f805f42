package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"

	"github.com/sessiondb-go/sessiondb/internal/term"
)

// note tells the person at the terminal something beside the output.
func (a *app) note(format string, args ...any) {
	_, _ = fmt.Fprintf(a.Err, "sessiondb: %s\n", term.Line(fmt.Sprintf(format, args...)))
}

// jsonOut is where JSON goes: as it is, except that a terminal must not obey
// what stands in it.
func (a *app) jsonOut() io.Writer {
	if a.OutTTY {
		return term.JSONWriter(a.Out)
	}
	return a.Out
}

// printJSON prints each value on a line of its own.
func printJSON[T any](a *app, values ...T) error {
	w := bufio.NewWriter(a.jsonOut())
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, v := range values {
		if err := enc.Encode(v); err != nil {
			return err
		}
	}
	return w.Flush()
}

// logger shows the warnings of the library to the person at the terminal.
func (a *app) logger() *slog.Logger { return slog.New(warnings{a, ""}) }

// warnings is a log handler that prints one plain line a warning.
type warnings struct {
	a     *app
	attrs string
}

func (w warnings) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelWarn }

func (w warnings) Handle(_ context.Context, r slog.Record) error {
	line := r.Message + w.attrs
	r.Attrs(func(at slog.Attr) bool {
		line += " " + at.String()
		return true
	})
	w.a.note("warning: %s", line)
	return nil
}

func (w warnings) WithAttrs(as []slog.Attr) slog.Handler {
	for _, at := range as {
		w.attrs += " " + at.String()
	}
	return w
}

func (w warnings) WithGroup(string) slog.Handler { return w }

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
