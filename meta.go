package sessiondb

import (
	"context"
	"database/sql"
	"errors"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// Meta returns a value of the key/value table; ok is false when there is none.
func (db *DB) Meta(ctx context.Context, key string) (value string, ok bool, err error) {
	defer wrap(&err, "meta %q", key)
	var v *string
	err = db.read(ctx, func(q engine.Queryer) error {
		return q.QueryRow(ctx, `SELECT value FROM state_meta WHERE key = ?`, validText(key)).Scan(&v)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return "", false, nil
	}
	if err != nil || v == nil {
		return "", false, err
	}
	return *v, true, nil
}

// SetMeta stores a value under a key, replacing the old one.
func (db *DB) SetMeta(ctx context.Context, key, value string) (err error) {
	defer wrap(&err, "set meta %q", key)
	return db.write(ctx, func(tx engine.Execer) error { return setMeta(ctx, tx, key, value) })
}

func setMeta(ctx context.Context, tx engine.Execer, key, value string) error {
	_, err := tx.Exec(ctx, `INSERT INTO state_meta (key, value) VALUES (?, ?)
 ON CONFLICT (key) DO UPDATE SET value = excluded.value`, validText(key), validText(value))
	return err
}
