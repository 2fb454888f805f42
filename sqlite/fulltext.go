package sqlite

import (
	"context"

	lib "modernc.org/sqlite/lib"
)

// indexes are the two full-text tables.
var indexes = []string{"messages_fts", "messages_fts_trigram"}

// indexedText is what the index holds of a message.
const indexedText = `COALESCE(content, '') || ' ' || COALESCE(tool_name, '') || ' ' || COALESCE(tool_calls, '')`

// triggersOf are the triggers that fill a full-text table.
func triggersOf(index string) []string {
	return []string{index + "_insert", index + "_delete", index + "_update"}
}

// parts are the tables that a full-text table keeps its data in. One without a
// copy of the text has no _content.
var parts = []string{"_data", "_idx", "_content", "_docsize", "_config"}

func (sh *shape) hasParts(l *layout, index string) bool {
	for _, part := range parts {
		if !sh.has(index+part) && (part != "_content" || l.keepsText) {
			return false
		}
	}
	return true
}

// rebuild makes a full-text table anew from the messages.
func (m *migration) rebuild(ctx context.Context, index string) error {
	if err := m.drop(ctx, index); err != nil {
		return err
	}
	if err := m.c.script(ctx, m.layout.find(index).sql); err != nil {
		return err
	}
	if err := m.fill(ctx, index, ""); err != nil {
		return err
	}
	return m.createTriggers(ctx, index)
}

// drop removes a full-text table and its triggers, also where only its parts
// are left.
func (m *migration) drop(ctx context.Context, index string) error {
	if err := m.dropTriggers(ctx, index); err != nil {
		return err
	}
	if m.leavePages {
		names := []string{index}
		for _, part := range parts {
			names = append(names, index+part)
		}
		return m.c.forget(ctx, "table", names...)
	}
	if err := m.c.script(ctx, "DROP TABLE IF EXISTS "+index); err != nil {
		if primaryCode(err) != lib.SQLITE_ERROR && primaryCode(err) != lib.SQLITE_CORRUPT {
			return err
		}
		if err := m.c.forget(ctx, "table", index); err != nil {
			return err // its parts are dropped next
		}
	}
	for _, part := range parts {
		if err := m.c.script(ctx, "DROP TABLE IF EXISTS "+index+part); err != nil {
			return err
		}
	}
	return nil
}

func (m *migration) dropTriggers(ctx context.Context, index string) error {
	for _, t := range triggersOf(index) {
		if err := m.c.script(ctx, "DROP TRIGGER IF EXISTS "+t); err != nil {
			return err
		}
	}
	return nil
}

// resync brings a full-text table that missed changes up to date, and gives it
// its triggers back. It has to have its copy of the text: what a message that is
// gone said is needed to take it out.
func (m *migration) resync(ctx context.Context, index string) error {
	docs := index + "_docsize"
	if _, err := m.c.exec(ctx, "DELETE FROM "+index+" WHERE rowid IN (SELECT id FROM "+docs+" EXCEPT SELECT id FROM messages)"); err != nil {
		return err
	}
	if err := m.fill(ctx, index, " AND NOT EXISTS (SELECT 1 FROM "+docs+" d WHERE d.id = messages.id)"); err != nil {
		return err
	}
	return m.createTriggers(ctx, index)
}

func (m *migration) createTriggers(ctx context.Context, index string) error {
	for _, t := range triggersOf(index) {
		if err := m.c.script(ctx, "DROP TRIGGER IF EXISTS "+t+";"+m.layout.find(t).sql); err != nil {
			return err
		}
	}
	return nil
}

// fillStep is how many messages are indexed between two reports of progress.
const fillStep = 2000

// fill indexes the messages that a condition picks, in steps by id.
func (m *migration) fill(ctx context.Context, index, condition string) error {
	var total, done, last int64
	if err := m.c.queryRow(ctx, []any{&total}, "SELECT COUNT(*) FROM messages"); err != nil {
		return err
	}
	for {
		var n int64
		var upTo *int64
		err := m.c.queryRow(ctx, []any{&n, &upTo}, "SELECT COUNT(*), MAX(id) FROM (SELECT id FROM messages WHERE id > ? ORDER BY id LIMIT ?)", last, fillStep)
		if err != nil || upTo == nil {
			return err
		}
		_, err = m.c.exec(ctx, "INSERT INTO "+index+" (rowid, content) SELECT id, "+indexedText+
			" FROM messages WHERE id > ? AND id <= ?"+condition+" ORDER BY id", last, *upTo)
		if err != nil {
			return err
		}
		done, last = done+n, *upTo
		if m.report != nil {
			m.report("index messages for "+index, done, total)
		}
	}
}
