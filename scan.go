package sessiondb

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// odd holds the values of columns whose stored type is not the declared one,
// by column name, so that a JSON rendering can give back what was stored.
type odd map[string]any

func (o *odd) keep(name string, v any) {
	if *o == nil {
		*o = odd{}
	}
	if b, ok := v.([]byte); ok {
		v = string(b)
	}
	(*o)[name] = v
}

var _ = []engine.TextScanner{textColumn{}, nullTextColumn{}, jsonColumn{}, contentColumn{}}

// The scanners below take any storage class, since SQLite lets any program
// store any type in any column. One bad value never hides a row.

type textColumn struct {
	name string
	dst  *string
	odd  *odd
}

func (c textColumn) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		*c.dst = ""
	case string:
		*c.dst = validText(v)
	case []byte:
		*c.dst = validText(string(v))
	default:
		c.odd.keep(c.name, v)
		*c.dst = fmt.Sprint(v)
	}
	return nil
}

// ScanText implements [engine.TextScanner].
func (c textColumn) ScanText(s *string) error {
	*c.dst = validText(*s)
	return nil
}

type nullTextColumn struct {
	name string
	dst  **string
	odd  *odd
}

func (c nullTextColumn) Scan(src any) error {
	*c.dst = nil
	if src == nil {
		return nil
	}
	var s string
	err := textColumn{c.name, &s, c.odd}.Scan(src)
	*c.dst = &s
	return err
}

// ScanText implements [engine.TextScanner].
func (c nullTextColumn) ScanText(s *string) error {
	*s = validText(*s)
	*c.dst = s
	return nil
}

// intColumn reads NULL as 0, and keeps that it was NULL.
type intColumn struct {
	name string
	dst  *int64
	odd  *odd
}

func (c intColumn) Scan(src any) error {
	*c.dst = 0
	switch v := src.(type) {
	case int64:
		*c.dst = v
	case float64:
		*c.dst = saturated(v)
		c.odd.keep(c.name, v)
	case string:
		n, err := strconv.ParseFloat(v, 64)
		if err == nil {
			*c.dst = saturated(n)
		}
		c.odd.keep(c.name, v)
	default:
		c.odd.keep(c.name, v)
	}
	return nil
}

// saturated is the integer next to f. A total that outgrew its column is stored
// as a float: it must not read as less than nothing.
func saturated(f float64) int64 {
	switch {
	case math.IsNaN(f):
		return 0
	case f >= math.MaxInt64:
		return math.MaxInt64
	case f <= math.MinInt64:
		return math.MinInt64
	}
	return int64(f)
}

type nullIntColumn struct {
	name string
	dst  **int64
	odd  *odd
}

func (c nullIntColumn) Scan(src any) error {
	*c.dst = nil
	if src == nil {
		return nil
	}
	var n int64
	err := intColumn{c.name, &n, c.odd}.Scan(src)
	*c.dst = &n
	return err
}

type nullFloatColumn struct {
	name string
	dst  **float64
	odd  *odd
}

func (c nullFloatColumn) Scan(src any) error {
	*c.dst = nil
	var f float64
	switch v := src.(type) {
	case nil:
		return nil
	case float64:
		f = v
	case int64:
		f = float64(v)
	case string:
		n, err := strconv.ParseFloat(v, 64)
		c.odd.keep(c.name, v)
		if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
			return nil
		}
		f = n
	default:
		c.odd.keep(c.name, v)
		return nil
	}
	*c.dst = &f
	return nil
}

// timeColumn reads an epoch float; NULL, and what can't be read as a time, is
// the zero time.
type timeColumn struct {
	name string
	dst  *time.Time
	odd  *odd
}

func (c timeColumn) Scan(src any) error {
	*c.dst = time.Time{}
	switch v := src.(type) {
	case nil:
	case float64:
		if math.Abs(v) < 1e11 {
			*c.dst = timeFromEpoch(v)
		}
		if c.dst.IsZero() || epoch(*c.dst) != v {
			c.odd.keep(c.name, v)
		}
	case int64:
		*c.dst = time.Unix(v, 0)
	case string:
		*c.dst, _ = parseStoredTime(v)
		c.odd.keep(c.name, v)
	default:
		c.odd.keep(c.name, v)
	}
	return nil
}

// jsonColumn reads JSON text; nil is NULL. Text that is no JSON is kept as it
// is, for whoever renders it to judge.
type jsonColumn struct {
	name string
	dst  *json.RawMessage
	odd  *odd
}

func (c jsonColumn) Scan(src any) error {
	*c.dst = nil
	if src == nil {
		return nil
	}
	var s string
	err := textColumn{c.name, &s, c.odd}.Scan(src)
	*c.dst = json.RawMessage(s)
	return err
}

// ScanText implements [engine.TextScanner].
func (c jsonColumn) ScanText(s *string) error {
	*c.dst = json.RawMessage(validText(*s))
	return nil
}
