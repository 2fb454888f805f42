//go:build unix

package crashtest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sessiondb-go/sessiondb/internal/fixture"
)

// A process that brings an old file to the schema is killed, alone or beside
// another one that does the same: afterwards the file is old or new, and
// another open ends what was begun.
func TestKilledMigration(t *testing.T) {
	r := random(t)
	var old []string
	for _, name := range fixture.Names(t, "fixtures") {
		var v int
		if _, err := fmt.Sscanf(name, "hermes-v%d", &v); err == nil && v <= 10 {
			old = append(old, name)
		}
	}
	longest := 300 * time.Millisecond
	for i := range rounds(few(len(old))) {
		name := old[i%len(old)]
		path := fixture.Copy(t, name)
		before := rowsOf(path)
		peers := []*peer{start(t, as(t, "act", nil, path, "migrate"), r), start(t, as(t, "act", nil, path, "migrate"), r)}
		for _, p := range peers[:1+r.IntN(2)] {
			time.AfterFunc(time.Duration(r.Int64N(int64(longest))), p.killed)
		}
		for _, p := range peers {
			_ = p.cmd.Wait()
		}
		kept := snapshot(t, path)
		var problems []string
		if err := reopen(t.Context(), path); err != nil {
			problems = append(problems, err.Error())
		}
		j := plain(path)
		j.reachable()
		j.indexed()
		problems = append(problems, j.close()...)
		if after := rowsOf(path); after != before {
			problems = append(problems, fmt.Sprintf("%s: %s, was %s", name, after, before))
		}
		keep(t, kept, problems)
	}
}

// rowsOf sums up the rows of a store by the columns that every version has.
func rowsOf(path string) string {
	j := plain(path)
	rows := j.rows(`SELECT (SELECT COUNT(*) FROM sessions), (SELECT group_concat(id, ' ') FROM (SELECT id FROM sessions ORDER BY id)),
 (SELECT COUNT(*) FROM messages), (SELECT group_concat(id || session_id || role || COALESCE(content, 'NULL'), ' ') FROM (SELECT * FROM messages ORDER BY id))`)
	return strings.Join(append(rows, j.close()...), "\n")
}
