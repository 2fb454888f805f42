package serve

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"time"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/api"
	"github.com/sessiondb-go/sessiondb/internal/htmlview"
	"github.com/sessiondb-go/sessiondb/internal/redact"
	"github.com/sessiondb-go/sessiondb/internal/term"
	"github.com/sessiondb-go/sessiondb/internal/transcript"
)

// formats are those of an export: the kind of the file and the end of its name.
var formats = map[string]struct{ kind, suffix string }{
	"":         {"application/x-ndjson", ".jsonl"},
	"jsonl":    {"application/x-ndjson", ".jsonl"},
	"markdown": {"text/markdown; charset=utf-8", ".md"},
	"html":     {"text/html; charset=utf-8", ".html"},
}

// export sends conversations as a file, as they are read: one with all its parts,
// with lineage=1 its whole lineage, without an id those of a source, or all. With
// redact=1 secrets are masked.
func (s *server) export(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	format, ok := formats[q.Get("format")]
	if !ok {
		s.fail(w, r, &api.ParamError{Param: "format", Reason: "it is jsonl, markdown or html"})
		return
	}
	f := sessiondb.ExportFilter{Source: q.Get("source")}
	file := "sessions"
	if id := q.Get("id"); id != "" {
		var err error
		if f.IDs, err = chosen(r.Context(), s.db, id, q.Get("lineage") != ""); err != nil {
			s.fail(w, r, err)
			return
		}
		file = fileName(id)
	}
	if q.Get("redact") != "" {
		f.Redact = redact.New().Session
	}
	w.Header().Set("Content-Type", format.kind)
	w.Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", file+format.suffix))
	out := bufio.NewWriterSize(&steady{w, http.NewResponseController(w)}, 64<<10)
	err := exportAs(r.Context(), s.db, out, f, q.Get("format"))
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		if r.Context().Err() == nil {
			s.log.Warn("an export ended early", "error", err)
		}
		panic(http.ErrAbortHandler) // so that nobody takes a part for the whole
	}
}

// chosen are the sessions of a conversation, or of its lineage.
func chosen(ctx context.Context, db *sessiondb.DB, id string, lineage bool) (ids []string, err error) {
	if lineage {
		tree, err := db.Lineage(ctx, id)
		for _, n := range tree {
			ids = append(ids, n.ID)
		}
		return ids, err
	}
	var r reading
	if err := r.findChain(ctx, db, id); err != nil {
		return nil, err
	}
	for _, s := range r.Chain {
		ids = append(ids, s.ID)
	}
	return ids, nil
}

var noFileName = regexp.MustCompile(`[^A-Za-z0-9_-]+`)

func fileName(id string) string { return "session-" + noFileName.ReplaceAllString(id, "_") }

func exportAs(ctx context.Context, db *sessiondb.DB, w io.Writer, f sessiondb.ExportFilter, format string) (err error) {
	switch format {
	case "markdown":
		_, err = transcript.Export(ctx, db, f, &transcript.Markdown{W: term.FileWriter(w)})
	case "html":
		page := &htmlview.Page{W: term.FileWriter(w)}
		_, err = transcript.Export(ctx, db, f, page)
		err = errors.Join(err, page.Close())
	default:
		_, err = db.ExportAll(ctx, w, f)
	}
	return err
}

// steady ends an answer that nobody reads: it holds a snapshot of the store.
type steady struct {
	io.Writer
	rc *http.ResponseController
}

func (s *steady) Write(b []byte) (int, error) {
	_ = s.rc.SetWriteDeadline(time.Now().Add(writeTimeout))
	return s.Writer.Write(b)
}
