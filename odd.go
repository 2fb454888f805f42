package sessiondb

import "time"

// The methods below return the value that is stored in place of a field, if
// there is one and the field still is what was read from it.

func (o odd) int(name string, n int64) (any, bool) {
	v, ok := o[name]
	if ok {
		var was int64
		_ = intColumn{name, &was, new(odd)}.Scan(v)
		ok = was == n
	}
	return v, ok
}

func (o odd) float(name string, f *float64) (any, bool) {
	v, ok := o[name]
	if ok {
		var was *float64
		_ = nullFloatColumn{name, &was, new(odd)}.Scan(v)
		ok = was == nil && f == nil || was != nil && f != nil && *was == *f
	}
	return v, ok
}

func (o odd) time(name string, t time.Time) (any, bool) {
	v, ok := o[name]
	if ok {
		var was time.Time
		_ = timeColumn{name, &was, new(odd)}.Scan(v)
		ok = was.Equal(t)
	}
	return v, ok
}
