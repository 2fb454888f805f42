package sessiondb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// transcribed is a session of a transcript under way.
type transcribed struct {
	id    string // in the store
	file  string
	line  int64
	meta  TranscriptSession
	found *Session    // as it was stored, or nil
	mark  *importMark // how far it was imported, or nil
	said  []uint64    // what is stored, if it was not imported before

	seen     int64 // messages
	keys     string
	told     any // time that a message told last
	pending  []transcribedRow
	grown    *transcribedRow // the last message of the mark, if it changed
	conflict string          // why nothing can be imported
	lacks    int64           // messages behind the last stored one, that nobody asked for

	queued  bool // it is to be flushed
	ended   bool // there is no more of it
	counted bool // the report has it
}

// transcribedRow is a message to store: values of insertMessageSQL.
type transcribedRow struct {
	row    []any
	untold bool   // its time is not its own
	keys   string // up to this one
	seen   int64
}

// Transcript imports one of several inputs: what another program wrote. The
// report names it file. Sessions keep their ids, with the source before it where
// a session of another source has it. Messages are stored in their order, in
// several transactions if they are many, each with a mark of how far it went: to
// import again, also after an error or when the file grew, adds what is new, and
// touches nothing else. The last message is replaced if the file has more of it
// now and the stored one is as it was imported.
//
// A session that is there without a mark is compared by what its messages say,
// as in [Importer.Lines].
func (im *Importer) Transcript(ctx context.Context, file string, t Transcript) error {
	im.file = file
	states := map[string]*transcribed{}
	var order []*transcribed
	for {
		m, err := t.Next()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		var bad *LineError
		switch {
		case errors.Is(err, io.EOF):
			im.lines = im.linesRead
			return im.endTranscript(ctx, t, order)
		case errors.As(err, &bad):
			im.badLine(bad)
			continue
		case err != nil:
			return errors.Join(err, im.flush(ctx))
		}
		im.progress(m.Line)
		s := states[m.SessionID]
		if s == nil {
			if s, err = im.begin(ctx, t, m); err != nil {
				return err
			}
			states[m.SessionID] = s
			order = append(order, s)
		}
		im.enqueue(s)
		if err := s.take(im, m); err != nil {
			im.badLine(&LineError{Line: m.Line, SessionID: m.SessionID, Reason: err.Error()})
			continue
		}
		if im.size >= batchBytes {
			for _, s := range order {
				s.meta = t.Session(s.meta.ID)
			}
			if err := im.flush(ctx); err != nil {
				return err
			}
		}
	}
}

func (im *Importer) badLine(e *LineError) {
	i := ImportIssue{im.file, e.Line, e.SessionID, e.Reason}
	if e.Unfinished {
		im.report.Changed = append(im.report.Changed, i)
		return
	}
	im.report.Failed = append(im.report.Failed, i)
}

func (im *Importer) enqueue(s *transcribed) {
	if !s.queued {
		s.queued = true
		im.queue = append(im.queue, s)
	}
}

// begin looks for a session in the store.
func (im *Importer) begin(ctx context.Context, t Transcript, m TranscriptMessage) (*transcribed, error) {
	s := &transcribed{id: validText(m.SessionID), file: im.file, line: m.Line, meta: t.Session(m.SessionID)}
	if err := checkID(s.id); err != nil {
		s.conflict = err.Error()
		return s, nil
	}
	if slices.ContainsFunc(im.queue, func(q *transcribed) bool { return q.id == s.id }) {
		if err := im.flush(ctx); err != nil {
			return nil, err
		}
	}
	err := im.db.read(ctx, func(q engine.Queryer) error { return s.find(ctx, q) })
	if im.o.DryRun && im.ids[s.id] && s.found == nil {
		s.conflict = "came before in this import"
	}
	return s, err
}

func (s *transcribed) find(ctx context.Context, q engine.Queryer) (err error) {
	if s.found, err = storedSession(ctx, q, s.id); err != nil || s.found == nil {
		return err
	}
	if s.found.Source != s.meta.Source && s.found.Source != UnknownSource && s.meta.Source != UnknownSource {
		s.id = s.meta.Source + ":" + s.id
		if s.found, err = storedSession(ctx, q, s.id); err != nil || s.found == nil {
			return err
		}
	}
	if s.mark, err = readImportMark(ctx, q, s.found); err != nil || s.mark != nil {
		return err
	}
	s.said, err = saidSoFar(ctx, q, s.id)
	return err
}

// take takes a message: to compare it, or to store it.
func (s *transcribed) take(im *Importer, m TranscriptMessage) error {
	row, err := messageRow(s.id, &m.Message)
	if err != nil {
		return err
	}
	untold := row[timestampValue] == nil
	if untold {
		row[timestampValue] = s.told
	} else {
		s.told = row[timestampValue]
	}
	s.seen++
	s.keys = chained(s.keys, m.Key)
	came := transcribedRow{row, untold, s.keys, s.seen}
	switch {
	case s.conflict != "":
	case s.mark != nil && s.seen <= s.mark.Messages:
		s.compareMark(&came)
	case s.mark == nil && s.seen <= int64(len(s.said)):
		if said(&m.Message) != s.said[s.seen-1] {
			s.conflict = fmt.Sprintf("message %d is another one in the store", s.seen)
		}
	case s.mark == nil && s.found != nil && !im.o.Extend:
		s.lacks++
	default:
		s.pending = append(s.pending, came)
		im.size += textSize(row)
	}
	return nil
}

// compareMark compares the last message that was imported.
func (s *transcribed) compareMark(came *transcribedRow) {
	if s.seen < s.mark.Messages {
		return
	}
	switch {
	case s.keys != s.mark.Keys:
		s.conflict = "the file is no continuation of what was imported before"
	case came.digest() != s.mark.Digest:
		s.grown = came
	}
}

// fillTimes gives the messages to store that tell no time, and come before any that
// does, the best that is known: when the session began, or the file was written.
func (s *transcribed) fillTimes(now time.Time) {
	at := epochOrNil(s.meta.StartedAt)
	for _, t := range []time.Time{s.meta.Written, now} {
		if at == nil {
			at = epochOrNil(t)
		}
	}
	for _, m := range s.pending {
		if m.row[timestampValue] == nil {
			m.row[timestampValue] = at
		}
	}
}

func textSize(row []any) (n int) {
	for _, v := range row {
		if s, ok := v.(string); ok {
			n += len(s)
		}
	}
	return n + 100
}

// endTranscript says what became of the sessions of a file.
func (im *Importer) endTranscript(ctx context.Context, t Transcript, order []*transcribed) error {
	for _, s := range order {
		s.meta = t.Session(s.meta.ID)
		if s.mark != nil && s.seen < s.mark.Messages && s.conflict == "" {
			s.conflict = fmt.Sprintf("the file has %d messages, and %d were imported before", s.seen, s.mark.Messages)
		}
		if s.lacks > 0 {
			s.conflict = fmt.Sprintf("the store lacks the last %d of its messages", s.lacks)
		}
	}
	for _, s := range order {
		s.ended = true
		im.enqueue(s)
	}
	if len(im.queue) >= batchSessions || im.size >= batchBytes {
		return im.flush(ctx)
	}
	return nil
}
