// Package corpus makes stores to measure on: the same bytes from the same
// seed, in the proportions that stores in use have.
package corpus

import (
	"fmt"
	"math"
	"math/rand"
	"sort"
)

// Size is how large a store is.
type Size struct {
	Name     string
	Sessions int
	Messages int
}

// The stores that the tables speak of.
var (
	Small = Size{"small", 2_000, 50_000}
	Large = Size{"large", 50_000, 750_000}

	Server = Size{"server", 66_666, 1_000_000}
)

// LongSession is a session of exactly LongMessages messages in every corpus
// that has room for it.
const (
	LongSession  = "s_long"
	LongMessages = 1_000
)

// Queries whose matches follow from the vocabulary.
const (
	TwoWords      = "docker deployment"
	CommonWord    = "the"
	WithoutCommon = "error -the"
	CJKMany       = "배포"
	CJKManyOne    = "배"
	CJKNone       = "쀍쒧"
	ListedFirst   = 20
)

// RareWord is one that a few messages in a hundred thousand have.
var RareWord = english.words[len(english.words)-1000]

const (
	firstStart = 1_740_000_000.0
	span       = 40_000_000.0 // seconds from the first start to the last
)

type session struct {
	index    int
	id       string
	seed     int64
	lang     *vocabulary
	topic    []string
	tools    bool
	source   string
	model    string
	title    any
	parent   any
	started  float64
	ended    any
	reason   any
	messages int
	calls    int
	pace     float64 // seconds from message to message
}

var (
	sources = []string{"cli", "cli", "cli", "telegram", "telegram", "discord", "cron", "cron", "tui", "slack"}
	models  = []string{"claude-opus-5", "claude-sonnet-4.6", "gpt-5.2", "gpt-5.2-mini", "qwen3-coder", "glm-5"}
	reasons = []string{"user_exit", "session_reset", "timeout", "cron_complete"}
)

// plan lays out the sessions of a store, oldest first.
func plan(z Size, seed int64) []*session {
	r := rand.New(rand.NewSource(seed))
	lengths := spread(r, z)
	out := make([]*session, z.Sessions)
	starts := make([]float64, z.Sessions)
	for i := range starts {
		starts[i] = firstStart + math.Floor(r.Float64()*span*1e6)/1e6
	}
	sort.Float64s(starts)
	for i := range out {
		out[i] = newSession(r, seed, i, starts[i], lengths[i])
		relate(r, out, i)
	}
	return out
}

func newSession(r *rand.Rand, seed int64, i int, start float64, messages int) *session {
	s := &session{
		index: i, id: fmt.Sprintf("20250219_%06d_%06x", i, r.Intn(1<<24)), seed: seed + int64(i)*1_000_003,
		topic: topics[r.Intn(len(topics))], tools: r.Intn(3) > 0,
		source: sources[r.Intn(len(sources))], model: models[r.Intn(len(models))],
		started: start, messages: messages, pace: 5 + r.Float64()*60,
	}
	if messages == LongMessages {
		s.id = LongSession
	}
	switch n := r.Intn(100); {
	case n < 62:
		s.lang = &english
	case n < 84:
		s.lang = &korean
	case n < 91:
		s.lang = &chinese
	case n < 97:
		s.lang = &japanese
	default:
		s.lang = &thai
	}
	for j := 1; s.tools && j < messages; j += 4 {
		s.calls++
	}
	if r.Intn(10) < 6 {
		s.title = fmt.Sprintf("%s %s %d", s.topic[0], english.words[r.Intn(400)], i)
	}
	if r.Intn(20) > 0 {
		s.ended, s.reason = s.last()+r.Float64()*60, reasons[r.Intn(len(reasons))]
	}
	return s
}

func (s *session) last() float64 { return s.started + float64(s.messages)*s.pace }

// relate makes some sessions go on from an earlier one: compression chains,
// branches, and delegates that ran beside their parent.
func relate(r *rand.Rand, all []*session, i int) {
	s := all[i]
	if i < 50 || s.id == LongSession {
		return
	}
	p := all[i-1-r.Intn(40)]
	switch n := r.Intn(100); {
	case n < 9 && p.last() < s.started && (p.reason == nil || p.reason != "branched"):
		p.ended, p.reason = p.last(), "compression"
		s.parent, s.source = p.id, p.source
	case n < 11 && p.last() < s.started && p.reason != "compression":
		p.ended, p.reason = p.last(), "branched"
		s.parent, s.source = p.id, p.source
	case n < 18 && p.reason != "compression" && p.reason != "branched":
		s.parent, s.source, s.title = p.id, "subagent", nil
	}
}

// spread divides the messages among the sessions, few long and many short.
func spread(r *rand.Rand, z Size) []int {
	long := 0
	if z.Messages > 20*LongMessages {
		long = LongMessages
	}
	weights, sum := make([]float64, z.Sessions), 0.0
	for i := range weights {
		weights[i] = math.Exp(r.NormFloat64())
		sum += weights[i]
	}
	out, left := make([]int, z.Sessions), z.Messages-long
	mid := z.Sessions / 2
	for i := range out {
		out[i] = min(1+int(float64(z.Messages-long-z.Sessions)*weights[i]/sum), LongMessages-1)
		left -= out[i]
	}
	for i := 0; left > 0; i = (i + 1) % z.Sessions {
		if out[i] < LongMessages-1 {
			out[i]++
			left--
		}
	}
	if long > 0 {
		out[mid-1] += out[mid]
		out[mid] = long
		if out[mid-1] >= LongMessages {
			out[0] += out[mid-1] - LongMessages/2
			out[mid-1] = LongMessages / 2
		}
	}
	return out
}
