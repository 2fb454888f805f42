package enginetest

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sessiondb-go/sessiondb"
)

func testImport(t *testing.T, h *harness) {
	t.Run("what was exported", func(t *testing.T) { importExported(t, h) })
	t.Run("random stores", func(t *testing.T) { roundTrips(t, h) })
	t.Run("twice", func(t *testing.T) { importTwice(t, h) })
	t.Run("bad lines", func(t *testing.T) { importBadLines(t, h) })
	t.Run("what does not fit", func(t *testing.T) { importChanged(t, h) })
	t.Run("parents that come later", func(t *testing.T) { importParents(t, h) })
	t.Run("interrupted", func(t *testing.T) { importAgain(t, h) })
	t.Run("delegates without a parent", func(t *testing.T) { importDelegates(t, h) })
	t.Run("order across sessions", func(t *testing.T) { importInterleaved(t, h) })
	t.Run("ids that are taken", func(t *testing.T) { importTakenIDs(t, h) })
	t.Run("few keys", func(t *testing.T) { importFewKeys(t, h) })
	t.Run("odd values", func(t *testing.T) { importOdd(t, h) })
	t.Run("what can't be so", func(t *testing.T) { importImpossible(t, h) })
	t.Run("of another program", func(t *testing.T) { importForeign(t, h) })
	t.Run("a reader that fails", func(t *testing.T) { importFails(t, h) })
	t.Run("dry run", func(t *testing.T) { importDry(t, h) })
	t.Run("many", func(t *testing.T) { importMany(t, h) })
	t.Run("compared", func(t *testing.T) { importCompared(t, h) })
	t.Run("extended", func(t *testing.T) { importExtended(t, h) })
	t.Run("transcripts", func(t *testing.T) { importTranscripts(t, h) })
	t.Run("another store", func(t *testing.T) { importStore(t, h) })
	t.Run("several inputs", func(t *testing.T) { importInputs(t, h) })
}

func importLines(t *testing.T, db *sessiondb.DB, lines ...string) sessiondb.ImportReport {
	t.Helper()
	return must[sessiondb.ImportReport](t)(db.Import(t.Context(), strings.NewReader(strings.Join(lines, "\n")), sessiondb.ImportOptions{}))
}

var everything sessiondb.ExportFilter

var messageID = regexp.MustCompile(`"id":\d+,"session_id"`)

// exported is an export without the ids of messages, which an import makes new.
func exported(t *testing.T, db *sessiondb.DB, f sessiondb.ExportFilter) []string {
	t.Helper()
	lines := exportLines(t, db, f)
	for i, line := range lines {
		lines[i] = messageID.ReplaceAllString(line, `"session_id"`)
	}
	return lines
}

// comesBack sees to it that a store is the same after export and import.
func comesBack(t *testing.T, h *harness, db *sessiondb.DB) {
	t.Helper()
	other, c := h.store(t)
	c.add(24 * time.Hour)
	r := importLines(t, other, exportLines(t, db, sessiondb.ExportFilter{})...)
	if r.Conflicts != nil || r.Failed != nil || r.Changed != nil {
		t.Errorf("report %+v", r)
	}
	if d := cmp.Diff(exported(t, db, everything), exported(t, other, everything)); d != "" {
		t.Error(d)
	}
}

func importExported(t *testing.T, h *harness) {
	db, c := h.store(t)
	h.chain(t, db, c, "z", "y", "x")
	noError(t, db.EndSession(t.Context(), "x", "branched"))
	c.add(time.Second)
	h.child(t, db, "x", "branch", "cli")
	h.child(t, db, "z", "delegate", "subagent")
	say(t, db, "y", "one", "two")
	comesBack(t, h, db)
	other, _ := h.store(t)
	importLines(t, other, exportLines(t, db, sessiondb.ExportFilter{})...)
	kinds := func(db *sessiondb.DB) (out []string) {
		for _, n := range must[[]sessiondb.LineageNode](t)(db.Lineage(t.Context(), "z")) {
			out = append(out, fmt.Sprint(n.ID, n.Kind, n.Depth))
		}
		return out
	}
	if d := cmp.Diff(kinds(db), kinds(other)); d != "" {
		t.Error(d)
	}
}

func importTwice(t *testing.T, h *harness) {
	db, _ := h.store(t)
	say(t, db, session(t, db, "a"), "x")
	say(t, db, session(t, db, "b"), "y")
	lines := exportLines(t, db, sessiondb.ExportFilter{})
	before := exported(t, db, everything)
	r := importLines(t, db, append(lines, `{"id":"c","messages":[{"role":"user","content":"z"}]}`)...)
	want := sessiondb.ImportReport{Imported: 1, Messages: 1, Same: 2}
	if d := cmp.Diff(want, r); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(before, exported(t, db, everything)[:2]); d != "" {
		t.Error(d)
	}
}

// issues are the lines and ids of a report.
func issues(list []sessiondb.ImportIssue) []string {
	out := []string{}
	for _, i := range list {
		out = append(out, fmt.Sprint(i.Line, " ", i.SessionID))
	}
	return out
}

func importBadLines(t *testing.T, h *harness) {
	db, _ := h.store(t)
	r := importLines(t, db,
		"\uFEFF"+`{"id":"first"}`, ``, `not json`, `[]`, `{"id":""}`, `{"source":"cli"}`, `{"id":"a\u0000b"}`, `{"id":"x","messages":{}}`,
		`{"id":"x","messages":[{"content":"no role"}]}`, `{"id":"x","messages":[7,{"role":"user"}]}`, `{"id":"cut","messages":[{"role":"us`, "\r",
		`{"id":"last","messages":[{"role":"user","content":"\ud800"}]}`)
	if d := cmp.Diff([]string{"3 ", "4 ", "5 ", "6 ", "7 a\x00b", "8 x", "9 x", "10 x", "11 "}, issues(r.Failed)); d != "" {
		t.Error(d)
	}
	for _, f := range r.Failed {
		if f.Reason == "" {
			t.Errorf("line %d failed for no reason", f.Line)
		}
	}
	if d := cmp.Diff([]string{"first", "last"}, exportIDs(t, db, sessiondb.ExportFilter{})); d != "" || r.Imported != 2 {
		t.Errorf("imported %d, %s", r.Imported, d)
	}
	if d := cmp.Diff([]string{"\uFFFD"}, texts(messages(t, db, "last"))); d != "" {
		t.Error(d)
	}
}

func importChanged(t *testing.T, h *harness) {
	db, _ := h.store(t)
	id := session(t, db, "a")
	noError(t, db.SetTitle(t.Context(), id, "taken"))
	r := importLines(t, db,
		`{"id":"b","title":"taken"}`, `{"id":"c","title":"free"}`, `{"id":"d","title":"free"}`, `{"id":"e","parent_session_id":"never"}`,
		`{"id":"f","parent_session_id":"a","title":null}`)
	if d := cmp.Diff([]string{"1 b", "3 d", "4 e"}, issues(r.Changed)); d != "" || r.Imported != 5 {
		t.Errorf("imported %d, %s", r.Imported, d)
	}
	if !strings.Contains(r.Changed[0].Reason, "session a") || !strings.Contains(r.Changed[1].Reason, "session c") || !strings.Contains(r.Changed[2].Reason, "never") {
		t.Errorf("reasons %+v", r.Changed)
	}
	s := must[sessiondb.Session](t)(db.Session(t.Context(), "f"))
	if s.ParentID == nil || *s.ParentID != "a" {
		t.Errorf("parent %v", s.ParentID)
	}
}

func importParents(t *testing.T, h *harness) {
	db, _ := h.store(t)
	lines := []string{`{"id":"grandchild","parent_session_id":"child"}`, `{"id":"child","parent_session_id":"root"}`}
	for i := range 300 { // several transactions
		lines = append(lines, fmt.Sprintf(`{"id":"s%d","parent_session_id":"root"}`, i))
	}
	lines = append(lines, `{"id":"root"}`, `{"id":"self","parent_session_id":"self"}`,
		`{"id":"x","parent_session_id":"y"}`, `{"id":"y","parent_session_id":"x"}`)
	r := importLines(t, db, lines...)
	if r.Changed != nil || r.Failed != nil || r.Imported != 306 {
		t.Fatalf("report %+v", r)
	}
	for id, want := range map[string]string{"grandchild": "child", "child": "root", "s0": "root", "s299": "root", "self": "self", "x": "y", "y": "x"} {
		if s := must[sessiondb.Session](t)(db.Session(t.Context(), id)); s.ParentID == nil || *s.ParentID != want {
			t.Errorf("parent of %s is %v", id, s.ParentID)
		}
	}
}

func parentID(t *testing.T, db *sessiondb.DB, id string) string {
	t.Helper()
	if s := must[sessiondb.Session](t)(db.Session(t.Context(), id)); s.ParentID != nil {
		return *s.ParentID
	}
	return ""
}

// A session that lost its parent, or never got it, joins it when it comes.
func importAgain(t *testing.T, h *harness) {
	db, _ := h.store(t)
	lines := []string{`{"id":"child","parent_session_id":"root"}`, `{"id":"other","parent_session_id":"else"}`, `{"id":"root"}`}
	importLines(t, db, lines[:2]...)
	if p := parentID(t, db, "child"); p != "" {
		t.Errorf("parent %q", p)
	}
	r := importLines(t, db, lines...)
	if p := parentID(t, db, "child"); p != "root" || r.Imported != 1 || r.Same != 2 || r.Changed != nil {
		t.Errorf("parent %q, report %+v", p, r)
	}
	h.sessions(t, db, "else") // made by someone else: not a matter of the next import
	importLines(t, db, lines...)
	if p := parentID(t, db, "other"); p != "" {
		t.Errorf("parent %q", p)
	}
}

// A delegate is not listed as a conversation because its parent stayed behind.
func importDelegates(t *testing.T, h *harness) {
	db, _ := h.store(t)
	h.sessions(t, db, "parent", "gone")
	h.child(t, db, "parent", "delegate", "cli")
	h.child(t, db, "gone", "orphan", "cli")
	must[sessiondb.DeleteReport](t)(db.DeleteSession(t.Context(), "gone", sessiondb.DeleteOptions{}))
	listed := func(db *sessiondb.DB) (ids []string) {
		for _, s := range must[[]sessiondb.ListedSession](t)(db.Sessions(t.Context(), sessiondb.ListFilter{})) {
			ids = append(ids, s.ID)
		}
		return ids
	}
	comesBack(t, h, db)
	other, _ := h.store(t)
	importLines(t, other, exportLines(t, db, sessiondb.ExportFilter{IDs: []string{"delegate", "orphan"}})...)
	if ids := listed(other); len(ids) != 0 {
		t.Errorf("listed: %v", ids)
	}
	importLines(t, other, exportLines(t, db, sessiondb.ExportFilter{})...)
	if d := cmp.Diff([]string{"parent"}, listed(other)); d != "" || parentID(t, other, "delegate") != "parent" {
		t.Errorf("parent of the delegate is %q, %s", parentID(t, other, "delegate"), d)
	}
}

// Messages of sessions that spoke at the same time keep their order, and take no
// id that was used before.
func importInterleaved(t *testing.T, h *harness) {
	db, _ := h.store(t)
	h.sessions(t, db, "own")
	say(t, db, "own", "x", "y", "z")
	used := messages(t, db, "own")[2].ID
	noError(t, db.ClearMessages(t.Context(), "own"))
	r := importLines(t, db,
		`{"id":"a","messages":[{"id":7,"role":"user"},{"id":9,"role":"user"},{"id":11,"role":"user"}]}`,
		`{"id":"b","messages":[{"id":3,"role":"user"},{"id":8,"role":"user"},{"id":20,"role":"user"}]}`,
		`{"id":"taken","messages":[{"id":2,"role":"user"},{"id":8,"role":"user"},{"id":10,"role":"user"}]}`,
		`{"id":"falling","messages":[{"id":9,"role":"user","content":"1"},{"id":1,"role":"user","content":"2"}]}`,
		`{"id":"high","messages":[{"id":9223372036854775807,"role":"user"}]}`,
		`{"id":"odd","messages":[{"id":"x","role":"user"},{"role":"user"}]}`)
	if r.Imported != 6 || r.Messages != 14 {
		t.Errorf("report %+v", r)
	}
	ids := func(id string) (out []int64) {
		for _, m := range messages(t, db, id) {
			out = append(out, m.ID)
		}
		return out
	}
	a, b, taken := ids("a"), ids("b"), ids("taken")
	order := []int64{used, taken[0], b[0], a[0], b[1], a[1], a[2], b[2], taken[1], taken[2]}
	if !slices.IsSorted(order) || len(slices.Compact(slices.Clone(order))) != len(order) {
		t.Errorf("ids %d", order)
	}
	if d := cmp.Diff([]string{"1", "2"}, texts(messages(t, db, "falling"))); d != "" {
		t.Error(d)
	}
	if id := say(t, db, "own", "room for more")[0]; id > 1<<40 {
		t.Errorf("id %d", id)
	}
}

// Where ids of messages come twice, and those of a session are taken in its middle,
// what was said stays in order.
func importTakenIDs(t *testing.T, h *harness) {
	db, _ := h.store(t)
	line := func(session string, from, to int) string {
		var b strings.Builder
		for id := from; id <= to; id++ {
			fmt.Fprintf(&b, `,{"id":%d,"session_id":%q,"role":"user","content":"%s %d","timestamp":1}`, id, session, session, id)
		}
		return fmt.Sprintf(`{"id":%q,"source":"cli","started_at":1,"messages":[%s]}`, session, b.String()[1:])
	}
	spans := map[string][2]int{"a": {1, 2}, "b": {1, 3}, "c": {2, 9}, "long": {150, 420}, "longer": {60, 400}}
	var lines []string
	for _, s := range []string{"a", "b", "c", "long", "longer"} {
		lines = append(lines, line(s, spans[s][0], spans[s][1]))
	}
	importLines(t, db, lines...)
	for s, span := range spans {
		var want, got []string
		for id := span[0]; id <= span[1]; id++ {
			want = append(want, fmt.Sprint(s, " ", id))
		}
		for _, m := range must[[]sessiondb.Message](t)(db.Messages(t.Context(), s)) {
			got = append(got, m.Content.PlainText())
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s:\n%s", s, diff)
		}
	}
}

func importFewKeys(t *testing.T, h *harness) {
	db, c := h.store(t)
	importLines(t, db,
		`{"id":"bare"}`,
		`{"messages":[{"role":"user","content":"a"},{"role":"assistant","timestamp":1700000000.5,"tool_calls":[1,2]},{"role":"tool"}],"unknown":{"x":1},"id":"b"}`,
		`{"id":"nulls","source":null,"started_at":null,"message_count":null,"input_tokens":null,"messages":null}`)
	bare := must[sessiondb.Session](t)(db.Session(t.Context(), "bare"))
	if bare.Source != "unknown" || !bare.StartedAt.Equal(c.now()) || bare.MessageCount != 0 || bare.Usage.Input != 0 {
		t.Errorf("got %+v", bare)
	}
	at := time.Unix(1700000000, 5e8)
	if b := must[sessiondb.Session](t)(db.Session(t.Context(), "b")); !b.StartedAt.Equal(at) || b.MessageCount != 3 || b.ToolCallCount != 2 {
		t.Errorf("got %+v", b)
	}
	for _, m := range messages(t, db, "b") {
		if !m.Timestamp.Equal(at) {
			t.Errorf("%s is of %v", m.Role, m.Timestamp)
		}
	}
	if line := exported(t, db, everything)[2]; !strings.Contains(line, `"message_count":null`) || !strings.Contains(line, `"input_tokens":null`) {
		t.Errorf("nulls: %s", line)
	}
}

// Values that no writer of ours stores come back as they were.
func importOdd(t *testing.T, h *harness) {
	db, _ := h.store(t)
	row := func(id, columns string) string {
		return `{"id":"` + id + `","started_at":1700000000.1234567,"messages":[{"role":"user","timestamp":1.5,` + columns + `}]}`
	}
	for id, want := range map[string]string{
		"calls":   `"tool_calls":"[{\"broken\": "`,
		"string":  `"tool_calls":"\"just a string\""`,
		"empty":   `"tool_calls":[]`,
		"call":    `"tool_calls":{"id":"x"}`,
		"nothing": `"tool_calls":"null"`,
		"blank":   `"tool_calls":""`,
		"details": `"reasoning_details":"nope","codex_reasoning_items":[1,"\u2028"],"codex_message_items":"{"`,
		"mark":    `"content":"\u0000json:{broken"`,
		"forged":  `"content":"\u0000json:[1,2]"`,
		"number":  `"content":42`,
		"object":  `"content":{"a":[]}`,
		"float":   `"token_count":1.5`,
		"words":   `"token_count":"many"`,
		"time":    `"timestamp":1e+300`,
	} {
		importLines(t, db, row(id, want))
		lines := exportLines(t, db, sessiondb.ExportFilter{IDs: []string{id}})
		for _, part := range strings.Split(want, `,"codex`) {
			if !strings.Contains(lines[0], part) {
				t.Errorf("%s: %s has no %s", id, lines[0], part)
			}
		}
	}
	comesBack(t, h, db)
}

// Times that are none and circles of parents come as they are, and are told of; a
// dry run tells the same.
func importImpossible(t *testing.T, h *harness) {
	lines := []string{
		`{"id":"fine","started_at":-1e9,"ended_at":null,"messages":[{"role":"user","timestamp":"2026-05-04 09:00:00"},{"role":"user","timestamp":1.5}]}`,
		`{"id":"start","started_at":-1e300}`,
		`{"id":"all","started_at":1e400,"ended_at":"NaN","messages":[{"role":"user","timestamp":"soon"}]}`,
		`{"id":"said","messages":[{"role":"user","timestamp":1},{"role":"user","timestamp":1778000000000}]}`,
		`{"id":"self","parent_session_id":"self"}`,
		`{"id":"a","parent_session_id":"b"}`,
		`{"id":"b","parent_session_id":"c"}`,
		`{"id":"beside","parent_session_id":"b"}`,
		`{"id":"c","parent_session_id":"a"}`,
		`{"id":"x","parent_session_id":"y"}`,
		`{"id":"y","parent_session_id":"x"}`,
		`{"id":"below","parent_session_id":"y"}`,
		`{"id":"above","parent_session_id":"last"}`,
		`{"id":"last","parent_session_id":"x"}`,
	}
	want := []string{
		"2 start started_at is no time: -1e+300",
		`3 all started_at is no time: +Inf, and 2 more`,
		"4 said timestamp of message 2 is no time: 1.778e+12",
		`5 self 1 session in a circle of parents: "self"`,
		`9 c 3 sessions in a circle of parents: "c", "a", "b"`,
		`11 y 2 sessions in a circle of parents: "y", "x"`,
	}
	db, _ := h.store(t)
	for _, dry := range []bool{true, false} {
		r := must[sessiondb.ImportReport](t)(db.Import(t.Context(), strings.NewReader(strings.Join(lines, "\n")), sessiondb.ImportOptions{DryRun: dry}))
		var got []string
		for _, i := range r.Odd {
			got = append(got, fmt.Sprint(i.Line, " ", i.SessionID, " ", i.Reason))
		}
		if d := cmp.Diff(want, got); d != "" || int(r.Imported) != len(lines) || r.Failed != nil || r.Changed != nil {
			t.Errorf("dry run %v: %s, %+v", dry, d, r)
		}
	}
	if r := importLines(t, db, lines...); r.Odd != nil || int(r.Same) != len(lines) {
		t.Errorf("again: %+v", r)
	}
	comesBack(t, h, db)
}

// An export of the original program has JSON columns as text.
func importForeign(t *testing.T, h *harness) {
	db, _ := h.store(t)
	importLines(t, db, `{"id": "a", "source": "cli", "model_config": "{\"k\": 15}", "extra": 1, "messages": [{"id": 9, "session_id": "a",
"role": "assistant"}]}`, `{"id": "b", "source": "cli", "model_config": "{\"k\": 15}", "extra": 1, "messages": [{"id": 9, "session_id": "elsewhere", `+
		`"role": "assistant", "content": "hi", "tool_calls": [{"id": "\u5e7f"}], "reasoning_details": "[{\"id\": 1}]", "active": 1}]}`)
	e := must[sessiondb.ExportedSession](t)(db.ExportSession(t.Context(), "b"))
	if string(e.Session.ModelConfig) != `{"k": 15}` || len(e.Messages) != 1 || e.Messages[0].SessionID != "b" ||
		string(e.Messages[0].ReasoningDetails) != `[{"id": 1}]` || string(e.Messages[0].ToolCalls) != `[{"id":"广"}]` {
		t.Errorf("got %+v", e)
	}
}

// torn fails where a file ends too early.
type torn struct{ r *strings.Reader }

var errTorn = errors.New("torn")

func (r torn) Read(b []byte) (int, error) {
	if r.r.Len() == 0 {
		return 0, errTorn
	}
	return r.r.Read(b)
}

func importFails(t *testing.T, h *harness) {
	db, _ := h.store(t)
	r, err := db.Import(t.Context(), torn{strings.NewReader("{\"id\":\"a\"}\n{\"id\":\"b\"}")}, sessiondb.ImportOptions{})
	if !errors.Is(err, errTorn) || r.Imported != 1 {
		t.Errorf("got %+v, %v", r, err)
	}
	if d := cmp.Diff([]string{"a"}, exportIDs(t, db, sessiondb.ExportFilter{})); d != "" {
		t.Error(d)
	}
}

func importDry(t *testing.T, h *harness) {
	db, _ := h.store(t)
	id := session(t, db, "a")
	noError(t, db.SetTitle(t.Context(), id, "taken"))
	lines := []string{
		`{"id":"c","parent_session_id":"b","title":"free"}`, `{"id":"b","title":"taken","messages":[{"role":"user"}]}`, `x`,
		`{"id":"a"}`, `{"id":"b"}`, `{"id":"d","title":"free","parent_session_id":"never"}`, `{"id":"e","parent_session_id":"a"}`,
	}
	dry := must[sessiondb.ImportReport](t)(db.Import(t.Context(), strings.NewReader(strings.Join(lines, "\n")), sessiondb.ImportOptions{DryRun: true}))
	if n := must[int64](t)(db.SessionCount(t.Context(), "")); n != 1 {
		t.Errorf("%d sessions", n)
	}
	wet := importLines(t, db, lines...)
	if d := cmp.Diff(wet, dry, cmpopts.EquateEmpty()); d != "" {
		t.Error(d)
	}
	if wet.Imported != 4 || wet.Messages != 1 || wet.Same != 1 || len(wet.Conflicts) != 1 || len(wet.Changed) != 3 || len(wet.Failed) != 1 {
		t.Errorf("report %+v", wet)
	}
}

func importMany(t *testing.T, h *harness) {
	db, _ := h.store(t)
	var lines []string
	for i := range 450 {
		lines = append(lines, fmt.Sprintf(`{"id":"s%03d","messages":[{"role":"user","content":"%d"}]}`, i, i))
	}
	lines = append(lines, `{"id":"wide","messages":[{"role":"user","content":"`+strings.Repeat("wide ", 300000)+`"}]}`)
	var progress int64
	r, err := db.Import(t.Context(), strings.NewReader(strings.Join(lines, "\n")), sessiondb.ImportOptions{Progress: func(n int64) { progress = n }})
	if err != nil || r.Imported != 451 || progress != 450 {
		t.Errorf("%+v, %v, progress %d", r, err, progress)
	}
	if ms := messages(t, db, "wide"); len(ms[0].Content.PlainText()) != 1500000 {
		t.Errorf("%d bytes", len(ms[0].Content.PlainText()))
	}
}
