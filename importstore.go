package sessiondb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// Store imports what another store holds, of any engine and schema version, as
// [Importer.Lines] does what that one exports: sessions that are there are
// compared, and nothing of them is overwritten. With a session comes what its
// models used and how far it was imported from a transcript; settings come that
// are not there. The report names the other store file, and no lines. A session
// with damaged messages comes with those that can be read, and is told as changed,
// its store as damaged.
func (im *Importer) Store(ctx context.Context, file string, other *DB) error {
	im.file, im.noLines = file, true
	im.imported = func(ids []string) error { return im.belongings(ctx, other, ids) }
	defer func() { im.noLines, im.imported = false, nil }()
	lines, out := io.Pipe()
	read := make(chan error)
	var damaged []ImportIssue
	go func() {
		_, err := other.ExportAll(ctx, out, ExportFilter{Damaged: func(id string, n int64, err error) {
			damaged = append(damaged, ImportIssue{File: file, SessionID: id, Reason: fmt.Sprintf("%d messages could be read: %v", n, err)})
		}})
		_ = out.CloseWithError(err) // never fails
		read <- err
	}()
	err := im.run(ctx, lines)
	_ = lines.CloseWithError(errors.Join(err, errStop)) // never fails
	if readErr := <-read; err != nil && readErr != nil && !errors.Is(readErr, errStop) {
		err = readErr // the other one says the same
	}
	im.lines = im.linesRead
	if im.report.Changed = append(im.report.Changed, damaged...); damaged != nil {
		im.report.Damaged = append(im.report.Damaged, file)
	}
	if err != nil || im.o.DryRun {
		return err
	}
	return im.settings(ctx, other)
}

// belongings copies what models used in sessions that were imported, and how far
// those came from transcripts.
func (im *Importer) belongings(ctx context.Context, other *DB, ids []string) error {
	for part := range slices.Chunk(ids, inBatch) {
		args := make([]any, len(part))
		keys := make([]any, len(part))
		for i, id := range part {
			args[i], keys[i] = id, markKey(id)
		}
		in := ` IN (` + placeholders(len(part)) + `)`
		if err := im.copyRows(ctx, other, usageCopied, ` WHERE session_id`+in, args...); err != nil {
			return err
		}
		if err := im.copyRows(ctx, other, metaCopied, ` WHERE key`+in, keys...); err != nil {
			return err
		}
	}
	return nil
}

// settings copies the keys that the store does not have.
func (im *Importer) settings(ctx context.Context, other *DB) error {
	return im.copyRows(ctx, other, metaCopied, ` WHERE key NOT LIKE 'sessiondb\_%' ESCAPE '\'`)
}

// copyRows copies the rows that are not there.
func (im *Importer) copyRows(ctx context.Context, other *DB, t *copyTable, where string, args ...any) error {
	var rows [][]any
	err := other.read(ctx, func(q engine.Queryer) error {
		some, err := t.in(ctx, q)
		if err == nil && some {
			rows, err = t.read(ctx, q, nil, where, args...)
		}
		return err
	})
	if err != nil || len(rows) == 0 {
		return err
	}
	insert := `INSERT INTO ` + t.name + ` (` + strings.Join(t.columns, ", ") + `) VALUES (` + placeholders(len(t.columns)) + `) ON CONFLICT DO NOTHING`
	return im.db.write(ctx, func(tx engine.Execer) error {
		if t.own != nil {
			if err := t.own.make(ctx, tx); err != nil {
				return err
			}
		}
		for _, row := range rows {
			if _, err := tx.Exec(ctx, insert, row...); err != nil {
				return err
			}
		}
		return nil
	})
}
