package sessiondb

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// Severity tells how bad a finding is.
type Severity string

// The severities, from the worst on.
const (
	SeverityError   Severity = "error"   // data is lost, or can't be read
	SeverityWarning Severity = "warning" // something is wrong, and can be mended without loss
	SeverityInfo    Severity = "info"    // good to know
)

// Finding is one thing about a store that somebody who looks after it should
// know.
type Finding struct {
	Code     string   `json:"code"` // stable; see [FindingKinds]
	Severity Severity `json:"severity"`
	What     string   `json:"what"`
	Fix      string   `json:"fix,omitempty"` // the command that mends it
}

// CheckOptions shape Check.
type CheckOptions struct {
	// Full compares every entry of every index with its row, and reads every
	// text.
	Full bool
	// Progress is told of each check that begins: what it looks at, how many are
	// done and how many there are. Nil is fine.
	Progress func(what string, done, total int64)
}

// Check looks for damage: broken pages, a schema or a search index that is not
// as it should be, rows that point at nothing, counters that are wrong. It
// reads the whole store, blocks no writer of one with a write-ahead log, and
// changes nothing. The worst come first. A sound store has at most findings of
// [SeverityInfo].
//
// What one check can't read is a finding, and does not stop the next. Check
// fails when the context ends, or when the store can't be read at all; what it
// found until then comes with the error.
func (db *DB) Check(ctx context.Context, o CheckOptions) (out []Finding, err error) {
	defer wrap(&err, "check")
	found, err := db.engine.Check(ctx, engine.CheckOptions(o))
	if err == nil {
		rows, e := db.checkRows(ctx, o)
		found, err = append(found, rows...), e
	}
	return DescribeFindings(db.engine.Info().Place, found), err
}

// DescribeFindings gives what an engine noticed at a place its severity and
// the command that mends it, the worst first.
func DescribeFindings(place string, found []engine.Finding) (out []Finding) {
	for _, f := range found {
		k := kindOf(f.Code)
		fix := f.Fix
		if fix == "" {
			fix = strings.ReplaceAll(k.Fix, "FILE", ShellQuote(place))
		}
		out = append(out, Finding{Code: f.Code, Severity: k.Severity, What: f.What, Fix: fix})
	}
	return SortFindings(out)
}

// SortFindings puts the worst first and keeps the order of the others.
func SortFindings(found []Finding) []Finding {
	slices.SortStableFunc(found, func(a, b Finding) int { return a.Severity.rank() - b.Severity.rank() })
	return found
}

func (s Severity) rank() int {
	return slices.Index([]Severity{SeverityError, SeverityWarning, SeverityInfo}, s)
}

// Worst is the severity of the worst finding, empty when there is none.
func Worst(found []Finding) (worst Severity) {
	for _, f := range found {
		if worst == "" || f.Severity.rank() < worst.rank() {
			worst = f.Severity
		}
	}
	return worst
}

// ShellQuote is a path as it stands in the command of a finding: as it is where
// a shell takes it so, else in quotes.
func ShellQuote(path string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(`/._-+,:=@\`, r)
	}
	if strings.TrimFunc(path, plain) == "" && path != "" {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// unchecked is the finding for a check that could not be done. An error that
// says more of the caller than of the store is handed back.
func unchecked(ctx context.Context, what string, err error) (f engine.Finding, _ error) {
	if ctx.Err() != nil {
		return f, ctx.Err()
	}
	if errors.Is(err, ErrClosed) || errors.Is(err, ErrBusy) {
		return f, err
	}
	return engine.Finding{Code: "unchecked", What: what + " could not be checked: " + err.Error()}, nil
}

// Bad says that something is wrong.
func (s Severity) Bad() bool { return s == SeverityError || s == SeverityWarning }
