package enginetest

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessiondb-go/sessiondb"
)

func testAround(t *testing.T, h *harness) {
	t.Run("window", func(t *testing.T) { window(t, h) })
	t.Run("after", func(t *testing.T) { after(t, h) })
	t.Run("anchored view", func(t *testing.T) { anchoredView(t, h) })
	t.Run("bookends have content", func(t *testing.T) { bookends(t, h) })
}

// texts are what messages say.
func texts(ms []sessiondb.Message) []string {
	out := []string{}
	for _, m := range ms {
		out = append(out, m.Content.PlainText())
	}
	return out
}

// interleaved makes a session whose messages have those of another in between.
func interleaved(t *testing.T, db *sessiondb.DB, words ...string) (id string, ids []int64) {
	t.Helper()
	id, other := session(t, db, "a"), session(t, db, "b")
	for i, w := range words {
		role := []string{"user", "assistant", "tool"}[i%3]
		ids = append(ids, must[int64](t)(db.AppendMessage(t.Context(), id, sessiondb.Message{Role: role, Content: sessiondb.Text(w)})))
		say(t, db, other, "noise")
	}
	return id, ids
}

func after(t *testing.T, h *harness) {
	db, _ := h.store(t)
	id, ids := interleaved(t, db, "0", "1", "2", "3")
	for _, c := range []struct {
		session string
		after   int64
		limit   int
		want    []string
	}{
		{id, 0, 2, []string{"0", "1"}},
		{id, ids[1], 2, []string{"2", "3"}},
		{id, ids[1] + 1, 9, []string{"2", "3"}}, // a message of the other session
		{id, ids[3], 2, []string{}},
		{id, 0, 0, []string{}},
		{id, 0, -1, []string{}},
		{"none", 0, 5, []string{}},
	} {
		got := must[[]sessiondb.Message](t)(db.MessagesAfter(t.Context(), c.session, c.after, c.limit))
		if diff := cmp.Diff(c.want, texts(got)); diff != "" {
			t.Errorf("%d messages of %s after %d: -want +got\n%s", c.limit, c.session, c.after, diff)
		}
	}
}

func window(t *testing.T, h *harness) {
	db, _ := h.store(t)
	id, ids := interleaved(t, db, "0", "1", "2", "3", "4", "5")
	for _, c := range []struct {
		session       string
		anchor        int64
		window        int
		want          []string
		before, after int
	}{
		{id, ids[2], 1, []string{"1", "2", "3"}, 1, 1},
		{id, ids[0], 2, []string{"0", "1", "2"}, 0, 2},
		{id, ids[5], 2, []string{"3", "4", "5"}, 2, 0},
		{id, ids[3], 100, []string{"0", "1", "2", "3", "4", "5"}, 3, 2},
		{id, ids[3], 0, []string{"3"}, 0, 0},
		{id, ids[3], -4, []string{"3"}, 0, 0},
		{id, ids[3] + 1, 5, []string{}, 0, 0}, // a message of the other session
		{"b", ids[3], 5, []string{}, 0, 0},
		{id, 0, 5, []string{}, 0, 0},
		{"none", ids[3], 5, []string{}, 0, 0},
	} {
		w := must[sessiondb.MessagesAround](t)(db.MessagesAround(t.Context(), c.session, c.anchor, c.window))
		if d := cmp.Diff(c.want, texts(w.Window)); d != "" || w.MessagesBefore != c.before || w.MessagesAfter != c.after {
			t.Errorf("%d of %s, window %d: %d before, %d after, %s", c.anchor, c.session, c.window, w.MessagesBefore, w.MessagesAfter, d)
		}
	}
}

func anchoredView(t *testing.T, h *harness) {
	db, _ := h.store(t)
	id, ids := interleaved(t, db, "u0", "a1", "t2", "u3", "a4", "t5", "u6", "a7", "t8")
	both := []string{"user", "assistant"}
	for name, c := range map[string]struct {
		anchor             int64
		o                  sessiondb.AnchoredOptions
		start, window, end []string
		before, after      int
	}{
		"roles":     {ids[4], sessiondb.AnchoredOptions{Window: 1, Bookend: 1, KeepRoles: both}, []string{"u0"}, []string{"u3", "a4"}, []string{"a7"}, 1, 1},
		"anchor":    {ids[5], sessiondb.AnchoredOptions{Window: 1, Bookend: 3, KeepRoles: both}, []string{"u0", "a1", "u3"}, []string{"a4", "t5", "u6"}, []string{"a7"}, 1, 1},
		"all roles": {ids[4], sessiondb.AnchoredOptions{Window: 0, Bookend: 2}, []string{"u0", "a1"}, []string{"a4"}, []string{"a7", "t8"}, 0, 0},
		"no roles":  {ids[4], sessiondb.AnchoredOptions{Window: 2, Bookend: 2, KeepRoles: []string{}}, []string{}, []string{"a4"}, []string{}, 2, 2},
		"covered":   {ids[4], sessiondb.AnchoredOptions{Window: 9, Bookend: 2, KeepRoles: []string{"user"}}, []string{}, []string{"u0", "u3", "a4", "u6"}, []string{}, 4, 4},
		"negative":  {ids[4], sessiondb.AnchoredOptions{Window: -1, Bookend: -1}, []string{}, []string{"a4"}, []string{}, 0, 0},
		"no anchor": {ids[8] + 100, sessiondb.AnchoredOptions{Window: 2, Bookend: 2}, []string{}, []string{}, []string{}, 0, 0},
	} {
		v := must[sessiondb.AnchoredView](t)(db.AnchoredView(t.Context(), id, c.anchor, c.o))
		got := [][]string{texts(v.BookendStart), texts(v.Window), texts(v.BookendEnd)}
		if d := cmp.Diff([][]string{c.start, c.window, c.end}, got); d != "" || v.MessagesBefore != c.before || v.MessagesAfter != c.after {
			t.Errorf("%s: %d before, %d after, %s", name, v.MessagesBefore, v.MessagesAfter, d)
		}
	}
}

func bookends(t *testing.T, h *harness) {
	db, _ := h.store(t)
	id := session(t, db, "a")
	structured := func(s string) sessiondb.Content { return sessiondb.Structured(json.RawMessage(s)) }
	var last int64
	for _, c := range []sessiondb.Content{
		{}, sessiondb.Text(""), structured(`[]`), structured(`[{"type":"text","text":"caption"},{"type":"image_url"}]`),
		sessiondb.Text("\x00 begins oddly"), structured(`[{"type":"image_url"}]`), sessiondb.Text("anchor"),
	} {
		last = must[int64](t)(db.AppendMessage(t.Context(), id, sessiondb.Message{Role: "user", Content: c}))
	}
	v := must[sessiondb.AnchoredView](t)(db.AnchoredView(t.Context(), id, last, sessiondb.AnchoredOptions{Bookend: 9}))
	if d := cmp.Diff([]string{"caption", "\x00 begins oddly", ""}, texts(v.BookendStart)); d != "" {
		t.Error(d)
	}
}
