package enginetest

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessiondb-go/sessiondb"
)

// unique is a transcript whose keys no other message has, and that begins so many
// seconds later.
func unique(id string, from int, says ...string) *script {
	s := transcript(id, says...)
	s.unique, s.from = true, from
	s.uses = []sessiondb.TranscriptUse{}
	return s
}

// A session may stand in several files: one that goes on where another stops, one that
// was copied before it went on. Whatever comes, in whatever order, is stored once.
func transcriptFiles(t *testing.T, h *harness) {
	db, _ := h.store(t)
	base, rest := unique("a", 0, "one", "two", "three"), unique("a", 3, "four", "five")
	whole, middle := unique("a", 0, "one", "two", "three", "four", "five", "six"), unique("a", 1, "two", "three", "four")
	if d := cmp.Diff(sessiondb.ImportReport{Imported: 1, Messages: 5}, take(t, db, asItIs, base, rest, middle)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(sessiondb.ImportReport{Extended: 1, Messages: 1}, take(t, db, asItIs, whole, base, rest)); d != "" {
		t.Error(d)
	}
	want := exportLines(t, db, everything)
	for _, order := range [][]*script{{base, rest, middle, whole}, {whole, middle, rest, base}, {rest, whole, base}} {
		if d := cmp.Diff(sessiondb.ImportReport{Same: 1}, take(t, db, asItIs, order...)); d != "" {
			t.Errorf("again: %s", d)
		}
		if d := cmp.Diff(want, exportLines(t, db, everything)); d != "" {
			t.Errorf("again: %s", d)
		}
	}
	if d := cmp.Diff([]string{"one", "two", "three", "four", "five", "six"}, texts(messages(t, db, "a"))); d != "" {
		t.Error(d)
	}
	transcriptLast(t, db)
}

// The last message is replaced by one that has more, never by one that has less.
func transcriptLast(t *testing.T, db *sessiondb.DB) {
	t.Helper()
	less, more := unique("b", 0, "one", "two"), unique("b", 0, "one", "two+and more")
	take(t, db, asItIs, less)
	if r := take(t, db, asItIs, more, less); r.Extended != 1 || r.Messages != 0 {
		t.Errorf("%+v", r)
	}
	if d := cmp.Diff(sessiondb.ImportReport{Same: 1}, take(t, db, asItIs, less, more)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"one", "two+and more"}, texts(messages(t, db, "b"))); d != "" {
		t.Error(d)
	}
}

// What comes after what followed it is stored, and told.
func transcriptOlder(t *testing.T, h *harness) {
	db, _ := h.store(t)
	take(t, db, asItIs, unique("a", 100, "three", "four"))
	r := take(t, db, asItIs, unique("a", 0, "one", "two"))
	if r.Extended != 1 || len(r.Changed) != 1 || !strings.Contains(r.Changed[0].Reason, "stored behind that: 2 messages") {
		t.Errorf("%+v", r)
	}
	if d := cmp.Diff([]string{"three", "four", "one", "two"}, texts(messages(t, db, "a"))); d != "" {
		t.Error(d)
	}
	if s := must[sessiondb.Session](t)(db.Session(t.Context(), "a")); s.EndedAt.Unix() != began.Unix()+102 {
		t.Errorf("ended at %v", s.EndedAt)
	}
	if r := take(t, db, asItIs, unique("a", -200, "three", "four", "one", "two", "five")); r.Messages != 1 || r.Changed != nil {
		t.Errorf("a clock that was set back: %+v", r)
	}
	if r := take(t, db, asItIs, unique("a", 0, "four", "amid", "five")); r.Messages != 1 || len(r.Changed) != 1 {
		t.Errorf("amid: %+v", r)
	}
}

// What a response used is counted once, by the session that brought it first, and for
// as much as was told last.
func transcriptUses(t *testing.T, h *harness) {
	db, _ := h.store(t)
	use := func(output int64, keys ...string) sessiondb.TranscriptUse {
		return sessiondb.TranscriptUse{Keys: keys, Tokens: sessiondb.Tokens{Input: 1, Output: output}}
	}
	a, copied := unique("a", 0, "one", "two"), unique("b", 0, "un", "deux", "trois")
	a.uses = []sessiondb.TranscriptUse{use(10, "r1"), use(5, "r2")}
	copied.uses = []sessiondb.TranscriptUse{use(10, "r1"), use(20, "r2"), use(7, "r3", "r3 of a")}
	for range 2 {
		take(t, db, asItIs, a, copied)
		for id, want := range map[string]sessiondb.Tokens{"a": {Input: 2, Output: 15}, "b": {Input: 1, Output: 7}} {
			if s := must[sessiondb.Session](t)(db.Session(t.Context(), id)); s.Usage != want || s.APICallCount != want.Input {
				t.Errorf("%s: %+v, %d calls", id, s.Usage, s.APICallCount)
			}
		}
	}
	a.says, a.uses = append(a.says, "three"), append(a.uses, use(9, "r3 of a"))
	a.uses[1] = use(20, "r2")
	take(t, db, asItIs, a)
	if s := must[sessiondb.Session](t)(db.Session(t.Context(), "a")); s.Usage.Output != 30 || s.APICallCount != 2 {
		t.Errorf("%+v, %d calls", s.Usage, s.APICallCount)
	}
}

// Copies are forks of what they were made of, and what goes on in a session of its own
// is a branch, whichever comes first.
func transcriptBranches(t *testing.T, h *harness) {
	base := unique("a", 0, "one", "two")
	told, untold := unique("told", 0, "one", "two", "more"), unique("untold", 0, "one", "two", "else")
	on := unique("on", 10, "three")
	told.ForkedFrom, on.After = "a", "two"
	for name, order := range map[string][]*script{"parent first": {base, told, untold, on}, "parent amid": {told, on, base, untold}} {
		t.Run(name, func(t *testing.T) {
			db, _ := h.store(t)
			if r := take(t, db, asItIs, order...); r.Imported != 4 || r.Changed != nil {
				t.Errorf("%+v", r)
			}
			for range 2 {
				kinds := map[string]sessiondb.Kind{}
				for _, n := range must[[]sessiondb.LineageNode](t)(db.Lineage(t.Context(), "a")) {
					kinds[n.ID] = n.Kind
				}
				if d := cmp.Diff(map[string]sessiondb.Kind{"a": sessiondb.Root, "told": sessiondb.Branch, "untold": sessiondb.Branch, "on": sessiondb.Branch}, kinds); d != "" {
					t.Error(d)
				}
				lines := exportLines(t, db, everything)
				db, _ = h.store(t)
				importLines(t, db, strings.Join(lines, ""))
			}
			said := must[[]sessiondb.ConversationMessage](t)(db.Conversation(t.Context(), "on", true))
			if len(said) != 3 || len(must[[]sessiondb.ConversationMessage](t)(db.Conversation(t.Context(), "untold", true))) != 3 {
				t.Errorf("%+v", said)
			}
		})
	}
	db, _ := h.store(t)
	base.says = append(base.says, "", "", "", "", "", "", "", "", "", "meanwhile")
	take(t, db, asItIs, on)
	take(t, db, asItIs, base)
	take(t, db, asItIs, on)
	if said := must[[]sessiondb.ConversationMessage](t)(db.Conversation(t.Context(), "on", true)); string(said[len(said)-1].Content) != `"three"` || len(said) != 12 {
		t.Errorf("%d: %+v", len(said), said)
	}
	if up := must[[]sessiondb.Session](t)(db.Ancestors(t.Context(), "on")); len(up) != 1 {
		t.Errorf("in imports of their own: %+v", up)
	}
	db, _ = h.store(t)
	for _, s := range []*script{told, base, told, base} { // a copy is no ancestor of what it was made of
		take(t, db, asItIs, s)
	}
	if up := must[[]sessiondb.Session](t)(db.Ancestors(t.Context(), "a")); len(up) != 0 {
		t.Errorf("of the first: %+v", up)
	}
}

// What an earlier version imported goes on, and what it can't be compared with is left.
func transcriptOldMarks(t *testing.T, h *harness) {
	db, _ := h.store(t)
	a := unique("a", 0, "one", "two")
	a.uses = []sessiondb.TranscriptUse{{Keys: []string{"r1"}, Tokens: sessiondb.Tokens{Output: 10}}}
	take(t, db, asItIs, a)
	noError(t, db.SetMeta(t.Context(), "sessiondb_import:a", `{"messages":2,"keys":"`+chainOf("one", "two")+`","last":2,"digest":"x","started":1700000000,"usage":{"Output":10},"api_calls":1}`))
	if r := take(t, db, asItIs, unique("a", 0, "one", "deux", "three")); len(r.Conflicts) != 1 || !strings.Contains(r.Conflicts[0].Reason, "earlier version") {
		t.Errorf("%+v", r)
	}
	a.says = slices.Concat(a.says, []string{"three"})
	a.uses = append(a.uses, sessiondb.TranscriptUse{Keys: []string{"r2"}, Tokens: sessiondb.Tokens{Output: 5}})
	for _, want := range []sessiondb.ImportReport{{Extended: 1, Messages: 1}, {Same: 1}} {
		if d := cmp.Diff(want, take(t, db, asItIs, a)); d != "" {
			t.Error(d)
		}
	}
	if s := must[sessiondb.Session](t)(db.Session(t.Context(), "a")); s.Usage.Output != 15 || s.APICallCount != 2 {
		t.Errorf("%+v, %d calls", s.Usage, s.APICallCount)
	}

	// What stands amid it in the file makes for a transaction before all is compared.
	db, _ = h.store(t)
	take(t, db, asItIs, unique("a", 0, "one", "two"))
	noError(t, db.SetMeta(t.Context(), "sessiondb_import:a", `{"messages":2,"keys":"`+chainOf("one", "two")+`","last":2,"digest":"x","started":1700000000}`))
	amid := unique("a", 0, "one", "side:"+strings.Repeat("wide ", 200_000), "two", "three")
	amid.Title, amid.Titles = ptr("new"), 1
	take(t, db, asItIs, amid)
	if d := cmp.Diff([]string{"one", "two", "three"}, texts(messages(t, db, "a"))); d != "" {
		t.Error(d)
	}
}

// chainOf is what earlier versions kept of keys.
func chainOf(keys ...string) (chain string) {
	for _, key := range keys {
		sum := sha256.Sum256([]byte(chain + "\x00" + key))
		chain = hex.EncodeToString(sum[:12])
	}
	return chain
}
