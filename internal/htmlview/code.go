package htmlview

import (
	"html/template"
	"io"

	"github.com/sessiondb-go/sessiondb/internal/highlight"
)

// codeClass are the classes of what code is made of; message.css has their colours.
var codeClass = [...]string{
	highlight.Plain: "", highlight.Comment: "c", highlight.String: "s", highlight.Keyword: "k", highlight.Number: "n",
	highlight.Name: "t", highlight.Added: "a", highlight.Removed: "d",
}

// writeCode writes a block of code. No class of it comes from a transcript.
func writeCode(w io.Writer, info, text string) {
	_, _ = io.WriteString(w, "<pre><code>")
	spans := highlight.Code(info, text)
	if spans == nil {
		spans = []highlight.Span{{Text: text}}
	}
	for _, s := range spans {
		class := codeClass[s.Kind]
		if class != "" {
			_, _ = io.WriteString(w, `<span class="`+class+`">`)
		}
		_, _ = io.WriteString(w, template.HTMLEscapeString(s.Text))
		if class != "" {
			_, _ = io.WriteString(w, "</span>")
		}
	}
	_, _ = io.WriteString(w, "</code></pre>\n")
}
