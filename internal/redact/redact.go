package redact

import (
	"cmp"
	"iter"
	"maps"
	"slices"
)

// Redactor masks secrets in what an export writes, and counts them. Its zero
// value is not usable: see [New].
type Redactor struct {
	learner, masker *masker
	counts          map[string]int64
}

// New makes a Redactor with all rules.
func New() *Redactor {
	set := allRules()
	counts := map[string]int64{}
	return &Redactor{
		learner: &masker{matcher: newMatcher(set), learning: true, counts: map[string]int64{}},
		masker:  &masker{matcher: newMatcher(set), counts: counts},
		counts:  counts,
	}
}

// Session is for the filter of an export. It looks for secrets in all parts of
// a session, each a JSON object of columns, and returns what masks them in the
// same parts, nil if there are none. A secret that is recognized in one place is
// masked everywhere in the session. Ids, roles and times stay.
//
// The next session may be looked at while this one is masked, not more than that
// at a time.
func (r *Redactor) Session(parts iter.Seq[[]byte]) func(part []byte) []byte {
	found := &known{}
	r.learner.known = found
	where := map[int]bool{}
	i := 0
	var scratch []byte
	for part := range parts {
		r.learner.found = false
		scratch = r.learner.object(scratch[:0], part)
		if r.learner.found {
			where[i] = true
		}
		i++
	}
	clear(r.learner.counts)
	if len(where) == 0 {
		return nil
	}
	found.ready()
	i = 0
	return func(part []byte) []byte {
		m := r.masker
		m.known, m.only = found, !where[i]
		i++
		return m.object(nil, part)
	}
}

// Count is how many masks a rule made.
type Count struct {
	Rule  string
	Count int64
}

// Reset makes Counts begin at nothing. It is not to be called while something is
// masked.
func (r *Redactor) Reset() { clear(r.counts) }

// Counts returns how much was masked, the most frequent rule first. It is not
// to be called while something is masked.
func (r *Redactor) Counts() []Count {
	var all []Count
	for _, id := range slices.Sorted(maps.Keys(r.counts)) {
		all = append(all, Count{id, r.counts[id]})
	}
	slices.SortStableFunc(all, func(a, b Count) int { return cmp.Compare(b.Count, a.Count) })
	return all
}
