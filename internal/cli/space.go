package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/term"
)

// spaceLine is a line of the table of what takes how much room.
type spaceLine struct {
	what  string
	bytes int64
}

// spaceLines are the parts as people want them: ordinary indexes in one line.
func spaceLines(s sessiondb.Space) (out []spaceLine) {
	at := map[string]int{}
	for _, p := range append(s.Parts, sessiondb.SpacePart{Kind: "log", Bytes: s.Log}) {
		what := spaceName(p)
		i, ok := at[what]
		if !ok {
			i = len(out)
			at[what] = i
			out = append(out, spaceLine{what: what})
		}
		out[i].bytes += p.Bytes
	}
	return out
}

func spaceName(p sessiondb.SpacePart) string {
	switch p.Kind {
	case "table":
		if p.Name != "messages" && p.Name != "sessions" {
			return "other tables of the schema"
		}
		return p.Name
	case "copy":
		return p.Name + ", its copy of the text"
	case "postings":
		return p.Name + ", what it finds by"
	case "lengths":
		return p.Name + ", lengths of texts"
	case "index":
		return "ordinary indexes"
	case "own":
		if strings.HasPrefix(p.Name, "sessiondb_trash") {
			return "the trash"
		}
		return "tables of sessiondb"
	case "free":
		return "free pages"
	case "log":
		return "write-ahead log"
	}
	return "other programs' " + p.Name
}

// spaceTable shows what takes how much room, with a bar on a terminal.
func (a *app) spaceTable(s sessiondb.Space) error {
	t := a.NewTable(term.Column{Name: "what", Min: 12}, term.Column{Name: "size", Right: true},
		term.Column{Name: "share", Right: true}, term.Column{Name: "", Drop: 1})
	all := s.File + s.Log
	for _, l := range spaceLines(s) {
		if err := t.Row(term.Text(l.what), sizeCell(l.bytes), share(l.bytes, all), bar(l.bytes, all)); err != nil {
			return err
		}
	}
	for _, l := range []spaceLine{
		{"text: content", s.Content}, {"text: tools", s.Tools}, {"text: reasoning", s.Reasoning},
	} {
		if err := t.Row(term.Text(l.what), sizeCell(l.bytes), share(l.bytes, all), bar(l.bytes, all)); err != nil {
			return err
		}
	}
	if err := t.Row(term.Text("bytes of the file for one of text"), ratioCell(s.Ratio), term.Cell{}, term.Cell{}); err != nil {
		return err
	}
	return t.Flush()
}

func ratioCell(r float64) term.Cell {
	return term.Alternatives(fmt.Sprintf("%.1f", r), strconv.FormatFloat(r, 'f', 2, 64))
}

func share(n, all int64) term.Cell {
	if all <= 0 {
		return term.Cell{}
	}
	f := float64(n) / float64(all)
	return term.Alternatives(fmt.Sprintf("%.0f%%", 100*f), strconv.FormatFloat(f, 'f', 4, 64))
}

// barWidth is how many cells the whole takes.
const barWidth = 20

// bar draws a share, for people.
func bar(n, all int64) term.Cell {
	if all <= 0 {
		return term.Cell{}
	}
	return term.Alternatives(strings.Repeat("#", int((n*barWidth+all/2)/all)), "")
}
