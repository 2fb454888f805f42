package sqlite

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sessiondb-go/sessiondb"
)

// Whatever a full-text index lost of its own tables, that is damage of an index:
// who looks notices it, and it can be made again from the messages, with nothing
// left over.
func TestShadowTablesThatLostRows(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long, and no goroutines meet in it")
	}
	for _, index := range indexes {
		for _, lost := range []string{
			"_data", "_data WHERE id > 10", "_data WHERE id = 10", "_data WHERE id = 1", "_data WHERE id = (SELECT MAX(id) FROM $_data)",
			"_idx", "_idx WHERE pgno = (SELECT MAX(pgno) FROM $_idx)", "_docsize", "_docsize WHERE id = 3", "_content", "_content WHERE id = 3", "_config",
		} {
			t.Run(index+lost, func(t *testing.T) {
				path := wordyStore(t)
				c := raw(t, path)
				run(t, c, "DELETE FROM "+index+strings.ReplaceAll(lost, "$", index))
				if err := c.close(); err != nil {
					t.Fatal(err)
				}
				for _, full := range []bool{false, true} {
					found, err := Check(t.Context(), path, sessiondb.CheckOptions{Full: full})
					if got := codes(found); err != nil || !strings.Contains(got, "index_damage") && !strings.Contains(got, "index_rows") || sessiondb.Worst(found) != sessiondb.SeverityWarning {
						t.Errorf("full %v: found %v, %v", full, found, err)
					}
				}
				d := db(open(t, path, Options{}))
				r, err := d.BackupWithReport(t.Context(), filepath.Join(t.TempDir(), "backup.db"))
				if err != nil || !slices.ContainsFunc(r.Findings, func(f sessiondb.Finding) bool { return strings.Contains(f.What, index) }) {
					t.Errorf("a backup finds %v, %v", r.Findings, err)
				}
				if _, err := d.Repair(t.Context(), sessiondb.RepairOptions{}); err != nil {
					t.Error(err)
				}
				if found, err := d.Check(t.Context(), sessiondb.CheckOptions{Full: true}); err != nil || len(found) > 0 {
					t.Errorf("after the repair: %v, %v", found, err)
				}
			})
		}
	}
}

// wordyStore makes a store whose full-text indexes have many pages.
func wordyStore(t *testing.T) string {
	t.Helper()
	path := newPath(t)
	s := open(t, path, Options{})
	if _, err := db(s).CreateSession(t.Context(), sessiondb.NewSession{ID: "s", Source: "cli"}); err != nil {
		t.Fatal(err)
	}
	for m := range 8 {
		var text strings.Builder
		for i := range 500 {
			fmt.Fprintf(&text, "quagga%x ", (m*500+i)*7919)
		}
		if _, err := db(s).AppendMessage(t.Context(), "s", sessiondb.Message{Role: "user", Content: sessiondb.Text(text.String())}); err != nil {
			t.Fatal(err)
		}
	}
	if err := compact(t, s); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	c := raw(t, path)
	for _, index := range indexes {
		if n := scalar[int64](t, c, "SELECT COUNT(*) FROM "+index+"_idx"); n < 3 {
			t.Fatalf("%s has %d pages", index, n)
		}
	}
	if err := c.close(); err != nil {
		t.Fatal(err)
	}
	return path
}
