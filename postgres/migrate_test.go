package postgres

import (
	"testing"

	"github.com/sessiondb-go/sessiondb"
)

// Layouts are numbers: 10 is newer than 9, and a newer one is left as it is.
func TestLayoutOrder(t *testing.T) {
	db, dsn := open(t)
	session(t, db, "s")
	c := raw(t, dsn)
	for _, test := range []struct {
		stored string
		older  bool
	}{{"10", false}, {"6", false}, {"4", true}, {"04", true}, {"", true}, {"x", true}} {
		t.Run(test.stored, func(t *testing.T) {
			if _, err := c.Exec(t.Context(), `UPDATE state_meta SET value = $1 WHERE key = $2`, test.stored, layoutKey); err != nil {
				t.Fatal(err)
			}
			db := sessiondb.New(readerAt(t, dsn, !test.older), sessiondb.Config{})
			found, err := db.Check(t.Context(), sessiondb.CheckOptions{})
			if err != nil || (len(found) == 1 && found[0].Code == "schema_older") != test.older || len(found) > 1 {
				t.Errorf("check: %v, %v", found, err)
			}
			storeAt(t, dsn)
			var now string
			if err := c.QueryRow(t.Context(), `SELECT value FROM state_meta WHERE key = $1`, layoutKey).Scan(&now); err != nil || (now != test.stored) != test.older {
				t.Errorf("%q became %q: %v", test.stored, now, err)
			}
		})
	}
}

// readerAt is a store that is open for reading.
func readerAt(t *testing.T, dsn string, parts bool) *store {
	t.Helper()
	s, err := openStore(t.Context(), dsn, Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if s.knowsParts != parts {
		t.Errorf("knows parts: %v", s.knowsParts)
	}
	return s
}
