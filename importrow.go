package sessiondb

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/sessiondb-go/sessiondb/internal/text"
)

// A row is read from JSON the way it was rendered (see json.go): what a column
// held comes back, odd values too.

// columnReader makes the value to store of a JSON value that is not null.
type columnReader func(raw []byte) any

// readText takes a string; of a JSON column that is the stored text. Anything
// else is kept as its JSON.
func readText(raw []byte) any {
	if raw[0] == '"' {
		return text.Unquote(raw)
	}
	return compacted(raw)
}

func readContent(raw []byte) any {
	if raw[0] == '"' {
		return storedText(text.Unquote(raw))
	}
	return structuredMark + compacted(raw)
}

// readInt takes a number; text, which some programs store, stays text.
func readInt(raw []byte) any {
	if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		return n
	}
	return readFloat(raw)
}

func readFloat(raw []byte) any {
	switch s := string(raw); s {
	case "true":
		return int64(1)
	case "false":
		return int64(0)
	case `"+Inf"`:
		return math.Inf(1)
	case `"-Inf"`:
		return math.Inf(-1)
	default:
		if f, err := strconv.ParseFloat(s, 64); err == nil || errors.Is(err, strconv.ErrRange) {
			return f // out of range: infinite, as SQLite has it
		}
	}
	return readText(raw)
}

func compacted(raw []byte) string {
	b, _ := text.AppendCompact(make([]byte, 0, len(raw)), raw)
	return string(b)
}

// column is where the value of a member goes.
type column struct {
	at   int
	read columnReader
}

// columnsOf maps names to columns; those that have no reader of their own are
// text.
func columnsOf(names []string, readers map[string]columnReader) map[string]column {
	m := make(map[string]column, len(names))
	for i, name := range names {
		read := readers[name]
		if read == nil {
			read = readText
		}
		m[name] = column{i, read}
	}
	return m
}

var sessionReaders = columnsOf(sessionColumns, map[string]columnReader{
	"started_at": readFloat, "ended_at": readFloat,
	"message_count": readInt, "tool_call_count": readInt, "input_tokens": readInt, "output_tokens": readInt,
	"cache_read_tokens": readInt, "cache_write_tokens": readInt, "reasoning_tokens": readInt, "api_call_count": readInt,
	"estimated_cost_usd": readFloat, "actual_cost_usd": readFloat,
})

var messageReaders = columnsOf(messageColumns, map[string]columnReader{
	"id": readInt, "content": readContent, "timestamp": readFloat, "token_count": readInt,
})

// columnAt is the position of a column among names.
func columnAt(names []string, name string) int { return slices.Index(names, name) }

var (
	idAt        = columnAt(sessionColumns, "id")
	sourceAt    = columnAt(sessionColumns, "source")
	parentAt    = columnAt(sessionColumns, "parent_session_id")
	startedAt   = columnAt(sessionColumns, "started_at")
	endedAt     = columnAt(sessionColumns, "ended_at")
	messagesAt  = columnAt(sessionColumns, "message_count")
	toolCallsAt = columnAt(sessionColumns, "tool_call_count")
	titleAt     = columnAt(sessionColumns, "title")

	messageIDAt      = columnAt(messageColumns, "id")
	messageSessionAt = columnAt(messageColumns, "session_id")
	messageRoleAt    = columnAt(messageColumns, "role")
	messageTimeAt    = columnAt(messageColumns, "timestamp")
)

// countColumns are those that are 0 when nothing is said of them.
var countColumns = []string{
	"input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens", "api_call_count",
}

// importedSession is a line that can be imported.
type importedSession struct {
	file     string
	line     int64
	given    map[string]bool // keys
	found    *comparison     // with the one that is stored
	row      []any           // by sessionColumns
	delegate bool            // it says that it is one
	beside   beside          // what it says beside its columns
	messages []byte          // a JSON list, or nil
	count    int64           // of them
	ordered  bool            // their ids rise, and leave room for more
	times    oddTimes
}

// maxImportedID is how high the id of a message may be for others to be made
// from it.
const maxImportedID = 1 << 40

func (s *importedSession) id() string { return s.row[idAt].(string) }

// text is a text column, empty for NULL.
func (s *importedSession) text(at int) string {
	v, _ := s.row[at].(string)
	return v
}

// readImported reads a line. The error says what is the matter with it.
func readImported(line []byte) (*importedSession, error) {
	if !text.ValidJSON(line) {
		return nil, errors.New("not JSON")
	}
	given, id := map[string]bool{}, byte(0)
	s := &importedSession{given: given}
	s.row = readRow(line, len(sessionColumns), sessionReaders, func(key string, value []byte) {
		given[key] = true
		switch key {
		case "id":
			id = value[0]
		case "messages":
			s.messages = value
		case "kind":
			s.delegate = text.Unquote(value) == string(Delegate)
		case "tags":
			s.beside.tags = readTags(value)
		case "forked_from":
			s.beside.from.read(forked, value)
		case "resumed_from":
			s.beside.from.read(resumed, value)
		}
	})
	if id != '"' {
		return nil, errors.New("no session: it has no id that is text")
	}
	if err := checkID(s.text(idAt)); err != nil {
		return s, err
	}
	for _, at := range []int{startedAt, endedAt} {
		if v := s.row[at]; !isTime(v) {
			s.times.saw(sessionColumns[at], v)
		}
	}
	first, calls, err := s.checkMessages()
	if err != nil {
		return s, err
	}
	s.fill(first, calls)
	return s, nil
}

// read takes what a session came from.
func (o *orphan) read(kind Kind, value []byte) {
	if parent, _ := readText(value).(string); parent != "" {
		o.parent, o.kind = parent, kind
	}
}

// readTags reads a list of tags. Other programs may mean something else by the key:
// what is no tag is passed over.
func readTags(raw []byte) (tags []string) {
	if raw[0] != '[' {
		return nil
	}
	_ = text.Elements(raw, func(item []byte) error {
		if item[0] != '"' {
			return nil
		}
		if tag, err := CleanTag(text.Unquote(item)); err == nil {
			tags = append(tags, tag)
		}
		return nil
	})
	return tags
}

// readRow reads the members of an object that are columns, and shows other all
// of them.
func readRow(object []byte, n int, columns map[string]column, all func(key string, value []byte)) []any {
	row := make([]any, n)
	_ = text.Members(object, func(key string, value []byte) error {
		if all != nil {
			all(key, value)
		}
		if c, ok := columns[key]; ok {
			row[c.at] = nil
			if string(value) != "null" {
				row[c.at] = c.read(value)
			}
		}
		return nil
	})
	return row
}

// checkMessages sees to it that every message can be stored. It returns the
// first time that one tells, and the number of tool calls.
func (s *importedSession) checkMessages() (first any, calls int64, err error) {
	if s.messages == nil || string(s.messages) == "null" {
		return nil, 0, nil
	}
	if s.messages[0] != '[' {
		return nil, 0, errors.New("messages is no list")
	}
	s.ordered = true
	last := int64(0)
	err = text.Elements(s.messages, func(item []byte) error {
		var id int64
		role := false
		_ = text.Members(item, func(key string, value []byte) error {
			null := string(value) == "null"
			switch key {
			case "id":
				id, _ = readInt(value).(int64) // 0 if null
			case "role":
				role = !null
			case "tool_calls":
				calls += int64(text.CountItems(value))
			case "timestamp":
				if null {
					break
				}
				at := readFloat(value)
				if !isTime(at) {
					s.times.saw(fmt.Sprintf("timestamp of message %d", s.count+1), at)
				}
				if first == nil {
					first = at
				}
			}
			return nil
		})
		s.ordered = s.ordered && id > last && id <= maxImportedID
		last = id
		s.count++
		if !role {
			return fmt.Errorf("message %d has no role", s.count)
		}
		return nil
	})
	return first, calls, err
}

// fill gives what a line does not say, and a row can't be without.
func (s *importedSession) fill(first any, calls int64) {
	if s.row[sourceAt] == nil {
		s.row[sourceAt] = UnknownSource
	}
	if s.row[startedAt] == nil {
		s.row[startedAt] = first
	}
	if !s.given["message_count"] {
		s.row[messagesAt] = s.count
	}
	if !s.given["tool_call_count"] {
		s.row[toolCallsAt] = calls
	}
	for _, name := range countColumns {
		if !s.given[name] {
			s.row[columnAt(sessionColumns, name)] = int64(0)
		}
	}
}

// eachRow calls fn with the row of each message, by messageColumns. A message
// that tells no time has that of the one before it, or else of the session.
func (s *importedSession) eachRow(started any, fn func(row []any) error) error {
	return text.Elements(s.messages, func(item []byte) error {
		row := readRow(item, len(messageColumns), messageReaders, nil)
		row[messageSessionAt] = s.id()
		if row[messageTimeAt] == nil {
			row[messageTimeAt] = started
		}
		started = row[messageTimeAt]
		return fn(row)
	})
}
