package enginetest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessiondb-go/sessiondb"
)

const threeMessages = `{"id":"a","source":"cli","started_at":1700000000,"messages":[{"role":"user","content":"one","timestamp":1700000001},` +
	`{"role":"assistant","content":"two","tool_calls":[1,2],"timestamp":1700000002},{"role":"tool","content":null,"timestamp":1700000003}]}`

// A session that is there is told by what is the same, and stays as it is.
func importCompared(t *testing.T, h *harness) {
	db, _ := h.store(t)
	importLines(t, db, threeMessages)
	before := exported(t, db, everything)
	for line, want := range map[string]string{
		threeMessages: "",
		`{"id":"a"}`:  "",
		`{"id":"a","messages":[{"role":"user","content":"one"}]}`:                                             "message 1 is another one",
		`{"id":"a","messages":[{"role":"user","content":"one","timestamp":1700000001}]}`:                      "",
		strings.Replace(threeMessages, "two", "deux", 1):                                                      "message 2 is another one",
		strings.Replace(threeMessages, `"cli"`, `"telegram"`, 1):                                              "source differ",
		strings.Replace(threeMessages, `"started_at"`, `"title":"x","ended_at":5,"started_at"`, 1):            "ended_at, title differ",
		strings.Replace(threeMessages, `]}`, `,{"role":"user","content":"four","timestamp":1700000009}]}`, 1): "",
	} {
		r := importLines(t, db, line)
		switch {
		case r.Imported != 0 || r.Extended != 0 || r.Messages != 0 || r.Failed != nil:
			t.Errorf("%s: %+v", line, r)
		case want == "" && strings.Contains(line, "four"):
			if len(r.Conflicts) != 1 || !strings.Contains(r.Conflicts[0].Reason, "lacks the last 1") {
				t.Errorf("%s: %+v", line, r)
			}
		case want == "" && (r.Same != 1 || r.Conflicts != nil),
			want != "" && (len(r.Conflicts) != 1 || !strings.Contains(r.Conflicts[0].Reason, want)):
			t.Errorf("%s: %+v, want %q", line, r, want)
		}
	}
	if d := cmp.Diff(before, exported(t, db, everything)); d != "" {
		t.Error(d)
	}
}

// What goes on where the store stops is appended if asked for.
func importExtended(t *testing.T, h *harness) {
	db, _ := h.store(t)
	importLines(t, db, threeMessages)
	noError(t, db.SetTitle(t.Context(), "a", "mine"))
	longer := strings.Replace(threeMessages, `]}`, `,{"role":"assistant","content":"four","tool_calls":[3],"timestamp":1700000009}],`+
		`"title":"theirs","ended_at":1700000010,"end_reason":"done","input_tokens":77}`, 1)
	other := strings.Replace(longer, "two", "deux", 1)
	imported := func(o sessiondb.ImportOptions, line string) sessiondb.ImportReport {
		return must[sessiondb.ImportReport](t)(db.Import(t.Context(), strings.NewReader(line), o))
	}
	if r := imported(sessiondb.ImportOptions{Extend: true}, other); len(r.Conflicts) != 1 || r.Extended != 0 {
		t.Errorf("another one: %+v", r)
	}
	dry := imported(sessiondb.ImportOptions{Extend: true, DryRun: true}, longer)
	wet := imported(sessiondb.ImportOptions{Extend: true}, longer)
	if d := cmp.Diff(sessiondb.ImportReport{Extended: 1, Messages: 1}, wet); d != "" || cmp.Diff(wet, dry) != "" {
		t.Errorf("%s, dry %+v", d, dry)
	}
	s := must[sessiondb.Session](t)(db.Session(t.Context(), "a"))
	if s.MessageCount != 4 || s.ToolCallCount != 3 || s.Usage.Input != 77 || *s.EndReason != "done" || *s.Title != "mine" {
		t.Errorf("got %+v", s)
	}
	if d := cmp.Diff([]string{"one", "two", "", "four"}, texts(messages(t, db, "a"))); d != "" {
		t.Error(d)
	}
	if r := imported(sessiondb.ImportOptions{Extend: true}, longer); r.Extended != 0 || r.Messages != 0 || len(r.Conflicts) != 1 {
		t.Errorf("again: %+v", r) // the titles differ
	}
}

// What one input lacks another may bring.
func importInputs(t *testing.T, h *harness) {
	db, _ := h.store(t)
	var read int64
	im := db.NewImporter(sessiondb.ImportOptions{Progress: func(n int64) { read = n }})
	for _, in := range []struct{ file, lines string }{
		{"children", "{\"id\":\"b\",\"parent_session_id\":\"a\"}\n{\"id\":\"c\",\"parent_session_id\":\"never\"}\n"},
		{"broken", "{\n"}, {"parents", "{\"id\":\"a\"}\n{\"id\":\"b\"}\n"},
	} {
		noError(t, im.Lines(t.Context(), in.file, strings.NewReader(in.lines)))
	}
	r := must[sessiondb.ImportReport](t)(im.Finish(t.Context()))
	want := sessiondb.ImportReport{
		Imported:  3,
		Failed:    []sessiondb.ImportIssue{{File: "broken", Line: 1, Reason: "not JSON"}},
		Conflicts: []sessiondb.ImportIssue{{File: "parents", Line: 2, SessionID: "b", Reason: "came before in this import"}},
		Changed:   []sessiondb.ImportIssue{{File: "children", Line: 2, SessionID: "c", Reason: "no parent: never does not exist"}},
	}
	if d := cmp.Diff(want, r); d != "" || parentID(t, db, "b") != "a" || read != 5 {
		t.Errorf("%s parent %q, %d lines", d, parentID(t, db, "b"), read)
	}
}

// mergeStore imports what another store holds.
func mergeStore(t *testing.T, db, other *sessiondb.DB, o sessiondb.ImportOptions) sessiondb.ImportReport {
	t.Helper()
	im := db.NewImporter(o)
	noError(t, im.Store(t.Context(), "other", other))
	return must[sessiondb.ImportReport](t)(im.Finish(t.Context()))
}

// What another store holds comes with all that belongs to it.
func importStore(t *testing.T, h *harness) {
	db, _ := h.store(t)
	other, _ := h.store(t)
	h.sessions(t, other, "parent")
	say(t, other, "parent", "one", "two")
	h.child(t, other, "parent", "child", "cli")
	noError(t, other.UpdateUsage(t.Context(), "parent", sessiondb.UsageUpdate{Model: ptr("m1"), Tokens: sessiondb.Tokens{Input: 5}}))
	noError(t, other.SetModel(t.Context(), "parent", "m2"))
	take(t, other, asItIs, transcript("told", "a", "b"))
	noError(t, other.SetMeta(t.Context(), "setting", "theirs"))
	noError(t, other.SetMeta(t.Context(), "both", "theirs"))
	noError(t, db.SetMeta(t.Context(), "both", "ours"))

	dry := mergeStore(t, db, other, sessiondb.ImportOptions{DryRun: true})
	r := mergeStore(t, db, other, asItIs)
	if d := cmp.Diff(sessiondb.ImportReport{Imported: 3, Messages: 4}, r); d != "" || cmp.Diff(dry, r) != "" {
		t.Errorf("%s, dry %+v", d, dry)
	}
	if d := cmp.Diff(exported(t, other, everything), exported(t, db, everything)); d != "" {
		t.Error(d)
	}
	byModel := func(db *sessiondb.DB) []sessiondb.UsageRow {
		return must[[]sessiondb.UsageRow](t)(db.UsageByModel(t.Context(), sessiondb.UsageFilter{}))
	}
	if d := cmp.Diff(byModel(other), byModel(db)); d != "" {
		t.Error(d)
	}
	for key, want := range map[string]string{"setting": "theirs", "both": "ours"} {
		if v, _, err := db.Meta(t.Context(), key); v != want || err != nil {
			t.Errorf("%s is %q, %v", key, v, err)
		}
	}
	if r := mergeStore(t, db, other, asItIs); r.Same != 3 || r.Imported+r.Messages != 0 || r.Conflicts != nil {
		t.Errorf("again: %+v", r)
	}
	if r := take(t, db, asItIs, transcript("told", "a", "b", "c")); r.Extended != 1 || r.Messages != 1 {
		t.Errorf("the transcript went on: %+v", r)
	}
}
