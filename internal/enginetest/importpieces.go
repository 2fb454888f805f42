package enginetest

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sessiondb-go/sessiondb"
)

// Whatever pieces of a session files have, in whatever order they come and in however
// many imports: each message is stored once and each response counted once, and what
// came before changes nothing when it comes again.
func transcriptPieces(t *testing.T, h *harness) {
	fewer(t, "rapid.checks", "100", "20")
	db, _ := h.store(t)
	n := 0
	rapid.Check(t, func(r *rapid.T) {
		n++
		id := "s" + strconv.Itoa(n)
		var files []*script
		want := map[string]bool{}
		for range rapid.IntRange(1, 6).Draw(r, "files") {
			files = append(files, piece(r, id))
			for _, say := range files[len(files)-1].says {
				want[say] = true
			}
		}
		for rest := files; len(rest) > 0; {
			k := rapid.IntRange(1, len(rest)).Draw(r, "at once")
			take(t, db, asItIs, rest[:k]...)
			rest = rest[k:]
		}
		said := texts(messages(t, db, id))
		slices.Sort(said)
		if s := must[sessiondb.Session](t)(db.Session(t.Context(), id)); len(said) != len(want) || len(slices.Compact(said)) != len(want) || s.APICallCount != int64(len(want)) {
			r.Errorf("%q of %v, %d calls", said, want, s.APICallCount)
		}
		f := sessiondb.ExportFilter{IDs: []string{id}}
		before := exportLines(t, db, f)
		files = rapid.Permutation(files).Draw(r, "again")
		if d := cmp.Diff(sessiondb.ImportReport{Same: 1}, take(t, db, asItIs, files...)); d != "" {
			r.Errorf("again: %s", d)
		}
		if d := cmp.Diff(before, exportLines(t, db, f)); d != "" {
			r.Errorf("again: %s", d)
		}
	})
}

// piece is a file with some of ten messages of a session, each of a response.
func piece(r *rapid.T, id string) *script {
	from := rapid.IntRange(0, 9).Draw(r, "from")
	to := rapid.IntRange(from+1, 10).Draw(r, "to")
	s := unique(id, from)
	for at := from; at < to; at++ {
		say := fmt.Sprintf("%s says %d", id, at)
		s.says = append(s.says, say)
		s.uses = append(s.uses, sessiondb.TranscriptUse{Keys: []string{say}, Tokens: sessiondb.Tokens{Output: 1}})
	}
	return s
}
