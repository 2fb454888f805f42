package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/sessiondb-go/sessiondb"
)

// keep copies what is there, which c has locked, to a file beside it.
func (t *target) keep(ctx context.Context, c *conn) error {
	st, err := newStage(filepath.Dir(t.real))
	if err != nil {
		return err
	}
	defer st.remove()
	if err := copyPages(ctx, c, st, t.progress("keeping what is there, pages")); err != nil {
		return fmt.Errorf("keep what is there: %w", err)
	}
	_, err = settle(ctx, st, t.progress("verifying what is there"))
	if errors.Is(err, sessiondb.ErrCorrupt) || errors.Is(err, sessiondb.ErrNotStore) {
		t.r.KeptDamaged = true
		err = st.file.Sync()
	}
	if err != nil {
		return err
	}
	t.r.Kept = t.keptName()
	if err := st.publish(t.r.Kept); err != nil {
		t.r.Kept = ""
		return err
	}
	return nil
}

// keptName is a name beside the store for what was there, which nothing has.
func (t *target) keptName() string {
	word := ".before-restore-"
	if t.r.KeptDamaged {
		word = ".damaged-"
	}
	return StampedName(t.real, word, t.now)
}

// StampedName is a free name beside the store at path for a file that is made of
// it: the name of the store, a word, and a time in UTC, with a number where
// that is taken.
func StampedName(path, word string, at time.Time) string {
	return freeName(path+word+at.UTC().Format(stampLayout), "")
}

// freeName is stem and ending, with a number between them if that is taken.
func freeName(stem, ending string) string {
	name := stem + ending
	for n := 2; taken(name); n++ {
		name = fmt.Sprintf("%s-%d%s", stem, n, ending)
	}
	return name
}

// taken says that a name is that of a file, or of one that belongs to it.
func taken(name string) bool {
	for _, suffix := range append([]string{""}, sidecars...) {
		if _, err := os.Lstat(name + suffix); err == nil {
			return true
		}
	}
	return false
}

// replace puts the staged file in the place of what SQLite can't open, or of
// nothing. First what is there gets a second name, with its log; then the log
// goes, which must never lie beside the new file.
func (t *target) replace(ctx context.Context, st *stage) error {
	dir, found := filepath.Dir(t.real), exists(t.real)
	kept := t.keptName()
	for _, suffix := range []string{"", "-wal", "-journal"} {
		if !fileHolds(t.real + suffix) {
			continue
		}
		if err := secondName(ctx, t.real+suffix, kept+suffix); err != nil {
			return err
		}
		t.r.Kept = kept
	}
	if err := syncDir(dir); err != nil {
		return err
	}
	for _, suffix := range []string{"-wal", "-journal", "-shm"} {
		if err := os.Remove(t.real + suffix); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	if err := syncDir(dir); err != nil {
		return err
	}
	if !found {
		return st.publish(t.real)
	}
	_ = st.file.Close() // first, where an open file can't be renamed
	if err := os.Rename(st.copy(), t.real); err != nil {
		return err
	}
	return syncDir(dir)
}

// secondName gives a file another name, which nothing has, or copies it where
// files have only one. Nobody may have it open.
func secondName(ctx context.Context, from, to string) error {
	if os.Link(from, to) == nil {
		return nil
	}
	err := copyFile(ctx, from, to)
	if err != nil && !errors.Is(err, os.ErrExist) {
		_ = os.Remove(to)
	}
	return err
}
