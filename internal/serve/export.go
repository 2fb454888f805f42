package serve

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"time"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/api"
	"github.com/sessiondb-go/sessiondb/internal/export"
	"github.com/sessiondb-go/sessiondb/internal/redact"
)

// formats are those of an export, and the kind of the file.
var formats = map[string]string{
	export.JSONL:    "application/x-ndjson",
	export.Markdown: "text/markdown; charset=utf-8",
	export.HTML:     "text/html; charset=utf-8",
}

// export sends conversations as a file, as they are read: one with all its parts,
// with lineage=1 its whole lineage, without an id those of a source, or all. With
// redact=1 secrets are masked; tag= leaves those that have the tags.
func (s *server) export(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	as := cmp.Or(q.Get("format"), export.JSONL)
	kind, ok := formats[as]
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
	} else if tags := givenTags(q["tag"]); len(tags) > 0 {
		var err error
		if f.IDs, err = s.db.TaggedSessions(r.Context(), tags...); err != nil {
			s.fail(w, r, err)
			return
		}
		f.IDs = append([]string{}, f.IDs...) // nil would be all
	}
	if q.Get("redact") != "" {
		f.Redact = redact.New().Session
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", file+export.Suffix(as)))
	out := bufio.NewWriterSize(&steady{w, http.NewResponseController(w)}, 64<<10)
	_, err := export.As(r.Context(), s.db, out, f, as)
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

// steady ends an answer that nobody reads: it holds a snapshot of the store.
type steady struct {
	io.Writer
	rc *http.ResponseController
}

func (s *steady) Write(b []byte) (int, error) {
	_ = s.rc.SetWriteDeadline(time.Now().Add(writeTimeout))
	return s.Writer.Write(b)
}
