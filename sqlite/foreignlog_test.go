//go:build linux

package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessiondb-go/sessiondb"
)

// Another store is put in the place of one that is open, whose log stays behind.
func TestLogOfAnotherFile(t *testing.T) {
	s := fresh(t)
	if err := s.Write(t.Context(), put(t.Context(), "old")); err != nil {
		t.Fatal(err)
	}
	if _, ok := birth(s.path); !ok {
		t.Skip("the file system does not tell when a file was made")
	}
	other := fresh(t)
	if err := other.Write(t.Context(), put(t.Context(), "new")); err != nil {
		t.Fatal(err)
	}
	backup := newPath(t)
	run(t, other.w, "VACUUM INTO '"+backup+"'")
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(other.path, s.path); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	content := func() (all string) {
		for _, suffix := range []string{"", "-wal"} {
			b, err := os.ReadFile(s.path + suffix)
			if err != nil {
				t.Error(err)
			}
			all += string(b)
		}
		return all
	}
	before := content()
	for _, o := range []Options{{}, {ReadOnly: true}, {ReadOnly: true, Damaged: func(error) {}}} {
		_, err := Open(t.Context(), s.path, o)
		if !errors.Is(err, sessiondb.ErrOtherLog) || !errors.Is(err, sessiondb.ErrReplaced) || !strings.Contains(err.Error(), s.path+"-wal") {
			t.Errorf("%+v: %v", o, err)
		}
	}
	found, err := Check(t.Context(), s.path, sessiondb.CheckOptions{})
	if err != nil || len(found) == 0 || found[0].Code != "other_log" || !strings.HasPrefix(found[0].Fix, "mv ") {
		t.Errorf("findings %+v, %v", found, err)
	}
	if _, err := Restore(t.Context(), s.path, backup, RestoreOptions{}); !errors.Is(err, sessiondb.ErrOtherLog) {
		t.Errorf("restore: %v", err)
	}
	saved := newPath(t)
	report, err := Recover(t.Context(), s.path, saved, RecoverOptions{})
	if err != nil || !strings.Contains(strings.Join(report.Notes, "\n"), "left out") {
		t.Errorf("%+v, %v", report, err)
	}
	if content() != before {
		t.Error("something was written")
	}
	if err := os.Rename(s.path+"-wal", s.path+"-wal.other"); err != nil {
		t.Fatal(err)
	}
	_ = os.Remove(s.path + "-shm")
	for _, path := range []string{s.path, saved} {
		again, err := Open(t.Context(), path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := scalar[string](t, raw(t, path), "SELECT group_concat(key) FROM state_meta"); got != "new" {
			t.Errorf("%s holds %q", path, got)
		}
		if err := again.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Files that were copied or moved together belong together.
func TestLogOfTheSameFile(t *testing.T) {
	s := fresh(t)
	if err := s.Write(t.Context(), put(t.Context(), "here")); err != nil {
		t.Fatal(err)
	}
	copied, moved := newPath(t), newPath(t)
	for _, suffix := range append([]string{""}, sidecars...) {
		if b, err := os.ReadFile(s.path + suffix); err == nil {
			if err := os.WriteFile(copied+suffix, b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, suffix := range append([]string{""}, sidecars...) {
		if err := os.Rename(s.path+suffix, moved+suffix); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	for _, path := range []string{copied, moved} {
		db, err := Open(t.Context(), path, Options{})
		if err != nil {
			t.Fatalf("%s: %v", filepath.Base(path), err)
		}
		if _, ok, err := db.Meta(t.Context(), "here"); err != nil || !ok {
			t.Errorf("%s: %v, %v", filepath.Base(path), ok, err)
		}
		_ = db.Close()
	}
}
