package sessiondb

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"time"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// DB is an open store. It is safe for concurrent use.
type DB struct {
	engine engine.Engine
	log    *slog.Logger
	now    func() time.Time
	newID  func(time.Time) string
}

// Config is what an engine hands to [New]. The zero value works.
type Config struct {
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Logger receives what no caller can be told; nil discards.
	Logger *slog.Logger
}

// New returns a store on an engine. Programs call the Open function of an
// engine's package instead.
func New(e engine.Engine, c Config) *DB {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return &DB{engine: e, log: c.Logger, now: c.Now, newID: newSessionID}
}

// Close ends the use of the store. Calls that are under way end first.
func (db *DB) Close() error { return db.engine.Close() }

// Info describes an open store.
type Info struct {
	ReadOnly      bool
	SchemaVersion int
}

// Info tells whether the store can be written and which schema it has.
func (db *DB) Info() Info {
	i := db.engine.Info()
	return Info{ReadOnly: i.ReadOnly, SchemaVersion: i.SchemaVersion}
}

// newSessionID returns YYYYMMDD_HHMMSS_ and six random hex digits, in local
// time: the form that the ids of this format have.
func newSessionID(t time.Time) string {
	var b [3]byte
	_, _ = rand.Read(b[:])
	return t.Format("20060102_150405_") + hex.EncodeToString(b[:])
}

func (db *DB) read(ctx context.Context, fn func(engine.Queryer) error) error {
	return db.engine.Read(ctx, fn)
}

func (db *DB) write(ctx context.Context, fn func(engine.Execer) error) error {
	return db.engine.Write(ctx, fn)
}
