package sqlitefile

import (
	"encoding/binary"
	"math"
	"unicode/utf16"
	"unicode/utf8"
)

// Row is a record: a row of a table, or an entry of an index.
type Row struct {
	ID   int64 // of a row of a table that has ids
	Page uint32
	// Values are nil, int64, float64, string or []byte: one a column, as far as
	// they could be read.
	Values []any
	// Columns is how many the record has.
	Columns int
	// Cut says that something could not be read: columns at the end are missing,
	// and where PartLast is set the last value is the beginning of what it was.
	Cut, PartLast bool
}

// row decodes a record. ok is false for what is none.
func (f *File) row(c cell) (r Row, ok bool) {
	types, body, ok := recordHead(c)
	if !ok {
		return r, false
	}
	p := f.payload(c)
	r = Row{ID: c.id, Page: uint32(c.claim >> 16), Columns: len(types), Values: make([]any, 0, len(types))} // #nosec G115 -- a page number
	for _, t := range types {
		size := typeSize(t)
		if body+size > len(p.bytes) || isText(t) && body < c.size && body+size > p.zero {
			r.Cut = true
			if from := min(len(p.bytes), p.zero); t >= 12 && from > body {
				r.Values, r.PartLast = append(r.Values, f.beginning(t, p.bytes[body:from])), true
			}
			return r, true
		}
		r.Values = append(r.Values, f.value(t, p.bytes[body:body+size]))
		body += size
	}
	return r, true
}

// recordHead reads the types of a record, which stand on its b-tree page or the
// record can't be read. What they add up to must be the size of the record.
func recordHead(c cell) (types []uint64, body int, ok bool) {
	head, at := varint(c.local)
	if at == 0 || head > uint64(len(c.local)) || head < uint64(at) { // #nosec G115 -- at most a page
		return nil, 0, false
	}
	total := head
	for at < int(head) { // #nosec G115 -- at most a page
		t, n := varint(c.local[at:head])
		if n == 0 || t == 10 || t == 11 || t > math.MaxUint32 {
			return nil, 0, false
		}
		at += n
		total += uint64(typeSize(t)) // #nosec G115 -- not negative
		types = append(types, t)
	}
	return types, int(head), total == uint64(c.size) // #nosec G115 -- at most a page
}

func isText(t uint64) bool { return t >= 13 && t&1 == 1 }

func typeSize(t uint64) int {
	if t >= 12 {
		return int(t-12) / 2 // #nosec G115 -- at most 2^31
	}
	return [12]int{0, 1, 2, 3, 4, 6, 8, 8}[t]
}

func (f *File) value(t uint64, b []byte) any {
	switch {
	case t == 0:
		return nil
	case t == 8:
		return int64(0)
	case t == 9:
		return int64(1)
	case t == 7:
		v := math.Float64frombits(binary.BigEndian.Uint64(b))
		if math.IsNaN(v) {
			return nil
		}
		return v
	case t < 7:
		v := int64(int8(b[0])) // #nosec G115 -- the sign
		for _, c := range b[1:] {
			v = v<<8 | int64(c)
		}
		return v
	case isText(t):
		return f.text(b)
	}
	return append([]byte{}, b...)
}

// beginning is the part of a value that is there: text up to a whole character.
func (f *File) beginning(t uint64, b []byte) any {
	switch {
	case !isText(t):
	case f.Header.Encoding != UTF8:
		b = b[:len(b)&^1]
	default:
		for i := 1; i <= min(len(b), utf8.UTFMax); i++ {
			if c := b[len(b)-i]; utf8.RuneStart(c) {
				if !utf8.FullRune(b[len(b)-i:]) {
					b = b[:len(b)-i]
				}
				break
			}
		}
	}
	return f.value(t, b)
}

// text is a text as UTF-8.
func (f *File) text(b []byte) string {
	var order binary.ByteOrder = binary.LittleEndian
	switch f.Header.Encoding {
	case UTF16BE:
		order = binary.BigEndian
	case UTF16LE:
	default:
		return string(b)
	}
	units := make([]uint16, len(b)/2)
	for i := range units {
		units[i] = order.Uint16(b[2*i:])
	}
	return string(utf16.Decode(units))
}
