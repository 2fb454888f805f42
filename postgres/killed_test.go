package postgres

import (
	"math/rand/v2"
	"os/exec"
	"testing"

	"github.com/sessiondb-go/sessiondb/internal/pgtest"
)

// Programs on several hosts write to the same sessions, some are killed, and the
// server ends connections of others: nothing is lost or doubled.
func TestKilledWriters(t *testing.T) {
	db, dsn := open(t)
	for _, s := range workerSessions {
		session(t, db, s)
	}
	a := newAcked()
	var workers []*exec.Cmd
	for range 4 {
		workers = append(workers, a.start(t, dsn+"&application_name=worker"))
	}
	c := raw(t, dsn)
	for n := range 10 {
		a.wait(t, 30)
		i := rand.IntN(len(workers))
		if n%3 == 0 {
			_ = workers[i].Process.Kill()
			workers[i] = a.start(t, dsn+"&application_name=worker")
			continue
		}
		_, err := c.Exec(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'worker' ORDER BY random() LIMIT 4`)
		if err != nil {
			t.Fatal(err)
		}
	}
	a.wait(t, 30)
	for _, w := range workers {
		_ = w.Process.Kill()
	}
	a.group.Wait()
	a.judge(t, db)
	caughtUp(t, dsn)
	a.judge(t, db)
}

// The primary dies under load and the standby takes its place: programs find it by
// themselves, and all that was acknowledged is there.
func TestFailover(t *testing.T) {
	pair := startPair(t)
	synchronous(t, pair)
	db := openAt(t, pair.Both)
	for _, s := range workerSessions {
		session(t, db, s)
	}
	a := newAcked()
	workers := []*exec.Cmd{a.start(t, pair.Both), a.start(t, pair.Both)}
	a.wait(t, 100)
	if err := pair.KillPrimary(); err != nil {
		t.Fatal(err)
	}
	if err := pair.Promote(); err != nil {
		t.Fatal(err)
	}
	a.wait(t, 100)
	for _, w := range workers {
		_ = w.Process.Kill()
	}
	a.group.Wait()
	a.judge(t, db)
	caughtUp(t, pair.Both)
	a.judge(t, db)
}

// synchronous makes commits of the primary wait for the standby. What comes before
// it is told, but not waited for.
func synchronous(t *testing.T, pair *pgtest.Pair) {
	t.Helper()
	c := raw(t, pair.Primary)
	for _, sql := range []string{`ALTER SYSTEM SET synchronous_standby_names = '*'`, `SELECT pg_reload_conf()`} {
		if _, err := c.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	for set := false; !set; {
		err := raw(t, pair.Primary).QueryRow(t.Context(), `SELECT EXISTS (SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync' AND state = 'streaming')
 AND current_setting('synchronous_standby_names') = '*'`).Scan(&set)
		if err != nil {
			t.Fatal(err)
		}
	}
}
