package sessiondb

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// MaintenanceOptions shapes MaybePruneAndVacuum. Zero values mean 90 days, 24
// hours; a negative interval is none.
type MaintenanceOptions struct {
	Retention   time.Duration
	MinInterval time.Duration
	NoVacuum    bool
	SessionsDir string
	// Trash keeps what is pruned for 30 days, see [DeleteOptions].
	Trash bool
}

// MaintenanceResult tells what maintenance did. Err is what went wrong, if
// anything: maintenance never fails its caller.
type MaintenanceResult struct {
	Skipped  bool // the interval is not over
	Pruned   int64
	Vacuumed bool
	Err      error
}

const (
	defaultInterval = 24 * time.Hour

	// lastPruneKey is where state_meta keeps when maintenance last began.
	lastPruneKey = "last_auto_prune"
)

// MaybePruneAndVacuum prunes at most once an interval over all processes. If
// something was pruned and it pays, it merges the full-text indexes and vacuums:
// when a fifth of the file is free, or a fifth of the messages went, or the file
// is a small one. The interval begins with the work, so that work that fails is
// not tried again at once. What has been in the trash for 30 days goes for good.
func (db *DB) MaybePruneAndVacuum(ctx context.Context, o MaintenanceOptions) (r MaintenanceResult) {
	if o.Retention < 0 {
		return MaintenanceResult{Err: fmt.Errorf("%w: a retention of %v", ErrInvalid, o.Retention)}
	}
	claimed, err := db.claimMaintenance(ctx, cmp.Or(o.MinInterval, defaultInterval))
	if err != nil || !claimed {
		return MaintenanceResult{Skipped: err == nil, Err: err}
	}
	report, err := db.Prune(ctx, PruneFilter{OlderThan: o.Retention}, DeleteOptions{SessionsDir: o.SessionsDir, Trash: o.Trash})
	db.expireTrash(ctx)
	r.Pruned = int64(len(report.Sessions))
	if err == nil && r.Pruned > 0 && !o.NoVacuum {
		var done engine.Compacted
		done, err = db.engine.Compact(ctx, engine.CompactOptions{IfPays: true, Deleted: report.Messages})
		r.Vacuumed = done.Vacuumed
	}
	r.Err = err
	return r
}

// claimMaintenance notes the time in the store, if an interval has passed since
// the time noted there. Of several processes that try at once, one succeeds.
func (db *DB) claimMaintenance(ctx context.Context, interval time.Duration) (claimed bool, err error) {
	defer wrap(&err, "claim maintenance")
	err = db.write(ctx, func(tx engine.Execer) error {
		claimed = false
		var last *string
		err := tx.QueryRow(ctx, `SELECT CAST(value AS TEXT) FROM state_meta WHERE key = ?`, lastPruneKey).Scan(&last)
		none := errors.Is(err, sql.ErrNoRows)
		if err != nil && !none {
			return err
		}
		now := db.now()
		if last != nil && !isDue(*last, now, interval) {
			return nil
		}
		// The old value is compared once more where it is replaced, for engines
		// whose transactions do not exclude one another.
		var n int64
		stamp := strconv.FormatFloat(epoch(now), 'f', -1, 64)
		if none {
			n, err = tx.Exec(ctx, `INSERT INTO state_meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO NOTHING`, lastPruneKey, stamp)
		} else {
			n, err = tx.Exec(ctx, `UPDATE state_meta SET value = ? WHERE key = ? AND CAST(value AS TEXT) IS NOT DISTINCT FROM ?`,
				stamp, lastPruneKey, last)
		}
		claimed = n > 0
		return err
	})
	return claimed && err == nil, err
}

// isDue reports whether an interval has passed since the time noted. What can't
// be read, or lies far in the future, was never.
func isDue(noted string, now time.Time, interval time.Duration) bool {
	last, err := strconv.ParseFloat(strings.TrimSpace(noted), 64)
	if err != nil || math.IsNaN(last) || last > epoch(now.Add(clockTolerance)) {
		return true
	}
	return epoch(now)-last >= interval.Seconds()
}
