package foreign

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"strings"

	"github.com/sessiondb-go/sessiondb"
)

// claude reads what Claude Code writes to ~/.claude/projects: lines in the order they
// happened, mostly of one session in a file. A response of the model is several
// lines, a content block each, that repeat its id and what it used. A session that was
// resumed may have its history before it, as lines of the session that those are of.
// What subagents did stands in files of their own or, from older versions, among the
// rest.
type claude struct {
	queue
	in       *lines
	main     string // id of the session of lines that name none
	sessions map[string]*claudeSession
	order    []*claudeSession
	chains   map[string]string // of messages of subagents without a name: their session
	seed     maphash.Seed
	seen     map[uint64]*claudeSession // lines, by their ids
	passed   map[uint64]string         // lines that are no messages: what they follow
	titles   map[string]*claudeTitles  // of sessions, by their ids
	leaves   map[uint64]string         // summaries whose message did not come yet
}

// claudeSession is a session of the file.
type claudeSession struct {
	is   sessiondb.TranscriptSession
	open *claudeResponse
	tool map[string]string // name of a call, by id
	used map[string]int    // place in Uses of a response, by id
	cwd  string
	git  string
	ver  string
}

// claudeTitles are what may be the title: given by a person, by a model, or a
// summary. Summaries of other sessions stand in a file as well: only one of a
// message of the file counts.
type claudeTitles struct {
	custom, generated, summary string
	n                          int
}

func newClaude(name string, in *lines) *claude {
	c := &claude{
		in: in, sessions: map[string]*claudeSession{}, chains: map[string]string{}, seed: maphash.MakeSeed(), seen: map[uint64]*claudeSession{},
		passed: map[uint64]string{}, titles: map[string]*claudeTitles{}, leaves: map[uint64]string{},
	}
	if isUUID(name) {
		c.main = name
	}
	return c
}

func isUUID(s string) bool {
	return len(s) == 36 && s[8] == '-' && s[13] == '-' && s[18] == '-' && s[23] == '-' && strings.Trim(strings.ToLower(s), "0123456789abcdef-") == ""
}

// claudeLine is a line, of any type.
type claudeLine struct {
	Type, UUID, ParentUUID, LogicalParentUUID, SessionID, AgentID, RequestID string
	Timestamp, CWD, GitBranch, Version                                       string
	IsSidechain, IsMeta                                                      bool
	Message, Content                                                         json.RawMessage
	ForkedFrom                                                               struct{ SessionID string }
	Attachment                                                               claudeAttachment

	Summary, LeafUUID, CustomTitle, AITitle string
}

// follows is the line that a line stands behind in its conversation.
func (l *claudeLine) follows() string { return cmp.Or(l.ParentUUID, l.LogicalParentUUID) }

// claudeBookkeeping are the lines that tell nothing of what was said.
var claudeBookkeeping = map[string]bool{
	"file-history-snapshot": true, "attribution-snapshot": true, "progress": true, "queue-operation": true, "agent-name": true, "agent-color": true,
	"agent-setting": true, "last-prompt": true, "permission-mode": true, "mode": true, "tag": true, "pr-link": true, "task-summary": true,
	"speculation-accept": true, "worktree-state": true, "content-replacement": true, "continued-in": true, "marble-origami-commit": true,
	"marble-origami-snapshot": true, "marble-origami-reset": true, "context-collapse-commit": true, "context-collapse-snapshot": true,
	"file-history-delta": true, "fork-context-ref": true, "frame-link": true, "bridge-session": true, "isolation-latch": true,
	"ended-by-model": true, "advisor-switch": true,
}

// Next implements [sessiondb.Transcript].
func (c *claude) Next() (sessiondb.TranscriptMessage, error) {
	return c.next(c.in, c.line, func() {
		for _, s := range c.order {
			c.close(s)
		}
	})
}

// Session implements [sessiondb.Transcript].
func (c *claude) Session(id string) sessiondb.TranscriptSession {
	s := c.sessions[id]
	if s == nil {
		return sessiondb.TranscriptSession{Session: sessiondb.Session{ID: id, Source: string(ClaudeCode)}}
	}
	is := s.is
	is.ModelConfig = config("cwd", s.cwd, "git_branch", s.git, "version", s.ver)
	if t := c.titles[id]; t != nil {
		is.Title, is.Titles = stringOrNil(cmp.Or(t.custom, t.generated, t.summary)), t.n
	}
	return is
}

func (c *claude) line(raw []byte) error {
	var l claudeLine
	if err := decode(raw, &l); err != nil {
		return err
	}
	c.in.known = c.in.known || l.UUID != "" || l.SessionID != "" || claudeTypes[l.Type] || claudeBookkeeping[l.Type]
	key := l.UUID
	switch l.Type {
	case "user", "assistant", "system", "attachment":
		if key == "" {
			key = digest(raw)
		}
		return c.said(&l, key)
	case "summary", "custom-title", "ai-title":
		c.title(&l)
		return nil
	case "":
		return errors.New("no line of a Claude Code transcript: it has no type")
	}
	c.pass(&l)
	if !claudeBookkeeping[l.Type] {
		return unknownKind(fmt.Sprintf("type %.60q", l.Type))
	}
	return nil
}

// pass passes over a line that is no message.
func (c *claude) pass(l *claudeLine) {
	if l.UUID != "" {
		c.passed[maphash.String(c.seed, l.UUID)] = c.behind(l.follows())
	}
}

// said takes a line that may hold a message.
func (c *claude) said(l *claudeLine, key string) error {
	h := maphash.String(c.seed, key)
	if c.seen[h] != nil { // history, copied into the file of a session that goes on
		return nil
	}
	if l.Type == "attachment" && l.Attachment.Type != "queued_command" || l.Type == "system" && nothing(l.Content) {
		c.pass(l)
		return nil
	}
	if c.main == "" && !l.sidechain() {
		c.main = l.SessionID
	}
	s := c.session(l)
	if s == nil {
		return errors.New("it names no session")
	}
	c.seen[h] = s
	if title := c.leaves[h]; title != "" {
		c.titlesOf(s.is.ID).summary = title
	}
	c.in.session = s.is.ID
	s.note(l)
	switch l.Type {
	case "assistant":
		return c.assistant(s, l, key)
	case "user":
		return c.user(s, l, key)
	case "attachment":
		return c.queued(s, l, key)
	}
	return c.system(s, l, key)
}

func (c *claude) titlesOf(id string) *claudeTitles {
	t := c.titles[id]
	if t == nil {
		t = &claudeTitles{}
		c.titles[id] = t
	}
	t.n++
	return t
}

func (c *claude) title(l *claudeLine) {
	of := cmp.Or(l.SessionID, c.main)
	switch {
	case l.CustomTitle != "":
		c.titlesOf(of).custom = l.CustomTitle
	case l.AITitle != "":
		c.titlesOf(of).generated = l.AITitle
	case l.Summary != "":
		h := maphash.String(c.seed, l.LeafUUID)
		c.leaves[h] = l.Summary
		if s := c.seen[h]; s != nil {
			c.titlesOf(s.is.ID).summary = l.Summary
		}
	}
}

func (l *claudeLine) sidechain() bool { return l.IsSidechain || l.AgentID != "" }

// session returns the session of a line: the one that it names, or a subagent's.
func (c *claude) session(l *claudeLine) *claudeSession {
	id, parent := cmp.Or(l.SessionID, c.main), ""
	if l.sidechain() {
		parent = id
		id = c.agent(l, parent)
	}
	if id == "" {
		return nil
	}
	s := c.sessions[id]
	if s == nil {
		s = &claudeSession{tool: map[string]string{}, used: map[string]int{}}
		s.is.ID, s.is.Source = id, string(ClaudeCode)
		s.is.ParentID, s.is.Delegate = stringOrNil(parent), parent != ""
		if parent == "" {
			s.is.ForkedFrom, s.is.After = l.ForkedFrom.SessionID, c.behind(l.follows())
		}
		c.sessions[id] = s
		c.order = append(c.order, s)
	}
	return s
}

// behind is the message that stands at a line, or before it if it is none.
func (c *claude) behind(uuid string) string {
	if before, ok := c.passed[maphash.String(c.seed, uuid)]; ok {
		return before
	}
	return uuid
}

// agent is the id of a subagent's session. It does not begin as that of its
// parent does, which people type the beginning of.
func (c *claude) agent(l *claudeLine, parent string) string {
	name := l.AgentID
	if name == "" {
		if name = c.chains[l.ParentUUID]; name == "" {
			name = first(l.UUID, 8)
		}
		c.chains[l.UUID] = name
	}
	if name == "" {
		return ""
	}
	return "agent-" + name + "." + first(parent, 8)
}

func first(s string, n int) string { return s[:min(n, len(s))] }

// note keeps what a line says of its session.
func (s *claudeSession) note(l *claudeLine) {
	if at := parseTime(l.Timestamp); s.is.StartedAt.IsZero() {
		s.is.StartedAt = at
	}
	for _, f := range []struct {
		to   *string
		said string
	}{{&s.cwd, l.CWD}, {&s.git, l.GitBranch}, {&s.ver, l.Version}} {
		if f.said != "" {
			*f.to = f.said
		}
	}
}

func (c *claude) put(s *claudeSession, line int64, key string, m sessiondb.Message, also ...string) {
	c.add(sessiondb.TranscriptMessage{SessionID: s.is.ID, Key: key, Also: also, Unique: true, Line: line, Message: m})
}
