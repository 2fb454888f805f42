package postgres

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// Other programs store text in a column of numbers where the store is a file. A
// column of PostgreSQL takes none. So that everything can be kept here too, such a
// text stands once in the table sessiondb_odd, and the column has a number that
// points at it: a NaN that carries the id in a column of floats, and in a column of
// integers, which is one of NUMERIC, a multiple of a number that none reaches. Both
// come after every other number, as text does in a file, and no sum counts them.
// NUMERIC also keeps fractions, and totals that outgrow an integer.

// A NaN has 51 bits that mean nothing. The first few of its values are those that
// computing leaves.
const (
	quietNaN = 0x7ff8_0000_0000_0000
	oddNaN   = quietNaN + 16
	lastOdd  = 1 << 40
	noOdd    = int64(lastOdd - 1) // of a value that is not known: it equals none
)

func oddFloat(id int64) float64 { return math.Float64frombits(oddNaN + uint64(id)) } // #nosec G115 -- ids are above 0

// oddExponent is that of the number whose multiples point at a text. What is
// added to one is less, and changes nothing.
const oddExponent = 40

var oddUnit = new(big.Int).Exp(big.NewInt(10), big.NewInt(oddExponent), nil)

func oddNumeric(id int64) pgtype.Numeric {
	return pgtype.Numeric{Int: new(big.Int).Mul(oddUnit, big.NewInt(id)), Valid: true}
}

// oddIn is the id that a value read from a column stands for.
func oddIn(v any) (id int64, ok bool) {
	switch v := v.(type) {
	case float64:
		bits := math.Float64bits(v)
		return int64(bits - oddNaN), bits >= oddNaN && bits < oddNaN+lastOdd // #nosec G115 -- below lastOdd
	case pgtype.Numeric:
		if v.Int == nil || v.NaN || v.InfinityModifier != pgtype.Finite || v.Exp < 0 {
			return 0, false
		}
		if v.Exp == 0 && v.Int.BitLen() < 64 { // the usual
			return 0, false
		}
		n := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(v.Exp)), nil)
		n.Quo(n.Mul(n, v.Int), oddUnit)
		return n.Int64(), n.IsInt64() && n.Sign() > 0 && n.Int64() < lastOdd
	}
	return 0, false
}

// oddities are the odd values that were met.
type oddities struct {
	mu     sync.Mutex
	values map[int64]any // strings and blobs
	ids    map[any]int64
}

func (o *oddities) add(id int64, v any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.values == nil {
		o.values, o.ids = map[int64]any{}, map[any]int64{}
	}
	o.values[id], o.ids[v] = v, id
}

func (o *oddities) value(id int64) (any, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	v, ok := o.values[id]
	return v, ok
}

func (o *oddities) id(v any) (int64, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	id, ok := o.ids[v]
	return id, ok
}

// unknownOdd says that a parameter is a value that has no id yet.
type unknownOdd struct{ value any }

func (e *unknownOdd) Error() string { return fmt.Sprintf("%v fits no column of numbers", e.value) }

// oddID is the id of a parameter, if it has one.
func (t *tx) oddID(v any) (int64, error) {
	if id, ok := t.made[v]; ok {
		return id, nil
	}
	if id, ok := t.store.odd.id(v); ok {
		return id, nil
	}
	return noOdd, &unknownOdd{v}
}

// keepOdd gives a value an id. A reader can't, but then nothing can equal it.
func (t *tx) keepOdd(ctx context.Context, v any) error {
	if t.made == nil {
		t.made = map[any]int64{}
	}
	id := noOdd
	query := `SELECT id FROM sessiondb_odd WHERE value = $1 ORDER BY id LIMIT 1`
	if t.writes {
		// Two that make the same value at the same moment would make it twice.
		if _, err := t.conn.Exec(ctx, `SELECT pg_advisory_xact_lock(`+t.store.lockKey("odd")+`)`); err != nil {
			return err
		}
		query = `WITH old AS (` + query + `), made AS (
 INSERT INTO sessiondb_odd (value) SELECT $1 WHERE NOT EXISTS (SELECT 1 FROM old) RETURNING id)
 SELECT id FROM old UNION ALL SELECT id FROM made`
	}
	err := t.conn.QueryRow(ctx, query, encodeValue(v)).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		err = nil
	}
	t.made[v] = id
	return err
}

// findOdd is the value behind an id; one that is lost reads as NULL.
func (t *tx) findOdd(ctx context.Context, id int64) (any, error) {
	if v, ok := t.store.odd.value(id); ok {
		return v, nil
	}
	var stored string
	err := t.conn.QueryRow(ctx, `SELECT value FROM sessiondb_odd WHERE id = $1`, id).Scan(&stored)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	v := decodeValue(stored)
	if err == nil && !t.writes { // what a writer sees may be undone
		t.store.odd.add(id, v)
	}
	return v, err
}
