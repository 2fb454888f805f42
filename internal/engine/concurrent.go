package engine

import "context"

// Concurrent is an engine that runs writes at the same time where they are about
// different things. On any other, all writes take turns.
type Concurrent interface {
	// WriteAbout is Write for a function that decides by nothing but what names
	// stand for, and changes nothing else. It takes turns with writes that share a
	// name with it, and with those of Write; ids of messages that functions with a
	// name in common make rise in the order of their commits.
	WriteAbout(ctx context.Context, names []string, fn func(Execer) error) error
	// Settled waits for the writes that are under way, and returns the highest id
	// that any message had by then. No message of that id or a lower one comes
	// after it.
	Settled(ctx context.Context) (int64, error)
}
