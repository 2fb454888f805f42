// Package foreign reads the transcripts that other programs keep: a file a
// format, each a [sessiondb.Transcript] over a reader, which holds a line or a
// message at a time and, for a whole file, only ids. It knows no store and opens
// no file.
package foreign

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"github.com/sessiondb-go/sessiondb"
)

// Format is a kind of file.
type Format string

// The formats. Unknown is none of them.
const (
	Unknown    Format = ""
	Sessiondb  Format = "sessiondb"    // our own export
	Hermes     Format = "hermes-jsonl" // a file a session, of Hermes Agent before its database
	ClaudeCode Format = "claude-code"
	Codex      Format = "codex"
)

// Formats lists those that can be asked for.
var Formats = []string{string(Sessiondb), string(Hermes), string(ClaudeCode), string(Codex)}

// DetectSize is how much of the beginning of a file tells its format.
const DetectSize = 64 << 10

// Detect tells the format of a file from its beginning, which may be cut
// anywhere. The first line that is like one of a format decides.
func Detect(head []byte) Format {
	for line := range bytes.Lines(bytes.TrimPrefix(head, bom)) {
		if f := detectLine(line); f != Unknown {
			return f
		}
	}
	return Unknown
}

var claudeTypes = map[string]bool{
	"user": true, "assistant": true, "system": true, "attachment": true, "summary": true, "custom-title": true, "ai-title": true,
}

var codexTypes = map[string]bool{
	"session_meta": true, "response_item": true, "event_msg": true, "turn_context": true, "compacted": true,
}

func detectLine(line []byte) Format {
	keys := topLevel(line)
	_, has := keys["payload"]
	typ := keys["type"]
	switch {
	case has && codexTypes[typ]:
		return Codex
	case (claudeTypes[typ] || claudeBookkeeping[typ]) && (hasAny(keys, "sessionId", "uuid", "leafUuid", "messageId")):
		return ClaudeCode
	case hasAny(keys, "record_type"), hasAny(keys, "id") && hasAny(keys, "timestamp") && hasAny(keys, "instructions", "git"):
		return Codex
	case hasAny(keys, "role"):
		return Hermes
	case hasAny(keys, "id") && (len(keys) == 1 || hasAny(keys, "messages", "source", "started_at", "parent_session_id", "title", "model")):
		return Sessiondb
	}
	return Unknown
}

// Began is the first time that a line at the beginning of a file tells, zero if none
// does, and whether it begins with copies of what another session said.
func Began(head []byte) (at time.Time, copied bool) {
	copied = bytes.Contains(head, []byte(`"forkedFrom"`)) || bytes.Contains(head, []byte(`"forked_from_id"`))
	for line := range bytes.Lines(bytes.TrimPrefix(head, bom)) {
		if at := parseTime(topLevel(line)["timestamp"]); !at.IsZero() {
			return at, copied
		}
	}
	return time.Time{}, copied
}

func hasAny(keys map[string]string, names ...string) bool {
	for _, name := range names {
		if _, ok := keys[name]; ok {
			return true
		}
	}
	return false
}

// topLevel reads the keys of an object, as far as it goes, and the values that
// are strings.
func topLevel(line []byte) map[string]string {
	d := json.NewDecoder(bytes.NewReader(line))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	keys := map[string]string{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			break
		}
		name, _ := key.(string)
		keys[name] = ""
		var value json.RawMessage
		if d.Decode(&value) != nil {
			break
		}
		var s string
		if json.Unmarshal(value, &s) == nil {
			keys[name] = s
		}
	}
	return keys
}

// New reads a transcript of a format other than our own. The name of the file
// tells the session where the lines don't.
func New(f Format, name string, r io.Reader) (sessiondb.Transcript, error) {
	stem := strings.TrimSuffix(path.Base(strings.ReplaceAll(name, `\`, "/")), ".jsonl")
	switch in := newLines(r); f {
	case ClaudeCode:
		return newClaude(stem, in), nil
	case Codex:
		return newCodex(stem, in), nil
	case Hermes:
		if stem == "" || stem == "-" || stem == "." {
			return nil, fmt.Errorf("%w: a transcript of Hermes Agent is of the session that its file is named after: give the file", sessiondb.ErrInvalid)
		}
		return newHermes(stem, in), nil
	}
	return nil, fmt.Errorf("%w: no transcript of format %q", sessiondb.ErrInvalid, f)
}

// queue holds the messages that lines gave and that were not yet asked for.
type queue struct{ ready []sessiondb.TranscriptMessage }

func (q *queue) add(m sessiondb.TranscriptMessage) { q.ready = append(q.ready, m) }

// next returns the next message, from lines that read takes one by one; end is
// called once, behind the last.
func (q *queue) next(in *lines, read func(line []byte) error, end func()) (sessiondb.TranscriptMessage, error) {
	for len(q.ready) == 0 {
		line, err := in.next()
		if err == io.EOF && end != nil && !in.ended {
			in.ended = true
			end()
			continue
		}
		if err != nil {
			return sessiondb.TranscriptMessage{}, in.end(err)
		}
		err = read(line)
		in.done()
		if err != nil {
			return sessiondb.TranscriptMessage{}, in.failed(err)
		}
	}
	m := q.ready[0]
	q.ready = q.ready[1:]
	return m, nil
}

// mark is what stands in the place of a picture or a file, whose bytes would only fill
// the indexes.
func mark(what, mediaType, base64 string) string {
	n := len(base64)/4*3 - strings.Count(base64[max(0, len(base64)-2):], "=")
	return fmt.Sprintf("[%s: %s, %d bytes]", what, mediaType, n)
}

// nothing says that JSON is null, or missing.
func nothing(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// digest is a key for what has no id.
func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:12])
}

// decode is json.Unmarshal that leaves out members of another type than
// expected.
func decode(raw []byte, v any) error {
	err := json.Unmarshal(raw, v)
	if _, ok := err.(*json.UnmarshalTypeError); ok && len(bytes.TrimSpace(raw)) > 0 && bytes.TrimSpace(raw)[0] == '{' {
		return nil
	}
	if err != nil {
		return errNotJSON
	}
	return nil
}

// parseTime reads RFC 3339, or the same without a zone, which is local time.
func parseTime(s string) time.Time {
	if t, err := time.Parse(time.RFC3339Nano, s); err == nil {
		return t
	}
	for _, layout := range []string{"2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999"} {
		if t, err := time.ParseInLocation(layout, s, time.Local); err == nil {
			return t
		}
	}
	return time.Time{}
}

// stringOrNil makes NULL of what is empty.
func stringOrNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// toolCall is a call as it is stored.
func toolCall(id, name, arguments string) json.RawMessage {
	type function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}
	b, _ := json.Marshal(struct {
		ID       string   `json:"id"`
		Type     string   `json:"type"`
		Function function `json:"function"`
	}{id, "function", function{name, arguments}})
	return b
}

// list makes a JSON list, nil if it is empty.
func list(items []json.RawMessage) json.RawMessage {
	if len(items) == 0 {
		return nil
	}
	b, _ := json.Marshal(items)
	return b
}

// config makes the model_config of what is known, nil of nothing.
func config(members ...string) json.RawMessage {
	m := map[string]string{}
	for i := 0; i+1 < len(members); i += 2 {
		if members[i+1] != "" {
			m[members[i]] = members[i+1]
		}
	}
	if len(m) == 0 {
		return nil
	}
	b, _ := json.Marshal(m)
	return b
}
