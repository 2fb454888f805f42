package enginetest

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sessiondb-go/sessiondb"
)

func importTranscripts(t *testing.T, h *harness) {
	t.Run("new", func(t *testing.T) { transcriptNew(t, h) })
	t.Run("grown", func(t *testing.T) { transcriptGrown(t, h) })
	t.Run("what a person changed", func(t *testing.T) { transcriptChanged(t, h) })
	t.Run("conflicts", func(t *testing.T) { transcriptConflicts(t, h) })
	t.Run("without a mark", func(t *testing.T) { transcriptUnmarked(t, h) })
	t.Run("parents", func(t *testing.T) { transcriptParents(t, h) })
	t.Run("titles", func(t *testing.T) { transcriptTitles(t, h) })
	t.Run("large", func(t *testing.T) { transcriptLarge(t, h) })
	t.Run("bad lines", func(t *testing.T) { transcriptBadLines(t, h) })
	t.Run("files of one session", func(t *testing.T) { transcriptFiles(t, h) })
	t.Run("pieces of a session", func(t *testing.T) { transcriptPieces(t, h) })
	t.Run("older messages", func(t *testing.T) { transcriptOlder(t, h) })
	t.Run("uses", func(t *testing.T) { transcriptUses(t, h) })
	t.Run("branches", func(t *testing.T) { transcriptBranches(t, h) })
	t.Run("old marks", func(t *testing.T) { transcriptOldMarks(t, h) })
}

// script is a transcript: what is said, in turn, as id:text or text. "!" is a
// bad line.
type script struct {
	sessiondb.TranscriptSession
	says   []string
	at     int
	fail   error // at the end
	unique bool
	from   int                       // seconds before the first
	uses   []sessiondb.TranscriptUse // nil is one for each line
}

var began = time.Unix(1700000000, 0)

func (s *script) Next() (sessiondb.TranscriptMessage, error) {
	if s.at == len(s.says) {
		if s.fail != nil {
			return sessiondb.TranscriptMessage{}, s.fail
		}
		return sessiondb.TranscriptMessage{}, io.EOF
	}
	s.at++
	say := s.says[s.at-1]
	if say == "!" {
		return sessiondb.TranscriptMessage{}, &sessiondb.LineError{Line: int64(s.at), Reason: "bad"}
	}
	id, say := s.ID, say
	if other, rest, ok := strings.Cut(say, ":"); ok {
		id, say = other, rest
	}
	key, _, _ := strings.Cut(say, "+") // what a message has more is no part of its key
	m := sessiondb.Message{Role: "user", Content: sessiondb.Text(say), Timestamp: began.Add(time.Duration(s.from+s.at) * time.Second)}
	if s.at%2 == 0 {
		m.Role, m.ToolCalls = "assistant", []byte(`[{"id":"call"}]`)
	}
	return sessiondb.TranscriptMessage{SessionID: id, Key: key, Unique: s.unique, Line: int64(s.at), Message: m}, nil
}

func (s *script) Session(id string) sessiondb.TranscriptSession {
	is := s.TranscriptSession
	is.StartedAt = began
	if id != s.ID {
		is.Title, is.ParentID, is.Delegate = nil, &s.ID, true
	}
	is.ID = id
	if is.Uses = s.uses; s.uses != nil {
		return is
	}
	for i := range s.at {
		is.Uses = append(is.Uses, sessiondb.TranscriptUse{Keys: []string{fmt.Sprint(id, i)}, Tokens: sessiondb.Tokens{Output: 10}})
	}
	return is
}

func transcript(id string, says ...string) *script {
	s := &script{says: says}
	s.ID, s.Source = id, "other"
	return s
}

// take imports transcripts, first dry: the report is the same.
func take(t *testing.T, db *sessiondb.DB, o sessiondb.ImportOptions, all ...*script) sessiondb.ImportReport {
	t.Helper()
	var reports [2]sessiondb.ImportReport
	for i, dry := range []bool{true, false} {
		o.DryRun = dry
		im := db.NewImporter(o)
		for _, s := range all {
			s.at = 0
			noError(t, im.Transcript(t.Context(), "file", s))
		}
		reports[i] = must[sessiondb.ImportReport](t)(im.Finish(t.Context()))
	}
	if d := cmp.Diff(reports[1], reports[0]); d != "" {
		t.Errorf("dry run (+): %s", d)
	}
	return reports[1]
}

var asItIs sessiondb.ImportOptions

func transcriptNew(t *testing.T, h *harness) {
	db, _ := h.store(t)
	s := transcript("a", "hello", "hi", "sub:do it", "sub:done")
	s.Title, s.Model = ptr("A talk"), ptr("m1")
	r := take(t, db, asItIs, s)
	if d := cmp.Diff(sessiondb.ImportReport{Imported: 2, Messages: 4}, r); d != "" {
		t.Error(d)
	}
	a := must[sessiondb.Session](t)(db.Session(t.Context(), "a"))
	if a.Source != "other" || *a.Title != "A talk" || *a.Model != "m1" || a.MessageCount != 2 || a.ToolCallCount != 1 || a.Usage.Output != 40 ||
		a.APICallCount != 4 || !a.StartedAt.Equal(began) || !a.EndedAt.Equal(began.Add(2*time.Second)) || *a.EndReason != "imported" {
		t.Errorf("got %+v", a)
	}
	if parentID(t, db, "sub") != "a" {
		t.Errorf("parent %q", parentID(t, db, "sub"))
	}
	before := exportLines(t, db, everything)
	if d := cmp.Diff(sessiondb.ImportReport{Same: 2}, take(t, db, asItIs, s)); d != "" {
		t.Errorf("again: %s", d)
	}
	if d := cmp.Diff(before, exportLines(t, db, everything)); d != "" {
		t.Errorf("again: %s", d)
	}
}

// A file that grew gives what is new, and its last message again if that one
// has more.
func transcriptGrown(t *testing.T, h *harness) {
	db, _ := h.store(t)
	take(t, db, asItIs, transcript("a", "one", "two"))
	first := messages(t, db, "a")
	for _, more := range [][]string{{"one", "two", "three"}, {"one", "two", "three+and more"}, {"one", "two", "three+and more", "four", "five"}} {
		if r := take(t, db, asItIs, transcript("a", more...)); r.Extended != 1 || r.Conflicts != nil {
			t.Errorf("%q: %+v", more, r)
		}
		if d := cmp.Diff(more, texts(messages(t, db, "a"))); d != "" {
			t.Error(d)
		}
	}
	if now := messages(t, db, "a"); now[0].ID != first[0].ID || now[1].ID != first[1].ID {
		t.Errorf("ids %d and %d, not %d and %d", now[0].ID, now[1].ID, first[0].ID, first[1].ID)
	}
	s := must[sessiondb.Session](t)(db.Session(t.Context(), "a"))
	if s.MessageCount != 5 || s.ToolCallCount != 2 || s.Usage.Output != 50 || s.APICallCount != 5 || !s.EndedAt.Equal(began.Add(5*time.Second)) {
		t.Errorf("got %+v", s)
	}
}

// What a person made of a session stays, and new messages come all the same.
func transcriptChanged(t *testing.T, h *harness) {
	db, _ := h.store(t)
	s := transcript("a", "one", "two")
	s.Title = ptr("theirs")
	take(t, db, asItIs, s)
	noError(t, db.SetTitle(t.Context(), "a", "mine"))
	ms := messages(t, db, "a")
	ms[0].Content, ms[1].Content = sessiondb.Text("uno"), sessiondb.Text("due")
	noError(t, db.ReplaceMessages(t.Context(), "a", ms))
	noError(t, db.ReopenSession(t.Context(), "a"))
	s.says, s.Title = []string{"one", "two+more", "three"}, ptr("theirs again")
	if r := take(t, db, asItIs, s); r.Extended != 1 || r.Messages != 1 {
		t.Errorf("%+v", r)
	}
	if d := cmp.Diff([]string{"uno", "due", "three"}, texts(messages(t, db, "a"))); d != "" {
		t.Error(d)
	}
	if now := must[sessiondb.Session](t)(db.Session(t.Context(), "a")); *now.Title != "mine" || !now.EndedAt.IsZero() {
		t.Errorf("got %+v", now)
	}
	must[sessiondb.DeleteReport](t)(db.DeleteSession(t.Context(), "a", sessiondb.DeleteOptions{}))
	if r := take(t, db, asItIs, s); r.Imported != 1 || r.Messages != 3 {
		t.Errorf("after it was deleted: %+v", r)
	}
}

func transcriptConflicts(t *testing.T, h *harness) {
	db, _ := h.store(t)
	take(t, db, asItIs, transcript("a", "one", "two"))
	for _, says := range [][]string{{"one", "other", "three"}, {"two", "three"}, {"three"}} {
		if r := take(t, db, sessiondb.ImportOptions{Extend: true}, transcript("a", says...)); len(r.Conflicts) != 1 || !strings.Contains(r.Conflicts[0].Reason, "no continuation") {
			t.Errorf("%q: %+v", says, r)
		}
	}
	if d := cmp.Diff(sessiondb.ImportReport{Same: 1}, take(t, db, asItIs, transcript("a", "one"))); d != "" {
		t.Errorf("a copy of before: %s", d)
	}
	session(t, db, "b")
	say(t, db, "b", "of another program")
	if r := take(t, db, asItIs, transcript("b", "one")); r.Imported != 1 || r.Conflicts != nil {
		t.Errorf("of another source: %+v", r)
	}
	if d := cmp.Diff([]string{"one"}, texts(messages(t, db, "other:b"))); d != "" {
		t.Error(d)
	}
	if r := take(t, db, asItIs, transcript("b", "one")); r.Same != 1 {
		t.Errorf("again: %+v", r)
	}
}

// A session that came another way is compared by what it says.
func transcriptUnmarked(t *testing.T, h *harness) {
	db, _ := h.store(t)
	importLines(t, db, `{"id":"a","source":"other","messages":[{"role":"user","content":"one"},{"role":"assistant","content":"two"}]}`)
	if r := take(t, db, asItIs, transcript("a", "one")); r.Same != 1 {
		t.Errorf("shorter: %+v", r)
	}
	if r := take(t, db, asItIs, transcript("a", "one", "deux")); len(r.Conflicts) != 1 {
		t.Errorf("another: %+v", r)
	}
	if r := take(t, db, asItIs, transcript("a", "one", "two", "three")); len(r.Conflicts) != 1 || !strings.Contains(r.Conflicts[0].Reason, "lacks the last 1") {
		t.Errorf("longer: %+v", r)
	}
	if r := take(t, db, sessiondb.ImportOptions{Extend: true}, transcript("a", "one", "two", "three")); r.Extended != 1 || r.Messages != 1 {
		t.Errorf("extended: %+v", r)
	}
	if r := take(t, db, asItIs, transcript("a", "one", "two", "three", "four")); r.Extended != 1 || r.Messages != 1 {
		t.Errorf("from then on: %+v", r)
	}
	if d := cmp.Diff([]string{"one", "two", "three", "four"}, texts(messages(t, db, "a"))); d != "" {
		t.Error(d)
	}
}

func transcriptParents(t *testing.T, h *harness) {
	db, _ := h.store(t)
	child := transcript("child", "one")
	child.ParentID, child.Delegate = ptr("parent"), true
	if r := take(t, db, asItIs, child); r.Imported != 1 || len(r.Changed) != 1 {
		t.Errorf("alone: %+v", r)
	}
	if listed := must[[]sessiondb.ListedSession](t)(db.Sessions(t.Context(), sessiondb.ListFilter{})); len(listed) != 0 {
		t.Errorf("listed: %+v", listed)
	}
	later := transcript("later", "two")
	later.ParentID, later.Delegate = ptr("parent"), true
	if r := take(t, db, asItIs, child, later, transcript("parent", "zero")); r.Imported != 2 || r.Changed != nil {
		t.Errorf("with the parent: %+v", r)
	}
	if parentID(t, db, "child") != "parent" || parentID(t, db, "later") != "parent" {
		t.Errorf("parents %q and %q", parentID(t, db, "child"), parentID(t, db, "later"))
	}
}

func transcriptTitles(t *testing.T, h *harness) {
	db, _ := h.store(t)
	noError(t, db.SetTitle(t.Context(), session(t, db, "own"), "taken"))
	titled := func(id, title string, titles int) *script {
		s := transcript(id, "x")
		s.Titles = titles
		s.Title = &title
		return s
	}
	r := take(t, db, asItIs, titled("a", "taken", 1), titled("b", strings.Repeat("long ", 40), 1), titled("c", "first", 1), titled("d", "first", 1))
	if d := cmp.Diff([]string{"1 a", "1 d"}, issues(r.Changed)); d != "" || r.Imported != 4 {
		t.Errorf("%+v %s", r, d)
	}
	if b := must[sessiondb.Session](t)(db.Session(t.Context(), "b")); b.Title == nil || !strings.HasPrefix(*b.Title, "long long") {
		t.Errorf("got %+v", b)
	}
	take(t, db, asItIs, titled("c", "second", 2))
	if r := take(t, db, asItIs, titled("c", "first", 1)); r.Same != 1 {
		t.Errorf("a copy of before: %+v", r)
	}
	if c := must[sessiondb.Session](t)(db.Session(t.Context(), "c")); *c.Title != "second" {
		t.Errorf("got %+v", c)
	}
}

// Many messages come in several transactions. When the file ends too early, what
// came stays, and the rest comes next time.
func transcriptLarge(t *testing.T, h *harness) {
	db, _ := h.store(t)
	var says []string
	for i := range 60 {
		says = append(says, fmt.Sprint(i, strings.Repeat(" wide", 4000)), fmt.Sprint("side:", i))
	}
	s := transcript("a", says[:100]...)
	s.fail = errTorn
	im := db.NewImporter(asItIs)
	if err := im.Transcript(t.Context(), "file", s); !errors.Is(err, errTorn) {
		t.Errorf("got %v", err)
	}
	if r := must[sessiondb.ImportReport](t)(im.Finish(t.Context())); r.Imported != 2 || r.Messages != 100 {
		t.Errorf("torn: %+v", r)
	}
	if r := take(t, db, asItIs, transcript("a", says...)); r.Extended != 2 || r.Messages != 20 || r.Conflicts != nil {
		t.Errorf("whole: %+v", r)
	}
	a := must[sessiondb.Session](t)(db.Session(t.Context(), "a"))
	if a.MessageCount != 60 || len(messages(t, db, "side")) != 60 || a.Usage.Output != 1200 {
		t.Errorf("got %+v", a)
	}
}

func transcriptBadLines(t *testing.T, h *harness) {
	db, _ := h.store(t)
	r := take(t, db, asItIs, transcript("a", "one", "!", "three"), transcript("bad\nid", "x"))
	if d := cmp.Diff([]sessiondb.ImportIssue{{File: "file", Line: 2, Reason: "bad"}}, r.Failed); d != "" || r.Imported != 1 || len(r.Conflicts) != 1 {
		t.Errorf("%+v %s", r, d)
	}
}
