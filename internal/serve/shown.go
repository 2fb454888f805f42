package serve

import (
	"html/template"
	"math"
	"strconv"
	"strings"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/htmlview"
)

// shown is what a page shows of the messages of a conversation, with what was searched
// for marked.
type shown struct {
	Query   string
	HTML    map[int64]template.HTML // by message
	Matches int
	First   string // the name of the first match
}

// maxDeep is how many bytes past those shown a page looks through for matches, beside the
// message that was asked for.
const maxDeep = 1 << 20

// show shows the messages of a page. Each that has matches leads to those before and
// after it.
func show(r reading, query string) (shown, error) {
	s := shown{Query: query, HTML: map[int64]template.HTML{}}
	terms := sessiondb.QueryTerms(query)
	var all, matching []*htmlview.Message
	room := maxDeep
	for _, p := range r.Parts {
		for _, m := range p.Messages {
			o := htmlview.MessageOptions{
				Link: messageURL(m, query), Max: maxShown, Whole: wholeURL(m, query), Terms: terms, Deep: maxShown + room,
			}
			asked := m.ID == r.Target && query != ""
			if asked {
				o.Hit, o.Deep = true, math.MaxInt
			}
			v := htmlview.NewMessage(m, o)
			if !asked {
				room -= v.Looked
			}
			all = append(all, v)
			if v.Matches > 0 {
				matching = append(matching, v)
				s.Matches += v.Matches
			}
		}
	}
	for i, v := range matching {
		if i == 0 {
			s.First = firstMatch(v.ID)
			continue
		}
		v.Before, matching[i-1].After = "#"+firstMatch(matching[i-1].ID), "#"+firstMatch(v.ID)
	}
	for _, v := range all {
		html, err := written(v)
		if err != nil {
			return s, err
		}
		s.HTML[v.ID] = html
	}
	return s, nil
}

// wholeHTML is a message on a page of its own.
func wholeHTML(m sessiondb.Message, query string) (template.HTML, error) {
	return written(htmlview.NewMessage(m, htmlview.MessageOptions{
		Link: messageURL(m, query), Terms: sessiondb.QueryTerms(query), Hit: query != "",
	}))
}

func written(m *htmlview.Message) (template.HTML, error) {
	var b strings.Builder
	err := m.Write(&b)
	return template.HTML(b.String()), err // #nosec G203 -- htmlview makes it inert
}

// messageURL is the page of a conversation where a message is.
func messageURL(m sessiondb.Message, query string) string {
	id := strconv.FormatInt(m.ID, 10)
	return link("/session", "id", m.SessionID, "m", id, "q", query) + "#m-" + id
}

// wholeURL is the page of a message alone.
func wholeURL(m sessiondb.Message, query string) string {
	to := link("/message", "id", m.SessionID, "m", strconv.FormatInt(m.ID, 10), "q", query)
	if query == "" {
		return to
	}
	return to + "#" + firstMatch(m.ID)
}
