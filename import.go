package sessiondb

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
)

// ImportOptions shapes an import. The zero value works.
type ImportOptions struct {
	// DryRun reports what would happen and writes nothing.
	DryRun bool
	// Extend appends to a session that is stored what comes behind its last
	// message, where all before is the same. Without it such a session is a
	// conflict.
	Extend bool
	// Progress is called after each line with the number read.
	Progress func(lines int64)
}

// ImportReport tells what an import did, or with DryRun what it would do.
type ImportReport struct {
	Imported int64 `json:"imported"` // sessions that were not there
	Extended int64 `json:"extended"` // sessions that got messages they lacked
	Same     int64 `json:"same"`     // sessions of which all that came was there
	Messages int64 `json:"messages"` // that are new
	// Conflicts are sessions that are stored with something else in them. They
	// were left as they are.
	Conflicts []ImportIssue `json:"conflicts,omitempty"`
	Failed    []ImportIssue `json:"failed,omitempty"` // lines that can't be used
	// Changed are sessions imported without something that did not fit: a title
	// that is taken, a parent that does not exist.
	Changed []ImportIssue `json:"changed,omitempty"`
	// Odd are sessions that were imported as they are, with something in them that
	// can't be so: a time that is none, parents in a circle.
	Odd []ImportIssue `json:"odd,omitempty"`
	// LeftOut are lines of transcripts of a kind that is not known, the first of each
	// kind in each file.
	LeftOut []ImportIssue `json:"left_out,omitempty"`
	// Damaged are other stores, as the caller named them, of which something is lost
	// or could not be read; Changed names their sessions.
	Damaged []string `json:"damaged,omitempty"`
}

// ImportIssue names what was read and what is the matter with it.
type ImportIssue struct {
	File      string `json:"file,omitempty"` // as the caller named it
	Line      int64  `json:"line,omitempty"` // from 1; 0 where there are no lines
	SessionID string `json:"session_id,omitempty"`
	Reason    string `json:"reason"`
}

// MaxImportLine is how many bytes a line of an import may have. One at a time is
// held in memory.
const MaxImportLine = 512 << 20

// Import reads JSON lines as ExportAll writes them, and those of other programs
// that have the columns as keys; other keys are ignored. A session and its
// messages are stored whole or not at all, small ones several in a transaction.
// A session whose id exists is compared and left as it is, unless Extend asks
// for what it lacks, so that a second import changes nothing; a bad line costs
// that line. A parent may come later in the file; a session that was there
// without one joins it. Message ids are new, and their order is kept, across
// sessions too; everything else is as it was, counters too.
//
// After an error of r or of the store the report tells what was imported.
func (db *DB) Import(ctx context.Context, r io.Reader, o ImportOptions) (report ImportReport, err error) {
	defer wrap(&err, "import")
	im := db.NewImporter(o)
	err = im.Lines(ctx, "", r)
	report, finishErr := im.Finish(ctx)
	return report, errors.Join(err, finishErr)
}

// Lines imports one of several inputs, as [DB.Import] does. The report names it
// file. After an error more may be imported.
func (im *Importer) Lines(ctx context.Context, file string, r io.Reader) error {
	im.file = file
	err := im.run(ctx, r)
	im.lines = im.linesRead
	return err
}

// A batch of lines is imported in one transaction when it has as much.
const (
	batchSessions = 200
	batchBytes    = 512 << 10 // indexing it holds the write lock for a fraction of a second
)

// run reads lines and imports them in batches.
func (im *Importer) run(ctx context.Context, r io.Reader) error {
	lines := lineReader{r: bufio.NewReaderSize(r, 1<<20), max: MaxImportLine}
	var batch []*importedSession
	size := 0
	for {
		line, readErr := lines.next()
		if err := ctx.Err(); err != nil {
			return err
		}
		if s := im.read(lines.n, line, readErr); s != nil {
			batch, size = append(batch, s), size+len(line)
		}
		end := readErr != nil && !errors.Is(readErr, errLongLine)
		if len(batch) >= batchSessions || size >= batchBytes || end && len(batch) > 0 {
			makeRoom(size)
			if err := im.store(ctx, batch); err != nil {
				return fmt.Errorf("%s: %w", whatCame(batch), err)
			}
			batch, size = nil, 0
		}
		switch {
		case errors.Is(readErr, io.EOF):
			return nil
		case end:
			return fmt.Errorf("line %d: %w", lines.n, readErr)
		}
		im.progress(lines.n)
	}
}

// largeBatch is how many bytes make it worth while to give back what reading them took:
// to store and to index a message takes the database many times its size.
const largeBatch = 16 << 20

func makeRoom(size int) {
	if size >= largeBatch {
		debug.FreeOSMemory()
	}
}

// whatCame names what a batch is of: lines, or where there are none, sessions.
func whatCame(batch []*importedSession) string {
	first, last := batch[0], batch[len(batch)-1]
	if first.line == 0 {
		return fromTo("session", first.id(), last.id())
	}
	return fromTo("line", fmt.Sprint(first.line), fmt.Sprint(last.line))
}

func fromTo(one, first, last string) string {
	if first == last {
		return one + " " + first
	}
	return one + "s " + first + " to " + last
}

// read reads a line; a bad one is reported.
func (im *Importer) read(n int64, line []byte, readErr error) *importedSession {
	if errors.Is(readErr, errLongLine) {
		im.fail(n, "", readErr)
		return nil
	}
	if readErr != nil && !errors.Is(readErr, io.EOF) || len(bytes.TrimSpace(line)) == 0 {
		return nil
	}
	s, err := readImported(line)
	if err != nil {
		id := ""
		if s != nil {
			id = s.text(idAt)
		}
		im.fail(n, id, err)
		return nil
	}
	s.file, s.line = im.file, n
	if im.noLines {
		s.line = 0
	}
	return s
}

func (im *Importer) fail(line int64, id string, err error) {
	if im.noLines {
		line = 0
	}
	im.report.Failed = append(im.report.Failed, ImportIssue{im.file, line, id, err.Error()})
}

// progress tells of the lines of all inputs.
func (im *Importer) progress(lines int64) {
	im.linesRead = im.lines + lines
	if im.o.Progress != nil {
		im.o.Progress(im.linesRead)
	}
}

var errLongLine = fmt.Errorf("longer than %d bytes", MaxImportLine)

// lineReader reads lines of any length up to max.
type lineReader struct {
	r   *bufio.Reader
	max int
	n   int64 // of the line that next returned
}

// next returns a line of its own memory, without its end. The last line may
// come with io.EOF. A line that is too long is passed over: errLongLine.
func (l *lineReader) next() (line []byte, err error) {
	l.n++
	long := false
	for {
		var part []byte
		part, err = l.r.ReadSlice('\n')
		if len(line)+len(part) > l.max {
			long, line = true, nil
		}
		if !long {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			break
		}
	}
	if long && (err == nil || errors.Is(err, io.EOF)) {
		return nil, errLongLine
	}
	if l.n == 1 {
		line = bytes.TrimPrefix(line, []byte("\uFEFF"))
	}
	return bytes.TrimRight(line, "\r\n"), err
}
