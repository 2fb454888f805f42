package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/fixture"
)

// shelf is a folder of backups of one store, one an hour.
type shelf struct {
	t    *testing.T
	s    *store
	dir  string
	hour int
}

// backup makes the next backup and says where it is and what it holds.
func (b *shelf) backup() (string, sessiondb.BackupReport) {
	b.t.Helper()
	b.hour++
	path, err := BackupPath(b.s.path, b.dir, time.Unix(1778000000, 0).Add(time.Duration(b.hour)*time.Hour))
	if err != nil {
		b.t.Fatal(err)
	}
	r, err := db(b.s).BackupWithReport(b.t.Context(), path)
	if err != nil {
		b.t.Fatal(err)
	}
	return path, r
}

func (b *shelf) rotate(newest string, r sessiondb.BackupReport, keep int) (removed, held []string) {
	b.t.Helper()
	out, err := RotateBackups(b.t.Context(), b.s.path, newest, r, keep)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, h := range out.Held {
		held = append(held, h.Path)
		if h.Why == "" {
			b.t.Errorf("%s is held without a reason", h.Path)
		}
	}
	for _, path := range out.Removed {
		if exists(path) {
			b.t.Errorf("%s was not removed", path)
		}
	}
	return out.Removed, held
}

func newShelf(t *testing.T) *shelf {
	t.Helper()
	b := &shelf{t: t, s: fresh(t), dir: t.TempDir()}
	d := db(b.s)
	if _, err := d.CreateSession(t.Context(), sessiondb.NewSession{ID: "s", Source: "cli"}); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		if _, err := d.AppendMessage(t.Context(), "s", sessiondb.Message{Role: "user", Content: sessiondb.Text("hello")}); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

func equal(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// The newest good ones stay; nothing but backups of this store is touched, and
// a bad one neither counts nor goes.
func TestRotateBackups(t *testing.T) {
	b := newShelf(t)
	var made []string
	for range 5 {
		path, _ := b.backup()
		made = append(made, path)
	}
	if err := os.Truncate(made[3], fileSize(t, made[3])/2); err != nil {
		t.Fatal(err)
	}
	stem := strings.TrimSuffix(filepath.Base(made[0]), "20260505T175320Z.db")
	twin := &shelf{t: t, s: fresh(t), dir: b.dir, hour: -20} // of another store of that name
	others := []string{stem + "notes.db", stem + "20200101T000000Z.db.gz", "state.db", "state-20200101T000000Z.db"}
	for _, name := range others {
		if err := os.WriteFile(filepath.Join(b.dir, name), []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(b.dir, stem+"20200102T000000Z.db"), 0o700); err != nil {
		t.Fatal(err)
	}
	foreign, err := BackupPath(twin.s.path, b.dir, time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	if err := db(twin.s).Backup(t.Context(), foreign); err != nil {
		t.Fatal(err)
	}
	newest, r := b.backup()
	removed, held := b.rotate(newest, r, 3)
	equal(t, "removed", removed, made[0], made[1])
	equal(t, "held", held, made[3])
	for _, path := range []string{newest, made[2], made[4], foreign} {
		if !exists(path) {
			t.Errorf("%s is gone", path)
		}
	}
	for _, name := range others {
		if !exists(filepath.Join(b.dir, name)) {
			t.Errorf("%s is gone", name)
		}
	}
	removed, held = b.rotate(newest, r, 1)
	equal(t, "removed", removed, made[2], made[4])
	equal(t, "held", held, made[3])
	if _, err := RotateBackups(t.Context(), b.s.path, newest, r, 0); !errors.Is(err, sessiondb.ErrInvalid) || !exists(newest) {
		t.Errorf("none to keep: %v", err)
	}
}

// A store that shrank, or whose index is damaged, pushes no backup out.
func TestRotateHolds(t *testing.T) {
	b := newShelf(t)
	full, _ := b.backup()
	if err := db(b.s).ClearMessages(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	small, _ := b.backup()
	newest, r := b.backup()
	removed, held := b.rotate(newest, r, 1)
	equal(t, "removed", removed, small)
	equal(t, "held", held, full)
	r.Findings = []sessiondb.Finding{{Severity: "warning", What: "an index"}}
	last, _ := b.backup()
	removed, held = b.rotate(last, r, 1)
	equal(t, "removed", removed)
	equal(t, "held", held, full, newest)
}

// The mark in the name is that of the file, wherever its folder is.
func TestBackupPath(t *testing.T) {
	at := time.Date(2026, 5, 5, 18, 53, 20, 0, time.FixedZone("", 2*60*60))
	path := fixture.Copy(t, "hermes-v11.db")
	dir := t.TempDir()
	name, err := BackupPath(path, dir, at)
	if err != nil || !strings.HasPrefix(name, filepath.Join(dir, "hermes-v11-")) || !strings.HasSuffix(name, "-20260505T165320Z.db") {
		t.Errorf("%q, %v", name, err)
	}
	if twin, err := BackupPath(fixture.Copy(t, "hermes-v11.db"), dir, at); err != nil || twin == name {
		t.Errorf("two stores have the name %q, %v", twin, err)
	}
	if _, err := BackupPath(newPath(t), dir, at); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("of no store: %v", err)
	}
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	next, err := BackupPath(path, dir, at)
	if err != nil || next != strings.TrimSuffix(name, ".db")+"-2.db" {
		t.Errorf("where %s is taken: %q, %v", name, next, err)
	}
	link := filepath.Join(t.TempDir(), "hermes-v11.db")
	if err := os.Symlink(path, link); err != nil {
		t.Skip(err)
	}
	if by, err := BackupPath(link, dir, at); err != nil || by != next {
		t.Errorf("by a link: %q, %v", by, err)
	}
}
