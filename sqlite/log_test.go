package sqlite

import (
	"context"
	"log/slog"
	"sync"
)

// logged keeps the messages of a logger.
type logged struct {
	mu    sync.Mutex
	lines []string
}

func (l *logged) logger() *slog.Logger                     { return slog.New(l) }
func (l *logged) Enabled(context.Context, slog.Level) bool { return true }
func (l *logged) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l *logged) WithGroup(string) slog.Handler            { return l }
func (l *logged) Handle(_ context.Context, r slog.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, r.Message)
	return nil
}
