package cli_test

import (
	"net/url"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/sessiondb-go/sessiondb/internal/pgtest"
)

// TestServer runs the scripts that need a PostgreSQL server.
func TestServer(t *testing.T) {
	dsn, stop, err := pgtest.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	if dsn == "" {
		t.Skip(pgtest.Missing)
	}
	u, err := url.Parse(dsn)
	if err != nil || u.Scheme == "" {
		t.Skip("the connection string is no URL, and the command line takes nothing else")
	}
	q := u.Query()
	q.Set("search_path", "sessiondb_cli_test")
	q.Set("password", "secret")
	u.RawQuery = q.Encode()
	q.Set("search_path", "sessiondb_cli_test_none")
	none := *u
	none.RawQuery = q.Encode()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/server",
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("DB", u.String())
			e.Setenv("NONE", none.String())
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"fixture": func(ts *testscript.TestScript, neg bool, args []string) { copyFixture(t, ts, args) },
		},
	})
}
