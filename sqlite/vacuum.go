package sqlite

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/sessiondb-go/sessiondb"
)

// pages are counts of a file.
type pages struct{ size, all, free int64 }

func (p pages) live() int64 { return (p.all - p.free) * p.size }

// bytes is the size of the database. Of a file that is shorter something is
// missing.
func (p pages) bytes() int64 { return p.all * p.size }

func countPages(ctx context.Context, c *conn) (p pages, err error) {
	for pragma, n := range map[string]*int64{"page_size": &p.size, "page_count": &p.all, "freelist_count": &p.free} {
		if err := c.queryRow(ctx, []any{n}, "PRAGMA main."+pragma); err != nil {
			return p, err
		}
	}
	return p, nil
}

// When maintenance vacuums by itself: a vacuum writes all that stays twice, so a
// good part of the file has to come back. Files of a few megabytes are done in
// no time.
const (
	alwaysVacuum = 4 << 20 // bytes of a file
	worthBytes   = 1 << 20 // that are free
	worthPart    = 5       // a fifth of the pages, or of the messages
)

// pays says whether merging and vacuuming is worth it. Pages of the full-text
// indexes become free only when those are merged, so that many deleted messages
// count as well.
func (c *compaction) pays(ctx context.Context) (pays bool, err error) {
	err = c.step(ctx, func() error {
		p, err := countPages(ctx, c.w)
		if err != nil {
			return err
		}
		var left int64
		if err := c.w.queryRow(ctx, []any{&left}, "SELECT COUNT(*) FROM messages"); err != nil {
			return err
		}
		pays = p.bytes() < alwaysVacuum ||
			p.free*p.size >= worthBytes && p.free*worthPart >= p.all ||
			c.o.Deleted > 0 && c.o.Deleted*worthPart >= c.o.Deleted+left
		return nil
	})
	return pays, err
}

// hasRoom refuses to begin what a full disk would end: SQLite writes a copy to
// its folder for temporary files and then to the log.
func (c *compaction) hasRoom(ctx context.Context) error {
	var p pages
	err := c.step(ctx, func() (err error) {
		p, err = countPages(ctx, c.w)
		return err
	})
	if err != nil {
		return err
	}
	dir, temp := filepath.Dir(c.real), tempDir()
	need := map[string]int64{dir: p.live()}
	if c.o.Layout != "" {
		need[dir] *= 2 // the new indexes are there before the old ones leave
	}
	if sameDisk(dir, temp) {
		need[dir] += p.live()
	} else {
		need[temp] = p.live()
	}
	for dir, n := range need {
		if have, ok := freeBytes(dir); ok && have < n {
			return &sessiondb.RoomError{Dir: dir, Need: n, Have: have}
		}
	}
	return nil
}

// tempDir is where SQLite writes temporary files, unless it was told another
// place.
func tempDir() string {
	if dir := os.TempDir(); dir != "/tmp" {
		return dir
	}
	for _, dir := range []string{"/var/tmp", "/usr/tmp"} {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			return dir
		}
	}
	return "/tmp"
}

// vacuum rewrites the database without its free pages. The copy goes to a
// temporary file, never to memory, and then through the log, whose growth is
// the progress. Until the end the file is as it was.
func (c *compaction) vacuum(ctx context.Context) error {
	err := c.step(ctx, func() error {
		p, err := countPages(ctx, c.w)
		if err != nil {
			return err
		}
		defer c.watch(p)()
		_, err = c.w.exec(ctx, "VACUUM")
		return err
	})
	c.done.Vacuumed = err == nil
	return err
}

// watch reports how far a vacuum is until the function it returns is called.
func (c *compaction) watch(p pages) (stop func()) {
	if c.o.Progress == nil {
		return func() {}
	}
	tick := time.NewTicker(100 * time.Millisecond)
	quit, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		var done int64
		for {
			select {
			case <-quit:
				return
			case <-tick.C:
				done = max(done, temporaryBytes()+c.logBytes())
				c.report("rewrite the file, bytes", min(done, 2*p.live()), 2*p.live())
			}
		}
	}()
	return func() {
		tick.Stop()
		close(quit)
		<-ended
	}
}

func (s *store) logBytes() int64 {
	info, err := os.Stat(s.real + "-wal")
	if err != nil {
		return 0
	}
	return info.Size()
}

// shorten moves the log into the file and empties it. Readers may hold it for a
// while; then it is emptied when they are done.
func (c *compaction) shorten(ctx context.Context) error {
	return c.step(ctx, func() error {
		var busy int64
		err := c.w.queryRow(ctx, []any{&busy, new(any), new(any)}, "PRAGMA wal_checkpoint(TRUNCATE)")
		c.done.Held = busy != 0
		return err
	})
}

// leaveShortLog empties a log that grew beyond its limit, as one does while a
// long reader holds it, unless somebody would have to wait for that. It is what
// others are left with, or a copy of the files.
func (s *store) leaveShortLog() {
	if s.logBytes() <= walLimit || s.ident.checkAll() != nil {
		return
	}
	ctx := context.Background()
	if s.w.script(ctx, "PRAGMA busy_timeout = 0") == nil {
		_ = s.w.queryRow(ctx, []any{new(any), new(any), new(any)}, "PRAGMA wal_checkpoint(TRUNCATE)")
	}
}
