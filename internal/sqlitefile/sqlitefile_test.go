package sqlitefile_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/sessiondb-go/sessiondb/internal/fixture"
	"github.com/sessiondb-go/sessiondb/internal/sqlitefile"
)

func bytesOf(t testing.TB, path string) sqlitefile.Bytes {
	t.Helper()
	b, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return sqlitefile.Bytes{}
	}
	if err != nil {
		t.Fatal(err)
	}
	return inMemory(b)
}

func inMemory(b []byte) sqlitefile.Bytes {
	if len(b) == 0 {
		return sqlitefile.Bytes{}
	}
	return sqlitefile.Bytes{ReaderAt: bytes.NewReader(b), Size: int64(len(b))}
}

func openFixture(t testing.TB, name string) (*sqlitefile.File, error) {
	t.Helper()
	path := fixture.Copy(t, name)
	return sqlitefile.Open(sqlitefile.Source{DB: bytesOf(t, path), WAL: bytesOf(t, path+"-wal"), Journal: bytesOf(t, path+"-journal")})
}

// count is the number of rows of a table that its tree holds.
func count(t testing.TB, f *sqlitefile.File, table string) (n int, whole bool) {
	t.Helper()
	objects, _ := f.Schema()
	for _, o := range objects {
		if o.Type == "table" && o.Name == table {
			w, err := f.Table(o.Root, func(sqlitefile.Row) error { n++; return nil })
			if err != nil {
				t.Fatal(err)
			}
			return n, w.Whole()
		}
	}
	t.Fatalf("no table %s", table)
	return 0, false
}

// TestCounts reads what is damaged as SQLite reads it, and what SQLite refuses.
func TestCounts(t *testing.T) {
	for _, c := range []struct {
		name     string
		messages int
		whole    bool
	}{
		{"hermes-v1.db", 845, true},
		{"hermes-v11.db", 840, true},
		{"hermes-v25.db", 841, true},
		{"v11-badpage-messages.db", 821, false},
		{"v11-dangling-wal.db", 860, true},
		{"v11-hot-journal.db", 840, true},
		{"v11-truncated.db", 840, true},
	} {
		f, err := openFixture(t, c.name)
		if err != nil {
			t.Fatal(err)
		}
		if n, whole := count(t, f, "messages"); n != c.messages || whole != c.whole {
			t.Errorf("%s: %d messages, whole %v", c.name, n, whole)
		}
		if free := f.FreePages(); c.name != "v11-truncated.db" && free != int(f.Header.FreePages) { // the list is cut off there
			t.Errorf("%s: %d free pages, the header says %d", c.name, free, f.Header.FreePages)
		}
	}
}

// TestNoHeader finds the size of a page, the schema and the free pages without
// the first page.
func TestNoHeader(t *testing.T) {
	b := fixtureBytes(t, "hermes-v11.db")
	clear(b[:4096])
	f, err := sqlitefile.Open(sqlitefile.Source{DB: inMemory(b)})
	if err != nil {
		t.Fatal(err)
	}
	if f.PageSize() != 4096 || f.Header.OK || f.Header.Encoding != sqlitefile.UTF8 {
		t.Errorf("page size %d, header %+v", f.PageSize(), f.Header)
	}
	if n, whole := count(t, f, "messages"); n != 840 || !whole {
		t.Errorf("%d messages, whole %v", n, whole)
	}
	if n := f.FreePages(); n != 146 {
		t.Errorf("%d free pages instead of 146", n)
	}
}

func fixtureBytes(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(fixture.Copy(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// readAll reads everything that can be asked of a file.
func readAll(src sqlitefile.Source) (rows int) {
	f, err := sqlitefile.Open(src)
	if err != nil {
		return 0
	}
	each := func(sqlitefile.Row) error { rows++; return nil }
	objects, _ := f.Schema()
	for _, o := range objects {
		_, _ = f.Table(o.Root, each)
		_, _ = f.Index(o.Root, each)
		f.Claim(o.Root)
	}
	f.FreePages()
	_ = f.Orphans(func(l sqlitefile.Leaf) error { rows += len(l.Rows); return nil }, nil)
	return rows
}

// FuzzRead: no bytes make the reader panic or run for ever. A small database is
// damaged at a place; what is beside it is as given.
func FuzzRead(f *testing.F) {
	small := fixtureBytes(f, "v11-other-sqlite.db")
	f.Add(0, []byte{}, []byte{}, []byte{})
	f.Add(16, []byte{2, 0}, []byte("\x37\x7f\x06\x82"), []byte("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"))
	f.Add(100, []byte{5, 0, 0, 0, 1, 0xff, 0xf0}, []byte{}, []byte{})
	f.Add(4096, []byte{0x0d, 0, 0, 0xff, 0xff}, []byte{}, []byte{})
	f.Fuzz(func(_ *testing.T, at int, damage, wal, journal []byte) {
		b := bytes.Clone(small)
		if at >= 0 && at < len(b) {
			copy(b[at:], damage)
		}
		readAll(sqlitefile.Source{DB: inMemory(b), WAL: inMemory(wal), Journal: inMemory(journal)})
		readAll(sqlitefile.Source{DB: inMemory(damage), WAL: inMemory(wal), Journal: inMemory(journal)})
	})
}
