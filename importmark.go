package sessiondb

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"time"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// importMark is how far a session was imported from a transcript. It stands in
// state_meta, so that a file that grew gives its new messages only, whatever
// became of the others in the store.
type importMark struct {
	Messages int64   `json:"messages"`         // of the transcript
	Keys     string  `json:"keys"`             // digest of their keys
	Last     int64   `json:"last"`             // id of the last one in the store
	Digest   string  `json:"digest"`           // of the last one as it was stored
	Untold   bool    `json:"untold,omitempty"` // its time is no part of the digest
	Started  float64 `json:"started"`          // of the session: another one may take its id
	Title    string  `json:"title,omitempty"`
	Model    string  `json:"model,omitempty"`
	Usage    Tokens  `json:"usage"`
	APICalls int64   `json:"api_calls"`
}

// markKey is the key of a mark in state_meta.
func markKey(id string) string { return "sessiondb_import:" + id }

// readImportMark returns the mark of a session, nil if it has none that is its own.
func readImportMark(ctx context.Context, q engine.Queryer, s *Session) (*importMark, error) {
	values, err := queryStrings(ctx, q, `SELECT value FROM state_meta WHERE key = ? AND value IS NOT NULL`, markKey(s.ID))
	if err != nil || len(values) == 0 {
		return nil, err
	}
	var m importMark
	if json.Unmarshal([]byte(values[0]), &m) != nil || m.Started != epochOrZero(s) {
		return nil, nil
	}
	return &m, nil
}

func epochOrZero(s *Session) float64 {
	f, _ := epochOrNil(s.StartedAt).(float64)
	return f
}

func (m *importMark) write(ctx context.Context, tx engine.Execer, id string) error {
	value, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return setMeta(ctx, tx, markKey(id), string(value))
}

// chained is the digest of keys with one more.
func chained(keys, key string) string {
	sum := sha256.Sum256([]byte(keys + "\x00" + key))
	return hex.EncodeToString(sum[:12])
}

// digest is that of a message as it is stored. A time that it does not tell may be
// another one whenever the file is read, and is left out.
func (t *transcribedRow) digest() string {
	var m Message
	scanRow(m.scanTargets(), append([]any{int64(0)}, t.row...))
	return messageDigest(&m, t.untold)
}

func messageDigest(m *Message, untold bool) string {
	c := *m
	if untold {
		c.Timestamp = time.Time{}
	}
	sum := sha256.Sum256(renderedMessage(&c))
	return hex.EncodeToString(sum[:12])
}

// said is what two programs store alike of a message, as a number.
func said(m *Message) uint64 {
	content, _ := m.Content.stored()
	text, _ := content.(string)
	sum := sha256.Sum256([]byte(m.Role + "\x00" + text))
	n := uint64(0)
	for _, b := range sum[:8] {
		n = n<<8 | uint64(b)
	}
	return n
}

// saidSoFar lists what the messages of a session say.
func saidSoFar(ctx context.Context, q engine.Queryer, id string) (all []uint64, err error) {
	err = eachMessage(ctx, q, func(m *Message) error {
		all = append(all, said(m))
		return nil
	}, exportMessagesSQL, id, int64(math.MinInt64))
	return all, err
}

// storedSession is sessionByID that returns nil if there is none.
func storedSession(ctx context.Context, q engine.Queryer, id string) (*Session, error) {
	s, err := sessionByID(ctx, q, id)
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	return &s, err
}
