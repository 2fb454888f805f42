package sessiondb

import (
	"strings"

	"github.com/sessiondb-go/sessiondb/internal/engine"
	"github.com/sessiondb-go/sessiondb/internal/text"
)

// maxBatch bounds the parameters of one query.
const maxBatch = 500

// load reads the messages and sessions of hits and, if asked, what stands around
// them.
func (f *finder) load(found []engine.Hit, around bool) ([]SearchHit, error) {
	out := make([]SearchHit, 0, len(found))
	for len(found) > 0 {
		if err := f.ended(); err != nil {
			return nil, err
		}
		n := min(maxBatch, len(found))
		hits, err := f.loadBatch(found[:n], around)
		if err != nil {
			return nil, err
		}
		out = append(out, hits...)
		found = found[n:]
	}
	return out, nil
}

func (f *finder) loadBatch(found []engine.Hit, around bool) ([]SearchHit, error) {
	ids := make([]any, len(found))
	for i, h := range found {
		ids[i] = h.MessageID
	}
	rows, err := f.loadRows(ids, around)
	if err != nil {
		return nil, err
	}
	if around {
		if err := f.loadContext(rows); err != nil {
			return nil, err
		}
	}
	out := make([]SearchHit, 0, len(found))
	for _, h := range found {
		if row := rows[h.MessageID]; row != nil {
			out = append(out, row.hit)
		}
	}
	return out, nil
}

// hitRow is a hit as it was read.
type hitRow struct {
	hit           SearchHit
	before, after int64          // the messages around it, 0 where there is none
	shown         ContextMessage // itself
}

// loadRows reads hits by id and, if asked, which messages stand around them.
func (f *finder) loadRows(ids []any, around bool) (map[int64]*hitRow, error) {
	neighbours := noNeighbours
	if around {
		neighbours = neighboursSQL
	}
	terms := termsOf(f.query)
	out := make(map[int64]*hitRow, len(ids))
	var o odd
	var r hitRow
	var content, calls string
	h := &r.hit
	targets := []any{
		&h.MessageID, textColumn{"", &h.SessionID, &o}, textColumn{"", &h.Role, &o}, textColumn{"", &content, &o},
		nullTextColumn{"", &h.ToolName, &o}, textColumn{"", &calls, &o}, timeColumn{"", &h.Timestamp, &o},
		textColumn{"", &h.Source, &o}, nullTextColumn{"", &h.Model, &o}, timeColumn{"", &h.SessionStarted, &o},
		&r.before, &r.after,
	}
	return out, eachRow(f.ctx, f.q, func(rows engine.Rows) error {
		if err := rows.Scan(targets...); err != nil {
			return err
		}
		h.Snippet = snippet(content, deref(h.ToolName), calls, terms.patterns)
		if around {
			r.shown = contextMessage(h.Role, contentFrom(content))
		}
		row := r
		out[h.MessageID] = &row
		return nil
	}, `SELECT m.id, m.session_id, m.role, m.content, m.tool_name, m.tool_calls, m.timestamp, s.source, s.model, s.started_at, `+neighbours+`
 FROM messages m JOIN sessions s ON s.id = m.session_id WHERE m.id IN (`+placeholders(len(ids))+`)`, ids...)
}

func snippet(content, toolName, toolCalls string, patterns []text.Pattern) string {
	s := text.Readable(content, toolName, toolCalls)
	if strings.TrimSpace(s) == "" && strings.Contains(content, "{") {
		return noText
	}
	return text.Snippet(s, patterns)
}

// noText stands for structured content that has no text.
const noText = "[multimodal content]"

// contextChars is how much of a neighbour is shown.
const contextChars = 200

// neighboursSQL are the messages right before and right after a hit m, in its
// session. They most often have the next ids; where they have not, the index of
// the session knows them.
const neighboursSQL = `COALESCE(
 (SELECT MAX(p.id) FROM messages p WHERE p.id < m.id AND p.id >= m.id - 16 AND p.session_id || '' = m.session_id),
 (SELECT MAX(p.id) FROM messages p WHERE p.session_id = m.session_id AND +p.id < m.id), 0), COALESCE(
 (SELECT MIN(n.id) FROM messages n WHERE n.id > m.id AND n.id <= m.id + 16 AND n.session_id || '' = m.session_id),
 (SELECT MIN(n.id) FROM messages n WHERE n.session_id = m.session_id AND +n.id > m.id), 0)`

const noNeighbours = `0, 0`

// loadContext reads what stands around hits.
func (f *finder) loadContext(rows map[int64]*hitRow) error {
	wanted := make(map[int64]bool, 2*len(rows))
	for _, r := range rows {
		for _, id := range []int64{r.before, r.after} {
			if rows[id] == nil && id != 0 {
				wanted[id] = true
			}
		}
	}
	messages, err := f.contextMessages(wanted)
	for id, r := range rows {
		messages[id] = r.shown
	}
	for id, r := range rows {
		for _, n := range []int64{r.before, id, r.after} {
			if m, ok := messages[n]; ok {
				r.hit.Context = append(r.hit.Context, m)
			}
		}
	}
	return err
}

func (f *finder) contextMessages(wanted map[int64]bool) (map[int64]ContextMessage, error) {
	ids := make([]any, 0, len(wanted))
	for id := range wanted {
		ids = append(ids, id)
	}
	out := make(map[int64]ContextMessage, len(ids))
	if len(ids) == 0 {
		return out, nil
	}
	var id int64
	var role string
	var c Content
	var o odd
	targets := []any{&id, textColumn{"", &role, &o}, contentColumn{&c, &o}}
	err := eachRow(f.ctx, f.q, func(r engine.Rows) error {
		err := r.Scan(targets...)
		out[id] = contextMessage(role, c)
		return err
	}, `SELECT id, role, content FROM messages WHERE id IN (`+placeholders(len(ids))+`)`, ids...)
	return out, err
}

func contextMessage(role string, c Content) ContextMessage {
	m := ContextMessage{Role: role, Content: c.PlainText()}
	if m.Content == "" && len(c.Parts()) > len("[]") {
		m.Content = noText
	}
	m.Content = cutChars(m.Content, contextChars)
	return m
}

// cutChars returns the first n characters.
func cutChars(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}
