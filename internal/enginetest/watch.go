package enginetest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/sessiondb-go/sessiondb"
)

func testWatch(t *testing.T, h *harness) {
	t.Run("what is there and what comes", func(t *testing.T) { watchAll(t, h) })
	t.Run("filters", func(t *testing.T) { watchSome(t, h) })
	t.Run("from now on", func(t *testing.T) { watchNew(t, h) })
}

// quickly is as often as a test looks.
const quickly = time.Millisecond

func watchAll(t *testing.T, h *harness) {
	db, _ := h.store(t)
	id := session(t, db, "a")
	want := []string{"0", "1", "2", "3", "4"}
	say(t, db, id, want[:3]...)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var got []string
	for m, err := range db.Watch(ctx, sessiondb.WatchFilter{Every: quickly}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, m.Content.PlainText())
		switch len(got) {
		case 3:
			say(t, db, id, want[3:]...) // nothing is held meanwhile
		case len(want):
			stop()
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func watchSome(t *testing.T, h *harness) {
	db, _ := h.store(t)
	for _, source := range []string{"cli", "cron", "cli"} {
		id := must[string](t)(db.CreateSession(t.Context(), sessiondb.NewSession{Source: source}))
		say(t, db, id, source+" "+id)
	}
	all := seen(t, db, sessiondb.WatchFilter{}, 3)
	for name, c := range map[string]struct {
		f    sessiondb.WatchFilter
		want []sessiondb.Message
	}{
		"source":  {sessiondb.WatchFilter{Source: "cli"}, []sessiondb.Message{all[0], all[2]}},
		"session": {sessiondb.WatchFilter{SessionID: all[1].SessionID}, all[1:2]},
		"after":   {sessiondb.WatchFilter{After: all[0].ID}, all[1:]},
		"both":    {sessiondb.WatchFilter{After: all[0].ID, Source: "cli"}, all[2:]},
	} {
		if got := seen(t, db, c.f, len(c.want)); !slices.Equal(texts(got), texts(c.want)) {
			t.Errorf("%s: got %v, want %v", name, texts(got), texts(c.want))
		}
	}
}

// seen watches until there are n messages.
func seen(t *testing.T, db *sessiondb.DB, f sessiondb.WatchFilter, n int) (out []sessiondb.Message) {
	t.Helper()
	f.Every = quickly
	for m, err := range db.Watch(t.Context(), f) {
		if err != nil {
			t.Fatal(err)
		}
		if out = append(out, m); len(out) == n {
			break
		}
	}
	return out
}

func watchNew(t *testing.T, h *harness) {
	db, _ := h.store(t)
	id := session(t, db, "a")
	say(t, db, id, "old")
	first := make(chan sessiondb.Message)
	go func() {
		for m, err := range db.Watch(t.Context(), sessiondb.WatchFilter{After: -1, Every: quickly}) {
			if err == nil {
				first <- m
			}
			return
		}
	}()
	for {
		say(t, db, id, "new") // until the watch has begun
		select {
		case m := <-first:
			if got := m.Content.PlainText(); got != "new" {
				t.Errorf("the first is %q", got)
			}
			return
		default:
		}
	}
}
