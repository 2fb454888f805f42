package sessiondb

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// copyKey is where the target of a copy keeps how far it is, until it is done.
const copyKey = "sessiondb_copy"

// copyMark tells what a copy has stored. It is written with the rows it counts.
type copyMark struct {
	From     string `json:"from"`   // the place of the source
	Source   string `json:"source"` // what tells the source from others
	Sessions int64  `json:"sessions"`
	Messages int64  `json:"messages"`
	Last     *int64 `json:"last"` // id of the last message
}

func readMark(ctx context.Context, q engine.Queryer) (m *copyMark, err error) {
	values, err := queryStrings(ctx, q, `SELECT value FROM state_meta WHERE key = ?`, copyKey)
	if err != nil || len(values) == 0 {
		return nil, err
	}
	m = &copyMark{}
	if err := json.Unmarshal([]byte(values[0]), m); err != nil {
		return nil, fmt.Errorf("state_meta %q: %w", copyKey, err)
	}
	return m, nil
}

func (m copyMark) write(ctx context.Context, tx engine.Execer) error {
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return setMeta(ctx, tx, copyKey, string(b))
}

// add counts rows that were stored, or with n below 0 removed.
func (m *copyMark) add(t *copyTable, n int64) {
	switch t {
	case sessionsCopied:
		m.Sessions += n
	case messagesCopied:
		m.Messages += n
	}
}

// sourceOf tells a store from others by what it began with.
func sourceOf(ctx context.Context, db *DB, q engine.Queryer) (string, error) {
	h := sha256.New()
	for _, t := range []*copyTable{sessionsCopied, messagesCopied} {
		rows, _, err := t.page(ctx, q, t.order(db), nil, 1)
		if err != nil {
			return "", err
		}
		for _, row := range rows {
			if t == sessionsCopied {
				row = []any{row[idAt], row[startedAt]}
			} else {
				row = []any{row[messageIDAt], row[messageSessionAt], row[messageTimeAt]}
			}
			_, _ = h.Write(appendRow(nil, row))
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:16]), nil
}

// begin sees to it that source and target may be copied, and finds out whether it
// is a copy that was begun.
func (c *copier) begin(ctx context.Context) error {
	place := c.from.engine.Info().Place
	switch target := c.to.engine.Info(); {
	case target.ReadOnly && target.SchemaVersion > 0 && !target.Current:
		return fmt.Errorf("%w: the target has schema version %d", ErrUncopied, target.SchemaVersion)
	case target.ReadOnly:
		return ErrReadOnly
	}
	if err := c.from.fits(ctx, c.to.engine.Info().SchemaVersion); err != nil {
		return err
	}
	var source string
	err := c.from.read(ctx, func(q engine.Queryer) (err error) {
		source, err = sourceOf(ctx, c.from, q)
		return err
	})
	if err != nil {
		return err
	}
	return c.to.write(ctx, func(tx engine.Execer) error {
		m, err := readMark(ctx, tx)
		switch {
		case err != nil:
			return err
		case m != nil && (m.From != place || m.Source != source):
			return fmt.Errorf("%w: a copy of %s was begun in it", ErrNotEmpty, m.From)
		case m != nil:
			c.mark, c.r.Resumed = *m, true
			return c.untouched(ctx, tx)
		}
		c.mark, c.r.Resumed = copyMark{From: place, Source: source}, false
		for _, t := range copyTables {
			if n, err := t.count(ctx, tx); err != nil || n > 0 {
				return cmp.Or(err, fmt.Errorf("%w: it has %s in %s", ErrNotEmpty, counted(n, "row"), t.name))
			}
		}
		return c.mark.write(ctx, tx)
	})
}

// untouched sees to it that the target holds what this copy stored and no more.
func (c *copier) untouched(ctx context.Context, q engine.Queryer) error {
	for _, t := range []*copyTable{sessionsCopied, messagesCopied} {
		n, err := t.count(ctx, q)
		if err != nil {
			return err
		}
		want := c.mark.Sessions
		if t == messagesCopied {
			want = c.mark.Messages
		}
		if n != want {
			return fmt.Errorf("%w: another program wrote to it while the copy was not done: it has %d rows in %s, and %d were copied", ErrNotEmpty, n, t.name, want)
		}
	}
	return nil
}

// CheckCopy returns the [ErrUncopied] that [Copy] would refuse the source with, for a
// target of a schema version: so no target has to be made for it.
func CheckCopy(ctx context.Context, from *DB, version int) (err error) {
	defer wrap(&err, "copy")
	return from.fits(ctx, version)
}

// fits looks for what no target of a schema version can hold.
func (db *DB) fits(ctx context.Context, version int) error {
	if v := db.engine.Info().SchemaVersion; v > version {
		return fmt.Errorf("%w: the source has schema version %d, and what is new in it would be left out: this program knows version %d",
			ErrUncopied, v, version)
	}
	return db.read(ctx, func(q engine.Queryer) error {
		if m, err := readMark(ctx, q); err != nil {
			return err
		} else if m != nil {
			return fmt.Errorf("%w: the source is itself a copy that is not done, of %s", ErrUncopied, m.From)
		}
		for _, t := range copyTables {
			some, err := t.in(ctx, q)
			if err != nil {
				return err
			}
			var n int64
			if some {
				err = q.QueryRow(ctx, `SELECT COUNT(*) FROM `+t.name+` WHERE `+t.key[0]+` IS NULL`).Scan(&n)
			}
			if err != nil || n > 0 {
				return cmp.Or(err, fmt.Errorf("%w: %s of %s without %s", ErrUncopied, counted(n, "row"), t.name, t.key[0]))
			}
		}
		for _, look := range []func(*DB, context.Context, engine.Queryer) ([]engine.Finding, error){(*DB).checkOrphans, (*DB).checkParents, (*DB).checkTitles} {
			found, err := look(db, ctx, q)
			if err != nil {
				return err
			}
			for _, f := range found {
				if f.Code != "parent_cycle" {
					return fmt.Errorf("%w: %s; doctor says what mends it", ErrUncopied, f.What)
				}
			}
		}
		return nil
	})
}
