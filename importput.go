package sessiondb

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sessiondb-go/sessiondb/internal/engine"
	"github.com/sessiondb-go/sessiondb/internal/text"
)

// flush stores what was read of transcripts, in one transaction.
func (im *Importer) flush(ctx context.Context) error {
	queue := im.queue
	if len(queue) == 0 {
		return nil
	}
	var done []transcribedResult
	run := func(q engine.Queryer, tx engine.Execer) error {
		done = done[:0]
		came, waits, used := map[string]bool{}, map[string][]string{}, map[uint64]string{}
		for _, s := range queue {
			p := &transcriptPut{im: im, q: q, tx: tx, s: s, came: came, waits: waits, used: used}
			r, err := p.run(ctx)
			if err != nil {
				return err
			}
			done = append(done, r)
		}
		return nil
	}
	makeRoom(im.size)
	writes := false
	err := im.db.read(ctx, func(q engine.Queryer) (err error) {
		if err = run(q, nil); err == nil {
			for _, r := range done {
				writes = writes || r.writes
			}
		}
		return err
	})
	if err == nil && writes && !im.o.DryRun {
		err = im.db.write(ctx, func(tx engine.Execer) error { return run(tx, tx) })
	}
	im.queue, im.size = nil, 0
	if err != nil {
		return fmt.Errorf("%s: %w", fromTo("session", queue[0].id, queue[len(queue)-1].id), err)
	}
	for i, s := range queue {
		im.settle(s, done[i])
	}
	return nil
}

// transcribedResult is what a transaction did for a session. It may run more
// than once, so nothing changes before it is done.
type transcribedResult struct {
	writes   bool
	mark     *importMark
	created  bool
	messages int64
	changed  []string // what did not fit
	waits    bool     // for its parent
	conflict string

	listed, used []uint64 // messages and responses that the mark lists now
	counts       string   // the session that counts the first response which this one does not
}

// settle takes what was done as done.
func (im *Importer) settle(s *transcribed, r transcribedResult) {
	s.queued = false
	if r.conflict != "" {
		s.conflict = r.conflict
	}
	im.tell(s, r)
	for _, reason := range r.changed {
		im.report.Changed = append(im.report.Changed, ImportIssue{s.file, s.line, s.id, reason})
	}
	if r.waits {
		parent := deref(s.meta.ParentID)
		im.waiting[parent] = append(im.waiting[parent], waitingChild{s.id, s.file, s.line, s.meta.Delegate, !r.created})
	}
	if r.created {
		delete(im.waiting, s.meta.ID)
		im.ids[s.id] = true
	}
	if s.ended && s.conflict == "" {
		im.meetKin(s, r.created || s.created, r.counts)
	}
	if r.mark != nil {
		if im.index != nil {
			im.index.add(s.id, r.mark.Fork, r.listed, r.used)
		}
		if s.mark = r.mark; im.o.DryRun {
			im.dry[s.id] = r.mark
		}
	}
	s.created = s.created || r.created
	s.pending, s.grown, s.unlisted = nil, nil, nil
}

// tell counts a session in the report: once, whichever files have it.
func (im *Importer) tell(s *transcribed, r transcribedResult) {
	im.report.Messages += r.messages
	more, told := im.told[s.id]
	switch {
	case s.conflict != "":
		if !s.counted {
			im.report.Conflicts = append(im.report.Conflicts, ImportIssue{s.file, s.line, s.id, s.conflict})
		}
		s.counted = true
	case more || !r.created && !r.writes && (told || !s.ended):
	case r.created:
		im.told[s.id] = true
		im.report.Imported++
	case r.writes:
		if im.told[s.id] = true; told {
			im.report.Same--
		}
		im.report.Extended++
	default:
		im.told[s.id] = false
		im.report.Same++
	}
}

// endReason is that of an imported session. It ends with its last message, as
// far as is known, and later when the file grows.
const endReason = "imported"

// transcriptPut stores what is new of a session, or with no tx finds out what
// that would be.
type transcriptPut struct {
	im     *Importer
	q      engine.Queryer
	tx     engine.Execer
	s      *transcribed
	r      transcribedResult
	stored *Session // as it is now
	mark   importMark
	parent string          // of a new session
	grown  *transcribedRow // to replace the last message
	last   *Message        // which that is, nil if somebody changed it

	// What came before in the same transaction: new sessions, sessions that wait for
	// a parent, and responses that are counted.
	came  map[string]bool
	waits map[string][]string
	used  map[uint64]string // by whom

	sets []string
	args []any
}

func (p *transcriptPut) run(ctx context.Context) (transcribedResult, error) {
	s := p.s
	if s.conflict != "" || s.mark == nil && s.found != nil && len(s.pending) == 0 || s.mark.old() && s.seen < s.mark.Messages {
		return p.r, nil
	}
	ok, err := p.unchanged(ctx)
	if err != nil || !ok {
		return p.r, err
	}
	s.fillTimes(p.im.db.now())
	if err := p.findGrown(ctx); err != nil {
		return p.r, err
	}
	p.r.created = p.stored == nil && !p.im.ids[s.id]
	p.r.writes = p.r.created || len(s.pending) > 0 || p.grown != nil
	p.r.messages = int64(len(s.pending))
	if p.r.created { // who had its messages before is to be known
		if _, err := p.im.indexed(ctx, p.q); err != nil {
			return p.r, err
		}
	}
	if s.ended && s.late > 0 {
		p.r.changed = append(p.r.changed, "older than what was imported before, and stored behind that: "+counted(s.late, "message"))
	}
	for _, step := range []func(context.Context) error{p.findParent, p.create, p.messages, p.title, p.use, p.rest} {
		if err := step(ctx); err != nil {
			return p.r, err
		}
	}
	if !p.r.writes {
		return p.r, nil
	}
	p.list()
	if p.tx != nil {
		err = p.mark.write(ctx, p.tx, s.id)
	}
	return p.r, err
}

// list completes the mark.
func (p *transcriptPut) list() {
	p.r.listed = slices.Clone(p.s.unlisted)
	if p.mark.Messages += int64(len(p.s.pending)); p.s.mark == nil {
		p.mark.Messages += int64(len(p.s.unlisted))
	}
	if p.grown != nil {
		p.r.listed = append(p.r.listed, p.grown.also...)
		p.r.listed = append(p.r.listed, p.grown.number) // again, as the last one
	}
	for _, m := range p.s.pending {
		p.r.listed = append(append(p.r.listed, m.also...), m.number)
		at, _ := m.row[timestampValue].(float64)
		p.mark.Until = max(p.mark.Until, at)
	}
	p.mark.Known, p.mark.Used = p.mark.Known.with(p.r.listed), p.mark.Used.with(p.r.used)
	p.mark.Fork = p.mark.Fork || p.s.meta.ForkedFrom != ""
	p.mark.Keys, p.mark.Usage, p.mark.APICalls = "", Tokens{}, 0
	p.r.mark = &p.mark
}

// unchanged reads the session and its mark, and reports whether they are what
// was compared.
func (p *transcriptPut) unchanged(ctx context.Context) (ok bool, err error) {
	s := p.s
	if p.stored, err = storedSession(ctx, p.q, s.id); err != nil {
		return false, err
	}
	var mark *importMark
	if p.stored != nil {
		if mark, err = readImportMark(ctx, p.q, p.stored); err != nil {
			return false, err
		}
	}
	switch {
	case p.im.o.DryRun:
	case s.found == nil && s.mark == nil && p.stored != nil,
		(s.found != nil || s.mark != nil) && p.stored == nil,
		(mark == nil) != (s.mark == nil), mark != nil && *mark != *s.mark:
		p.r.conflict = "another program changed it meanwhile"
		return false, nil
	}
	if s.mark != nil {
		p.mark = *s.mark
	}
	return true, nil
}

// findParent looks whether the parent is there, under its own id or the one that
// was made of it.
func (p *transcriptPut) findParent(ctx context.Context) error {
	m := &p.s.meta
	id := deref(m.ParentID)
	if id == "" || id == m.ID || p.stored != nil && p.stored.ParentID != nil {
		return nil
	}
	for _, id := range []string{id, m.Source + ":" + id} {
		parent, err := storedSession(ctx, p.q, id)
		switch {
		case err != nil:
			return err
		case parent == nil && !p.came[id] && !(p.im.o.DryRun && p.im.ids[id]) || parent != nil && parent.Source != m.Source:
			continue
		}
		if p.parent = id; p.stored != nil {
			p.set("parent_session_id = ?", id)
		}
		return nil
	}
	if p.r.waits = p.s.ended; p.r.waits {
		p.waits[id] = append(p.waits[id], p.s.id)
	}
	return nil
}

func (p *transcriptPut) set(column string, value ...any) {
	p.sets, p.args = append(p.sets, column), append(p.args, value...)
	p.r.writes = true
}

func (p *transcriptPut) create(ctx context.Context) error {
	if p.stored != nil {
		return nil
	}
	p.came[p.s.id] = true
	if p.tx == nil {
		return nil
	}
	m := &p.s.meta
	started := epochOrNil(m.StartedAt)
	if started == nil && len(p.s.pending) > 0 {
		started = p.s.pending[0].row[timestampValue]
	}
	config, err := jsonOrNull("model_config", m.ModelConfig)
	if err != nil {
		config = nil
	}
	if _, err := p.tx.Exec(ctx, insertSessionSQL, p.s.id, validText(m.Source), nullable(m.UserID), nullable(m.Model), config,
		nullable(m.SystemPrompt), textOrNull(p.parent), started); err != nil {
		return err
	}
	p.mark.Started, _ = started.(float64)
	p.mark.Model = deref(m.Model)
	children := p.waits[m.ID]
	for _, c := range p.im.waiting[m.ID] {
		children = append(children, c.id)
	}
	for _, id := range children {
		if _, err := p.tx.Exec(ctx, joinParentSQL, p.s.id, id); err != nil {
			return err
		}
	}
	return nil
}

// messages stores new messages, and the last one again if it grew.
func (p *transcriptPut) messages(ctx context.Context) error {
	if p.tx == nil {
		return nil
	}
	if err := p.grow(ctx); err != nil {
		return err
	}
	if len(p.s.pending) == 0 {
		return nil
	}
	calls, rows := 0, make([][]any, len(p.s.pending))
	for i, m := range p.s.pending {
		rows[i] = m.row
		calls += toolCalls(m.row)
	}
	ids, err := insertMessages(ctx, p.tx, rows)
	if err != nil {
		return err
	}
	m := p.s.pending[len(rows)-1]
	p.mark.Last, p.mark.Untold = ids[len(ids)-1], m.untold
	p.mark.Digest, p.mark.Size = m.digest()
	return countMessages(ctx, p.tx, p.s.id, len(rows), calls)
}

// findGrown looks whether the last message has to be replaced, and may be. A mark
// that counts a time which the message does not tell differs though nothing grew.
func (p *transcriptPut) findGrown(ctx context.Context) error {
	grown, mark := p.s.grown, p.s.mark
	if grown == nil {
		return nil
	}
	old, err := queryMessages(ctx, p.q, `FROM messages m WHERE m.id = ? AND m.session_id = ?`, mark.Last, p.s.id)
	if err != nil {
		return err
	}
	var as, without string // is told, and without a time
	if len(old) > 0 {
		as, _ = messageDigest(&old[0], mark.Untold)
		without, _ = messageDigest(&old[0], true)
	}
	if now, _ := grown.digest(); grown.untold && now == without {
		return nil
	}
	if p.grown = grown; as == mark.Digest && len(old) > 0 {
		p.last = &old[0]
	}
	return nil
}

// grow replaces the last message, unless somebody changed it. Where it tells no time
// it keeps the one that it has.
func (p *transcriptPut) grow(ctx context.Context) error {
	grown, old := p.grown, p.last
	if grown == nil {
		return nil
	}
	p.mark.Untold = grown.untold
	p.mark.Digest, p.mark.Size = grown.digest()
	if old == nil {
		return nil
	}
	row := slices.Clone(grown.row)
	if grown.untold {
		row[timestampValue] = epochOrNil(old.Timestamp)
	}
	if _, err := p.tx.Exec(ctx, updateMessageSQL, append(row[1:], p.mark.Last)...); err != nil {
		return err
	}
	calls := toolCalls(row)
	if old.ToolCalls != nil {
		calls -= text.CountItems(string(old.ToolCalls))
	}
	return countMessages(ctx, p.tx, p.s.id, 0, calls)
}

// title gives the title of the transcript, if it is free, to a session that has
// none, or still the one that an import gave it.
func (p *transcriptPut) title(ctx context.Context) error {
	title, ok := transcriptTitle(&p.s.meta.Session)
	if !ok || p.s.meta.Titles < p.mark.Titles || title == p.mark.Title || p.stored != nil && deref(p.stored.Title) != p.mark.Title {
		return nil
	}
	holders, err := queryStrings(ctx, p.q, `SELECT id FROM sessions WHERE title = ? LIMIT 1`, title)
	if holder := p.im.titles[title]; holder != "" {
		holders = append(holders, holder)
	}
	switch {
	case err != nil:
		return err
	case len(holders) == 0:
		p.set("title = ?", title)
		p.mark.Title, p.mark.Titles = title, p.s.meta.Titles
		if p.im.o.DryRun {
			p.im.titles[title] = p.s.id
		}
	case holders[0] != p.s.id && p.s.ended:
		e := TitleTakenError{Title: title, Holder: holders[0]}
		p.r.changed = append(p.r.changed, e.Error())
	}
	return nil
}

// transcriptTitle is a title that can be stored, cut if it is too long.
func transcriptTitle(s *Session) (string, bool) {
	title, _ := CleanTitle(shorten(deref(s.Title), MaxTitle))
	return title, title != ""
}

// rest brings the model and the end up to date.
func (p *transcriptPut) rest(ctx context.Context) error {
	m := &p.s.meta
	if p.s.mark == nil && p.stored != nil {
		p.mark.Started = epochOrZero(p.stored)
	}
	news := len(p.s.pending) > 0 || p.grown != nil
	if news && p.stored != nil && m.Model != nil && *m.Model != p.mark.Model && deref(p.stored.Model) == p.mark.Model {
		p.set("model = ?", validText(*m.Model))
		p.mark.Model = *m.Model
	}
	if n := len(p.s.pending); n > 0 && (p.stored == nil || deref(p.stored.EndReason) == endReason) {
		if p.s.late == 0 {
			p.set("ended_at = ?", p.s.pending[n-1].row[timestampValue])
		}
		p.set("end_reason = ?", endReason)
	}
	if p.tx == nil || len(p.sets) == 0 {
		return nil
	}
	_, err := p.tx.Exec(ctx, `UPDATE sessions SET `+strings.Join(p.sets, ", ")+` WHERE id = ?`, append(p.args, p.s.id)...)
	return err
}
