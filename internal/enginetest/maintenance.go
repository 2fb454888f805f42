package enginetest

import (
	"context"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sessiondb-go/sessiondb"
)

func testMaintenance(t *testing.T, h *harness) {
	t.Run("once an interval", func(t *testing.T) { maintenanceInterval(t, h) })
	t.Run("one of several claims it", func(t *testing.T) { maintenanceRace(t, h) })
	t.Run("what the store says about last time", func(t *testing.T) { maintenanceNoted(t, h) })
	t.Run("options", func(t *testing.T) { maintenanceOptions(t, h) })
	t.Run("a failure is told, not returned", func(t *testing.T) { maintenanceFails(t, h) })
	t.Run("vacuum keeps everything", func(t *testing.T) {
		db, c := h.store(t)
		h.sessions(t, db, "a")
		h.say(t, db, c, "a")
		noError(t, db.Vacuum(t.Context()))
		h.say(t, db, c, "a")
		if n := must[int64](t)(db.MessageCount(t.Context(), "a")); n != 2 {
			t.Errorf("%d messages", n)
		}
	})
}

// maintain runs maintenance that must not fail.
func maintain(t *testing.T, db *sessiondb.DB, o sessiondb.MaintenanceOptions) sessiondb.MaintenanceResult {
	t.Helper()
	r := db.MaybePruneAndVacuum(t.Context(), o)
	if r.Err != nil {
		t.Errorf("maintenance: %v", r.Err)
	}
	return r
}

func maintenanceInterval(t *testing.T, h *harness) {
	db, c := h.store(t)
	h.sessions(t, db, "a")
	end(t, db, "a")
	if r := maintain(t, db, sessiondb.MaintenanceOptions{}); r != (sessiondb.MaintenanceResult{}) {
		t.Errorf("nothing to do: %+v", r)
	}
	c.add(23 * time.Hour)
	if r := maintain(t, db, sessiondb.MaintenanceOptions{}); r != (sessiondb.MaintenanceResult{Skipped: true}) {
		t.Errorf("too early: %+v", r)
	}
	if r := maintain(t, db, sessiondb.MaintenanceOptions{MinInterval: 22 * time.Hour}); r.Skipped {
		t.Errorf("interval of 22 hours: %+v", r)
	}
	c.add(100 * day)
	if r := maintain(t, db, sessiondb.MaintenanceOptions{}); r != (sessiondb.MaintenanceResult{Pruned: 1, Vacuumed: true}) {
		t.Errorf("an old session: %+v", r)
	}
}

func maintenanceRace(t *testing.T, h *harness) {
	db, _ := h.store(t)
	var claimed atomic.Int32
	done := make(chan error)
	const callers = 8
	for range callers {
		go func() {
			r := db.MaybePruneAndVacuum(t.Context(), sessiondb.MaintenanceOptions{})
			if !r.Skipped {
				claimed.Add(1)
			}
			done <- r.Err
		}()
	}
	for range callers {
		noError(t, <-done)
	}
	if n := claimed.Load(); n != 1 {
		t.Errorf("%d did maintenance", n)
	}
}

func maintenanceNoted(t *testing.T, h *harness) {
	for noted, skipped := range map[string]bool{
		"1778000000.25": true, " 1777999999 ": true, "1778000060.0": true, "1777900000": false,
		"": false, "yesterday": false, "NaN": false, "inf": false, "1e300": false, "1899000000.5": false, "-5": false,
	} {
		db, _ := h.store(t)
		noError(t, db.SetMeta(t.Context(), "last_auto_prune", noted))
		if r := maintain(t, db, sessiondb.MaintenanceOptions{}); r.Skipped != skipped {
			t.Errorf("noted %q: %+v", noted, r)
		}
		got, _, err := db.Meta(t.Context(), "last_auto_prune")
		if want := map[bool]string{true: noted, false: "1778000000"}[skipped]; err != nil || got != want {
			t.Errorf("noted %q: now %q, %v", noted, got, err)
		}
	}
}

func maintenanceOptions(t *testing.T, h *harness) {
	db, c := h.store(t)
	dir := t.TempDir()
	noError(t, os.WriteFile(filepath.Join(dir, "a.json"), nil, 0o600))
	h.sessions(t, db, "a")
	end(t, db, "a")
	c.add(10 * day)
	r := maintain(t, db, sessiondb.MaintenanceOptions{Retention: 9 * day, NoVacuum: true, SessionsDir: dir})
	if r != (sessiondb.MaintenanceResult{Pruned: 1}) {
		t.Errorf("got %+v", r)
	}
	if _, err := os.Stat(filepath.Join(dir, "a.json")); !os.IsNotExist(err) {
		t.Errorf("the session's file: %v", err)
	}
}

func maintenanceFails(t *testing.T, h *harness) {
	db, _ := h.store(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r := db.MaybePruneAndVacuum(ctx, sessiondb.MaintenanceOptions{}); r.Err == nil || r.Skipped || r.Vacuumed {
		t.Errorf("got %+v", r)
	}
	if r := db.MaybePruneAndVacuum(t.Context(), sessiondb.MaintenanceOptions{Retention: -day}); r.Err == nil {
		t.Errorf("got %+v", r)
	}
}
