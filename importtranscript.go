package sessiondb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// Transcript imports one of several inputs: what another program wrote. The
// report names it file. Sessions keep their ids, with the source before it where
// a session of another source has it. Messages are stored in their order, in
// several transactions if they are many, each with a mark of what came: to import
// again, also after an error, when the file grew or from another file that goes on
// where this one stops, adds what is new, and touches nothing else. The last message
// is replaced if the file has more of it now and the stored one is as it was
// imported.
//
// A session that is there without a mark is compared by what its messages say,
// as in [Importer.Lines].
func (im *Importer) Transcript(ctx context.Context, file string, t Transcript) error {
	im.file, im.left = file, leftOut{}
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
			im.leaveOut()
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
	switch {
	case e.Kind != "":
		im.left.add(e)
	case e.Unfinished:
		im.report.Changed = append(im.report.Changed, i)
	default:
		im.report.Failed = append(im.report.Failed, i)
	}
}

func (im *Importer) enqueue(s *transcribed) {
	if !s.queued {
		s.queued = true
		im.queue = append(im.queue, s)
	}
}

// begin looks for a session in the store.
func (im *Importer) begin(ctx context.Context, t Transcript, m TranscriptMessage) (*transcribed, error) {
	s := &transcribed{id: validText(m.SessionID), file: im.file, line: m.Line, meta: t.Session(m.SessionID),
		times: map[uint64]int{}, had: map[uint64]bool{}}
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
	if mark := im.dry[s.id]; mark != nil && err == nil {
		s.mark, s.said = mark, nil
	}
	s.remember()
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

// endTranscript says what became of the sessions of a file.
func (im *Importer) endTranscript(ctx context.Context, t Transcript, order []*transcribed) error {
	for _, s := range order {
		s.meta = t.Session(s.meta.ID)
		if s.mark.old() && s.seen < s.mark.Messages && s.conflict == "" {
			s.conflict = oldConflict
		}
		if s.lacks > 0 {
			s.conflict = fmt.Sprintf("the store lacks the last %d of its messages", s.lacks)
		}
		s.ended = true
		im.enqueue(s)
	}
	if len(im.queue) >= batchSessions || im.size >= batchBytes {
		return im.flush(ctx)
	}
	return nil
}
