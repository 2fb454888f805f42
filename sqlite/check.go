package sqlite

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// The severities of a finding.
const (
	severityError   = "error"
	severityWarning = "warning"
)

// Check implements [engine.Engine]. It reads the whole file in one snapshot.
func (s *store) Check(ctx context.Context) (out []engine.Finding, err error) {
	err = s.Read(ctx, func(q engine.Queryer) error {
		for _, check := range []func(context.Context, *conn) ([]engine.Finding, error){
			s.checkPages, s.checkReferences, s.checkSchema, s.checkIndexes,
		} {
			found, err := check(ctx, q.(readTx).c)
			out = append(out, found...)
			if errors.Is(err, sessiondb.ErrCorrupt) { // the next check may still see more
				out = append(out, engine.Finding{Severity: severityError, What: err.Error()})
				err = nil
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	return out, err
}

// checkPages looks at every page. A full-text table that only another release
// of SQLite calls malformed is no loss: it is made from the messages.
func (s *store) checkPages(ctx context.Context, c *conn) (out []engine.Finding, err error) {
	rows, err := c.query(ctx, "PRAGMA main.quick_check")
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			return nil, err
		}
		switch {
		case line == "ok":
		case strings.Contains(line, "FTS5"):
			out = append(out, engine.Finding{Severity: severityWarning, What: line + "; no message is lost, it can be rebuilt from them"})
		default:
			out = append(out, engine.Finding{Severity: severityError, What: line})
		}
	}
	return out, rows.Err()
}

// checkReferences counts rows that point at nothing.
func (s *store) checkReferences(ctx context.Context, c *conn) (out []engine.Finding, err error) {
	rows, err := c.query(ctx, `SELECT "table", parent, COUNT(*) FROM pragma_foreign_key_check(NULL, 'main') GROUP BY 1, 2 ORDER BY 1, 2`)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var table, parent string
		var n int64
		if err := rows.Scan(&table, &parent, &n); err != nil {
			return nil, err
		}
		out = append(out, engine.Finding{Severity: severityWarning, What: fmt.Sprintf("%d rows of %s refer to %s that do not exist", n, table, parent)})
	}
	return out, rows.Err()
}

// checkSchema names what the first open for writing would add.
func (s *store) checkSchema(ctx context.Context, c *conn) (out []engine.Finding, err error) {
	sh, err := readShape(ctx, c)
	if err != nil || sh.version > SchemaVersion {
		return nil, err
	}
	p := planFor(sh)
	for _, o := range p.create {
		out = append(out, engine.Finding{Severity: severityWarning, What: o.kind + " " + o.name + " is missing"})
	}
	for table, columns := range p.columns {
		for _, col := range columns {
			out = append(out, engine.Finding{Severity: severityWarning, What: "column " + table + "." + col.name + " is missing"})
		}
	}
	for _, index := range append(p.rebuild, p.resync...) {
		out = append(out, engine.Finding{Severity: severityWarning, What: "full-text index " + index + " is not that of schema 11"})
	}
	return out, nil
}

// checkIndexes says whether the full-text tables hold every message.
func (s *store) checkIndexes(ctx context.Context, c *conn) (out []engine.Finding, err error) {
	if s.shape.version != SchemaVersion {
		return nil, nil
	}
	for _, index := range indexes {
		if !s.shape.has(index + "_docsize") {
			continue
		}
		var missing, extra int64
		err := c.queryRow(ctx, []any{&missing, &extra}, `SELECT
 (SELECT COUNT(*) FROM (SELECT id FROM messages EXCEPT SELECT id FROM `+index+`_docsize)),
 (SELECT COUNT(*) FROM (SELECT id FROM `+index+`_docsize EXCEPT SELECT id FROM messages))`)
		if err != nil {
			return nil, err
		}
		if missing+extra > 0 {
			out = append(out, engine.Finding{
				Severity: severityWarning,
				What:     fmt.Sprintf("full-text index %s lacks %d messages and has %d that are gone", index, missing, extra),
			})
		}
	}
	return out, nil
}
