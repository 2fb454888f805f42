package postgres

import (
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessiondb-go/sessiondb"
)

// dumped makes a store of two sessions and three messages, and a dump of it, through
// an address of two hosts of which the first is not there.
func dumped(t *testing.T) string {
	t.Helper()
	dsn, _ := newSchema(t)
	u, err := url.Parse(dsn)
	if err != nil || !strings.HasPrefix(u.Query().Get("host"), "/") {
		t.Skip("the server has no socket, or its address is no URL")
	}
	q := u.Query()
	q.Set("host", filepath.Join(t.TempDir(), "nobody")+","+q.Get("host"))
	u.RawQuery = q.Encode()
	db := openAt(t, u.String())
	session(t, db, "a")
	session(t, db, "b")
	for _, text := range []string{"one", "two\nCOPY messages (id) FROM stdin;\n\\.\n", strings.Repeat("long ", 100_000)} {
		say(t, db, "a", text)
	}
	path := filepath.Join(t.TempDir(), "dump")
	r, err := db.BackupWithReport(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if r.Sessions != 2 || r.Messages != 3 || r.SchemaVersion != SchemaVersion || r.Bytes == 0 {
		t.Errorf("%+v", r)
	}
	return path
}

// A dump is read through, and what is wrong with one is noticed.
func TestVerifyDump(t *testing.T) {
	path := dumped(t)
	r, err := VerifyDump(t.Context(), path)
	if err != nil || r.Sessions != 2 || r.Messages != 3 || r.SchemaVersion != SchemaVersion {
		t.Errorf("%+v, %v", r, err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]error{
		string(whole[:len(whole)-100]): sessiondb.ErrCorrupt, "": sessiondb.ErrNotStore, "not a dump at all": sessiondb.ErrNotStore,
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := VerifyDump(t.Context(), path); !errors.Is(err, want) {
			t.Errorf("%d bytes: %v", len(text), err)
		}
	}
}
