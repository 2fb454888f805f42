package postgres

import (
	"context"
	"errors"
	"testing"
)

func TestTurns(t *testing.T) {
	ts := newTurns(2)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	refused := func(names ...string) {
		t.Helper()
		if _, err := ts.enter(gone, names); !errors.Is(err, context.Canceled) {
			t.Errorf("%q had to wait, got %v", names, err)
		}
	}
	entered := func(names ...string) func() {
		t.Helper()
		leave, err := ts.enter(t.Context(), names)
		if err != nil {
			t.Fatal(err)
		}
		return leave
	}
	a := entered("a", "titles")
	refused("a")
	refused("b", "titles")
	b := entered("b")
	refused("c") // no room
	b()
	all := entered()
	refused()
	all()
	a()
	entered("a", "b", "titles")()
	if len(ts.lines) != 0 || len(ts.slots) != 0 {
		t.Errorf("%d lines and %d slots are left", len(ts.lines), len(ts.slots))
	}
}
