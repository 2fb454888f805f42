package sessiondb

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
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

	tellDamage func(error)
}

// Config is what an engine hands to [New]. The zero value works.
type Config struct {
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Logger receives what no caller can be told; nil discards.
	Logger *slog.Logger
	// Damaged hears of reads that went past damaged pages, with a [*DamageError].
	// They then return what could be read and no error. It may be called by
	// several goroutines; nil makes it the error of the read.
	Damaged func(error)
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
	return &DB{engine: e, log: c.Logger, now: c.Now, newID: newSessionID, tellDamage: c.Damaged}
}

// Close ends the use of the store. Calls that are under way end first.
func (db *DB) Close() error { return db.engine.Close() }

// Info describes an open store.
type Info struct {
	ReadOnly      bool
	SchemaVersion int
}

// Place is what a command line calls the store: the path of the file, or the address
// on a server, without a password.
func (db *DB) Place() string { return db.engine.Info().Place }

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

// readPast is read that goes past damage: if fn fails on damaged pages, it runs
// again on what can be read. What it then returned is told to the hook of the
// [Config]; without one it is a [*DamageError]. fn may run more than once.
func (db *DB) readPast(ctx context.Context, fn func(engine.Queryer) error) error {
	return db.engine.Read(ctx, func(q engine.Queryer) error {
		err := fn(q)
		s, ok := q.(engine.Salvager)
		if !ok || !errors.Is(err, ErrCorrupt) {
			return err
		}
		for cause := err; ; {
			loss, more, salvageErr := s.Salvage(ctx)
			if salvageErr != nil || !more {
				return errors.Join(cause, salvageErr)
			}
			if err = fn(q); errors.Is(err, ErrCorrupt) {
				continue
			}
			return db.damaged(err, &DamageError{Tables: loss.Tables, cause: cause})
		}
	})
}

// damaged is the error of a read that went past damage and then returned err.
func (db *DB) damaged(err error, damage *DamageError) error {
	if err != nil {
		return fmt.Errorf("%w, as far as it can be read: %w", err, damage)
	}
	if db.tellDamage == nil {
		return damage
	}
	db.tellDamage(damage)
	return nil
}

func (db *DB) write(ctx context.Context, fn func(engine.Execer) error) error {
	return db.engine.Write(ctx, fn)
}

// allTitles is a name beside those of sessions: no session has an id like it.
const allTitles = "\x00titles"

// writeAbout is write for a function that decides by nothing but one session, or
// what else the names stand for, and changes nothing else. Of other sessions it
// may look whether they exist.
func (db *DB) writeAbout(ctx context.Context, fn func(engine.Execer) error, names ...string) error {
	if e, ok := db.engine.(engine.Concurrent); ok {
		return e.WriteAbout(ctx, names, fn)
	}
	return db.engine.Write(ctx, fn)
}
