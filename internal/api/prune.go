package api

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/sessiondb-go/sessiondb"
)

const deleted = "the counts deleted, messages, skipped_open; the lists sessions, orphaned, files, file_errors, referenced"

var pruneMethods = []*Method{
	method(WritesStore, "prune_sessions", "Deletes ended conversations whose last activity is long ago.", deleted, pruneSessions),
	method(WritesStore, "delete_session",
		"Deletes a conversation: the whole compression chain of the session; branches and delegates lose their parent and stay.",
		"whether the session existed; with report, what prune_sessions returns", deleteSession),
	method(WritesStore, "prune_empty_ghost_sessions", "Deletes ended sessions of source tui without title and messages, a day after their start.",
		"a count", pruneGhosts),
	method(WritesStore, "finalize_orphaned_compression_sessions", "Ends abandoned continuations a week after their start.", "a count",
		func(ctx context.Context, db *sessiondb.DB, _ none) (any, error) {
			return result(db.FinalizeOrphanedCompressions(ctx))
		}),
	method(WritesStore, "vacuum", "Merges the search index and gives free space back to the disk.", "null",
		func(ctx context.Context, db *sessiondb.DB, _ none) (any, error) { return done(db.Vacuum(ctx)) }),
	method(WritesStore, "maybe_auto_prune_and_vacuum", "Prunes, and vacuums if that deleted something, at most once an interval; never fails.",
		"skipped, pruned, vacuumed, error", maintain),
}

type pruneParams struct {
	OlderThanDays float64 `json:"older_than_days" default:"90" doc:"days since the last activity"`
	Source        string  `json:"source" doc:"only sessions of this source"`
	SessionsDir   string  `json:"sessions_dir" doc:"folder whose files of these sessions go too"`
	DryRun        bool    `json:"dry_run" default:"false" doc:"report what would go and delete nothing"`
	Trash         bool    `json:"trash" default:"false" doc:"keep it in the trash for 30 days"`
	taggedParams
}

func pruneSessions(ctx context.Context, db *sessiondb.DB, p pruneParams) (any, error) {
	return result(db.Prune(ctx, sessiondb.PruneFilter{OlderThan: given(days(p.OlderThanDays)), Source: p.Source, Tags: p.Tags},
		sessiondb.DeleteOptions{SessionsDir: p.SessionsDir, DryRun: p.DryRun, Trash: p.Trash}))
}

func days(n float64) time.Duration { return hours(n * 24) }

// given is a time that may be 0, which stands for the default where it is not given.
func given(d time.Duration) time.Duration { return cmp.Or(d, time.Nanosecond) }

// hours is at most a hundred years, which a Duration can hold.
func hours(n float64) time.Duration {
	const most = 100 * 365 * 24
	return time.Duration(min(n, most) * float64(time.Hour))
}

type deleteParams struct {
	ofSession
	SessionsDir string `json:"sessions_dir" doc:"folder whose files of these sessions go too"`
	Only        bool   `json:"only" default:"false" doc:"delete this one row, not its chain"`
	DryRun      bool   `json:"dry_run" default:"false" doc:"delete nothing; with report, tell what would go"`
	Report      bool   `json:"report" default:"false" doc:"answer with what was deleted"`
	Trash       bool   `json:"trash" default:"false" doc:"keep it in the trash for 30 days"`
}

// deleteSession answers false for an unknown session, as documented.
func deleteSession(ctx context.Context, db *sessiondb.DB, p deleteParams) (any, error) {
	report, err := db.DeleteSession(ctx, p.SessionID, sessiondb.DeleteOptions{SessionsDir: p.SessionsDir, Only: p.Only, DryRun: p.DryRun, Trash: p.Trash})
	switch {
	case p.Report:
		return result(report, err)
	case errors.Is(err, sessiondb.ErrNotFound):
		return false, nil
	}
	return result(true, err)
}

type ghostParams struct {
	SessionsDir string `json:"sessions_dir" doc:"folder whose files of these sessions go too"`
}

func pruneGhosts(ctx context.Context, db *sessiondb.DB, p ghostParams) (any, error) {
	report, err := db.PruneEmptyGhosts(ctx, sessiondb.DeleteOptions{SessionsDir: p.SessionsDir})
	return result(len(report.Sessions), err)
}

type maintenanceParams struct {
	RetentionDays    float64 `json:"retention_days" default:"90" doc:"days since the last activity"`
	MinIntervalHours float64 `json:"min_interval_hours" default:"24"`
	Vacuum           bool    `json:"vacuum" default:"true"`
	SessionsDir      string  `json:"sessions_dir" doc:"folder whose files of these sessions go too"`
	Trash            bool    `json:"trash" default:"false" doc:"keep what is pruned in the trash for 30 days"`
}

func maintain(ctx context.Context, db *sessiondb.DB, p maintenanceParams) (any, error) {
	return db.MaybePruneAndVacuum(ctx, sessiondb.MaintenanceOptions{
		Retention: given(days(p.RetentionDays)), MinInterval: cmp.Or(hours(p.MinIntervalHours), -1), NoVacuum: !p.Vacuum, SessionsDir: p.SessionsDir, Trash: p.Trash,
	}), nil
}
