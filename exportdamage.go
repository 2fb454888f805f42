package sessiondb

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// pastDamage runs one step of an export, again if it met damage that the
// snapshot can go past.
func (x *exportReader) pastDamage(ctx context.Context, step func() error) error {
	err := step()
	s, ok := x.q.(engine.Salvager)
	for ok && x.f.Damaged != nil && errors.Is(err, ErrCorrupt) {
		loss, more, salvageErr := s.Salvage(ctx)
		if salvageErr != nil || !more {
			return errors.Join(err, salvageErr)
		}
		x.loss, x.met = loss, err
		err = step()
	}
	return err
}

// lost is what kept something of a session from being read, nil if nothing did.
func (x *exportReader) lost(s *Session) error {
	if x.met == nil || !slices.Contains(x.loss.Tables, "messages") && !slices.Contains(x.loss.Sessions, s.ID) {
		return nil
	}
	lost := x.loss.Messages[s.ID] > 0 || x.loss.Messages == nil && s.MessageCount > x.count
	if lost || slices.Contains(x.loss.Sessions, s.ID) {
		return x.met
	}
	return nil
}

// homelessSQL groups messages by the session that they lack.
const homelessSQL = `SELECT m.session_id, COUNT(*), MIN(m.timestamp)` + orphanSQL +
	` AND m.session_id IS NOT NULL GROUP BY m.session_id ORDER BY m.session_id`

// homeless writes the messages whose session is gone, if there is somebody to be
// told: nothing else reads them.
func (x *exportReader) homeless(ctx context.Context) error {
	if x.f.Damaged == nil || x.wanted != nil || x.f.Source != "" {
		return nil
	}
	var found []Session
	err := x.pastDamage(ctx, func() error {
		found = nil
		return eachRow(ctx, x.q, func(r engine.Rows) error {
			s := Session{Source: "unknown"}
			err := r.Scan(textColumn{"id", &s.ID, &s.odd}, &s.MessageCount, timeColumn{"started_at", &s.StartedAt, &s.odd})
			found = append(found, s)
			return err
		}, homelessSQL)
	})
	for i := range found {
		s := &found[i]
		if err := x.messages(ctx, s, Root, s.ID); err != nil {
			return err
		}
		if err := x.pipe.end(fmt.Errorf("%w: its row in sessions is gone", ErrCorrupt)); err != nil {
			return err
		}
	}
	return err
}
