package sessiondb

import (
	"context"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// Space is what takes how much room in a store, in bytes.
type Space struct {
	File int64 `json:"file_bytes"` // the database
	Log  int64 `json:"wal_bytes"`  // the write-ahead log beside it
	Free int64 `json:"free_bytes"` // pages of the database that hold nothing
	// Text is what the messages say: their content, the names and calls of
	// tools, and reasoning.
	Text      int64 `json:"text_bytes"`
	Content   int64 `json:"content_bytes"`
	Tools     int64 `json:"tool_bytes"`
	Reasoning int64 `json:"reasoning_bytes"`
	// Ratio is how many bytes of the file and its log there are for one of text,
	// 0 where there is no text.
	Ratio float64 `json:"ratio"`
	// Parts are the parts of the database, the biggest first. Together they are
	// File.
	Parts []SpacePart `json:"parts"`
}

// SpacePart is a table or an index, or a part of a full-text index.
type SpacePart struct {
	// Kind is "table" for a table of the schema; "copy" for the text that a
	// full-text index keeps once more, "postings" for what it finds by,
	// "lengths" for what it ranks by; "index" for an ordinary index; "own" for a
	// table that sessiondb added, "other" for one of another program; "free" for
	// pages that hold nothing.
	Kind string `json:"kind"`
	// Name is that of the table or index; empty for free pages.
	Name string `json:"name"`
	// Bytes are whole pages, also where they are not full.
	Bytes int64 `json:"bytes"`
}

// Size is how many bytes a store on a server takes, with its indexes, without a look
// at the rows; 0 for a file, whose size the system knows.
func (db *DB) Size(ctx context.Context) (n int64, err error) {
	defer wrap(&err, "size")
	if e, ok := db.engine.(engine.Sized); ok {
		n, err = e.Size(ctx)
	}
	return n, err
}

// Space measures the store. It reads every page: a gigabyte takes some seconds.
func (db *DB) Space(ctx context.Context) (_ Space, err error) {
	defer wrap(&err, "measure space")
	s, err := db.engine.Space(ctx)
	if err != nil {
		return Space{}, err
	}
	out := Space{
		File: s.File, Log: s.Log,
		Content: s.Text.Content, Tools: s.Text.Tools, Reasoning: s.Text.Reasoning,
		Text: s.Text.Content + s.Text.Tools + s.Text.Reasoning,
	}
	if out.Text > 0 {
		out.Ratio = float64(out.File+out.Log) / float64(out.Text)
	}
	for _, p := range s.Parts {
		out.Parts = append(out.Parts, SpacePart(p))
		if p.Kind == "free" {
			out.Free += p.Bytes
		}
	}
	return out, nil
}
