package sqlite

import (
	"context"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// Check implements [engine.Engine].
func (s *store) Check(context.Context) ([]engine.Finding, error) { return nil, nil }

// Compact implements [engine.Engine].
func (s *store) Compact(ctx context.Context) error {
	_, err := s.w.exec(ctx, "VACUUM")
	return err
}
