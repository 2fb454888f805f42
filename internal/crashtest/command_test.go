//go:build unix

package crashtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/cli"
	"github.com/sessiondb-go/sessiondb/internal/fixture"
	"github.com/sessiondb-go/sessiondb/sqlite"
)

// One thread makes all system calls of a command, since those are counted by
// thread.
func init() {
	roles["command"] = func(_ context.Context, args []string) int {
		runtime.LockOSThread()
		return cli.Main(args)
	}
}

// command is a command line that works on a whole store, with what it begins
// with and what must hold whenever it ends.
type command struct {
	line string // $ stands for the folder of the store
	// prepare makes what the command begins with, beside what fill made of the
	// store; nil for nothing.
	prepare func(t *testing.T, dir string)
	// left looks at what the command left, done if it said that it was.
	left func(t *testing.T, dir string, done bool) []string
}

var commands = map[string]command{
	"compact": {line: "compact", left: storeWhole},
	"outside": {line: "compact --layout external", left: storeWhole},
	"inside": {
		line:    "compact --layout inline",
		prepare: func(t *testing.T, dir string) { undisturbed(t, dir, "compact --layout external") },
		left:    storeWhole,
	},
	"prune": {line: "prune --yes", left: pruned},
	"migrate": {
		line: "prune --yes --older-than 3650d",
		prepare: func(t *testing.T, dir string) {
			copyTo(t, fixture.Copy(t, oldStore), filepath.Join(dir, "state.db"))
		},
		left: migrated,
	},
	"fix": {line: "doctor --fix --yes", prepare: spoil, left: mended},
	"backup": {
		line:    "backup $/backups/ --keep 1",
		prepare: func(t *testing.T, dir string) { undisturbed(t, dir, "backup $/backups/") },
		left:    backedUp,
	},
	"restore":         {line: "restore $/good.db --yes", prepare: moreThanBackup, left: restored},
	"restore damaged": {line: "restore $/good.db --yes", prepare: worseThanBackup, left: restoredDamaged},
	"recover":         {line: "recover $/state.db $/new.db", prepare: remember, left: recovered},
	"export": {
		line: "export -o $/out.jsonl",
		prepare: func(t *testing.T, dir string) {
			if err := os.WriteFile(filepath.Join(dir, "out.jsonl"), []byte("old\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		},
		left: exported,
	},
}

// begin makes a folder with a store for a command.
func (c command) begin(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	c.beginIn(t, dir)
	return dir
}

func (c command) beginIn(t *testing.T, dir string) {
	t.Helper()
	filledStore(t, dir)
	if c.prepare != nil {
		c.prepare(t, dir)
	}
}

func filledStore(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "state.db")
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err == nil {
		err = errors.Join(fill(t.Context(), db), db.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func words(dir, line string) []string {
	return append(strings.Fields(strings.ReplaceAll(line, "$", dir)), "--db", filepath.Join(dir, "state.db"))
}

// process is the command as a process of its own.
func (c command) process(t *testing.T, dir string, tracer ...string) *exec.Cmd {
	return as(t, "command", tracer, words(dir, c.line)...)
}

// check looks at what is left of a command that ended somehow, lets it run
// again undisturbed, and looks once more.
func (c command) check(t *testing.T, dir string, done bool) []string {
	t.Helper()
	problems := append(c.left(t, dir, done), private(dir)...)
	if len(problems) > 0 {
		return problems
	}
	_ = os.Remove(filepath.Join(dir, "new.db")) // never overwritten
	if out, err := c.process(t, dir).CombinedOutput(); err != nil {
		return []string{fmt.Sprintf("again: %v: %s", err, out)}
	}
	for _, p := range c.left(t, dir, true) {
		problems = append(problems, "again: "+p)
	}
	return problems
}

// A command that works on the whole store is killed at a random moment.
func TestKilledCommand(t *testing.T) {
	r := random(t)
	for name, c := range commands {
		seed := r.Uint64()
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 0))
			dir := c.begin(t)
			start := time.Now()
			if out, err := c.process(t, dir).CombinedOutput(); err != nil {
				t.Fatalf("undisturbed: %v: %s", err, out)
			}
			longest := time.Since(start)
			keep(t, snapshot(t, filepath.Join(dir, "state.db")), c.left(t, dir, true))
			for range rounds(few(1)) {
				c.killed(t, time.Duration(r.Int64N(int64(longest))))
			}
		})
	}
}

func (c command) killed(t *testing.T, after time.Duration) {
	t.Helper()
	dir := c.begin(t)
	cmd := c.process(t, dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
	done := cmd.Wait() == nil
	kept := snapshot(t, filepath.Join(dir, "state.db"))
	keep(t, kept, c.check(t, dir, done))
}

// undisturbed runs a command to its end.
func undisturbed(t *testing.T, dir, line string) {
	t.Helper()
	if out, err := as(t, "sessiondb", nil, words(dir, line)...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", line, err, out)
	}
}

// storeWhole: the store holds what fill made, and all of it agrees.
func storeWhole(t *testing.T, dir string, _ bool) []string {
	return holdsAll(t, filepath.Join(dir, "state.db"), "")
}

// holdsAll looks at a store by plain SQLite, opens it as a program does, and
// looks once more.
func holdsAll(t *testing.T, path, also string) []string {
	if found := pages(path); len(found) > 0 {
		return found
	}
	if err := reopen(t.Context(), path); err != nil {
		return []string{fmt.Sprintf("open: %v", err)}
	}
	j := plain(path)
	j.sound()
	oldStored(j, []string{"whole"})
	if got := strings.Join(j.rows("SELECT content FROM messages WHERE content LIKE 'later%'"), " "); got != also {
		j.say("later messages %q, want %q", got, also)
	}
	return j.close()
}

// oldStore is one that a command brings to the schema.
const oldStore = "hermes-v3.db"

// migrated: an old store or a new one, and every row of it.
func migrated(t *testing.T, dir string, _ bool) []string {
	kept := snapshot(t, filepath.Join(dir, "state.db"))
	defer func() { _ = os.RemoveAll(kept) }()
	path := filepath.Join(kept, "state.db")
	if err := reopen(t.Context(), path); err != nil {
		return []string{fmt.Sprintf("open: %v", err)}
	}
	j := plain(path)
	j.reachable()
	j.indexed()
	if rowsOf(path) != rowsOf(fixture.Copy(t, oldStore)) {
		j.say("other rows than before")
	}
	return j.close()
}

// copyTo copies a file that no connection has open.
func copyTo(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func pruned(t *testing.T, dir string, done bool) []string {
	path := filepath.Join(dir, "state.db")
	if found := pages(path); len(found) > 0 {
		return found
	}
	if err := reopen(t.Context(), path); err != nil {
		return []string{fmt.Sprintf("open: %v", err)}
	}
	if err := mend(t.Context(), path); err != nil {
		return []string{fmt.Sprintf("mend: %v", err)}
	}
	var acks []string
	if done {
		acks = []string{"pruned"}
	}
	j := plain(path)
	j.sound()
	oldStored(j, acks)
	return j.close()
}

// spoil damages all that a repair mends: both indexes, a trigger, an index,
// counters, parents, and a message that belongs to nobody.
func spoil(t *testing.T, dir string) {
	t.Helper()
	j := plain(filepath.Join(dir, "state.db"))
	for _, statement := range []string{
		"DELETE FROM messages_fts WHERE rowid IN (3, 4)",
		"DROP TRIGGER messages_fts_insert",
		"INSERT INTO messages (session_id, role, content, timestamp) VALUES ('nobody', 'user', 'later', 1500000000)",
		"DELETE FROM messages_fts_trigram_data WHERE id > 10",
		"DROP INDEX idx_messages_session",
		"UPDATE sessions SET message_count = 99 WHERE id = 's'",
		"UPDATE sessions SET parent_session_id = 'gone' WHERE id = 'old1'",
	} {
		if _, err := j.db.Exec(statement); err != nil {
			t.Fatal(statement, err)
		}
	}
	j.close()
}

// mended: nothing is lost by a repair, whatever of it is done; each backup that
// it made holds what was there.
func mended(t *testing.T, dir string, done bool) []string {
	path := filepath.Join(dir, "state.db")
	for _, b := range named(dir, "state.db.before-fix-*") {
		if found := holdsSpoiled(t, b); len(found) > 0 {
			return append(found, "in "+b)
		}
	}
	if done {
		return holdsAll(t, path, "later")
	}
	return holdsSpoiled(t, path)
}

// holdsSpoiled looks at a store in which indexes may be damaged.
func holdsSpoiled(t *testing.T, path string) []string {
	j := plain(path)
	for _, line := range j.rows("PRAGMA integrity_check") {
		if line != "ok" && !strings.Contains(line, "inverted index") && !strings.Contains(line, "fts5") {
			j.say("integrity_check: %s", line)
		}
	}
	oldStored(j, []string{"whole"})
	if got := strings.Join(j.rows("SELECT content FROM messages WHERE session_id = 'nobody'"), " "); got != "later" {
		j.say("the message of nobody: %q", got)
	}
	return j.close()
}

// backedUp: the store is as it was, and there is a good backup at each moment;
// no other has the name of one.
func backedUp(t *testing.T, dir string, done bool) []string {
	backups := named(dir, "backups/*")
	if len(backups) == 0 || done && len(backups) > 1 {
		return []string{fmt.Sprintf("%d backups: %q", len(backups), backups)}
	}
	for _, b := range backups {
		if found := copyHolds(t, b, ""); len(found) > 0 {
			return append(found, "in "+b)
		}
	}
	return storeWhole(t, dir, done)
}

// copyHolds looks at a copy of a file that must be a whole store by itself.
func copyHolds(t *testing.T, path, also string) []string {
	to := filepath.Join(t.TempDir(), "copy.db")
	copyTo(t, path, to)
	return holdsAll(t, to, also)
}

// moreThanBackup makes a backup, and writes to the store afterwards.
func moreThanBackup(t *testing.T, dir string) {
	t.Helper()
	undisturbed(t, dir, "backup $/good.db")
	path := filepath.Join(dir, "state.db")
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err == nil {
		_, err = db.AppendMessage(t.Context(), "s", sessiondb.Message{Role: "user", Content: sessiondb.Text("later")})
		err = errors.Join(err, db.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// restored: the store is what it was, or what the backup holds, and the one it
// was is kept. The backup stays good.
func restored(t *testing.T, dir string, done bool) []string {
	if found := copyHolds(t, filepath.Join(dir, "good.db"), ""); len(found) > 0 {
		return append(found, "in the backup")
	}
	path := filepath.Join(dir, "state.db")
	kept := named(dir, "state.db.before-restore-*")
	for _, k := range kept {
		if len(copyHolds(t, k, "later")) > 0 && len(copyHolds(t, k, "")) > 0 {
			return append(copyHolds(t, k, "later"), "in "+k)
		}
	}
	before, after := copiesOf(t, path, "later"), copiesOf(t, path, "")
	switch {
	case len(after) == 0 && len(kept) == 0:
		return []string{"restored, and what was there is lost"}
	case len(after) == 0, len(before) == 0 && !done:
		return nil
	}
	return append(before, after...)
}

// copiesOf is holdsAll on a copy of a database with its log and journal.
func copiesOf(t *testing.T, path, also string) []string {
	dir := snapshot(t, path)
	defer func() { _ = os.RemoveAll(dir) }()
	return holdsAll(t, filepath.Join(dir, filepath.Base(path)), also)
}

// worseThanBackup makes a backup, and a store that SQLite can't open.
func worseThanBackup(t *testing.T, dir string) {
	t.Helper()
	undisturbed(t, dir, "backup $/good.db")
	if err := os.WriteFile(filepath.Join(dir, "state.db"), bytes.Repeat([]byte("damage "), 1000), 0o600); err != nil {
		t.Fatal(err)
	}
}

// restoredDamaged: the damaged bytes are there, under their own name or as what
// was kept, and the store is damaged or what the backup holds.
func restoredDamaged(t *testing.T, dir string, done bool) []string {
	if found := copyHolds(t, filepath.Join(dir, "good.db"), ""); len(found) > 0 {
		return append(found, "in the backup")
	}
	damaged := func(path string) bool {
		b, err := os.ReadFile(path)
		return err == nil && bytes.Equal(b, bytes.Repeat([]byte("damage "), 1000))
	}
	path := filepath.Join(dir, "state.db")
	kept := named(dir, "state.db.damaged-*")
	if damaged(path) && !done {
		return nil
	}
	if !slices.ContainsFunc(kept, damaged) {
		return []string{fmt.Sprintf("what was there is not kept: %q", kept)}
	}
	return holdsAll(t, path, "")
}

// remember keeps what the store is beside it.
func remember(t *testing.T, dir string) {
	t.Helper()
	copyTo(t, filepath.Join(dir, "state.db"), filepath.Join(dir, "remembered"))
}

// recovered: the source is the same to the byte, the new store is whole or
// not there.
func recovered(t *testing.T, dir string, done bool) []string {
	was, err := os.ReadFile(filepath.Join(dir, "remembered"))
	is, err2 := os.ReadFile(filepath.Join(dir, "state.db"))
	if err := errors.Join(err, err2); err != nil || !bytes.Equal(was, is) {
		return []string{fmt.Sprintf("the source was changed (%v)", err)}
	}
	if to := filepath.Join(dir, "new.db"); done || exists(to) {
		return copyHolds(t, to, "")
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// exported: the file is the old one, or complete.
func exported(t *testing.T, dir string, done bool) []string {
	b, err := os.ReadFile(filepath.Join(dir, "out.jsonl"))
	if err != nil {
		return []string{err.Error()}
	}
	if !done && string(b) == "old\n" {
		return storeWhole(t, dir, done)
	}
	if n, m := bytes.Count(b, []byte("\n")), bytes.Count(b, []byte(`"role":"user"`)); n != 6 || m != 20 {
		return []string{fmt.Sprintf("%d sessions and %d messages, want 6 and 20", n, m)}
	}
	return storeWhole(t, dir, done)
}

// named are the files of a pattern that stand for something: no stage of work
// under way, no log beside them.
func named(dir, pattern string) (out []string) {
	found, _ := filepath.Glob(filepath.Join(dir, pattern))
	for _, f := range found {
		if base := filepath.Base(f); !strings.HasPrefix(base, ".") && !regexp.MustCompile(`-(wal|shm|journal)$`).MatchString(base) {
			out = append(out, f)
		}
	}
	return out
}

// private says which files others may read.
func private(dir string) (problems []string) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if info, e := d.Info(); err == nil && e == nil && path != dir && info.Mode().Perm()&0o077 != 0 {
			problems = append(problems, fmt.Sprintf("%s has mode %v", path, info.Mode()))
		}
		return nil
	})
	return problems
}
