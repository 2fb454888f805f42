package api

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/sessiondb-go/sessiondb"
)

var storeMethods = []*Method{
	method(ReadsStore, "get_meta", "Returns a value of the key/value table.", "the text, or null", getMeta),
	method(WritesStore, "set_meta", "Stores a value in the key/value table.", "null",
		func(ctx context.Context, db *sessiondb.DB, p setMetaParams) (any, error) {
			return done(db.SetMeta(ctx, p.Key, p.Value))
		}),
	method(ReadsStore, "check", "Looks for damage, and changes nothing.",
		"a list of code, severity (error, warning or info), what and fix (a command, if one mends it), the worst first; a sound store has no errors and no warnings",
		func(ctx context.Context, db *sessiondb.DB, p checkParams) (any, error) {
			return list(db.Check(ctx, sessiondb.CheckOptions{Full: p.Full}))
		}),
	method(ReadsStore, "space", "Measures what takes how much room; looks at every page.",
		"file_bytes, wal_bytes, free_bytes, text_bytes, content_bytes, tool_bytes, reasoning_bytes, ratio, and parts: a list of kind, name and bytes",
		func(ctx context.Context, db *sessiondb.DB, _ none) (any, error) { return result(db.Space(ctx)) }),
	method(MakesFile, "backup", "Copies the store to a new file while others use it, and reads the copy through.",
		"bytes, schema_version, sessions, messages, and findings where an index is damaged",
		backup),
	method(Nothing, "info", "Describes the open store.", "read_only, schema_version", info),
}

type backupParams struct {
	Path string `json:"path" need:"true" doc:"the file to make; nothing may be there"`
}

// backup answers that path is invalid where no file can be made.
func backup(ctx context.Context, db *sessiondb.DB, p backupParams) (any, error) {
	r, err := db.BackupWithReport(ctx, p.Path)
	if errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		err = fmt.Errorf("%w: path: %w", sessiondb.ErrInvalid, err)
	}
	return result(r, err)
}

type checkParams struct {
	Full bool `json:"full" doc:"also compares every entry of every index with its row, and reads every text"`
}

type metaParams struct {
	Key string `json:"key" need:"true"`
}

func getMeta(ctx context.Context, db *sessiondb.DB, p metaParams) (any, error) {
	value, ok, err := db.Meta(ctx, p.Key)
	if !ok {
		return nil, err
	}
	return value, err
}

type setMetaParams struct {
	metaParams
	Value string `json:"value" need:"true"`
}

func info(_ context.Context, db *sessiondb.DB, _ none) (any, error) {
	i := db.Info()
	return map[string]any{"read_only": i.ReadOnly, "schema_version": i.SchemaVersion}, nil
}
