package serve

import (
	"fmt"
	"html/template"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/sessiondb-go/sessiondb"
)

// functions are what the pages say things with.
func functions() template.FuncMap {
	return template.FuncMap{
		"asset": assetURL, "grouped": grouped, "count": count, "dollars": dollars, "cost": costOf, "stamp": stamp, "machine": machine,
		"sessionURL": sessionURL, "hitURL": hitURL, "placeURL": placeURL, "link": link, "marked": marked, "name": name, "text": text,
		"tokenChart": tokenChart, "costChart": costChart, "hourChart": hourChart,
		"shareBar": shareBar, "dict": dict, "spoken": spoken, "relation": relation, "spaced": spaced,
	}
}

// grouped is a number with its thousands apart.
func grouped(n int64) string {
	digits := strconv.FormatInt(n, 10)
	sign := ""
	if digits[0] == '-' {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

// count is a number with its noun.
func count(n any, noun string) string {
	var v int64
	switch n := n.(type) {
	case int:
		v = int64(n)
	case int64:
		v = n
	}
	if v != 1 {
		noun += "s"
	}
	return grouped(v) + " " + noun
}

func dollars(v float64) string {
	if v != 0 && v < .01 && v > -.01 {
		return fmt.Sprintf("$%.4f", v)
	}
	return fmt.Sprintf("$%.2f", v)
}

// stamp is a time as a page shows it where no script makes it the local one.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04 UTC")
}

func machine(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// text is a value that may be absent.
func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// name is what a session goes by: its title, what it begins with, or its id.
func name(s sessiondb.Session, preview string) string {
	switch {
	case strings.TrimSpace(text(s.Title)) != "":
		return *s.Title
	case strings.TrimSpace(preview) != "":
		return preview
	}
	return s.ID
}

// link is an address of this server with a query: pairs of names and values. What is
// empty is left out.
func link(path string, pairs ...string) string {
	q := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			q.Set(pairs[i], pairs[i+1])
		}
	}
	return pathAndQuery(path, q)
}

// placeURL is where a conversation reads on, before or after a message.
func placeURL(side string, p place, query string) string {
	return link("/session", "id", p.Session, side, strconv.FormatInt(p.Message, 10), "q", query)
}

// marked is a snippet with its matches marked.
func marked(snippet string) template.HTML {
	var b strings.Builder
	for snippet != "" {
		before, rest, _ := strings.Cut(snippet, ">>>")
		match, after, _ := strings.Cut(rest, "<<<")
		b.WriteString(template.HTMLEscapeString(before))
		if match != "" {
			b.WriteString("<mark>" + template.HTMLEscapeString(match) + "</mark>")
		}
		snippet = after
	}
	return template.HTML(b.String()) // #nosec G203 -- what is not ours is escaped
}

// relation is what a session is to its parent.
func relation(k sessiondb.Kind) string {
	switch k {
	case sessiondb.Continuation:
		return "continuation"
	case sessiondb.Branch:
		return "branch"
	case sessiondb.Delegate:
		return "delegate"
	}
	return ""
}

// spaced are words with spaces between.
func spaced(words []string) string { return strings.Join(words, " ") }

// dict are named values for a part of a page.
func dict(pairs ...any) map[string]any {
	m := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		m[pairs[i].(string)] = pairs[i+1]
	}
	return m
}
