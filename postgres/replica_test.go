package postgres

import (
	"testing"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/pgtest"
)

// startPair starts a primary and a standby.
func startPair(t *testing.T) *pgtest.Pair {
	t.Helper()
	if testing.Short() {
		t.Skip("two servers take a while to start")
	}
	pair, err := pgtest.StartPair()
	if err != nil {
		t.Fatal(err)
	}
	if pair == nil {
		t.Skip(pgtest.Missing)
	}
	t.Cleanup(pair.Stop)
	return pair
}

// Reads go to the replica, but never behind what this program wrote.
func TestReplica(t *testing.T) {
	pair := startPair(t)
	s, err := openStore(t.Context(), pair.Primary, Options{ReadDSN: pair.Standby})
	if err != nil {
		t.Fatal(err)
	}
	db := sessiondb.New(s, sessiondb.Config{})
	defer func() { _ = db.Close() }()
	session(t, db, "s")
	replays := func(sql string) {
		t.Helper()
		if _, err := raw(t, pair.Standby).Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	inRecovery := func() (is bool) {
		t.Helper()
		c, err := s.beginRead(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Release()
		if err := c.QueryRow(t.Context(), `SELECT pg_is_in_recovery()`).Scan(&is); err != nil {
			t.Fatal(err)
		}
		return is
	}
	for n := range int64(20) {
		say(t, db, "s", "read at once")
		if got, err := db.MessageCount(t.Context(), "s"); err != nil || got != n+1 {
			t.Fatalf("%d messages after %d, %v", got, n+1, err)
		}
	}
	for !inRecovery() { // however slow the machine is, it catches up
	}
	replays(`SELECT pg_wal_replay_pause()`)
	say(t, db, "s", "the replica does not hear of it")
	if got, err := db.MessageCount(t.Context(), "s"); err != nil || got != 21 {
		t.Errorf("%d messages with a replica that stands still, %v", got, err)
	}
	replays(`SELECT pg_wal_replay_resume()`)
	for !inRecovery() {
	}
	if got, err := db.MessageCount(t.Context(), "s"); err != nil || got != 21 {
		t.Errorf("%d messages with a replica that goes on, %v", got, err)
	}
}
