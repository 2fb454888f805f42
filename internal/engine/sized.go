package engine

import "context"

// Sized is an engine whose database is no file that others could measure.
type Sized interface {
	// Size is how many bytes it takes, with its indexes, without looking at rows.
	Size(ctx context.Context) (int64, error)
}
