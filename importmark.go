package sessiondb

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"math"
	"strconv"
	"time"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// importMark is what was imported of a session from transcripts. It stands in
// state_meta, so that a file which grew, or goes on where another one stops, gives
// its new messages only, whatever became of the others in the store.
type importMark struct {
	Messages int64   `json:"messages"` // that were imported
	Known    keyList `json:"known,omitempty"`
	Used     keyList `json:"used,omitempty"`   // of responses whose tokens it counts
	LastUse  Tokens  `json:"last_use"`         // what the last of them used
	Last     int64   `json:"last"`             // id of the last message in the store
	Digest   string  `json:"digest"`           // of the last one as it was stored
	Size     int     `json:"size,omitempty"`   // likewise
	Untold   bool    `json:"untold,omitempty"` // its time is no part of the digest
	Until    float64 `json:"until,omitempty"`  // the highest time of a message
	Started  float64 `json:"started"`          // of the session: another one may take its id
	Title    string  `json:"title,omitempty"`  // the last one of the file
	Titles   int     `json:"titles,omitempty"` // how many the file had
	Model    string  `json:"model,omitempty"`
	Fork     bool    `json:"fork,omitempty"`      // the file says that it is one
	Keys     string  `json:"keys,omitempty"`      // earlier versions: a digest of all keys, in their order
	Usage    Tokens  `json:"usage,omitzero"`      // earlier versions: of all responses
	APICalls int64   `json:"api_calls,omitempty"` // likewise
}

// old says that an earlier version wrote the mark, which knew no keys one by one.
func (m *importMark) old() bool { return m != nil && m.Keys != "" }

// keyList is numbers of keys, behind each other as base64 of the same length.
type keyList string

const keyLength = 11

// number is what a key is known by: the n-th of its kind in a file, from 0.
func number(key string, n int) uint64 {
	if n > 0 {
		key += "\x00" + strconv.Itoa(n)
	}
	sum := sha256.Sum256([]byte(key))
	return binary.BigEndian.Uint64(sum[:])
}

// with is the list with more behind it.
func (l keyList) with(more []uint64) keyList {
	b := make([]byte, 0, len(l)+len(more)*keyLength)
	b = append(b, l...)
	for _, n := range more {
		b = base64.RawStdEncoding.AppendEncode(b, binary.BigEndian.AppendUint64(nil, n))
	}
	return keyList(b)
}

// all yields the numbers, up to one that is damaged.
func (l keyList) all() iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		var b [8]byte
		for ; len(l) >= keyLength; l = l[keyLength:] {
			if _, err := base64.RawStdEncoding.Decode(b[:], []byte(l[:keyLength])); err != nil || !yield(binary.BigEndian.Uint64(b[:])) {
				return
			}
		}
	}
}

// last is the last number, 0 if there is none.
func (l keyList) last() (n uint64) {
	for n = range l[max(0, len(l)-keyLength):].all() {
	}
	return n
}

// markPrefix begins the keys of marks in state_meta.
const markPrefix = "sessiondb_import:"

func markKey(id string) string { return markPrefix + id }

// readImportMark returns the mark of a session, nil if it has none that is its own.
func readImportMark(ctx context.Context, q engine.Queryer, s *Session) (*importMark, error) {
	values, err := queryStrings(ctx, q, `SELECT value FROM state_meta WHERE key = ? AND value IS NOT NULL`, markKey(s.ID))
	if err != nil || len(values) == 0 {
		return nil, err
	}
	return parseMark(values[0], s), nil
}

// parseMark reads the mark of a session, nil if it is of another one that had its id.
func parseMark(value string, s *Session) *importMark {
	var m importMark
	if json.Unmarshal([]byte(value), &m) != nil || m.Started != epochOrZero(s) {
		return nil
	}
	return &m
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

// digest is that of a message as it is stored, and its size. A time that it does not
// tell may be another one whenever the file is read, and is left out.
func (t *transcribedRow) digest() (digest string, size int) {
	var m Message
	scanRow(m.scanTargets(), append([]any{int64(0)}, t.row...))
	return messageDigest(&m, t.untold)
}

func messageDigest(m *Message, untold bool) (digest string, size int) {
	c := *m
	if untold {
		c.Timestamp = time.Time{}
	}
	b := renderedMessage(&c)
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:12]), len(b)
}

// said is what two programs store alike of a message, as a number.
func said(m *Message) uint64 {
	content, _ := m.Content.stored()
	text, _ := content.(string)
	h := sha256.New()
	_, _ = io.WriteString(h, m.Role+"\x00")
	_, _ = io.WriteString(h, text)
	return binary.BigEndian.Uint64(h.Sum(nil))
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
