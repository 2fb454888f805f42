package sessiondb

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// ForkOptions shapes a fork. The zero value works.
type ForkOptions struct {
	// ID of the new session; empty makes one. One that exists is [ErrExists].
	ID string
	// EndParent ends the session that is forked, as "branched", unless it has
	// ended: then programs that know nothing of sessiondb see the fork below it.
	EndParent bool
}

// Fork makes a session with the conversation up to and including a message, and
// returns it. The fork has the source, user, model, its configuration, system
// prompt, folder and tags of the session that the message is in, and its title with
// the next ` + "` #N`" + `; messages keep their times. It counts what it holds, and no
// tokens or costs: those were spent once. It is a [Branch] of that session, which
// stays as it is and may go on.
//
// The message may stand in any part of the conversation that id belongs to; 0 is
// the last one of id. A session or message that is not there is [ErrNotFound].
// Where the message calls tools, or is a result, the results that follow belong
// to it; calls whose results are not stored are [ErrInvalid], since no agent
// could go on from there.
func (db *DB) Fork(ctx context.Context, id string, messageID int64, o ForkOptions) (s Session, err error) {
	defer wrap(&err, "fork %s", id)
	if o.ID == "" {
		o.ID = db.newID(db.now())
	}
	if err := checkID(o.ID); err != nil {
		return s, err
	}
	err = db.write(ctx, func(tx engine.Execer) error {
		f := fork{tx: tx, id: o.ID, now: epoch(db.now())}
		if err := f.run(ctx, id, messageID, o.EndParent); err != nil {
			return err
		}
		s, err = sessionByID(ctx, tx, o.ID)
		return err
	})
	return s, err
}

// fork is one Fork under way.
type fork struct {
	tx   engine.Execer
	id   string // of the new session
	now  float64
	from string // the session that is forked
	last int64  // the last message that goes along
}

func (f *fork) run(ctx context.Context, id string, messageID int64, endParent bool) error {
	if err := f.locate(ctx, id, messageID); err != nil {
		return err
	}
	if err := f.complete(ctx); err != nil {
		return err
	}
	parent, err := sessionByID(ctx, f.tx, f.from)
	if err != nil {
		return err
	}
	if err := f.create(ctx, &parent); err != nil {
		return err
	}
	if err := f.copyMessages(ctx); err != nil {
		return err
	}
	if err := f.copyTags(ctx); err != nil {
		return err
	}
	return f.link(ctx, endParent)
}

// copyTags gives the fork the tags of the conversation.
func (f *fork) copyTags(ctx context.Context) error {
	root, _, err := chainRoot(ctx, f.tx, f.from)
	if err != nil {
		return err
	}
	tags, err := tagsOf(ctx, f.tx, root)
	if err != nil {
		return err
	}
	return addTags(ctx, f.tx, f.id, tags[root])
}

// locate finds the session that the message is in.
func (f *fork) locate(ctx context.Context, id string, messageID int64) error {
	ok, err := sessionExists(ctx, f.tx, id)
	if err == nil && !ok {
		err = ErrNotFound
	}
	if err != nil {
		return err
	}
	if f.from, f.last = id, messageID; messageID == 0 {
		err := f.tx.QueryRow(ctx, `SELECT COALESCE(MAX(id), 0) FROM messages WHERE session_id = ?`, id).Scan(&f.last)
		if err == nil && f.last == 0 {
			err = fmt.Errorf("%w: the session has no messages", ErrInvalid)
		}
		return err
	}
	err = f.tx.QueryRow(ctx, `SELECT session_id FROM messages WHERE id = ?`, messageID).Scan(&f.from)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if err == nil && f.from != id {
		var chain []string
		if chain, err = chainIDs(ctx, f.tx, id); err != nil {
			return err
		}
		ok = slices.Contains(chain, f.from)
	}
	if err != nil || !ok {
		return fmt.Errorf("message %d of this conversation: %w", messageID, ErrNotFound)
	}
	return nil
}

// turnColumns read what tells calls of tools and their results, which no cut may
// tear apart.
const turnColumns = `SELECT id, role, tool_calls, tool_call_id FROM messages WHERE session_id = ? AND id `

// complete moves the cut behind the results of the tools that were called last.
func (f *fork) complete(ctx context.Context) error {
	answered := map[string]bool{}
	var calls []json.RawMessage
	var at int64 // of the calls
	err := f.eachTurn(ctx, func(m *Message) bool {
		if m.Role == "tool" {
			answered[deref(m.ToolCallID)] = true
			return true
		}
		at, calls = m.ID, m.ToolCallList()
		return false
	}, turnColumns+`<= ? ORDER BY id DESC`)
	if err != nil || len(calls) == 0 {
		return err
	}
	err = f.eachTurn(ctx, func(m *Message) bool {
		if m.Role != "tool" {
			return false
		}
		answered[deref(m.ToolCallID)] = true
		f.last = m.ID
		return true
	}, turnColumns+`> ? ORDER BY id`)
	for _, call := range calls {
		var c struct{ ID string }
		if err == nil && json.Unmarshal(call, &c) == nil && c.ID != "" && !answered[c.ID] {
			return fmt.Errorf("%w: message %d calls tools, and not all results are stored: take a message before it", ErrInvalid, at)
		}
	}
	return err
}

// eachTurn reads messages from the cut on, until fn returns false.
func (f *fork) eachTurn(ctx context.Context, fn func(*Message) bool, query string) error {
	err := eachRow(ctx, f.tx, func(r engine.Rows) error {
		var m Message
		var o odd
		err := r.Scan(&m.ID, textColumn{"role", &m.Role, &o}, jsonColumn{"tool_calls", &m.ToolCalls, &o}, nullTextColumn{"tool_call_id", &m.ToolCallID, &o})
		if err == nil && !fn(&m) {
			err = errStop
		}
		return err
	}, query, f.from, f.last)
	if errors.Is(err, errStop) {
		err = nil
	}
	return err
}

// inherited are the columns that a fork takes over as they are; a store need not
// have the ones that came later.
var inherited = []string{"user_id", "model", "model_config", "system_prompt", "cwd", "git_branch", "git_repo_root"}

// create makes the session.
func (f *fork) create(ctx context.Context, parent *Session) error {
	made, err := f.tx.Exec(ctx, insertSessionSQL, f.id, parent.Source, nil, nil, nil, nil, nil, f.now)
	if err == nil && made == 0 {
		err = fmt.Errorf("session %s: %w", f.id, ErrExists)
	}
	if err != nil {
		return err
	}
	columns, err := f.tx.Columns(ctx, "sessions")
	if err != nil {
		return err
	}
	columns = slices.DeleteFunc(columns, func(c engine.Column) bool { return !slices.Contains(inherited, c.Name) })
	list := names(columns)
	if _, err := f.tx.Exec(ctx, `UPDATE sessions SET (`+list+`) = (SELECT `+list+` FROM sessions p WHERE p.id = ?) WHERE id = ?`, f.from, f.id); err != nil {
		return err
	}
	if parent.Title == nil || *parent.Title == "" {
		return nil
	}
	title, err := nextTitle(ctx, f.tx, *parent.Title)
	if err != nil {
		return err
	}
	return setTitle(ctx, f.tx, f.id, title)
}

// names is a list of columns as SQL.
func names(columns []engine.Column) string {
	quoted := make([]string, len(columns))
	for i, c := range columns {
		quoted[i] = `"` + strings.ReplaceAll(c.Name, `"`, `""`) + `"`
	}
	return strings.Join(quoted, ", ")
}

// copyMessages copies the messages up to the cut, whatever columns they have.
// Their ids are new: the order of a conversation is that of its ids.
func (f *fork) copyMessages(ctx context.Context) error {
	columns, err := f.tx.Columns(ctx, "messages")
	if err != nil {
		return err
	}
	columns = slices.DeleteFunc(columns, func(c engine.Column) bool { return c.Name == "id" || c.Name == "session_id" })
	list := names(columns)
	_, err = f.tx.Exec(ctx, `INSERT INTO messages (session_id, `+list+`) SELECT CAST(? AS TEXT), `+list+`
 FROM messages m WHERE m.session_id = ? AND m.id <= ? ORDER BY m.id`, f.id, f.from, f.last)
	if err == nil {
		_, err = countAgain(ctx, f.tx, []string{f.id})
	}
	return err
}

// link notes where the fork came from. The column for parents makes a session a
// branch only if the parent ended as branched, before; in every other case
// programs would take the fork for a subagent's session, and hide it, or for what
// a compressed parent goes on with. So the column is set in that case alone.
func (f *fork) link(ctx context.Context, endParent bool) error {
	if endParent {
		_, err := f.tx.Exec(ctx, `UPDATE sessions SET ended_at = ?, end_reason = 'branched' WHERE id = ? AND ended_at IS NULL`, f.now, f.from)
		if err != nil {
			return err
		}
	}
	_, err := f.tx.Exec(ctx, `UPDATE sessions SET parent_session_id = ? WHERE id = ? AND EXISTS
 (SELECT 1 FROM sessions p WHERE p.id = ? AND p.end_reason = 'branched' AND p.ended_at <= ?)`, f.from, f.id, f.from, f.now)
	if err != nil {
		return err
	}
	return rememberOrphans(ctx, f.tx, []orphan{{id: f.id, parent: f.from, kind: forked}}, f.now)
}
