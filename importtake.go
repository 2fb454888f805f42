package sessiondb

import (
	"fmt"
	"time"
)

// transcribed is a session of a transcript under way.
type transcribed struct {
	id    string // in the store
	file  string
	line  int64
	meta  TranscriptSession
	found *Session    // as it was stored, or nil
	mark  *importMark // what was imported of it, or nil
	said  []uint64    // what is stored, if it was not imported before

	seen     int64           // messages
	times    map[uint64]int  // how often each key came
	had      map[uint64]bool // messages that are stored or pending, by all their keys
	before   int             // how many were, when the file was begun
	met      int             // of those, that came
	unlisted []uint64        // messages that are stored and that no mark lists
	first    uint64          // the number of the first message, if it has one for itself
	end      uint64          // of the last one that was imported, 0 for none
	until    float64         // the highest time of a message that was imported
	chain    string          // digest of the keys, as earlier versions kept it
	told     any             // time that a message told last
	pending  []transcribedRow
	grown    *transcribedRow // the last message of the mark, if it changed
	conflict string          // why nothing can be imported
	lacks    int64           // messages behind the last stored one, that nobody asked for
	older    int64           // new ones that are older than what was imported before
	late     int64           // of those, that don't just go on in the order of the file

	queued  bool // it is to be flushed
	ended   bool // there is no more of it
	created bool // by this file
	counted bool // its conflict is reported
}

// transcribedRow is a message to store: values of insertMessageSQL.
type transcribedRow struct {
	row    []any
	untold bool // its time is not its own
	number uint64
	also   []uint64
}

// lateSeconds is how much older than the last one a message may be that goes on.
const lateSeconds = 1

const oldConflict = "an earlier version imported it, and the file is no continuation of that; delete the session to import it anew"

// remember takes from the mark what was imported.
func (s *transcribed) remember() {
	if s.mark == nil {
		return
	}
	for n := range s.mark.Known.all() {
		s.had[n], s.end = true, n
	}
	s.before, s.until = len(s.had), s.mark.Until
}

// take takes a message: to compare it, or to store it.
func (s *transcribed) take(im *Importer, m TranscriptMessage) error {
	row, err := messageRow(s.id, &m.Message)
	if err != nil {
		return err
	}
	came := transcribedRow{row: row, untold: row[timestampValue] == nil, number: s.number(m.Key)}
	for _, key := range m.Also {
		came.also = append(came.also, number(key, 0))
	}
	if came.untold {
		row[timestampValue] = s.told
	} else {
		s.told = row[timestampValue]
	}
	if s.seen++; s.seen == 1 && m.Unique {
		s.first = came.number
	}
	switch {
	case s.conflict != "":
	case s.mark.old() && s.seen <= s.mark.Messages:
		s.compareOld(&came, m.Key)
	case s.mark != nil && s.had[came.number]:
		s.met++
		s.late = s.older // it should stand behind those
		if came.number == s.end {
			s.compareLast(&came)
		}
	case s.mark != nil && !m.Unique && s.met < s.before:
		s.conflict = "the file is no continuation of what was imported before"
	case s.mark == nil && s.seen <= int64(len(s.said)):
		s.unlisted = append(s.unlisted, came.number)
		if said(&m.Message) != s.said[s.seen-1] {
			s.conflict = fmt.Sprintf("message %d is another one in the store", s.seen)
		}
	case s.mark == nil && s.found != nil && !im.o.Extend:
		s.lacks++
	default:
		s.pend(&came)
		im.size += textSize(row)
	}
	return nil
}

// number is that of the next message of a key.
func (s *transcribed) number(key string) uint64 {
	n := number(key, 0)
	s.times[n]++
	if times := s.times[n]; times > 1 {
		return number(key, times-1)
	}
	return n
}

func (s *transcribed) pend(came *transcribedRow) {
	for _, n := range append(came.also, came.number) {
		s.had[n] = true
	}
	s.pending = append(s.pending, *came)
	if at, ok := came.row[timestampValue].(float64); ok && at < s.until-lateSeconds {
		s.older++
	}
	if s.met == 0 {
		s.late = s.older
	}
}

// compareOld compares what an earlier version imported: the last message, and the
// keys up to it.
func (s *transcribed) compareOld(came *transcribedRow, key string) {
	s.chain = chained(s.chain, key)
	s.had[came.number], s.unlisted = true, append(s.unlisted, came.number)
	switch {
	case s.seen < s.mark.Messages:
	case s.chain != s.mark.Keys:
		s.conflict = oldConflict
	default:
		s.compareLast(came)
	}
}

// compareLast looks whether the file has more of the last message that was imported.
// One that has less of it was copied before.
func (s *transcribed) compareLast(came *transcribedRow) {
	if digest, size := came.digest(); digest != s.mark.Digest && size > s.mark.Size {
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
