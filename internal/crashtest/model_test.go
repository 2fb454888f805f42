package crashtest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// lane is one writer's part of a store and what must be in it. Its calls come
// one after another; other lanes run beside it. Its sessions have its name as
// their source.
type lane struct {
	name  string
	kinds []string // of calls that it makes
	n     int      // calls made
	state state
	open  *call // sent and not answered
}

// state is what a lane has stored.
type state struct {
	Sessions map[string]session
	Meta     string
}

type session struct {
	Title, Prompt, Reason string
	Tokens                int64
	Messages              []message
	old                   bool // a prune takes it
}

type message struct {
	ID   int64 // 0 where the model does not know
	Text string
}

// call is one call of a lane.
type call struct {
	kind    string
	session string
	n       int // its number in the lane
	count   int // messages, or sessions of an import
	size    int // of a message
}

// several says that a call works in several transactions: each session is as
// before or as after.
func (c *call) several() bool { return c.kind == "import" || c.kind == "prune" }

var allKinds = []string{
	"create", "append", "append", "append", "append", "many", "replace", "delete", "title", "prompt",
	"end", "tokens", "meta", "import", "prune", "vacuum",
}

// next is a call that makes sense now.
func (l *lane) next(r *rand.Rand) *call {
	l.n++
	c := &call{kind: l.kinds[r.IntN(len(l.kinds))], n: l.n, count: 1 + r.IntN(4), size: r.IntN(20)}
	if r.IntN(10) == 0 {
		c.size = 400 + r.IntN(2000) // over several pages
	}
	ids := slices.Sorted(maps.Keys(l.state.Sessions))
	switch {
	case len(ids) == 0 && c.kind != "import" && c.kind != "meta" && c.kind != "vacuum":
		c.kind = "create"
	case len(ids) > 8 && c.kind == "create":
		c.kind = "append"
	case len(ids) > 8 && c.kind == "import":
		c.kind = "prune"
	}
	if c.kind == "create" {
		c.session = fmt.Sprintf("%s-%d", l.name, c.n)
	} else if len(ids) > 0 {
		c.session = ids[r.IntN(len(ids))]
	}
	return c
}

// text is the content of message i of a call.
func (l *lane) text(c *call, i int) string {
	return fmt.Sprintf("%s.%d.%d ", l.name, c.n, i) + strings.Repeat("word 단어 ", c.size)
}

// texts are the messages of a call.
func (l *lane) texts(c *call, ids []int64) (out []message) {
	for i := range c.count {
		m := message{Text: l.text(c, i)}
		if i < len(ids) {
			m.ID = ids[i]
		}
		out = append(out, m)
	}
	return out
}

func (l *lane) imported(c *call, i int) string { return fmt.Sprintf("%s-%d-%d", l.name, c.n, i) }

// after is the state once a call is done, which gave ids.
func (l *lane) after(c *call, ids []int64) state {
	s := state{Sessions: maps.Clone(l.state.Sessions), Meta: l.state.Meta}
	it := s.Sessions[c.session]
	switch c.kind {
	case "append", "many":
		it.Messages = append(slices.Clone(it.Messages), l.texts(c, ids)...)
		it.old = false
	case "replace":
		it.Messages = l.texts(c, nil)
		it.old = false
	case "title":
		it.Title = fmt.Sprintf("%s %d", l.name, c.n)
	case "prompt":
		it.Prompt = l.text(c, 0)
	case "end":
		if it.Reason == "" {
			it.Reason = "done"
		}
	case "tokens":
		it.Tokens += int64(c.n)
	case "delete":
		delete(s.Sessions, c.session)
		return s
	case "meta":
		s.Meta = l.text(c, 0)
		return s
	case "import":
		for i := range c.count {
			s.Sessions[l.imported(c, i)] = session{Reason: "old", Messages: l.texts(c, nil), old: true}
		}
		return s
	case "prune":
		maps.DeleteFunc(s.Sessions, func(_ string, it session) bool { return it.old })
		return s
	case "vacuum":
		return s
	}
	s.Sessions[c.session] = it
	return s
}
