package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"slices"
)

// allowTitles takes the unique index on titles out of a plan when titles are
// taken twice: a store is not shut for that.
func (s *store) allowTitles(ctx context.Context, c *conn, sh *shape, p *plan) error {
	i := slices.IndexFunc(p.create, func(o object) bool { return o.name == titleIndex })
	if i < 0 {
		return nil
	}
	title, twice, err := titleTwice(ctx, c, sh)
	if err != nil || !twice {
		return err
	}
	s.log.Warn("several sessions have the same title: titles are not kept unique until they differ",
		"path", s.path, "title", title)
	p.create = slices.Delete(p.create, i, i+1)
	return nil
}

// titleTwice looks for a title that several sessions have.
func titleTwice(ctx context.Context, c *conn, sh *shape) (title string, twice bool, err error) {
	if !sh.hasColumn("sessions", "title") {
		return "", false, nil
	}
	err = c.queryRow(ctx, []any{&title},
		"SELECT title FROM main.sessions NOT INDEXED WHERE title IS NOT NULL GROUP BY title HAVING COUNT(*) > 1 LIMIT 1")
	if errors.Is(err, sql.ErrNoRows) {
		return "", false, nil
	}
	return title, err == nil, err
}
