package sessiondb

import "context"

// ReplaceMessages puts ms in the place of all messages of a session, all or
// nothing, and sets the counters. A message with a zero Timestamp gets now
// plus a microsecond per position. A message that brings the ID of a stored
// message of this session, unchanged, keeps that row: id and time. Reasoning
// and codex fields are kept for role assistant only.
func (db *DB) ReplaceMessages(ctx context.Context, sessionID string, ms []Message) error {
	panic("todo")
}

// ClearMessages removes the messages of a session and zeroes its counters.
func (db *DB) ClearMessages(ctx context.Context, sessionID string) error { panic("todo") }
