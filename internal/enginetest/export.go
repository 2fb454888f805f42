package enginetest

import (
	"bytes"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sessiondb-go/sessiondb"
)

func testExport(t *testing.T, h *harness) {
	t.Run("one session", func(t *testing.T) { exportOne(t, h) })
	t.Run("all", func(t *testing.T) { exportEverything(t, h) })
	t.Run("some", func(t *testing.T) { exportSome(t, h) })
	t.Run("more than a page", func(t *testing.T) { exportMany(t, h) })
	t.Run("a writer that fails", func(t *testing.T) { exportFails(t, h) })
	t.Run("redacted", func(t *testing.T) { exportRedacted(t, h) })
	t.Run("one snapshot", func(t *testing.T) { exportSnapshot(t, h) })
}

// exportLines is an export, a string a line.
func exportLines(t *testing.T, db *sessiondb.DB, f sessiondb.ExportFilter) []string {
	t.Helper()
	var b bytes.Buffer
	n := must[int64](t)(db.ExportAll(t.Context(), &b, f))
	lines := strings.SplitAfter(b.String(), "\n")
	if last := lines[len(lines)-1]; last != "" {
		t.Errorf("export ends with %q", last)
	}
	if lines = lines[:len(lines)-1]; int64(len(lines)) != n {
		t.Errorf("%d lines, returned %d", len(lines), n)
	}
	return lines
}

// exportIDs are the ids of an export, in its order.
func exportIDs(t *testing.T, db *sessiondb.DB, f sessiondb.ExportFilter) (ids []string) {
	t.Helper()
	for _, line := range exportLines(t, db, f) {
		var s struct{ ID string }
		noError(t, json.Unmarshal([]byte(line), &s))
		ids = append(ids, s.ID)
	}
	return ids
}

func exportOne(t *testing.T, h *harness) {
	db, _ := h.store(t)
	id := session(t, db, "a")
	say(t, db, id, "x", "y")
	e := must[sessiondb.ExportedSession](t)(db.ExportSession(t.Context(), id))
	if d := cmp.Diff([]string{"x", "y"}, texts(e.Messages)); d != "" || e.Session.ID != id || e.Session.MessageCount != 2 {
		t.Errorf("%+v, %s", e.Session, d)
	}
	if _, err := db.ExportSession(t.Context(), "none"); !errors.Is(err, sessiondb.ErrNotFound) {
		t.Errorf("got %v", err)
	}
}

func exportEverything(t *testing.T, h *harness) {
	db, c := h.store(t)
	h.chain(t, db, c, "b", "a")
	session(t, db, "empty")
	must[[]int64](t)(db.AppendMessages(t.Context(), "a", []sessiondb.Message{
		{Role: "user", Content: sessiondb.Text("배포 <&> \x1b[31m \u2028 \x00")},
		{Role: "user", Content: sessiondb.Structured(json.RawMessage(`[{"type":"text","text":"caption"}]`))},
		{Role: "assistant", ToolCalls: json.RawMessage(`[{"id":"x"}]`), Timestamp: start.Add(123456 * time.Microsecond)},
	}))
	lines := exportLines(t, db, sessiondb.ExportFilter{})
	for i, id := range []string{"b", "a", "empty"} {
		e := must[sessiondb.ExportedSession](t)(db.ExportSession(t.Context(), id))
		want := string(must[[]byte](t)(e.MarshalJSON())) + "\n"
		if d := cmp.Diff(want, lines[i]); d != "" {
			t.Errorf("line %d: %s", i, d)
		}
		if strings.ContainsAny(strings.TrimSuffix(lines[i], "\n"), "\n\x00\x1b\u2028") || !json.Valid([]byte(lines[i])) {
			t.Errorf("line %d: %q", i, lines[i])
		}
	}
}

func exportSome(t *testing.T, h *harness) {
	db, c := h.store(t)
	for i, id := range []string{"c", "a", "b", "d"} {
		source := []string{"cli", "telegram"}[i%2]
		must[string](t)(db.CreateSession(t.Context(), sessiondb.NewSession{ID: id, Source: source}))
		c.add(time.Second)
	}
	var progress []int64
	count := func(done, total int64) { progress = append(progress, done, total) }
	for _, c := range []struct {
		f    sessiondb.ExportFilter
		want []string
		last []int64
	}{
		{sessiondb.ExportFilter{}, []string{"c", "a", "b", "d"}, []int64{4, 4}},
		{sessiondb.ExportFilter{Source: "telegram"}, []string{"a", "d"}, []int64{2, 2}},
		{sessiondb.ExportFilter{Source: "none"}, nil, nil},
		{sessiondb.ExportFilter{IDs: []string{"d", "c", "d"}}, []string{"c", "d"}, []int64{2, 2}},
		{sessiondb.ExportFilter{IDs: []string{"d", "c"}, Source: "cli"}, []string{"c"}, []int64{1, 1}},
		{sessiondb.ExportFilter{IDs: []string{}}, nil, nil},
	} {
		progress, c.f.Progress = nil, count
		if d := cmp.Diff(c.want, exportIDs(t, db, c.f)); d != "" {
			t.Error(d)
		}
		if d := cmp.Diff(c.last, progress[max(0, len(progress)-2):]); c.last != nil && d != "" {
			t.Errorf("progress: %s", d)
		}
	}
	var b bytes.Buffer
	if _, err := db.ExportAll(t.Context(), &b, sessiondb.ExportFilter{IDs: []string{"a", "none"}}); !errors.Is(err, sessiondb.ErrNotFound) || b.Len() > 0 {
		t.Errorf("got %v, %d bytes", err, b.Len())
	}
}

// exportRedacted sees that each session is shown whole before any of it is
// written, and that what is written is what the function made of it.
func exportRedacted(t *testing.T, h *harness) {
	db, _ := h.store(t)
	for _, id := range []string{"a", "b"} {
		session(t, db, id)
		for i := range 600 { // more than a batch
			say(t, db, id, id+" says "+strconv.Itoa(i))
		}
	}
	plain := exportLines(t, db, sessiondb.ExportFilter{})
	shown := 0
	f := sessiondb.ExportFilter{Redact: func(parts iter.Seq[[]byte]) func([]byte) []byte {
		n := 0
		for p := range parts {
			if n++; !json.Valid(p) {
				t.Errorf("part %d is no JSON: %s", n, p)
			}
			if n == 2 && !bytes.Contains(p, []byte(`"a says 0"`)) {
				return nil // enough was seen
			}
		}
		shown = n
		return func(p []byte) []byte { return bytes.ReplaceAll(p, []byte(" says "), []byte(" SAYS ")) }
	}}
	got := exportLines(t, db, f)
	if want := []string{strings.ReplaceAll(plain[0], " says ", " SAYS "), plain[1]}; shown != 601 || !slices.Equal(got, want) {
		t.Errorf("%d parts shown; written: %.200q", shown, got)
	}
}

func exportMany(t *testing.T, h *harness) {
	db, c := h.store(t)
	var want []string
	for i := range 507 {
		id := "s" + strconv.Itoa(9999-i)
		if i%7 == 0 {
			c.add(time.Second)
		}
		session(t, db, id)
	}
	seen := map[string]bool{}
	want = exportIDs(t, db, sessiondb.ExportFilter{})
	for _, id := range want {
		seen[id] = true
	}
	if len(want) != 507 || len(seen) != 507 {
		t.Errorf("%d lines, %d sessions", len(want), len(seen))
	}
	if d := cmp.Diff([]string{"s9993", "s9994", "s9995", "s9996", "s9997", "s9998", "s9999", "s9986"}, want[:8]); d != "" {
		t.Errorf("order: %s", d)
	}
}

// stuck fails after some bytes.
type stuck struct{ left int }

var errStuck = errors.New("stuck")

func (s *stuck) Write(b []byte) (int, error) {
	if s.left -= len(b); s.left < 0 {
		return 0, errStuck
	}
	return len(b), nil
}

func exportFails(t *testing.T, h *harness) {
	db, _ := h.store(t)
	id := session(t, db, "a")
	say(t, db, id, strings.Repeat("long ", 200000), "x")
	if n, err := db.ExportAll(t.Context(), &stuck{left: 1000}, sessiondb.ExportFilter{}); !errors.Is(err, errStuck) {
		t.Errorf("got %d, %v", n, err)
	}
	say(t, db, id, "the store still works")
}

// appender appends to a session whenever an export writes.
type appender struct {
	bytes.Buffer
	t  *testing.T
	db *sessiondb.DB
}

func (a *appender) Write(b []byte) (int, error) {
	a.t.Helper()
	must[int64](a.t)(a.db.AppendMessage(a.t.Context(), "z", sessiondb.Message{Role: "user", Content: sessiondb.Text("late")}))
	return a.Buffer.Write(b)
}

func exportSnapshot(t *testing.T, h *harness) {
	db, c := h.store(t)
	for _, id := range []string{"a", "b", "z"} {
		session(t, db, id)
		say(t, db, id, strings.Repeat("long ", 60000), "x")
		c.add(time.Second)
	}
	a := appender{t: t, db: db}
	must[int64](t)(db.ExportAll(t.Context(), &a, sessiondb.ExportFilter{}))
	if s := a.String(); strings.Contains(s, "late") || strings.Count(s, "\n") != 3 {
		t.Error("the export saw what was written during it")
	}
	if n := counters(t, db, "z"); n[0] < 4 {
		t.Errorf("counters %v", n)
	}
}
