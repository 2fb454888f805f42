package sqlite

import (
	"context"
	"strings"
	"testing"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/engine"
	"github.com/sessiondb-go/sessiondb/internal/fixture"
)

// planning is a store that tells the plan of all that is read.
type planning struct {
	*store
	t     *testing.T
	plans []string
}

func (p *planning) Read(ctx context.Context, fn func(engine.Queryer) error) error {
	return p.store.Read(ctx, func(q engine.Queryer) error {
		r := &planner{Queryer: q, t: p.t}
		err := fn(r)
		p.plans = append(p.plans, r.plans...)
		return err
	})
}

// TestSourcesPlan sees that the sources are counted without reading a session.
func TestSourcesPlan(t *testing.T) {
	s, err := openStore(t.Context(), fixture.Copy(t, "hermes-v11.db"), Options{}, settings{})
	if err != nil {
		t.Fatal(err)
	}
	p := &planning{store: s, t: t}
	db := sessiondb.New(p, sessiondb.Config{})
	defer func() { _ = db.Close() }()
	sources, err := db.Sources(t.Context())
	if err != nil || len(sources) < 2 {
		t.Fatalf("%v, %v", sources, err)
	}
	if plan := strings.Join(p.plans, "\n"); plan != "SCAN sessions USING COVERING INDEX idx_sessions_source" {
		t.Error(plan)
	}
}
