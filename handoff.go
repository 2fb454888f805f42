package sessiondb

import (
	"context"
	"fmt"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// Handoff is the state of moving a session to another platform: pending,
// running, completed or failed. All nil means that none was asked for.
type Handoff struct {
	State    *string `json:"state"`
	Platform *string `json:"platform"`
	Error    *string `json:"error"`
}

// maxHandoffError is how many characters of an error are kept.
const maxHandoffError = 500

// RequestHandoff asks for a session to be moved to platform. It succeeds when
// none is under way (no state, completed or failed) and tells whether it did.
func (db *DB) RequestHandoff(ctx context.Context, id, platform string) (bool, error) {
	return db.moveHandoff(ctx, "request", id, `UPDATE sessions
 SET handoff_state = 'pending', handoff_platform = ?, handoff_error = NULL
 WHERE id = ? AND (handoff_state IS NULL OR handoff_state IN ('completed', 'failed'))`, validText(platform), id)
}

// ClaimHandoff moves pending to running. Of several claimants one gets true.
func (db *DB) ClaimHandoff(ctx context.Context, id string) (bool, error) {
	return db.moveHandoff(ctx, "claim", id,
		`UPDATE sessions SET handoff_state = 'running' WHERE id = ? AND handoff_state = 'pending'`, id)
}

// CompleteHandoff marks a handoff as done.
func (db *DB) CompleteHandoff(ctx context.Context, id string) error {
	_, err := db.moveHandoff(ctx, "complete", id,
		`UPDATE sessions SET handoff_state = 'completed', handoff_error = NULL WHERE id = ?`, id)
	return err
}

// FailHandoff marks a handoff as failed and keeps the first 500 characters of
// the error.
func (db *DB) FailHandoff(ctx context.Context, id, message string) error {
	if r := []rune(validText(message)); len(r) > maxHandoffError {
		message = string(r[:maxHandoffError])
	}
	_, err := db.moveHandoff(ctx, "fail", id,
		`UPDATE sessions SET handoff_state = 'failed', handoff_error = ? WHERE id = ?`, validText(message), id)
	return err
}

func (db *DB) moveHandoff(ctx context.Context, what, id, query string, args ...any) (moved bool, err error) {
	defer wrap(&err, "%s handoff of %s", what, id)
	err = db.writeAbout(ctx, func(tx engine.Execer) error {
		n, err := tx.Exec(ctx, query, args...)
		if moved = n > 0; err != nil || moved {
			return err
		}
		ok, err := sessionExists(ctx, tx, id)
		if err == nil && !ok {
			err = ErrNotFound
		}
		return err
	}, id)
	return moved && err == nil, err
}

// HandoffState returns the handoff of a session, or [ErrNotFound].
func (db *DB) HandoffState(ctx context.Context, id string) (Handoff, error) {
	s, err := db.Session(ctx, id)
	if err != nil {
		return Handoff{}, fmt.Errorf("handoff state: %w", err)
	}
	return Handoff{State: s.HandoffState, Platform: s.HandoffPlatform, Error: s.HandoffError}, nil
}

// PendingHandoffs lists the sessions that wait to be moved, oldest start first.
func (db *DB) PendingHandoffs(ctx context.Context) (out []Session, err error) {
	defer wrap(&err, "pending handoffs")
	err = db.readPast(ctx, func(q engine.Queryer) error {
		out, err = querySessions(ctx, q, `SELECT `+selectColumns("s", sessionColumns)+`
 FROM sessions s WHERE s.handoff_state = 'pending' ORDER BY s.started_at, s.id`)
		return err
	})
	return out, err
}
