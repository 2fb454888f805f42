package searchql

import (
	"strconv"
	"strings"
	"time"
	"unicode"
)

// maxFieldName is the length of the longest name.
const maxFieldName = len(Session)

var fields = map[Field]bool{Source: true, Role: true, Model: true, Session: true, Title: true, Tool: true, After: true, Before: true, Is: true, Tag: true}

// filter reads `name:value` or `-name:value` if one stands at the position. A
// value that means nothing makes words of it.
func (l *lexer) filter() bool {
	rest := l.src[l.pos:]
	body, minus := strings.CutPrefix(rest, "-")
	name, _, ok := strings.Cut(body[:min(len(body), maxFieldName+1)], ":")
	f := Filter{Field: Field(name), Not: minus}
	if !ok || !fields[f.Field] {
		return false
	}
	value := body[len(name)+1:]
	var after string
	if f.Value, after = filterValue(value); f.Value == "" {
		return false
	}
	if !f.understood(l.o.Now) {
		l.notices = append(l.notices, strconv.Quote(string(f.Field)+":"+f.Value)+" is no filter: its words are searched for")
		return false
	}
	l.filters = append(l.filters, f)
	l.pos += len(rest) - len(after)
	return true
}

// filterValue splits off a value: up to a space or a closing parenthesis, or in
// quotes.
func filterValue(s string) (value, rest string) {
	if q, ok := strings.CutPrefix(s, `"`); ok {
		if v, rest, ok := strings.Cut(q, `"`); ok {
			return strings.TrimSpace(v), rest
		}
	}
	n := strings.IndexFunc(s, func(r rune) bool { return unicode.IsSpace(r) || r == ')' || r == '"' || r == 0 })
	if n < 0 {
		n = len(s)
	}
	return s[:n], s[n:]
}

func (f *Filter) understood(now time.Time) (ok bool) {
	switch f.Field {
	case After, Before:
		f.Time, ok = parseTime(f.Value, now)
		return ok
	case Is:
		return f.Value == "ended"
	case Tag: // which need not have a letter in it
		return f.Value != "#"
	}
	return strings.IndexFunc(f.Value, func(r rune) bool { return wordChar(r) || Emoji(r) }) >= 0
}

// parseTime reads a date (its beginning, in the zone of now), a time, or how
// long ago: 45min, 12h, 7d, 2w, 3m (months), 1y.
func parseTime(s string, now time.Time) (time.Time, bool) {
	day := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	switch s {
	case "today":
		return day, true
	case "yesterday":
		return day.AddDate(0, 0, -1), true
	}
	for _, layout := range []string{"2006-01-02", "2006-01", "2006", "2006-01-02T15:04", "2006-01-02T15:04:05"} {
		if t, err := time.ParseInLocation(layout, s, now.Location()); err == nil {
			return t, true
		}
	}
	if t, err := time.Parse(time.RFC3339Nano, s); err == nil {
		return t, true
	}
	i := strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' })
	if i < 1 {
		return time.Time{}, false
	}
	n, err := strconv.Atoi(s[:i])
	if err != nil || n > 100000 {
		return time.Time{}, false
	}
	return ago(now, n, s[i:])
}

func ago(now time.Time, n int, unit string) (time.Time, bool) {
	switch unit {
	case "min":
		return now.Add(-time.Duration(n) * time.Minute), true
	case "h":
		return now.Add(-time.Duration(n) * time.Hour), true
	case "d":
		return now.AddDate(0, 0, -n), true
	case "w":
		return now.AddDate(0, 0, -7*n), true
	case "m":
		return now.AddDate(0, -n, 0), true
	case "y":
		return now.AddDate(-n, 0, 0), true
	}
	return time.Time{}, false
}
