//go:build unix

package sqlite

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/fixture"
)

// pausedRole stores a key, says so, waits for a line, and stores a session.
func pausedRole(ctx context.Context, path string, args []string) error {
	d, err := Open(ctx, path, Options{})
	if err != nil {
		return err
	}
	if err := d.SetMeta(ctx, args[0], "x"); err != nil {
		return err
	}
	fmt.Println("stored")
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return err
	}
	_, err = d.CreateSession(ctx, sessiondb.NewSession{ID: args[1]})
	return errors.Join(err, d.Close())
}

// A copy is put in the place of the file, and the log stays behind: to whoever does not
// look at the note it is that of the copy from then on, and may hold what they write.
func TestReplacedBesideItsLog(t *testing.T) {
	s := fresh(t)
	if err := s.Write(t.Context(), put(t.Context(), "a")); err != nil {
		t.Fatal(err)
	}
	copied := newPath(t)
	run(t, s.w, "VACUUM INTO '"+copied+"'")
	if err := os.Rename(copied, s.path); err != nil {
		t.Fatal(err)
	}
	if err := s.Write(t.Context(), put(t.Context(), "refused")); !errors.Is(err, sessiondb.ErrReplaced) {
		t.Errorf("write: %v", err)
	}
	if err := os.Truncate(s.path+queueSuffix, 0); err != nil {
		t.Fatal(err)
	}
	cmd := process(t, "paused", s.path, "b", "c")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	_, _ = fmt.Fprintln(in)
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	got := scalar[string](t, raw(t, s.path), "SELECT group_concat(key, ' ' ORDER BY key) FROM (SELECT key FROM state_meta UNION SELECT id FROM sessions)")
	if got != "a b c" {
		t.Errorf("stored %q", got)
	}
}

// Where the files beside the database can't be used, an error says so.
func TestErrorsNameTheFile(t *testing.T) {
	for _, tt := range []struct {
		what, want string
		spoil      func(name string) error
	}{
		{"-shm", "", func(name string) error { return os.Mkdir(name, 0o700) }},
		{"-wal", "-wal", func(name string) error { return os.Mkdir(name, 0o700) }},
		{"-shm", "-shm", func(name string) error { return os.Symlink(filepath.Join("nowhere", "shm"), name) }},
	} {
		s := fresh(t)
		path := s.path
		if err := errors.Join(s.Close(), tt.spoil(path+tt.what)); err != nil {
			t.Fatal(err)
		}
		d, err := Open(t.Context(), path, Options{})
		if err == nil {
			err = d.SetMeta(t.Context(), "k", "v")
			_ = d.Close()
		}
		if err == nil || !strings.Contains(err.Error(), path+tt.want) {
			t.Errorf("%s: error %v", tt.what, err)
		}
	}
}

func TestPathsOfAnyName(t *testing.T) {
	for _, name := range []string{"my store.db", "a+b.db", "100%25.db", "what?mode=ro.db", "c#.db", "q'\"&=.db"} {
		path := filepath.Join(t.TempDir(), "a folder + more", name)
		d, err := Open(t.Context(), path, Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err := d.SetMeta(t.Context(), "k", "v"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := d.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := neighbours(t, path); !slices.Equal(got, []string{"", "-queue"}) {
			t.Errorf("%s: made %q", name, got)
		}
	}
}

// Somebody deletes the log, or the memory that processes share with it, and
// another process makes a new one: what it was told is stored stays stored when
// who had the old one closes.
func TestCloseBesideAnotherLog(t *testing.T) {
	for _, tt := range []struct {
		gone  []string
		moved string // the log to the file, after these
		want  string // of what only the old log held, nothing is left
	}{
		{[]string{"-shm"}, "", "a,b"},
		{[]string{"-wal"}, "a b", "a,b"},
		{[]string{"-wal", "-shm"}, "a", "a"},
	} {
		gone := tt.gone
		s := fresh(t)
		for _, key := range []string{"a", "b"} {
			if err := s.Write(t.Context(), put(t.Context(), key)); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(tt.moved, key) {
				s.checkpoint()
			}
		}
		for _, suffix := range gone {
			if err := os.Remove(s.path + suffix); err != nil {
				t.Fatal(err)
			}
		}
		runAll(t, process(t, "write", s.path, "other", "1", "3"))
		if err := s.Write(t.Context(), put(t.Context(), "refused")); !errors.Is(err, sessiondb.ErrReplaced) {
			t.Errorf("%q: write: %v", gone, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		c := raw(t, s.path)
		if n := scalar[int64](t, c, "SELECT COUNT(*) FROM messages"); n != 3 {
			t.Errorf("%q: %d of 3 messages", gone, n)
		}
		if got := scalar[string](t, c, "SELECT group_concat(key) FROM state_meta"); got != tt.want {
			t.Errorf("%q: stored %q", gone, got)
		}
		_ = c.close()
		consistent(t, s.path)
	}
}

// Who waits for messages does not wait for ever at a file that nobody writes to
// any more.
func TestWatchReplaced(t *testing.T) {
	for name, readOnly := range map[string]bool{"to read": true, "to write": false} {
		t.Run(name, func(t *testing.T) {
			path, other := fixture.Copy(t, "hermes-v11.db"), fixture.Copy(t, "hermes-v11.db")
			db, err := Open(t.Context(), path, Options{ReadOnly: readOnly})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = db.Close() })
			seen := 0
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			for _, err := range db.Watch(ctx, sessiondb.WatchFilter{Every: time.Millisecond}) {
				if seen++; seen == 1 {
					if err := os.Rename(other, path); err != nil {
						t.Fatal(err)
					}
				}
				if err != nil {
					if !errors.Is(err, sessiondb.ErrReplaced) || seen == 1 {
						t.Errorf("after %d: %v", seen, err)
					}
					return
				}
			}
		})
	}
}
