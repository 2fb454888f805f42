package sessiondb

import (
	"context"
	"slices"
	"strings"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// importer is one Import under way.
type importer struct {
	db      *DB
	o       ImportOptions
	report  ImportReport
	waiting map[string][]waitingChild // by the parent that has not come yet

	// What a dry run would have stored.
	ids    map[string]bool
	titles map[string]string
}

// waitingChild is a session that was stored before its parent.
type waitingChild struct {
	id   string
	line int64
}

func newImporter(db *DB, o ImportOptions) *importer {
	return &importer{db: db, o: o, waiting: map[string][]waitingChild{}, ids: map[string]bool{}, titles: map[string]string{}}
}

// store imports a batch in one transaction.
func (im *importer) store(ctx context.Context, batch []*importedSession) error {
	var b *importBatch
	run := func(q engine.Queryer, tx engine.Execer) error {
		b = &importBatch{im: im, q: q, tx: tx, children: map[string][]waitingChild{}, came: map[string]bool{}}
		for _, s := range batch {
			if err := b.session(ctx, s); err != nil {
				return err
			}
		}
		return nil
	}
	var err error
	if im.o.DryRun {
		err = im.db.read(ctx, func(q engine.Queryer) error { return run(q, nil) })
	} else {
		err = im.db.write(ctx, func(tx engine.Execer) error { return run(tx, tx) })
	}
	if err == nil {
		b.commit()
	}
	return err
}

// importBatch is what one transaction did. It may run more than once, so it
// counts here until it is done.
type importBatch struct {
	im       *importer
	q        engine.Queryer
	tx       engine.Execer // nil in a dry run
	report   ImportReport
	children map[string][]waitingChild // more that wait, by parent
	came     map[string]bool           // parents that came
}

// commit takes what the batch did as done.
func (b *importBatch) commit() {
	r := &b.im.report
	r.Imported += b.report.Imported
	r.Messages += b.report.Messages
	r.Skipped = append(r.Skipped, b.report.Skipped...)
	r.Changed = append(r.Changed, b.report.Changed...)
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
		b.report.Skipped = append(b.report.Skipped, ImportIssue{s.line, id, "exists already"})
		return nil
	}
	row := append([]any(nil), s.row...)
	if err := b.fit(ctx, s, row); err != nil {
		return err
	}
	b.report.Imported++
	b.report.Messages += s.count
	b.came[id] = true
	children := slices.Concat(b.im.waiting[id], b.children[id])
	delete(b.children, id)
	if b.tx == nil {
		b.im.ids[id] = true
		return nil
	}
	return b.insert(ctx, s, row, children)
}

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
		if _, err := b.tx.Exec(ctx, `UPDATE sessions SET parent_session_id = ? WHERE id = ?`, s.id(), c.id); err != nil {
			return err
		}
	}
	return s.eachRow(func(m []any) error {
		if m[messageTimeAt] == nil {
			m[messageTimeAt] = row[startedAt]
		}
		_, err := b.tx.Exec(ctx, importMessageSQL, m...)
		return err
	})
}

var (
	importSessionSQL = `INSERT INTO sessions (` + strings.Join(sessionColumns, ", ") + `) VALUES (` + placeholders(len(sessionColumns)) + `)`
	importMessageSQL = `INSERT INTO messages (` + strings.Join(importedColumns, ", ") + `) VALUES (` + placeholders(len(importedColumns)) + `)`
)

// exists reports whether a session is stored, or would be by now.
func (b *importBatch) exists(ctx context.Context, id string) (bool, error) {
	if b.im.ids[id] {
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
			b.report.Changed = append(b.report.Changed, ImportIssue{s.line, s.id(), e.Error()})
		} else if b.tx == nil {
			b.im.titles[title] = s.id()
		}
	}
	parent := s.text(parentAt)
	if row[parentAt] == nil || parent == s.id() {
		return nil
	}
	ok, err := b.exists(ctx, parent)
	if err == nil && !ok {
		row[parentAt] = nil
		b.children[parent] = append(b.children[parent], waitingChild{s.id(), s.line})
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
