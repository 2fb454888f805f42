package enginetest

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sessiondb-go/sessiondb"
)

// testMachine drives a store and a model of it through random histories and
// compares the two after every step.
func testMachine(t *testing.T, h *harness) {
	fewer(t, "rapid.checks", "100", "6")
	fewer(t, "rapid.steps", "30", "40")
	rapid.Check(t, func(rt *rapid.T) {
		db, c := h.store(t)
		m := &machine{t: rt, db: db, clock: c, model: map[string]*modelSession{}}
		rt.Repeat(map[string]func(*rapid.T){
			"create":   m.create,
			"delegate": m.delegate,
			"say":      m.say,
			"call":     m.call,
			"replace":  m.replace,
			"clear":    m.clear,
			"end":      m.end,
			"compress": m.compress,
			"branch":   m.branch,
			"title":    m.title,
			"delete":   m.delete,
			"prune":    m.prune,
			"":         m.check,
		})
	})
}

// fewer lowers a flag of rapid that the command line left alone: every step
// here waits for the disk.
func fewer(t *testing.T, name, standard, value string) {
	if f := flag.Lookup(name); f != nil && f.Value.String() == standard {
		noError(t, f.Value.Set(value))
	}
}

// modelSession is what the model knows of a session.
type modelSession struct {
	id, parent      string
	hidden          bool // was a delegate of a session that is deleted
	subagent        bool
	title, reason   string
	started, active time.Time
	ended           time.Time
	messages, calls int64
}

// machine is a store and its model. Chains of the model do not fork; what forks
// mean is for the tests of lineages.
type machine struct {
	t     *rapid.T
	db    *sessiondb.DB
	clock *clock
	model map[string]*modelSession
	made  int
}

// any picks a session that fits; the action is skipped where there is none.
func (m *machine) any(rt *rapid.T, fits func(*modelSession) bool) *modelSession {
	var ids []string
	for _, id := range slices.Sorted(maps.Keys(m.model)) {
		if fits(m.model[id]) {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		rt.Skip()
	}
	return m.model[rapid.SampledFrom(ids).Draw(rt, "session")]
}

func everyone(*modelSession) bool { return true }

func isOpen(s *modelSession) bool { return s.ended.IsZero() }

// step lets time pass and returns the time of the action.
func (m *machine) step(rt *rapid.T) time.Time {
	m.clock.add(time.Duration(rapid.IntRange(1, 3*24*60).Draw(rt, "minutes")) * time.Minute)
	return m.clock.now()
}

func (m *machine) add(rt *rapid.T, parent, source string) {
	now := m.step(rt)
	m.made++
	id := fmt.Sprintf("s%03d", m.made)
	must[string](m.t)(m.db.CreateSession(m.t.Context(), sessiondb.NewSession{ID: id, Source: source, ParentID: parent}))
	m.model[id] = &modelSession{id: id, parent: parent, subagent: source == "subagent", started: now, active: now}
}

func (m *machine) create(rt *rapid.T) { m.add(rt, "", "cli") }

func (m *machine) delegate(rt *rapid.T) { m.add(rt, m.any(rt, everyone).id, "subagent") }

func (m *machine) say(rt *rapid.T) { m.append(rt, "", 0) }

func (m *machine) call(rt *rapid.T) { m.append(rt, `[{"id":"1"},{"id":"2"}]`, 2) }

func (m *machine) append(rt *rapid.T, calls string, n int64) {
	s := m.any(rt, everyone)
	now := m.step(rt)
	must[int64](m.t)(m.db.AppendMessage(m.t.Context(), s.id, sessiondb.Message{Role: "user", Content: sessiondb.Text("hi"), ToolCalls: []byte(calls)}))
	s.messages, s.calls, s.active = s.messages+1, s.calls+n, now
}

func (m *machine) replace(rt *rapid.T) {
	s := m.any(rt, everyone)
	now := m.step(rt)
	n := rapid.IntRange(1, 5).Draw(rt, "messages")
	noError(m.t, m.db.ReplaceMessages(m.t.Context(), s.id, slices.Repeat([]sessiondb.Message{{Role: "user"}}, n)))
	s.messages, s.calls, s.active = int64(n), 0, now
}

func (m *machine) clear(rt *rapid.T) {
	s := m.any(rt, everyone)
	m.step(rt)
	noError(m.t, m.db.ClearMessages(m.t.Context(), s.id))
	s.messages, s.calls, s.active = 0, 0, s.started
}

func (m *machine) end(rt *rapid.T) { m.endAs(rt, "done") }

func (m *machine) endAs(rt *rapid.T, reason string) *modelSession {
	s := m.any(rt, isOpen)
	now := m.step(rt)
	noError(m.t, m.db.EndSession(m.t.Context(), s.id, reason))
	s.ended, s.reason = now, reason
	return s
}

func (m *machine) compress(rt *rapid.T) { m.add(rt, m.endAs(rt, "compression").id, "cli") }

func (m *machine) branch(rt *rapid.T) { m.add(rt, m.endAs(rt, "branched").id, "cli") }

// title sets one of a few titles. It moves along a chain and else has one
// holder.
func (m *machine) title(rt *rapid.T) {
	s := m.any(rt, everyone)
	title := rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(rt, "title")
	var holder *modelSession
	for _, o := range m.model {
		if o != s && title != "" && o.title == title {
			holder = o
		}
	}
	err := m.db.SetTitle(m.t.Context(), s.id, title)
	if holder != nil && !m.continues(s, holder) {
		if !errors.Is(err, sessiondb.ErrTitleTaken) {
			m.t.Fatalf("%s takes %q of %s: %v", s.id, title, holder.id, err)
		}
		return
	}
	noError(m.t, err)
	if holder != nil {
		holder.title = ""
	}
	s.title = title
}

// kind is how a session came from its parent.
func (m *machine) kind(s *modelSession) sessiondb.Kind {
	p := m.model[s.parent]
	switch {
	case p == nil:
		return sessiondb.Root
	case s.subagent || p.reason != "compression" && p.reason != "branched":
		return sessiondb.Delegate
	case p.reason == "branched":
		return sessiondb.Branch
	}
	return sessiondb.Continuation
}

// first is the session that begins the chain of s.
func (m *machine) first(s *modelSession) *modelSession {
	for m.kind(s) == sessiondb.Continuation {
		s = m.model[s.parent]
	}
	return s
}

// continues reports whether s comes after o in one chain.
func (m *machine) continues(s, o *modelSession) bool {
	for m.kind(s) == sessiondb.Continuation {
		if s = m.model[s.parent]; s == o {
			return true
		}
	}
	return false
}

// chain is what continues a session, itself first, in order.
func (m *machine) chain(first *modelSession) (out []*modelSession) {
	for _, id := range slices.Sorted(maps.Keys(m.model)) {
		if s := m.model[id]; m.first(s) == first {
			out = append(out, s)
		}
	}
	return out
}

func (m *machine) delete(rt *rapid.T) {
	s := m.any(rt, everyone)
	m.step(rt)
	must[sessiondb.DeleteReport](m.t)(m.db.DeleteSession(m.t.Context(), s.id, sessiondb.DeleteOptions{}))
	m.forget(m.chain(m.first(s)))
}

// forget takes a chain out of the model.
func (m *machine) forget(chain []*modelSession) {
	gone := map[string]bool{}
	for _, s := range chain {
		gone[s.id] = true
	}
	for _, s := range m.model {
		if gone[s.parent] && !gone[s.id] {
			s.hidden = m.kind(s) == sessiondb.Delegate
			s.parent = ""
		}
	}
	for id := range gone {
		delete(m.model, id)
	}
}

func (m *machine) prune(rt *rapid.T) {
	now := m.step(rt)
	age := time.Duration(rapid.IntRange(0, 60).Draw(rt, "days"))*day + time.Second
	var going [][]*modelSession
	open := int64(0)
	for _, s := range m.model {
		chain := m.chain(s)
		if len(chain) == 0 || !lastActive(chain).Before(now.Add(-age)) {
			continue
		}
		if isOpen(chain[len(chain)-1]) {
			open++
		} else {
			going = append(going, chain)
		}
	}
	r := must[sessiondb.DeleteReport](m.t)(m.db.Prune(m.t.Context(), sessiondb.PruneFilter{OlderThan: age}, sessiondb.DeleteOptions{}))
	if r.SkippedOpen != open {
		m.t.Fatalf("%d never ended, want %d", r.SkippedOpen, open)
	}
	for _, chain := range going {
		m.forget(chain)
	}
}

func lastActive(chain []*modelSession) (last time.Time) {
	for _, s := range chain {
		if s.active.After(last) {
			last = s.active
		}
	}
	return last
}

// check compares the store with the model.
func (m *machine) check(*rapid.T) {
	all := must[[]sessiondb.ListedSession](m.t)(m.db.RecentSessions(m.t.Context(), "", -1, 0))
	got := map[string]modelSession{}
	for _, s := range all {
		got[s.ID] = m.read(s)
	}
	want := map[string]modelSession{}
	for id, s := range m.model {
		want[id] = *s
		if !s.hidden {
			continue
		}
		// Only the lists below tell.
		s := *s
		s.hidden = false
		want[id] = s
	}
	if d := gocmp.Diff(want, got, gocmp.AllowUnexported(modelSession{})); d != "" {
		m.t.Fatal(d)
	}
	for _, byActive := range []bool{false, true} {
		var ids []string
		for _, s := range must[[]sessiondb.ListedSession](m.t)(m.db.Sessions(m.t.Context(), sessiondb.ListFilter{Limit: -1, ByLastActive: byActive})) {
			ids = append(ids, s.ID)
		}
		if d := gocmp.Diff(m.list(byActive), ids); d != "" {
			m.t.Fatalf("list, by last activity %v: %s", byActive, d)
		}
	}
}

// read is a session of the store in the terms of the model.
func (m *machine) read(s sessiondb.ListedSession) modelSession {
	value := func(p *string) string {
		if p == nil {
			return ""
		}
		return *p
	}
	active := s.LastActive
	if s.MessageCount > 1 {
		active = active.Truncate(time.Second) // replaced messages are microseconds apart
	}
	n := must[int64](m.t)(m.db.MessageCount(m.t.Context(), s.ID))
	if n != s.MessageCount {
		m.t.Fatalf("%s has %d messages and counts %d", s.ID, n, s.MessageCount)
	}
	return modelSession{
		id: s.ID, parent: value(s.ParentID), subagent: s.Source == "subagent", title: value(s.Title), reason: value(s.EndReason),
		started: s.StartedAt, active: active, ended: s.EndedAt, messages: n, calls: s.ToolCallCount,
	}
}

// list is what a list shows: the tips of roots and branches.
func (m *machine) list(byActive bool) (ids []string) {
	var chains [][]*modelSession
	for _, s := range m.model {
		if k := m.kind(s); k == sessiondb.Branch || k == sessiondb.Root && !s.hidden {
			chains = append(chains, m.chain(s))
		}
	}
	slices.SortFunc(chains, func(a, b []*modelSession) int {
		if byActive {
			if c := lastActive(b).Compare(lastActive(a)); c != 0 {
				return c
			}
		}
		return cmp.Compare(b[0].id, a[0].id)
	})
	for _, chain := range chains {
		ids = append(ids, chain[len(chain)-1].id)
	}
	return ids
}
