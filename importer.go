package sessiondb

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// Importer imports several inputs as one: what one of them lacks, such as a
// parent, another may bring. It is not safe for concurrent use.
type Importer struct {
	db      *DB
	o       ImportOptions
	report  ImportReport
	waiting map[string][]waitingChild // by the parent that has not come yet
	base    int64                     // what is added to the ids of messages; 0 is not known yet
	ids     map[string]bool           // that were imported
	titles  map[string]string         // that a dry run would have given
	parents map[string]string         // likewise

	queue []*transcribed         // sessions of transcripts that are to be stored
	size  int                    // of their messages
	index *importIndex           // of what transcripts brought, once it was asked for
	told  map[string]bool        // sessions of transcripts that the report counts; true: as new or gone on
	dry   map[string]*importMark // that a dry run would have left
	kin   []kin                  // sessions whose place in a lineage is to be found
	left  leftOut                // lines of the file

	noLines  bool                     // what is read has none
	imported func(ids []string) error // is called after each transaction, if not nil

	file             string // that is read
	lines, linesRead int64  // of the inputs before, and with this one
}

// waitingChild is a session that was stored before its parent.
type waitingChild struct {
	id       string
	file     string
	line     int64
	delegate bool
	skipped  bool // it was there before this import
}

// NewImporter begins an import. [Importer.Finish] ends it.
func (db *DB) NewImporter(o ImportOptions) *Importer {
	return &Importer{db: db, o: o, waiting: map[string][]waitingChild{}, ids: map[string]bool{}, titles: map[string]string{}, parents: map[string]string{},
		told: map[string]bool{}, dry: map[string]*importMark{}}
}

// store imports a batch in one transaction. Where all of it is stored already
// that is one that reads.
func (im *Importer) store(ctx context.Context, batch []*importedSession) error {
	var b *importBatch
	run := func(q engine.Queryer, tx engine.Execer) error {
		b = &importBatch{im: im, q: q, tx: tx, base: im.base, children: map[string][]waitingChild{}, came: map[string]bool{}}
		for _, s := range batch {
			if err := b.session(ctx, s); err != nil {
				return err
			}
		}
		return b.flush(ctx)
	}
	writes := false
	err := im.db.read(ctx, func(q engine.Queryer) (err error) {
		writes, err = im.compare(ctx, q, batch)
		if writes && !im.o.DryRun || err != nil {
			return err
		}
		return run(q, nil)
	})
	if err == nil && writes && !im.o.DryRun {
		err = im.db.write(ctx, func(tx engine.Execer) error { return run(tx, tx) })
	}
	if err == nil {
		b.commit()
	}
	if err == nil && im.imported != nil && !im.o.DryRun {
		err = im.imported(b.stored)
	}
	return err
}

// compare looks for the sessions of a batch in the store, and reports whether
// anything has to be written for them.
func (im *Importer) compare(ctx context.Context, q engine.Queryer, batch []*importedSession) (writes bool, err error) {
	for _, s := range batch {
		s.found = nil
		ok := false
		if ok, err = sessionExists(ctx, q, s.id()); ok && err == nil && !im.ids[s.id()] {
			s.found, err = s.compare(ctx, q)
		}
		if err != nil {
			return false, err
		}
		writes = writes || !ok || im.extends(s)
	}
	return writes, nil
}

// extends reports whether a session that is stored is to get more messages.
func (im *Importer) extends(s *importedSession) bool {
	return im.o.Extend && s.found != nil && s.found.lacks > 0
}

// importBatch is what one transaction did. It may run more than once, so it
// counts here until it is done.
type importBatch struct {
	im       *Importer
	q        engine.Queryer
	tx       engine.Execer // nil in a dry run
	report   ImportReport
	stored   []string // ids
	base     int64
	children map[string][]waitingChild // more that wait, by parent
	came     map[string]bool           // parents that came
	rows     []importedRow             // that are not stored yet
	size     int                       // of those
}

// commit takes what the batch did as done.
func (b *importBatch) commit() {
	b.im.base = b.base
	r := &b.im.report
	r.Imported += b.report.Imported
	r.Extended += b.report.Extended
	r.Same += b.report.Same
	r.Messages += b.report.Messages
	r.Conflicts = append(r.Conflicts, b.report.Conflicts...)
	r.Changed = append(r.Changed, b.report.Changed...)
	r.Odd = append(r.Odd, b.report.Odd...)
	for _, id := range b.stored {
		b.im.ids[id] = true
	}
	for parent := range b.came {
		delete(b.im.waiting, parent)
	}
	for parent, children := range b.children {
		b.im.waiting[parent] = append(b.im.waiting[parent], children...)
	}
}

// session imports a session and its messages.
func (b *importBatch) session(ctx context.Context, s *importedSession) error {
	id := s.id()
	ok, err := b.exists(ctx, id)
	if err != nil {
		return err
	}
	if ok {
		return errors.Join(b.existing(ctx, s), b.rejoin(ctx, s))
	}
	row := append([]any(nil), s.row...)
	if err := b.fit(ctx, s, row); err != nil {
		return err
	}
	b.report.Imported++
	b.report.Messages += s.count
	b.came[id] = true
	b.stored = append(b.stored, id)
	children := slices.Concat(b.im.waiting[id], b.children[id])
	delete(b.children, id)
	b.odd(s, s.times.reason())
	if err := b.closesCircle(ctx, s, row[parentAt], children); err != nil || b.tx == nil {
		return err
	}
	return b.insert(ctx, s, row, children)
}

// existing says what becomes of a session that is there, and does it.
func (b *importBatch) existing(ctx context.Context, s *importedSession) (err error) {
	if b.im.ids[s.id()] || slices.Contains(b.stored, s.id()) {
		b.conflict(s, "came before in this import")
		return nil
	}
	if s.found == nil || b.tx != nil && b.im.extends(s) { // it came, or may have changed, since it was compared
		if s.found, err = s.compare(ctx, b.q); err != nil {
			return err
		}
	}
	switch {
	case b.im.extends(s):
		b.report.Extended++
		b.report.Messages += s.found.lacks
		if b.tx != nil {
			return b.extend(ctx, s)
		}
	case s.found.differs != "":
		b.conflict(s, s.found.differs)
	default:
		b.report.Same++
	}
	return nil
}

func (b *importBatch) conflict(s *importedSession, reason string) {
	b.report.Conflicts = append(b.report.Conflicts, b.im.issue(s, reason))
}

// issue is what is the matter with a session that was read.
func (im *Importer) issue(s *importedSession, reason string) ImportIssue {
	return ImportIssue{s.file, s.line, s.id(), reason}
}

const joinParentSQL = `UPDATE sessions SET parent_session_id = ? WHERE id = ? AND parent_session_id IS NULL`

// insert stores a session, its messages, and its place above the children that
// came before it.
func (b *importBatch) insert(ctx context.Context, s *importedSession, row []any, children []waitingChild) error {
	if row[startedAt] == nil {
		row[startedAt] = epoch(b.im.db.now())
	}
	if _, err := b.tx.Exec(ctx, importSessionSQL, row...); err != nil {
		return err
	}
	for _, c := range children {
		if _, err := b.tx.Exec(ctx, joinParentSQL, s.id(), c.id); err != nil {
			return err
		}
	}
	if s.delegate && s.row[parentAt] == nil {
		if err := rememberOrphans(ctx, b.tx, []orphan{{id: s.id(), kind: Delegate}}, epoch(b.im.db.now())); err != nil {
			return err
		}
	}
	if err := b.insertBeside(ctx, s, row[startedAt]); err != nil {
		return err
	}
	return b.insertMessages(ctx, s, row[startedAt], 0)
}

// insertBeside stores what a line says of a session beside its columns.
func (b *importBatch) insertBeside(ctx context.Context, s *importedSession, started any) error {
	if from := s.beside.from; from.parent != "" {
		at := epoch(b.im.db.now())
		if f, ok := started.(float64); ok && f > at {
			at = f // else it would be remembered of an older session of that id
		}
		if err := rememberOrphans(ctx, b.tx, []orphan{{id: s.id(), parent: from.parent, kind: from.kind}}, at); err != nil {
			return err
		}
	}
	if len(s.beside.tags) == 0 {
		return nil
	}
	if err := tagsTable.make(ctx, b.tx); err != nil {
		return err
	}
	return addTags(ctx, b.tx, s.id(), s.beside.tags)
}

var importSessionSQL = `INSERT INTO sessions (` + strings.Join(sessionColumns, ", ") + `) VALUES (` + placeholders(len(sessionColumns)) + `)`

// exists reports whether a session is stored, or would be by now.
func (b *importBatch) exists(ctx context.Context, id string) (bool, error) {
	if b.im.ids[id] || slices.Contains(b.stored, id) {
		return true, nil
	}
	return sessionExists(ctx, b.q, id)
}

// fit takes out of a row what the store can't take.
func (b *importBatch) fit(ctx context.Context, s *importedSession, row []any) error {
	if title := s.text(titleAt); row[titleAt] != nil {
		holder, err := b.holder(ctx, title)
		if err != nil {
			return err
		}
		if holder != "" {
			row[titleAt] = nil
			e := TitleTakenError{Title: title, Holder: holder}
			b.report.Changed = append(b.report.Changed, b.im.issue(s, e.Error()))
		} else if b.tx == nil {
			b.im.titles[title] = s.id()
		}
	}
	missing, err := b.lacksParent(ctx, s)
	if missing {
		row[parentAt] = nil
		b.wait(s, false)
	}
	return err
}

// lacksParent reports whether a session names a parent that is not there yet.
func (b *importBatch) lacksParent(ctx context.Context, s *importedSession) (bool, error) {
	parent := s.text(parentAt)
	if s.row[parentAt] == nil || parent == s.id() {
		return false, nil
	}
	ok, err := b.exists(ctx, parent)
	return err == nil && !ok, err
}

func (b *importBatch) wait(s *importedSession, skipped bool) {
	parent := s.text(parentAt)
	b.children[parent] = append(b.children[parent], waitingChild{s.id(), s.file, s.line, s.delegate, skipped})
}

// rejoin lets a session that is there, but without a parent, have the one that
// comes with this import: after an import that was interrupted, or the deletion
// of the parent.
func (b *importBatch) rejoin(ctx context.Context, s *importedSession) error {
	missing, err := b.lacksParent(ctx, s)
	if err == nil && missing {
		b.wait(s, true)
	}
	return err
}

// holder returns the session that has a title, or would have by now.
func (b *importBatch) holder(ctx context.Context, title string) (string, error) {
	if id := b.im.titles[title]; id != "" {
		return id, nil
	}
	ids, err := queryStrings(ctx, b.q, `SELECT id FROM sessions WHERE title = ? LIMIT 1`, title)
	if err != nil || len(ids) == 0 {
		return "", err
	}
	return ids[0], nil
}

// Finish ends the import and tells what it did, also after an error. Sessions
// whose parent did not come have none; delegates among them are remembered as
// such.
func (im *Importer) Finish(ctx context.Context) (ImportReport, error) {
	err := errors.Join(im.flush(ctx), im.orphans(ctx), im.joinKin(ctx))
	return im.report, err
}

func (im *Importer) orphans(ctx context.Context) error {
	var delegates []orphan
	for parent, children := range im.waiting {
		for _, c := range children {
			if c.skipped {
				continue
			}
			im.report.Changed = append(im.report.Changed, ImportIssue{c.file, c.line, c.id, "no parent: " + parent + " does not exist"})
			if c.delegate {
				delegates = append(delegates, orphan{id: c.id, parent: parent, kind: Delegate})
			}
		}
	}
	slices.SortStableFunc(im.report.Changed, func(a, b ImportIssue) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	if len(delegates) == 0 || im.o.DryRun {
		return nil
	}
	return im.db.write(ctx, func(tx engine.Execer) error {
		return rememberOrphans(ctx, tx, delegates, epoch(im.db.now()))
	})
}
