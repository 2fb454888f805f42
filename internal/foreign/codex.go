package foreign

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sessiondb-go/sessiondb"
)

// codex reads the rollouts that Codex CLI writes to ~/.codex/sessions: a file a
// session, lines with a time, a type and a payload. Older ones have a line that
// tells of the session, and then items without more.
type codex struct {
	queue
	in   *lines
	is   sessiondb.TranscriptSession
	met  bool              // the line about the session came
	rose bool              // a count of tokens came
	tool map[string]string // name of a call, by id
	open *codexResponse
	cwd  string
	meta codexMeta
	from []string // sessions that it may hold copies of
	use  codexUsage
}

func newCodex(name string, in *lines) *codex {
	c := &codex{in: in, tool: map[string]string{}}
	c.is.Source = string(Codex)
	if tail := name[max(0, len(name)-36):]; isUUID(tail) {
		c.is.ID = tail
	}
	return c
}

// codexLine is a line: with a payload, or of an older program an item itself.
type codexLine struct {
	Timestamp, Type string
	Payload         json.RawMessage
	RecordType      string `json:"record_type"`
	ID              string
}

// codexMeta tells of the session.
type codexMeta struct {
	ID, Timestamp, CWD, Originator string
	CLIVersion                     string `json:"cli_version"`
	ForkedFrom                     string `json:"forked_from_id"`
	Instructions                   *string
	BaseInstructions               struct{ Text string } `json:"base_instructions"`
	Git                            struct{ Branch string }
	Source                         struct {
		Subagent struct {
			ThreadSpawn struct {
				Parent string `json:"parent_thread_id"`
			} `json:"thread_spawn"`
		}
	}
}

// Next implements [sessiondb.Transcript].
func (c *codex) Next() (sessiondb.TranscriptMessage, error) {
	return c.next(c.in, c.line, c.close)
}

// Session implements [sessiondb.Transcript].
func (c *codex) Session(string) sessiondb.TranscriptSession {
	is, m := c.is, &c.meta
	is.ModelConfig = config("cwd", c.cwd, "git_branch", m.Git.Branch, "version", m.CLIVersion, "originator", m.Originator, "forked_from", m.ForkedFrom)
	return is
}

func (c *codex) line(raw []byte) error {
	var l codexLine
	if err := decode(raw, &l); err != nil {
		return err
	}
	if c.is.StartedAt.IsZero() {
		c.is.StartedAt = parseTime(l.Timestamp)
	}
	c.in.known = c.in.known || l.RecordType != "" || codexTypes[l.Type] || codexItems[l.Type] || l.Type == "" && l.ID != ""
	switch {
	case l.RecordType != "":
		return nil
	case l.Payload == nil && l.Type == "" && l.ID != "":
		return c.session(raw)
	case l.Payload == nil && l.Type == "":
		return errors.New("no line of a Codex rollout: it has no type")
	case l.Payload == nil:
		return c.item(raw, &l, digest(raw))
	}
	switch l.Type {
	case "session_meta":
		return c.session(l.Payload)
	case "response_item":
		return c.item(l.Payload, &l, digest(raw))
	case "event_msg":
		c.event(l.Payload)
	case "turn_context":
		c.turn(l.Payload)
	case "compacted":
		return c.compacted(&l, digest(raw))
	case "world_state", "ghost_snapshot", "turn_aborted", "inter_agent_communication_metadata": // nothing is said in them
	default:
		return unknownKind(fmt.Sprintf("type %.60q", l.Type))
	}
	return nil
}

// session takes what is told of the session. Behind the first such line there
// may be those of the sessions that it was forked from.
func (c *codex) session(raw json.RawMessage) error {
	var m codexMeta
	if err := decode(raw, &m); err != nil {
		return err
	}
	for _, id := range []string{m.ForkedFrom, m.Source.Subagent.ThreadSpawn.Parent, m.ID} {
		if id != "" && (c.met || id != m.ID) && id != c.is.ID && !slices.Contains(c.from, id) {
			c.from = append(c.from, id)
		}
	}
	if c.met {
		return nil
	}
	c.met, c.meta = true, m
	if m.ID != "" {
		c.is.ID = m.ID
	}
	c.in.session = c.is.ID
	if at := parseTime(m.Timestamp); !at.IsZero() {
		c.is.StartedAt = at
	}
	c.is.SystemPrompt = stringOrNil(m.BaseInstructions.Text)
	if c.is.SystemPrompt == nil && m.Instructions != nil {
		c.is.SystemPrompt = stringOrNil(*m.Instructions)
	}
	parent := m.Source.Subagent.ThreadSpawn.Parent
	c.is.ParentID, c.is.Delegate, c.is.ForkedFrom = stringOrNil(parent), parent != "", m.ForkedFrom
	c.cwd = m.CWD
	return nil
}

func (c *codex) turn(raw json.RawMessage) {
	var t struct{ Model, CWD string }
	_ = decode(raw, &t) // what it does not say stays
	if t.Model != "" {
		c.is.Model = &t.Model
	}
	if t.CWD != "" {
		c.cwd = t.CWD
	}
}

// codexUsage is what was used so far.
type codexUsage struct {
	Input     int64 `json:"input_tokens"`
	Cached    int64 `json:"cached_input_tokens"`
	Output    int64 `json:"output_tokens"`
	Reasoning int64 `json:"reasoning_output_tokens"`
}

func (u codexUsage) less(v codexUsage) bool {
	return u.Input < v.Input || u.Cached < v.Cached || u.Output < v.Output || u.Reasoning < v.Reasoning
}

// tokens are those that u has and before had not.
func (u codexUsage) tokens(before codexUsage) sessiondb.Tokens {
	cached := u.Cached - before.Cached
	return sessiondb.Tokens{
		Input: max(0, u.Input-before.Input-cached), Output: u.Output - before.Output, CacheRead: cached, Reasoning: u.Reasoning - before.Reasoning,
	}
}

// used notes what a response used: what the total has more than before it. A fork begins
// with the totals of the session it was made of; the same total of that one is the same
// response.
func (c *codex) used(total, last codexUsage) {
	for _, n := range []*int64{&total.Input, &total.Cached, &total.Output, &total.Reasoning} {
		*n = max(0, *n)
	}
	before := c.use
	switch {
	case total == before:
		return
	case total.less(before): // it counts anew
		before = codexUsage{}
	case !c.rose && len(c.from) > 0 && last != (codexUsage{}) && !last.less(codexUsage{}) && !total.less(last):
		before = codexUsage{total.Input - last.Input, total.Cached - last.Cached, total.Output - last.Output, total.Reasoning - last.Reasoning}
	}
	c.rose, c.use = true, total
	u := sessiondb.TranscriptUse{Tokens: total.tokens(before)}
	for _, id := range append([]string{c.is.ID}, c.from...) {
		u.Keys = append(u.Keys, fmt.Sprintln(Codex, id, total))
	}
	c.is.Uses = append(c.is.Uses, u)
}

// event takes what was used, of which each event tells the total, and the name.
// What was said stands in items as well.
func (c *codex) event(raw json.RawMessage) {
	var e struct {
		Type       string
		ThreadName string `json:"thread_name"`
		Info       *struct {
			Total codexUsage `json:"total_token_usage"`
			Last  codexUsage `json:"last_token_usage"`
		}
	}
	_ = decode(raw, &e) // what it does not say stays
	switch {
	case e.Type == "token_count" && e.Info != nil:
		c.used(e.Info.Total, e.Info.Last)
	case e.ThreadName != "":
		c.is.Title = &e.ThreadName
		c.is.Titles++
	}
}

func (c *codex) compacted(l *codexLine, key string) error {
	var p struct{ Message string }
	_ = decode(l.Payload, &p) // there may be none
	if strings.TrimSpace(p.Message) == "" {
		p.Message = "Context compacted"
	}
	c.close()
	return c.put(key, sessiondb.Message{Role: "system", Content: sessiondb.Text(p.Message), Timestamp: parseTime(l.Timestamp)})
}

func (c *codex) put(key string, m sessiondb.Message) error {
	if c.is.ID == "" {
		return errors.New("neither the file nor a line before it names the session")
	}
	// A line that tells when it was written is like no other.
	c.add(sessiondb.TranscriptMessage{SessionID: c.is.ID, Key: key, Unique: !m.Timestamp.IsZero(), Line: c.in.n, Message: m})
	return nil
}
