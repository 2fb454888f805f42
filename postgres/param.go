package postgres

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"
)

// numbered turns each `?` of a statement into $1, $2 and so on, except in quotes.
func numbered(query string) string {
	if strings.IndexByte(query, '?') < 0 {
		return query
	}
	b := make([]byte, 0, len(query)+16)
	n, quoted := 0, false
	for i := range len(query) {
		c := query[i]
		if c == '\'' {
			quoted = !quoted
		}
		if c != '?' || quoted {
			b = append(b, c)
			continue
		}
		n++
		b = strconv.AppendInt(append(b, '$'), int64(n), 10)
	}
	return string(b)
}

// param is a parameter that becomes what the statement needs there, as SQLite
// does by the affinity of a column: text that is a number becomes one, and what
// fits no column of numbers is kept beside it (see oddities).
type param struct {
	v   any
	odd func(any) (int64, error)
	err error // it has no id yet
}

// params wraps what has to become something else.
func (t *tx) params(args []any) []any {
	out := make([]any, len(args))
	for i, v := range args {
		switch v := v.(type) {
		case nil, []int64, []string:
			out[i] = v
		case *string:
			if v != nil {
				out[i] = encodeText(*v)
			}
		default:
			out[i] = &param{v: number(v), odd: t.oddID}
		}
	}
	return out
}

// id is the id that an odd value has. The error stays: the driver tries to send a
// parameter as text when it can't be sent otherwise.
func (p *param) id(v any) (id int64) {
	id, p.err = p.odd(v)
	return id
}

// Int64Value implements [pgtype.Int64Valuer].
func (p *param) Int64Value() (pgtype.Int8, error) {
	switch v := p.v.(type) {
	case int64:
		return pgtype.Int8{Int64: v, Valid: true}, nil
	case float64:
		return pgtype.Int8{Int64: int64(v), Valid: !math.IsNaN(v)}, nil
	}
	return pgtype.Int8{}, fmt.Errorf("%q is no integer", p.v)
}

// NumericValue implements [pgtype.NumericValuer].
func (p *param) NumericValue() (n pgtype.Numeric, err error) {
	switch v := affine(p.v).(type) {
	case int64:
		return pgtype.Numeric{Int: big.NewInt(v), Valid: true}, nil
	case float64:
		switch {
		case math.IsNaN(v):
		case math.IsInf(v, 1):
			n = pgtype.Numeric{InfinityModifier: pgtype.Infinity, Valid: true}
		case math.IsInf(v, -1):
			n = pgtype.Numeric{InfinityModifier: pgtype.NegativeInfinity, Valid: true}
		default:
			err = n.Scan(strconv.FormatFloat(v, 'f', -1, 64))
		}
		return n, err
	default:
		return oddNumeric(p.id(v)), p.err
	}
}

// Float64Value implements [pgtype.Float64Valuer].
func (p *param) Float64Value() (pgtype.Float8, error) {
	switch v := affine(p.v).(type) {
	case int64:
		return pgtype.Float8{Float64: float64(v), Valid: true}, nil
	case float64:
		return pgtype.Float8{Float64: v, Valid: !math.IsNaN(v)}, nil
	default:
		return pgtype.Float8{Float64: oddFloat(p.id(v)), Valid: true}, p.err
	}
}

// TextValue implements [pgtype.TextValuer].
func (p *param) TextValue() (pgtype.Text, error) {
	return pgtype.Text{String: encodeValue(p.v), Valid: true}, p.err
}

// number is an int64 or a float64 of what is one, and a blob of bytes; anything else
// is itself.
func number(v any) any {
	switch v := v.(type) {
	case int:
		return int64(v)
	case []byte:
		return blob(v)
	case bool:
		if v {
			return int64(1)
		}
		return int64(0)
	}
	return v
}

// affine is the number that a text spells, as a column of numbers takes it.
func affine(v any) any {
	text, ok := v.(string)
	if !ok {
		return v
	}
	s := strings.Trim(text, " \t\n\v\f\r")
	if strings.Trim(s, "0123456789+-.eE") != "" {
		return v
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n
	}
	if f, err := strconv.ParseFloat(s, 64); err == nil {
		return f
	}
	return v
}
