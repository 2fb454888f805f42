// Package export writes sessions in the formats of an export: as JSON lines, and as
// what people read. It knows no files and no streams of a terminal.
package export

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/htmlview"
	"github.com/sessiondb-go/sessiondb/internal/term"
	"github.com/sessiondb-go/sessiondb/internal/transcript"
)

// Formats are those that there are. The first one loses nothing.
var Formats = []string{JSONL, Markdown, HTML}

// The formats.
const (
	JSONL    = "jsonl"
	Markdown = "markdown"
	HTML     = "html"
)

// suffixes are how the names of files end, that of each format first.
var suffixes = map[string][]string{
	JSONL:    {".jsonl", ".json"},
	Markdown: {".md", ".markdown"},
	HTML:     {".html", ".htm"},
}

// Suffix is how the name of a file of a format ends.
func Suffix(format string) string { return suffixes[format][0] }

// Named is the format that the name of a file asks for: the first one where it asks
// for none.
func Named(file string) string {
	for _, format := range Formats {
		if slices.Contains(suffixes[format], strings.ToLower(filepath.Ext(file))) {
			return format
		}
	}
	return Formats[0]
}

// As writes an export in a format, and returns the number of sessions. What people
// read shows control characters wherever it goes: it may be printed later.
func As(ctx context.Context, db *sessiondb.DB, w io.Writer, f sessiondb.ExportFilter, format string) (n int64, err error) {
	switch format {
	case Markdown:
		return transcript.Export(ctx, db, f, &transcript.Markdown{W: term.FileWriter(w)})
	case HTML:
		page := &htmlview.Page{W: term.FileWriter(w)}
		n, err = transcript.Export(ctx, db, f, page)
		return n, errors.Join(err, page.Close())
	}
	return db.ExportAll(ctx, w, f)
}
