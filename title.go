package sessiondb

import "context"

// MaxTitle is the length a title may have, in characters.
const MaxTitle = 100

// CleanTitle returns a title as it is stored: control and invisible characters
// out, runs of white space to one space, trimmed. Over MaxTitle characters is
// [ErrTitleInvalid].
func CleanTitle(title string) (string, error) { panic("todo") }

// SetTitle names a session; an empty title clears the name. A title that
// another session holds is a [*TitleTakenError], unless the holder is an ended
// ancestor of the same compression chain: then the title moves. An unknown
// session is [ErrNotFound].
func (db *DB) SetTitle(ctx context.Context, id, title string) error { panic("todo") }

// SetTitleAuto names a session, with the next free ` #N` when the title is
// taken, and returns the title that was set.
func (db *DB) SetTitleAuto(ctx context.Context, id, title string) (string, error) { panic("todo") }

// SessionByTitle returns the session of exactly that title, or [ErrNotFound].
func (db *DB) SessionByTitle(ctx context.Context, title string) (Session, error) { panic("todo") }

// ResolveTitle returns the id of the most recently started `title #N`, else of
// the session with exactly that title, or [ErrNotFound].
func (db *DB) ResolveTitle(ctx context.Context, title string) (string, error) { panic("todo") }

// NextTitle returns the next free title of a lineage: `base`, or `base #N`. The
// base is shortened where the number would not fit.
func (db *DB) NextTitle(ctx context.Context, title string) (string, error) { panic("todo") }
