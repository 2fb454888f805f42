package sqlite

import (
	"context"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

func (s *store) Match(ctx context.Context, q engine.Queryer, m engine.Match) ([]engine.Hit, error) {
	panic("todo")
}
