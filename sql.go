package sessiondb

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// wrap says what was being done, on the way out of an exported method.
func wrap(err *error, format string, args ...any) {
	if *err != nil {
		*err = fmt.Errorf(format+": %w", append(args, *err)...)
	}
}

// validText replaces what is not UTF-8 by U+FFFD.
func validText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "�")
}

// textOrNull stores the empty string as NULL.
func textOrNull(s string) any {
	if s == "" {
		return nil
	}
	return validText(s)
}

// nullable stores a nil pointer as NULL.
func nullable(s *string) any {
	if s == nil {
		return nil
	}
	return validText(*s)
}

// jsonOrNull is JSON as it is stored: compact UTF-8; an absent value, null and
// an empty list or object are NULL.
func jsonOrNull(name string, raw json.RawMessage) (any, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	s, err := compactJSON(raw)
	if err != nil {
		return nil, fmt.Errorf("%w: %s is not JSON: %v", ErrInvalid, name, err)
	}
	switch s {
	case "null", "[]", "{}":
		return nil, nil
	}
	return s, nil
}

// likePrefix is a LIKE pattern, with ESCAPE '\', for what begins with s.
func likePrefix(s string) string {
	return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(s) + "%"
}

// placeholders is "?, ?, ?" for n parameters.
func placeholders(n int) string {
	return strings.TrimSuffix(strings.Repeat("?, ", n), ", ")
}

// anys makes parameters of strings.
func anys(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

// eachRow calls scan for every row of a query.
func eachRow(ctx context.Context, q engine.Queryer, scan func(engine.Rows) error, query string, args ...any) error {
	rows, err := q.Query(ctx, query, args...)
	return scanRows(rows, err, scan)
}

// scanRows calls scan for every row of a result, unless there is none.
func scanRows(rows engine.Rows, err error, scan func(engine.Rows) error) error {
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

func queryStrings(ctx context.Context, q engine.Queryer, query string, args ...any) (out []string, err error) {
	err = eachRow(ctx, q, func(r engine.Rows) error {
		var s string
		if err := r.Scan(&s); err != nil {
			return err
		}
		out = append(out, s)
		return nil
	}, query, args...)
	return out, err
}

func querySessions(ctx context.Context, q engine.Queryer, query string, args ...any) (out []Session, err error) {
	err = eachRow(ctx, q, func(r engine.Rows) error {
		var s Session
		if err := r.Scan(s.scanTargets()...); err != nil {
			return err
		}
		out = append(out, s)
		return nil
	}, query, args...)
	return out, err
}

// inBatch is how many ids stand in one list of a query.
const inBatch = 500

// eachIn runs a query that ends in IN, for ids in batches; args are those of
// the parameters before.
func eachIn(ctx context.Context, q engine.Queryer, scan func(engine.Rows) error, query string, ids []string, args ...any) error {
	for batch := range slices.Chunk(ids, inBatch) {
		if err := eachRow(ctx, q, scan, query+` (`+placeholders(len(batch))+`)`, append(slices.Clone(args), anys(batch)...)...); err != nil {
			return err
		}
	}
	return nil
}

// execIn is eachIn for a statement; it returns the number of rows changed.
func execIn(ctx context.Context, tx engine.Execer, query string, ids []string) (changed int64, err error) {
	for batch := range slices.Chunk(ids, inBatch) {
		n, err := tx.Exec(ctx, query+` (`+placeholders(len(batch))+`)`, anys(batch)...)
		if err != nil {
			return changed, err
		}
		changed += n
	}
	return changed, nil
}
