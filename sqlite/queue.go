package sqlite

import "context"

type queue struct{}

func openQueue(path string, create bool) *queue { return &queue{} }
func (q *queue) usable() bool                   { return false }
func (q *queue) path() string                   { return "" }
func (q *queue) close()                         {}
func (q *queue) acquire(ctx context.Context) (release func(), err error) {
	return func() {}, nil
}
