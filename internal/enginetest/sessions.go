package enginetest

import (
	"errors"
	"testing"

	"github.com/sessiondb-go/sessiondb"
)

func testSessions(t *testing.T, h *harness) {
	t.Run("create makes an id", func(t *testing.T) {
		db, _ := h.store(t)
		id := must[string](t)(db.CreateSession(t.Context(), sessiondb.NewSession{Source: "cli"}))
		s := must[sessiondb.Session](t)(db.Session(t.Context(), id))
		if s.Source != "cli" || !s.StartedAt.Equal(start) || !s.EndedAt.IsZero() || s.Title != nil {
			t.Errorf("got %+v", s)
		}
	})
	t.Run("create again fills what is NULL", func(t *testing.T) {
		db, _ := h.store(t)
		ctx := t.Context()
		must[string](t)(db.CreateSession(ctx, sessiondb.NewSession{ID: "a", Source: "cli"}))
		must[string](t)(db.CreateSession(ctx, sessiondb.NewSession{ID: "a", Source: "cli", Model: "m", SystemPrompt: "p"}))
		s := must[sessiondb.Session](t)(db.Session(ctx, "a"))
		if s.Model == nil || *s.Model != "m" || *s.SystemPrompt != "p" {
			t.Errorf("got %+v", s)
		}
	})
	t.Run("create with other values is refused", func(t *testing.T) {
		db, _ := h.store(t)
		ctx := t.Context()
		must[string](t)(db.CreateSession(ctx, sessiondb.NewSession{ID: "a", Source: "cli", Model: "m"}))
		_, err := db.CreateSession(ctx, sessiondb.NewSession{ID: "a", Source: "telegram", Model: "n"})
		var e *sessiondb.ExistsError
		if !errors.As(err, &e) || !errors.Is(err, sessiondb.ErrExists) || len(e.Fields) != 2 {
			t.Errorf("got %v", err)
		}
		must[string](t)(db.EnsureSession(ctx, sessiondb.NewSession{ID: "a", Source: "telegram"}))
		if s := must[sessiondb.Session](t)(db.Session(ctx, "a")); s.Source != "cli" {
			t.Errorf("source %q", s.Source)
		}
	})
	t.Run("the first end reason wins", func(t *testing.T) {
		db, _ := h.store(t)
		ctx := t.Context()
		must[string](t)(db.CreateSession(ctx, sessiondb.NewSession{ID: "a"}))
		noError(t, db.EndSession(ctx, "a", "done"))
		noError(t, db.EndSession(ctx, "a", "timeout"))
		if s := must[sessiondb.Session](t)(db.Session(ctx, "a")); *s.EndReason != "done" || !s.EndedAt.Equal(start) {
			t.Errorf("got %+v", s)
		}
		noError(t, db.ReopenSession(ctx, "a"))
		if s := must[sessiondb.Session](t)(db.Session(ctx, "a")); s.EndReason != nil || !s.EndedAt.IsZero() {
			t.Errorf("got %+v", s)
		}
		if err := db.EndSession(ctx, "none", "x"); !errors.Is(err, sessiondb.ErrNotFound) {
			t.Errorf("got %v", err)
		}
	})
}
