package sqlite

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/engine"
	"github.com/sessiondb-go/sessiondb/internal/fixture"
)

// pragmaValues reads back what every connection must have.
func pragmaValues(t *testing.T, c *conn) []int64 {
	t.Helper()
	var out []int64
	for _, p := range []string{"busy_timeout", "foreign_keys", "synchronous", "journal_size_limit", "cache_size"} {
		out = append(out, scalar[int64](t, c, "PRAGMA "+p))
	}
	return out
}

func TestPragmasOnEveryConnection(t *testing.T) {
	s := fresh(t)
	check := func(what string, cache int64, c *conn) {
		want := []int64{busyTimeout, 1, 2, walLimit, -cache}
		if diff := cmp.Diff(want, pragmaValues(t, c)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	check("writer", cacheKiB, s.w)
	for _, cache := range []int64{firstCacheKiB, cacheKiB} { // the second time around they are recycled
		var taken []*conn
		for range maxReaders {
			c, err := s.readers.take(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			taken = append(taken, c)
			check("reader", cache, c)
			if _, err := c.exec(t.Context(), insertMeta, "a", "b"); !errors.Is(err, sessiondb.ErrReadOnly) {
				t.Errorf("a reader wrote: %v", err)
			}
		}
		for _, c := range taken {
			s.readers.put(c, true)
		}
	}
	if mode := scalar[string](t, s.w, "PRAGMA journal_mode"); mode != "wal" {
		t.Errorf("journal mode %s", mode)
	}
}

func TestSQLiteIsNewEnough(t *testing.T) {
	s := fresh(t)
	var major, minor, patch int
	v := scalar[string](t, s.w, "SELECT sqlite_version()")
	if n, err := scanVersion(v, &major, &minor, &patch); n != 3 || err != nil {
		t.Fatal(v, err)
	}
	if slices.Compare([]int{major, minor, patch}, []int{3, 51, 3}) < 0 {
		t.Errorf("SQLite %s can damage a log when it starts over", v)
	}
	run(t, s.w, "CREATE VIRTUAL TABLE temp.words USING fts5(a)")
	run(t, s.w, "CREATE VIRTUAL TABLE temp.grams USING fts5(a, tokenize='trigram')")
}

func TestOpenHealthyWhileAnotherWrites(t *testing.T) {
	path := fixture.Copy(t, "hermes-v11.db")
	release := holdLock(t, path)
	defer release()
	pauses := 0
	s := openWith(t, path, Options{}, settings{pause: noPause(&pauses)})
	err := s.Read(t.Context(), func(q engine.Queryer) error {
		var n int64
		return q.QueryRow(t.Context(), "SELECT COUNT(*) FROM sessions").Scan(&n)
	})
	if err != nil || pauses != 0 {
		t.Errorf("read while locked: %v, %d pauses", err, pauses)
	}
}

// gone are ways to take a store from its place while it is open.
var gone = map[string]func(t *testing.T, path string) error{
	"unlinked":           func(_ *testing.T, path string) error { return os.Remove(path) },
	"replaced":           func(t *testing.T, path string) error { return os.Rename(fixture.Copy(t, "hermes-v11.db"), path) },
	"log gone":           func(_ *testing.T, path string) error { return os.Remove(path + "-wal") },
	"shared memory gone": func(_ *testing.T, path string) error { return os.Remove(path + "-shm") },
	"behind a link": func(_ *testing.T, path string) error {
		return errors.Join(os.Rename(path, path+".real"), os.Symlink(path+".real", path))
	},
}

func TestReplaced(t *testing.T) {
	for name, change := range gone {
		t.Run(name, func(t *testing.T) {
			s := fresh(t)
			if err := s.Write(t.Context(), put(t.Context(), "a")); err != nil {
				t.Fatal(err)
			}
			if err := change(t, s.path); err != nil {
				t.Fatal(err)
			}
			if err := s.Write(t.Context(), put(t.Context(), "b")); !errors.Is(err, sessiondb.ErrReplaced) {
				t.Errorf("write: %v", err)
			}
			err := s.Write(t.Context(), func(engine.Execer) error { return nil })
			if !errors.Is(err, sessiondb.ErrReplaced) {
				t.Errorf("empty write: %v", err)
			}
			if err := countKeys(t, s); !errors.Is(err, sessiondb.ErrReplaced) {
				t.Errorf("read: %v", err)
			}
		})
	}
}

func countKeys(t *testing.T, s *store) error {
	return s.Read(t.Context(), func(q engine.Queryer) error {
		return q.QueryRow(t.Context(), "SELECT COUNT(*) FROM state_meta").Scan(new(int))
	})
}

// Who has read before, and has connections, does not go on answering from a file
// that is gone. What comes back to its place is read again.
func TestReplacedBetweenReads(t *testing.T) {
	for name, change := range gone {
		for what, readOnly := range map[string]bool{"to read": true, "to write": false} {
			if readOnly && (name == "log gone" || name == "shared memory gone") {
				continue // they are others'
			}
			t.Run(name+", "+what, func(t *testing.T) {
				s := openWith(t, fixture.Copy(t, "hermes-v11.db"), Options{ReadOnly: readOnly}, settings{})
				if err := errors.Join(countKeys(t, s), os.Link(s.path, s.path+".kept"), change(t, s.path)); err != nil {
					t.Fatal(err)
				}
				if err := untilFails(t, s); !errors.Is(err, sessiondb.ErrReplaced) {
					t.Errorf("read: %v", err)
				}
				if name == "log gone" || name == "shared memory gone" {
					return
				}
				if err := errors.Join(os.Rename(s.path+".kept", s.path), countKeys(t, s)); err != nil {
					t.Errorf("back in its place: %v", err)
				}
			})
		}
	}
}

// untilFails reads until a read fails: many share a look at the file.
func untilFails(t *testing.T, s *store) (err error) {
	for begun := time.Now(); err == nil && time.Since(begun) < time.Minute; {
		err = countKeys(t, s)
	}
	return err
}

// A write that was refused is not there afterwards, wherever the file went.
func TestReplacedWritesNothing(t *testing.T) {
	for _, gone := range []string{"", "-wal", "-shm"} {
		s := fresh(t)
		if err := s.Write(t.Context(), put(t.Context(), "a")); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(s.path+gone, s.path+".moved"); err != nil {
			t.Fatal(err)
		}
		if err := s.Write(t.Context(), put(t.Context(), "refused")); !errors.Is(err, sessiondb.ErrReplaced) {
			t.Errorf("%q: %v", gone, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		path := s.path
		if gone == "" {
			if err := errors.Join(os.Rename(path+".moved", path+"2"), os.Rename(path+"-wal", path+"2-wal")); err != nil {
				t.Fatal(err)
			}
			path += "2"
		}
		got := scalar[string](t, raw(t, path), "SELECT group_concat(key) FROM state_meta")
		if got != "a" {
			t.Errorf("%q: stored %q", gone, got)
		}
	}
}

// Where there can be no log, everything works without.
func TestNoWAL(t *testing.T) {
	var log logged
	s := openWith(t, newPath(t), Options{Logger: log.logger()}, settings{vfs: "unix-dotfile"})
	if len(log.lines) != 1 || !strings.Contains(log.lines[0], "write-ahead log") {
		t.Errorf("warnings %q", log.lines)
	}
	if err := s.Write(t.Context(), put(t.Context(), "a")); err != nil {
		t.Error(err)
	}
	err := s.Read(t.Context(), func(q engine.Queryer) error {
		var v string
		return q.QueryRow(t.Context(), "SELECT value FROM state_meta WHERE key = 'a'").Scan(&v)
	})
	if err != nil {
		t.Error(err)
	}
}

// Whoever else uses a store that has no log sees nothing of the trial whether
// one works.
func TestTryLogBesideTheStore(t *testing.T) {
	for vfs, mode := range map[string]string{"unix-dotfile": "delete", "": "wal"} {
		path := fixture.Copy(t, "hermes-v11.db")
		c := raw(t, path)
		if got := scalar[string](t, c, "PRAGMA journal_mode = DELETE"); got != "delete" {
			t.Fatal("journal mode ", got)
		}
		if err := c.close(); err != nil {
			t.Fatal(err)
		}
		c = raw(t, path)
		if err := os.WriteFile(path+trialSuffix, []byte("of one that was killed"), 0o600); err != nil {
			t.Fatal(err)
		}
		before := scalar[int64](t, c, "PRAGMA data_version")
		var log logged
		s := openWith(t, path, Options{Logger: log.logger()}, settings{vfs: vfs})
		if got := scalar[string](t, raw(t, path), "PRAGMA journal_mode"); got != mode {
			t.Errorf("%q: journal mode %s", vfs, got)
		}
		if after := scalar[int64](t, c, "PRAGMA data_version"); vfs != "" && after != before {
			t.Errorf("%q: the file was written to", vfs)
		}
		if warned := len(log.lines) > 0; warned != (mode == "delete") {
			t.Errorf("%q: warnings %q", vfs, log.lines)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		for _, name := range neighbours(t, path) {
			if strings.HasPrefix(name, trialSuffix) {
				t.Errorf("%q: left %q", vfs, name)
			}
		}
	}
}

func TestActivityIndexComesWithTheFirstWrite(t *testing.T) {
	s := open(t, fixture.Copy(t, "hermes-v11.db"), Options{})
	if s.Info().ActivityIndex {
		t.Error("there before")
	}
	if err := s.Write(t.Context(), put(t.Context(), "a")); err != nil {
		t.Fatal(err)
	}
	if !s.Info().ActivityIndex || !shapeOf(t, raw(t, s.path)).has(activityIndex) {
		t.Error("not there after")
	}
}

// A newer program takes the schema over while we have it open. It may do so
// in several transactions, with writes of ours between them.
func TestUpgradedUnderUs(t *testing.T) {
	s := fresh(t)
	c := raw(t, s.path)
	run(t, c, "ALTER TABLE messages ADD COLUMN active INTEGER NOT NULL DEFAULT 1")
	if err := s.Write(t.Context(), put(t.Context(), "between")); err != nil {
		t.Error(err)
	}
	run(t, c, "UPDATE schema_version SET version = 16")
	for range 2 {
		err := s.Write(t.Context(), put(t.Context(), "a"))
		var newer *sessiondb.SchemaError
		if !errors.As(err, &newer) || newer.Have != 16 {
			t.Errorf("error %v", err)
		}
	}
}

func TestDamagedIndexDoesNotStopMessages(t *testing.T) {
	for _, damage := range []string{
		"UPDATE messages_fts_data SET block = x'00'",
		"UPDATE messages_fts_trigram_data SET block = x'ff00ff'",
		"INSERT INTO messages_fts_content (id, c0) SELECT id + 100000, 'x' FROM messages LIMIT 1",
		"INSERT INTO messages_fts_docsize (id, sz) SELECT MAX(id) + 1, x'00' FROM messages",
	} {
		path := fixture.Copy(t, "hermes-v11.db")
		c := raw(t, path)
		run(t, c, damage)
		_ = c.close()
		s := open(t, path, Options{})
		d := db(s)
		id, err := d.CreateSession(t.Context(), sessiondb.NewSession{Source: "cli"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.AppendMessage(t.Context(), id, sessiondb.Message{Role: "user", Content: sessiondb.Text("quokka")}); err != nil {
			t.Errorf("%s: %v", damage, err)
		}
		if n, err := d.MessageCount(t.Context(), id); n != 1 || err != nil {
			t.Errorf("%s: %d messages, %v", damage, n, err)
		}
		found, err := d.Search(t.Context(), sessiondb.SearchQuery{Text: "quokka"})
		if err != nil || len(found.Hits) != 1 {
			t.Errorf("%s: found %d times, %v", damage, len(found.Hits), err)
		}
		if err := compact(t, s); err != nil {
			t.Errorf("%s: compact: %v", damage, err)
		}
		if stale, err := s.stale(); stale || err != nil {
			t.Errorf("%s: still stale, %v", damage, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		c = raw(t, path)
		for _, index := range indexes {
			if n := scalar[int64](t, c, "SELECT COUNT(*) FROM "+index+" WHERE "+index+" MATCH 'quokka'"); n != 1 {
				t.Errorf("%s: found %d times in %s", damage, n, index)
			}
		}
	}
}

func TestCompact(t *testing.T) {
	s := open(t, fixture.Copy(t, "hermes-v11.db"), Options{})
	if err := compact(t, s); err != nil {
		t.Fatal(err)
	}
	if !s.Info().ActivityIndex {
		t.Error("no activity index")
	}
	if size := fileSize(t, s.path+"-wal"); size != 0 {
		t.Errorf("a log of %d bytes", size)
	}
	if n := scalar[int64](t, s.w, "PRAGMA freelist_count"); n != 0 {
		t.Errorf("%d free pages", n)
	}
}
