package sessiondb

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"iter"
	"math"
	"strings"

	"github.com/sessiondb-go/sessiondb/internal/engine"
	"github.com/sessiondb-go/sessiondb/internal/text"
)

// comparison is how a session that came differs from the stored one of its id.
type comparison struct {
	differs string // what does; empty if all that came is there
	same    int64  // messages, from the first on
	lacks   int64  // messages that came behind those, if the store has no others
}

// compare compares a session with the stored one, by what is rendered of both.
// Ids of messages are no part of it.
func (s *importedSession) compare(ctx context.Context, q engine.Queryer) (*comparison, error) {
	stored, err := sessionByID(ctx, q, s.id())
	if err != nil {
		return nil, err
	}
	came, stop := iter.Pull(s.rendered(&stored))
	defer stop()
	c := &comparison{}
	err = eachMessage(ctx, q, func(m *Message) error {
		theirs, ok := came()
		if ok && bytes.Equal(renderedMessage(m), theirs) {
			c.same++
			return nil
		}
		if ok {
			c.differs = fmt.Sprintf("message %d is another one in the store", c.same+1)
		} else {
			c.differs = "more"
		}
		return errStop
	}, exportMessagesSQL, s.id(), int64(math.MinInt64))
	switch {
	case err != nil:
		return nil, err
	case c.differs == "more":
		c.differs = "" // the store went on since
	case c.differs == "" && s.count > c.same:
		c.lacks = s.count - c.same
		c.differs = fmt.Sprintf("the store lacks the last %d of its messages", c.lacks)
	case c.differs == "":
		c.differs = s.columnsThatDiffer(&stored)
	}
	return c, nil
}

// rendered yields the messages that came, as [renderedMessage] gives them.
func (s *importedSession) rendered(stored *Session) iter.Seq[[]byte] {
	started := s.row[startedAt]
	if started == nil {
		started = epochOrNil(stored.StartedAt)
	}
	return func(yield func([]byte) bool) {
		_ = s.eachRow(started, func(row []any) error {
			var m Message
			row[messageIDAt] = int64(0)
			scanRow(m.scanTargets(), row)
			if !yield(renderedMessage(&m)) {
				return errStop
			}
			return nil
		})
	}
}

// renderedMessage is a message as JSON, without its id.
func renderedMessage(m *Message) []byte {
	c := *m
	c.ID = 0
	return c.appendColumns(nil)
}

// scanRow reads values as if they came from a row of a database.
func scanRow(targets []any, row []any) {
	for i, t := range targets {
		_ = t.(sql.Scanner).Scan(row[i]) // takes anything
	}
}

// columnsThatDiffer names the columns that came with another value than the
// stored one. A parent that is still to come is none.
func (s *importedSession) columnsThatDiffer(stored *Session) string {
	var came Session
	scanRow(came.scanTargets(), s.row)
	have := map[string]string{}
	_ = text.Members(object(stored.appendColumns([]byte{'{'})), func(key string, value []byte) error {
		have[key] = string(value)
		return nil
	})
	var names []string
	_ = text.Members(object(came.appendColumns([]byte{'{'})), func(key string, value []byte) error {
		pending := key == "parent_session_id" && stored.ParentID == nil || key == "started_at" && s.row[startedAt] == nil
		if s.given[key] && !pending && have[key] != string(value) {
			names = append(names, key)
		}
		return nil
	})
	if names == nil {
		return ""
	}
	return strings.Join(names, ", ") + " differ in the store"
}

// extend appends what a stored session lacks. What the session is and what it
// used is then as it came, if that was said; its title and parent stay.
func (b *importBatch) extend(ctx context.Context, s *importedSession) error {
	sets := []string{"message_count = (SELECT COUNT(*) FROM messages WHERE session_id = ?)"}
	args := []any{s.id()}
	for _, name := range append([]string{"ended_at", "end_reason", "tool_call_count", "estimated_cost_usd", "actual_cost_usd"}, countColumns...) {
		if s.given[name] {
			sets, args = append(sets, name+" = ?"), append(args, s.row[columnAt(sessionColumns, name)])
		}
	}
	if !s.given["tool_call_count"] {
		sets, args = append(sets, "tool_call_count = ?"), append(args, s.row[toolCallsAt])
	}
	started := s.row[startedAt]
	if started == nil {
		started = epoch(b.im.db.now())
	}
	if err := b.insertMessages(ctx, s, started, s.found.same); err != nil {
		return err
	}
	if err := b.flush(ctx); err != nil { // its messages are counted
		return err
	}
	_, err := b.tx.Exec(ctx, `UPDATE sessions SET `+strings.Join(sets, ", ")+` WHERE id = ?`, append(args, s.id())...)
	return err
}
