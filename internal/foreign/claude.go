package foreign

import (
	"encoding/json"
	"errors"
	"hash/maphash"
	"strings"

	"github.com/sessiondb-go/sessiondb"
)

// claude reads what Claude Code writes to ~/.claude/projects: a file a session,
// lines in the order they happened. A response of the model is several lines, a
// content block each, that repeat its id and what it used. What subagents did
// stands in files of their own or, from older versions, among the rest.
type claude struct {
	queue
	in       *lines
	main     string // id of the session of the file
	sessions map[string]*claudeSession
	order    []*claudeSession
	chains   map[string]string // of messages of subagents without a name: their session
	seed     maphash.Seed
	seen     map[uint64]bool // ids of lines
	used     map[string]sessiondb.Tokens
	titles   claudeTitles
}

// claudeSession is a session of the file.
type claudeSession struct {
	is   sessiondb.TranscriptSession
	open *claudeResponse
	tool map[string]string // name of a call, by id
	cwd  string
	git  string
	ver  string
}

// claudeTitles are what may be the title: given by a person, by a model, or a
// summary. Summaries of other sessions stand in a file as well: only one of a
// message of the file counts.
type claudeTitles struct {
	custom, generated, summary string
	leaves                     map[uint64]string // summaries whose message did not come yet
}

func newClaude(name string, in *lines) *claude {
	c := &claude{
		in: in, sessions: map[string]*claudeSession{}, chains: map[string]string{}, seed: maphash.MakeSeed(), seen: map[uint64]bool{},
		used: map[string]sessiondb.Tokens{}, titles: claudeTitles{leaves: map[uint64]string{}},
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
	Type, Subtype, UUID, ParentUUID, SessionID, AgentID string
	Timestamp, CWD, GitBranch, Version                  string
	IsSidechain, IsMeta                                 bool
	Message                                             json.RawMessage
	Content                                             json.RawMessage

	Summary, LeafUUID, CustomTitle, AITitle string
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
	if id == c.main {
		for _, title := range []string{c.titles.custom, c.titles.generated, c.titles.summary} {
			if title != "" {
				is.Title = &title
				break
			}
		}
	}
	return is
}

func (c *claude) line(raw []byte) error {
	var l claudeLine
	if err := decode(raw, &l); err != nil {
		return err
	}
	switch l.Type {
	case "user", "assistant", "system":
	case "summary", "custom-title", "ai-title":
		c.title(&l)
		return nil
	case "":
		return errors.New("no line of a Claude Code transcript: it has no type")
	default: // snapshots, progress, what was queued, modes, and what is still to come
		return nil
	}
	key := l.UUID
	if key == "" {
		key = digest(raw)
	}
	if c.repeated(key) {
		return nil
	}
	if c.main == "" && !l.sidechain() {
		c.main = l.SessionID
	}
	s := c.session(&l)
	if s == nil {
		return errors.New("it names no session")
	}
	c.in.session = s.is.ID
	s.note(&l)
	switch l.Type {
	case "assistant":
		return c.assistant(s, &l, key)
	case "user":
		return c.user(s, &l, key)
	}
	return c.system(s, &l, key)
}

// repeated reports whether a line came before, as history does that is copied
// into the file of a session that goes on.
func (c *claude) repeated(key string) bool {
	h := maphash.String(c.seed, key)
	if c.seen[h] {
		return true
	}
	c.seen[h] = true
	if title := c.titles.leaves[h]; title != "" {
		c.titles.summary = title
	}
	return false
}

func (c *claude) title(l *claudeLine) {
	switch {
	case l.CustomTitle != "":
		c.titles.custom = l.CustomTitle
	case l.AITitle != "":
		c.titles.generated = l.AITitle
	case l.Summary != "":
		h := maphash.String(c.seed, l.LeafUUID)
		c.titles.leaves[h] = l.Summary
		if c.seen[h] {
			c.titles.summary = l.Summary
		}
	}
}

func (l *claudeLine) sidechain() bool { return l.IsSidechain || l.AgentID != "" }

// session returns the session of a line: that of the file, or a subagent's.
func (c *claude) session(l *claudeLine) *claudeSession {
	id, parent := c.main, ""
	if l.sidechain() {
		if parent = l.SessionID; parent == "" {
			parent = c.main
		}
		id = c.agent(l, parent)
	}
	if id == "" {
		return nil
	}
	s := c.sessions[id]
	if s == nil {
		s = &claudeSession{tool: map[string]string{}}
		s.is.ID, s.is.Source = id, string(ClaudeCode)
		s.is.ParentID, s.is.Delegate = stringOrNil(parent), parent != ""
		c.sessions[id] = s
		c.order = append(c.order, s)
	}
	return s
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

func (c *claude) put(s *claudeSession, line int64, key string, m sessiondb.Message) {
	c.add(sessiondb.TranscriptMessage{SessionID: s.is.ID, Key: key, Line: line, Message: m})
}

// system keeps what the program told: that it compacted the conversation, that
// a call failed.
func (c *claude) system(s *claudeSession, l *claudeLine, key string) error {
	var said string
	_ = json.Unmarshal(l.Content, &said) // there may be none
	if said == "" {
		return nil
	}
	c.close(s)
	c.put(s, c.in.n, key, sessiondb.Message{Role: "system", Content: sessiondb.Text(said), Timestamp: parseTime(l.Timestamp)})
	return nil
}
