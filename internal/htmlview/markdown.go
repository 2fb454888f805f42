// Package htmlview shows conversations as HTML that stays inert: whatever a
// transcript holds, it runs nothing, loads nothing, and ends no element but its
// own.
package htmlview

import (
	"html/template"
	"io"
	"strings"

	"github.com/gomarkdown/markdown"
	"github.com/gomarkdown/markdown/ast"
	"github.com/gomarkdown/markdown/html"
	"github.com/gomarkdown/markdown/parser"
)

// maxMarkdown is up to how many bytes a text is read as Markdown. A longer one is
// hardly what somebody wrote.
const maxMarkdown = 128 << 10

const (
	syntax = parser.NoIntraEmphasis | parser.Tables | parser.FencedCode | parser.Autolink | parser.Strikethrough |
		parser.SpaceHeadings | parser.NoEmptyLineBeforeBlock | parser.BackslashLineBreak | parser.HardLineBreak
	safety = html.SkipHTML | html.SkipImages | html.Safelink | html.NofollowLinks | html.NoreferrerLinks | html.NoopenerLinks
)

// Markdown is a text that a person or a model wrote. HTML in it is shown as the
// text it is; images are named, not loaded; links lead to a path, or to http, https, ftp and
// mail.
func Markdown(text string) template.HTML {
	if len(text) > maxMarkdown {
		return Plain(text)
	}
	r := html.NewRenderer(html.RendererOptions{Flags: safety, RenderNodeHook: ours})
	tree := parser.NewWithExtensions(syntax).Parse([]byte(strings.ToValidUTF8(text, "\uFFFD")))
	return template.HTML(markdown.Render(tree, r)) // #nosec G203 -- this is the wall; a fuzz test stands behind it
}

// Plain is a text as it is.
func Plain(text string) template.HTML {
	return template.HTML("<pre>" + template.HTMLEscapeString(strings.ToValidUTF8(text, "\uFFFD")) + "</pre>") // #nosec G203 -- it is escaped
}

// ours writes code in colours, and as text what a page would load and what it
// would take for its own.
func ours(w io.Writer, node ast.Node, entering bool) (ast.WalkStatus, bool) {
	switch n := node.(type) {
	case *ast.CodeBlock:
		writeCode(w, string(n.Info), string(n.Literal))
	case *ast.HTMLSpan:
		template.HTMLEscape(w, n.Literal)
	case *ast.HTMLBlock:
		_, _ = io.WriteString(w, "<pre>")
		template.HTMLEscape(w, n.Literal)
		_, _ = io.WriteString(w, "</pre>\n")
	case *ast.Image:
		if entering {
			_, _ = io.WriteString(w, "[image: ")
		} else {
			_, _ = io.WriteString(w, "]")
		}
	default:
		return ast.GoToNext, false
	}
	return ast.GoToNext, true
}
