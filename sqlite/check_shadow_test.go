package sqlite

import (
	"path/filepath"
	"testing"

	"github.com/sessiondb-go/sessiondb"
)

// Whatever a full-text index lost of its own tables, that is damage of an index:
// it can be made again from the messages.
func TestShadowTablesThatLostRows(t *testing.T) {
	for _, index := range indexes {
		for _, lost := range []string{"_data WHERE id > 10", "_data WHERE id = 10", "_data WHERE id = 1", "_idx", "_docsize", "_content"} {
			t.Run(index+lost, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "state.db")
				d := db(open(t, path, Options{}))
				if _, err := d.CreateSession(t.Context(), sessiondb.NewSession{ID: "s", Source: "cli"}); err != nil {
					t.Fatal(err)
				}
				if _, err := d.AppendMessage(t.Context(), "s", sessiondb.Message{Role: "user", Content: sessiondb.Text("a quokka")}); err != nil {
					t.Fatal(err)
				}
				if err := d.Close(); err != nil {
					t.Fatal(err)
				}
				c := raw(t, path)
				run(t, c, "DELETE FROM "+index+lost)
				if err := c.close(); err != nil {
					t.Fatal(err)
				}
				d = db(open(t, path, Options{}))
				defer func() { _ = d.Close() }()
				found, err := d.Check(t.Context(), sessiondb.CheckOptions{})
				if err != nil {
					t.Fatal(err)
				}
				for _, f := range found {
					if f.Severity == sessiondb.SeverityError {
						t.Errorf("%s: %s", f.Code, f.What)
					}
				}
				if _, err := d.Repair(t.Context(), sessiondb.RepairOptions{}); err != nil {
					t.Error(err)
				}
				if found, err = d.Check(t.Context(), sessiondb.CheckOptions{}); err != nil || len(found) > 0 {
					t.Errorf("after the repair: %v, %v", found, err)
				}
			})
		}
	}
}
