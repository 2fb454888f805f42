package api_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/api"
	"github.com/sessiondb-go/sessiondb/internal/fixture"
	"github.com/sessiondb-go/sessiondb/sqlite"
)

type object = map[string]any

func newStore(t *testing.T) *sessiondb.DB {
	t.Helper()
	return openCopy(t, filepath.Join(t.TempDir(), "state.db"))
}

// prepared is a store of three sessions, one of them with a title.
func prepared(t *testing.T) *sessiondb.DB {
	t.Helper()
	db := newStore(t)
	for _, c := range []struct {
		method string
		args   object
	}{
		{"create_session", object{"session_id": "s1", "source": "cli"}},
		{"create_session", object{"session_id": "s2", "source": "cli", "model": "m"}},
		{"create_session", object{"session_id": "other", "source": "telegram"}},
		{"set_session_title", object{"session_id": "s1", "title": "plan"}},
		{"append_message", object{"session_id": "s1", "role": "user", "content": "hello"}},
	} {
		if _, err := ask(t.Context(), db, c.method, c.args); err != nil {
			t.Fatal(err)
		}
	}
	return db
}

// Each kind of error comes out of a call that fails that way.
func TestErrorKinds(t *testing.T) {
	for _, c := range []struct {
		kind   api.Kind
		code   int
		method string
		args   any
		open   func(*testing.T) *sessiondb.DB // prepared, if nil
		data   object
	}{
		{kind: "not_found", code: -32001, method: "get_session", args: object{"session_id": "nope"}},
		{kind: "not_found", code: -32001, method: "append_message", args: object{"session_id": "nope", "role": "user"}},
		{kind: "not_found", code: -32001, method: "create_session", args: object{"parent_session_id": "nope"}},
		{kind: "not_found", code: -32001, method: "end_session", args: object{"session_id": "", "reason": "x"}},
		{
			kind: "ambiguous", code: -32002, method: "resolve_session_id", args: object{"session_id_or_prefix": "s"},
			data: object{"ref": "s", "candidates": []string{"s1", "s2"}},
		},
		{
			kind: "exists", code: -32003, method: "create_session", args: object{"session_id": "s1", "source": "telegram"},
			data: object{"session_id": "s1", "fields": []string{"source"}},
		},
		{
			kind: "title_taken", code: -32004, method: "set_session_title", args: object{"session_id": "s2", "title": "plan"},
			data: object{"title": "plan", "holder": "s1"},
		},
		{kind: "title_invalid", code: -32005, method: "set_session_title", args: object{"session_id": "s2", "title": strings.Repeat("x", 300)}},
		{kind: "invalid", code: -32602, method: "create_session", args: object{"session_id": "a\nb"}},
		{kind: "invalid", code: -32602, method: "create_session", args: object{"session_id": "a\x00b"}},
		{kind: "invalid", code: -32602, method: "append_message", args: object{"session_id": "s1", "role": ""}},
		{kind: "invalid", code: -32602, method: "get_session", args: object{}, data: object{"param": "session_id"}},
		{kind: "read_only", code: -32014, method: "end_session", args: object{"session_id": "x", "end_reason": "y"}, open: readOnly},
		{
			kind: "schema_newer", code: -32013, method: "end_session", args: object{"session_id": "x", "end_reason": "y"}, open: newer,
			data: object{"have": 12, "want": 11},
		},
		{kind: "referenced", code: -32006, method: "delete_session", args: object{"session_id": "s1"}, open: referenced},
		{kind: "corrupt", code: -32015, method: "export_all", open: damaged},
		{kind: "replaced", code: -32012, method: "set_meta", args: object{"key": "k", "value": "v"}, open: replaced},
		{kind: "closed", code: -32017, method: "session_count", open: closed},
	} {
		t.Run(fmt.Sprintf("%s %s", c.kind, c.method), func(t *testing.T) {
			open := c.open
			if open == nil {
				open = prepared
			}
			_, err := ask(t.Context(), open(t), c.method, c.args)
			if err == nil {
				t.Fatal("no error")
			}
			p := api.Explain(err)
			if p.Kind != c.kind || p.Code != c.code || p.Message == "" {
				t.Errorf("got %s %d %q", p.Kind, p.Code, p.Message)
			}
			if c.data != nil && !maps.EqualFunc(p.Data, c.data, reflect.DeepEqual) {
				t.Errorf("got %v, want %v", p.Data, c.data)
			}
		})
	}
}

func readOnly(t *testing.T) *sessiondb.DB {
	t.Helper()
	return openReadOnly(t, fixture.Copy(t, "hermes-v11.db"))
}

func openReadOnly(t *testing.T, path string) *sessiondb.DB {
	t.Helper()
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func newer(t *testing.T) *sessiondb.DB {
	t.Helper()
	return openCopy(t, fixture.Copy(t, "hermes-v12.db"))
}

func damaged(t *testing.T) *sessiondb.DB {
	t.Helper()
	return openReadOnly(t, fixture.Copy(t, "v11-badpage-messages.db"))
}

func closed(t *testing.T) *sessiondb.DB {
	t.Helper()
	db := openReadOnly(t, fixture.Copy(t, "hermes-v11.db"))
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return db
}

// referenced is a store in which another program keeps rows about a session.
func referenced(t *testing.T) *sessiondb.DB {
	t.Helper()
	path := filepath.Join(t.TempDir(), "state.db")
	db := openCopy(t, path)
	if _, err := db.CreateSession(t.Context(), sessiondb.NewSession{ID: "s1"}); err != nil {
		t.Fatal(err)
	}
	other, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = other.ExecContext(t.Context(), `CREATE TABLE plugin_notes (session_id TEXT REFERENCES sessions(id)); INSERT INTO plugin_notes VALUES ('s1')`)
	if err := errors.Join(err, other.Close()); err != nil {
		t.Fatal(err)
	}
	return db
}

// replaced is a store whose file another one took the place of.
func replaced(t *testing.T) *sessiondb.DB {
	t.Helper()
	path := filepath.Join(t.TempDir(), "state.db")
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if err := os.Rename(fixture.Copy(t, "hermes-v11.db"), path); err != nil {
		t.Fatal(err)
	}
	return db
}

// What a test can't make happen in a moment, and that errors are found however
// deep they are wrapped.
func TestExplain(t *testing.T) {
	busy := &sessiondb.BusyError{Attempts: 15, Waited: 1500 * time.Millisecond}
	for _, c := range []struct {
		err  error
		kind api.Kind
		code int
		data object
	}{
		{busy, "busy", -32010, object{"attempts": 15, "waited_seconds": 1.5}},
		{sessiondb.ErrBusy, "busy", -32010, nil},
		{fmt.Errorf("%w: %w", sessiondb.ErrUncertain, sessiondb.ErrIO), "uncertain", -32019, nil},
		{sessiondb.ErrReferenced, "referenced", -32006, nil},
		{sessiondb.ErrFull, "full", -32011, nil},
		{sessiondb.ErrNotStore, "not_store", -32016, nil},
		{context.Canceled, "cancelled", -32020, nil},
		{context.DeadlineExceeded, "cancelled", -32020, nil},
		{errors.New("something else"), "internal", -32603, nil},
	} {
		p := api.Explain(fmt.Errorf("append message: %w", fmt.Errorf("write: %w", c.err)))
		if p.Kind != c.kind || p.Code != c.code || !maps.EqualFunc(p.Data, c.data, reflect.DeepEqual) {
			t.Errorf("%v: got %+v", c.err, p)
		}
	}
}
