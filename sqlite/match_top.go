package sqlite

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
	first := firstRanked
	if r.m.Limit > 0 {
		first = r.m.Offset + r.m.Limit + spareRanked
	}
	if err := r.rankedPage(p, first, 0); err != nil || r.done {
		return err
	}
	return r.rankedPage(p, -1, first)
}

// rankedPage delivers hits by rank. With a second term in ORDER BY, FTS5 does not
// sort everything itself.
func (r *matching) rankedPage(p *matchPlan, limit, offset int) error {
	if cond := r.where(); cond != "" {
		return r.stream(`SELECT m.id, m.session_id, rank FROM `+p.index+` CROSS JOIN messages m ON m.id = `+p.index+`.rowid
 CROSS JOIN sessions s ON s.id = m.session_id WHERE `+p.index+` MATCH ?`+cond+` ORDER BY +rank, m.id LIMIT ? OFFSET ?`,
			join([]any{p.expr}, r.whereArgs(), []any{limit, offset})...)
	}
	return r.stream(`SELECT m.id, m.session_id, h.rank FROM (
 SELECT rowid AS id, rank FROM `+p.index+` WHERE `+p.index+` MATCH ? ORDER BY +rank, rowid LIMIT ? OFFSET ?)`+fromHits+`
 ORDER BY h.rank, h.id`, p.expr, limit, offset)
}
