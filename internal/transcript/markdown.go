package transcript

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/sessiondb-go/sessiondb"
)

// Head is the head of a session in Markdown: its title and what it is. Times
// are UTC.
func Head(s sessiondb.Session) string {
	var b strings.Builder
	title := s.ID
	if s.Title != nil && strings.TrimSpace(*s.Title) != "" {
		title = *s.Title
	}
	fmt.Fprintf(&b, "# %s\n\n", escapeLine(title))
	fact := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "- %s: %s\n", name, escapeLine(value))
		}
	}
	fact("Session", s.ID)
	fact("Source", s.Source)
	fact("Model", optional(s.Model))
	fact("Started", stamp(s.StartedAt))
	fact("Ended", strings.TrimSpace(stamp(s.EndedAt)+" "+optional(s.EndReason)))
	return b.String()
}

// Message is a message in Markdown, a blank line before it. What people and
// models wrote stands as they wrote it, since it mostly is Markdown; what tools
// were asked and answered stands in fences that it can't close.
func Message(m sessiondb.Message) string {
	var b strings.Builder
	head := cmp.Or(m.Role, "message")
	if m.ToolName != nil {
		head += " " + *m.ToolName
	}
	fmt.Fprintf(&b, "\n## %s\n\n_%s_\n", escapeLine(head), strings.TrimPrefix(stamp(m.Timestamp)+fmt.Sprintf(" · #%d", m.ID), " · "))
	text := Text(m.Content)
	switch {
	case text == "":
	case m.Role == "user", m.Role == "assistant":
		fmt.Fprintf(&b, "\n%s\n", strings.TrimRight(text, "\n"))
	default:
		fence(&b, "", text)
	}
	for _, c := range m.ToolCallList() {
		callFence(&b, c)
	}
	return b.String()
}

func callFence(b *strings.Builder, raw json.RawMessage) {
	name, arguments := CallParts(raw)
	if name == "" {
		fence(b, "json", string(raw))
		return
	}
	fmt.Fprintf(b, "\nCalls **%s**\n", escapeLine(name))
	var pretty bytes.Buffer
	if json.Indent(&pretty, []byte(arguments), "", "  ") == nil {
		fence(b, "json", pretty.String())
	} else if arguments != "" {
		fence(b, "", arguments)
	}
}

// fence puts text between lines of backticks, more of them than it holds in a
// row.
func fence(b *strings.Builder, language, text string) {
	longest, run := 0, 0
	for _, r := range text {
		if r != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	ticks := strings.Repeat("`", max(3, longest+1))
	fmt.Fprintf(b, "\n%s%s\n%s\n%s\n", ticks, language, strings.TrimRight(text, "\n"), ticks)
}

// special are the characters that mean something in a line of Markdown.
var special = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", `\<`, "#", `\#`, "!", `\!`, "|", `\|`)

func escapeLine(s string) string { return special.Replace(strings.Join(strings.Fields(s), " ")) }

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}

func optional(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// Markdown writes sessions as Markdown, a line between two of them.
type Markdown struct {
	W     io.Writer
	begun bool
}

// Begin implements [Writer].
func (d *Markdown) Begin(s sessiondb.Session, kind sessiondb.Kind) error {
	head := Head(s)
	if s.ParentID != nil {
		head += fmt.Sprintf("- %s of: %s\n", cmp.Or(relation[kind], "Child"), escapeLine(*s.ParentID))
	}
	if d.begun {
		head = "\n---\n\n" + head
	}
	d.begun = true
	return d.write(head)
}

// relation is what a session is to its parent.
var relation = map[sessiondb.Kind]string{
	sessiondb.Continuation: "Continuation", sessiondb.Branch: "Branch", sessiondb.Delegate: "Delegate",
}

// Message implements [Writer].
func (d *Markdown) Message(m sessiondb.Message) error { return d.write(Message(m)) }

// End implements [Writer].
func (d *Markdown) End() error { return nil }

func (d *Markdown) write(s string) error {
	_, err := io.WriteString(d.W, s)
	return err
}
