package sessiondb

import "context"

// Kind tells how a session came from its parent.
type Kind string

// The kinds of sessions.
const (
	Root         Kind = "root"
	Continuation Kind = "continuation" // the parent was compressed, this goes on
	Branch       Kind = "branch"
	Delegate     Kind = "delegate" // a subagent's session
)

// LineageNode is one session of a [Lineage].
type LineageNode struct {
	Session
	Kind  Kind
	Depth int
}

// CompressionTip follows compression continuations from a session to the live
// end. A session that was not compressed is its own tip; so is an unknown id.
func (db *DB) CompressionTip(ctx context.Context, id string) (string, error) { panic("todo") }

// ResumeSessionID returns the session to go on with: the tip of the chain, or
// the last one before it that has messages; the id itself if none has.
func (db *DB) ResumeSessionID(ctx context.Context, id string) (string, error) { panic("todo") }

// Ancestors returns a session's chain of parents, root first, without itself.
func (db *DB) Ancestors(ctx context.Context, id string) ([]Session, error) { panic("todo") }

// Descendants returns everything below a session, depth first, without itself.
func (db *DB) Descendants(ctx context.Context, id string) ([]LineageNode, error) { panic("todo") }

// Lineage returns the whole tree a session belongs to, root first, depth
// first. Cycles in damaged data end the walk. Unknown is [ErrNotFound].
func (db *DB) Lineage(ctx context.Context, id string) ([]LineageNode, error) { panic("todo") }
