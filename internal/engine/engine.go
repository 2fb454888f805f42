// Package engine is the seam between the rules of the store and the database
// that keeps it. It holds no behaviour: an engine implements these interfaces,
// package sessiondb calls them.
//
// The SQL that crosses the seam is what SQLite and PostgreSQL share, with `?`
// for parameters. What really differs (matching text, snippets, locking,
// maintenance) is a method.
package engine

import (
	"context"

	"github.com/sessiondb-go/sessiondb/internal/searchql"
)

// Rows is the result of a query, read forward once.
type Rows interface {
	Next() bool
	Scan(dest ...any) error
	Err() error
	Close() error
}

// TextScanner is a target of Scan, beside sql.Scanner, that may get a text by a
// pointer which it then owns: that saves making a value of any of it.
type TextScanner interface{ ScanText(s *string) error }

// Row is a result of at most one row. Scan returns sql.ErrNoRows when there is
// none.
type Row interface {
	Scan(dest ...any) error
}

// Queryer reads inside a transaction.
type Queryer interface {
	Query(ctx context.Context, query string, args ...any) (Rows, error)
	QueryRow(ctx context.Context, query string, args ...any) Row
	// QueryColumns is Query for `SELECT columns rest`, with parameters in the
	// rest alone. An engine may read rows of many columns quicker this way.
	QueryColumns(ctx context.Context, columns, rest string, args ...any) (Rows, error)
	// Columns are those of a table that a row can be written with, in order, also
	// the ones that other programs added; none if there is no such table.
	Columns(ctx context.Context, table string) ([]Column, error)
}

// Column is a column of a table.
type Column struct {
	Name string
	// Type declares another column that takes the same values; it may be empty.
	Type string
}

// Execer reads and writes inside a transaction. Exec returns the number of
// rows changed.
type Execer interface {
	Queryer
	Exec(ctx context.Context, query string, args ...any) (int64, error)
}

// Engine is one open database.
type Engine interface {
	// Read runs fn on one consistent snapshot of the database that is at its place,
	// or was until a moment ago.
	Read(ctx context.Context, fn func(Queryer) error) error
	// Write runs fn in one atomic transaction and returns after it is durable.
	// It retries on contention, so fn may run more than once and must have no
	// effect outside the transaction. An error from fn undoes what fn did.
	Write(ctx context.Context, fn func(Execer) error) error
	// Match finds messages within the snapshot q, which Read handed out.
	Match(ctx context.Context, q Queryer, m Match) (Matches, error)
	Maintenance
	// Info tells the few facts about this database that the SQL depends on.
	Info() Info
	Close() error
}

// Paired is an engine that can read one snapshot in two goroutines at a time.
type Paired interface {
	// ReadPair is Engine.Read with two readers of the same snapshot. The second is
	// nil where there can't be one.
	ReadPair(ctx context.Context, fn func(a, b Queryer) error) error
}

// Info is what the rules need to know about the database behind the seam.
type Info struct {
	// ReadOnly is set when every Write is refused.
	ReadOnly bool
	// SchemaVersion is the version row found at open.
	SchemaVersion int
	// ActivityIndex says that messages can be walked by descending timestamp
	// without a sort. Files that only other programs wrote lack it.
	ActivityIndex bool
	// Archived says that sessions have the column archived of newer schemas.
	Archived bool
	// Current says that the schema is the one the rules are made for: other
	// programs may count in other ways.
	Current bool
	// Place is what a command line calls this database: a path.
	Place string
	// CreationOrder is a column of sessions whose order is that in which they
	// were created; empty where there is none.
	CreationOrder string
}

// Match is a search over messages.
type Match struct {
	Query searchql.Query
	// Where is a condition on a message m and its session s, with its
	// parameters; empty is none. The filters of Query are part of it, or of
	// Sessions: an engine need not look at those, but may see by them that few
	// messages pass.
	Where string
	Args  []any
	// Sessions, if not nil, are the only sessions to look in.
	Sessions []string

	Order Order
	// MaxRanked, if it is not 0, is how many messages may have what is looked for
	// and still be ordered by rank: of more, the newest come first. Where is not
	// part of that number. An engine may rank all where that takes less time.
	MaxRanked int

	Limit  int // 0 means no limit
	Offset int
	// Each, if it is set, gets the hits one by one instead of Matches.Hits,
	// until it returns false. It must not use the snapshot.
	Each func(Hit) bool
	// Count asks for the number of all hits, and for nothing else.
	Count bool
	// Rough lets a count leave out what only a slower way finds.
	Rough bool
	// Tally asks for the rough count beside the hits, where it costs little more.
	Tally bool
}

// Order is how hits are sorted. Ties go by message id.
type Order int

// The orders a search can ask for.
const (
	ByRank Order = iota
	Newest
	Oldest
)

// Hit is one matching message.
type Hit struct {
	MessageID int64
	SessionID string
	Rank      float64 // lower is better
}

// Matches is what a search found.
type Matches struct {
	Hits  []Hit
	Order Order // of the hits
	// Counts is the number of hits by session; nil unless asked for. A tally may
	// be nil too.
	Counts map[string]int64
	// Notices tell what an index could not do.
	Notices []string
	// Unreadable is how many hits are left out, since they stand on damaged
	// pages. A notice tells of them.
	Unreadable int
}
