package sqlite

import (
	"errors"
	"slices"
	"strings"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// firstRanked is how many of the best hits are looked up first, where it is not
// known how many are wanted; spareRanked, how many more than wanted otherwise,
// since an index may know messages that are gone.
const (
	firstRanked = 160
	spareRanked = 16
)

// ranked delivers what one index answers alone, by rank. It keeps only the best
// hits while it reads, where a sort of all of them costs a common word as much
// as finding them; the others follow when they are wanted after all.
func (r *matching) ranked(p *matchPlan) error {
	if r.few.listed() {
		return r.rankedPage(p, -1, 0)
	}
	first := r.wanted()
	page := r.bestPage
	if r.where() != "" {
		page = func(p *matchPlan, n int) error { return r.rankedPage(p, n, 0) }
	}
	if err := page(p, first); err != nil || r.done {
		return err
	}
	return r.rankedPage(p, -1, first)
}

// wanted is how many of the best hits are looked up first.
func (r *matching) wanted() int {
	if r.m.Limit > 0 {
		return r.m.Offset + r.m.Limit + spareRanked
	}
	return firstRanked
}

// bestPage delivers the n best hits. Their messages are looked up only as far as
// they are wanted, and one by one where a page is damaged: that costs no more
// than the messages on it.
func (r *matching) bestPage(p *matchPlan, n int) error {
	best, err := r.best(p, n)
	if err != nil {
		return err
	}
	// Where these are all that the index has, their sessions are a count.
	if r.m.Tally && len(best) < n {
		r.tally = map[string]int64{}
	}
	for batch := range slices.Chunk(best, lookedUp) {
		if err := r.deliverBatch(batch); err != nil || r.done && r.tally == nil {
			return err
		}
	}
	return nil
}

// deliverBatch looks hits up and delivers them.
func (r *matching) deliverBatch(batch []engine.Hit) error {
	sessions, err := r.sessionsOf(batch)
	damaged := errors.Is(err, sessiondb.ErrCorrupt)
	if err != nil && !damaged {
		return err
	}
	if damaged {
		r.tally = nil
	}
	for i, h := range batch {
		if damaged && !r.done {
			if sessions, err = r.readableSession(batch[i : i+1]); err != nil {
				return err
			}
		}
		id, ok := sessions[h.MessageID]
		if !ok {
			continue
		}
		if r.tally != nil {
			r.tally[id]++
		}
		if h.SessionID = id; !r.done {
			r.deliver(h)
		}
	}
	return nil
}

// lookedUp is how many messages are looked up at once.
const lookedUp = 20

const sessionOfSQL = `SELECT m.id, m.session_id FROM messages m JOIN sessions s ON s.id = m.session_id WHERE m.id IN `

// sessionsOf returns the session of every hit whose message is there, by message.
func (r *matching) sessionsOf(hits []engine.Hit) (map[int64]string, error) {
	var ids [lookedUp]any // the rest stays NULL, so that the statement is always the same
	for i, h := range hits {
		ids[i] = h.MessageID
	}
	rows, err := r.q.Query(r.quick, sessionOfSQL+`(?`+strings.Repeat(`, ?`, lookedUp-1)+`)`, ids[:]...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	out := make(map[int64]string, len(hits))
	for rows.Next() {
		var id int64
		var session string
		if err := rows.Scan(&id, &session); err != nil {
			return nil, err
		}
		out[id] = session
	}
	return out, rows.Err()
}

// readableSession is sessionsOf a hit, which counts as unreadable where it stands
// on a damaged page.
func (r *matching) readableSession(hit []engine.Hit) (map[int64]string, error) {
	sessions, err := r.sessionsOf(hit)
	if errors.Is(err, sessiondb.ErrCorrupt) {
		r.unreadable++
		return nil, nil
	}
	return sessions, err
}

// bestSQL is a query for the best hits of an index, under a condition. With a
// second term in ORDER BY, FTS5 does not sort everything itself. SQLite prepares a
// statement anew each time where a limit or an offset was 0 or 1; a plus sign keeps
// it from that.
func (p *matchPlan) bestSQL(cond string) string {
	ties := ``
	if p.newestTies {
		ties = ` DESC`
	}
	return `SELECT rowid AS id, rank FROM ` + p.index + ` WHERE ` + p.index + ` MATCH ?` + cond + ` ORDER BY +rank, rowid` + ties + ` LIMIT +? OFFSET +?`
}

// rankedPage delivers hits by rank.
func (r *matching) rankedPage(p *matchPlan, limit, offset int) error {
	if cond := r.where(); cond != "" {
		found := r.few.limit(fragment{`SELECT m.id, m.session_id, rank FROM ` + p.index + ` CROSS JOIN messages m ON m.id = ` + p.index + `.rowid
 CROSS JOIN sessions s ON s.id = m.session_id WHERE ` + p.index + ` MATCH ?`, []any{p.expr}}, p.index+`.rowid`)
		return r.stream(found.sql+cond+` ORDER BY +rank, m.id LIMIT +? OFFSET +?`, join(found.args, r.whereArgs(), []any{limit, offset})...)
	}
	return r.stream(`SELECT m.id, m.session_id, h.rank FROM (`+p.bestSQL(``)+`)`+fromHits+`
 ORDER BY h.rank, h.id`, p.expr, limit, offset)
}
