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
	t.Run("a session that was deleted is written to by nobody", func(t *testing.T) { writesToDeleted(t, h) })
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

// writesToDeleted holds every write to a session to say so where it is gone, and
// to make none.
func writesToDeleted(t *testing.T, h *harness) {
	db, _ := h.store(t)
	ctx := t.Context()
	id := session(t, db, "gone")
	must[int64](t)(db.AppendMessage(ctx, id, sessiondb.Message{Role: "user", Content: sessiondb.Text("x")}))
	must[sessiondb.DeleteReport](t)(db.DeleteSession(ctx, id, sessiondb.DeleteOptions{}))
	ms := []sessiondb.Message{{Role: "user", Content: sessiondb.Text("x")}}
	for name, write := range map[string]func() error{
		"append":         func() error { _, err := db.AppendMessage(ctx, id, ms[0]); return err },
		"append several": func() error { _, err := db.AppendMessages(ctx, id, ms); return err },
		"replace":        func() error { return db.ReplaceMessages(ctx, id, ms) },
		"clear":          func() error { return db.ClearMessages(ctx, id) },
		"end":            func() error { return db.EndSession(ctx, id, "done") },
		"reopen":         func() error { return db.ReopenSession(ctx, id) },
		"prompt":         func() error { return db.UpdateSystemPrompt(ctx, id, "p") },
		"model":          func() error { return db.SetModel(ctx, id, "m") },
		"title":          func() error { return db.SetTitle(ctx, id, "t") },
		"auto title":     func() error { _, err := db.SetTitleAuto(ctx, id, "t"); return err },
		"request":        func() error { _, err := db.RequestHandoff(ctx, id, "p"); return err },
		"claim":          func() error { _, err := db.ClaimHandoff(ctx, id); return err },
		"complete":       func() error { return db.CompleteHandoff(ctx, id) },
		"fail":           func() error { return db.FailHandoff(ctx, id, "e") },
		"child":          func() error { _, err := db.CreateSession(ctx, sessiondb.NewSession{ParentID: id}); return err },
	} {
		if err := write(); !errors.Is(err, sessiondb.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := must[int64](t)(db.SessionCount(ctx, "")); n != 0 {
		t.Errorf("%d sessions", n)
	}
	if n := must[int64](t)(db.MessageCount(ctx, "")); n != 0 {
		t.Errorf("%d messages", n)
	}
}
