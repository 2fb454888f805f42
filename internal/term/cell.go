package term

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Cell is a value in a table: as people read it and as programs do.
type Cell struct{ human, plain string }

// Text is a cell of text.
func Text(s string) Cell { return Cell{Line(s), Line(s)} }

// Alternatives is a cell that reads differently to people and to programs.
func Alternatives(human, plain string) Cell { return Cell{Line(human), Line(plain)} }

// Int is a cell of a number, its digits in groups of three for people.
func Int(n int64) Cell { return Cell{Grouped(n), strconv.FormatInt(n, 10)} }

// Money is a cell of US dollars; nil is empty.
func Money(usd *float64) Cell {
	if usd == nil {
		return Cell{}
	}
	return Cell{fmt.Sprintf("$%.4f", *usd), strconv.FormatFloat(*usd, 'f', -1, 64)}
}

// Time is a cell of a time: how long before now, or RFC 3339 in UTC. The zero
// time is unknown.
func Time(now, t time.Time) Cell {
	if t.IsZero() {
		return Cell{"?", ""}
	}
	return Cell{Ago(now, t), RFC3339(t)}
}

// RFC3339 gives a time in UTC, to the second.
func RFC3339(t time.Time) string { return t.UTC().Format(time.RFC3339) }

const day = 24 * time.Hour

// Ago tells how long before now t was; over a month before, or in the future,
// its date.
func Ago(now, t time.Time) string {
	d := now.Sub(t)
	switch {
	case t.IsZero():
		return "?"
	case d < -time.Minute:
		return t.Format(time.DateOnly)
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%dm ago", d/time.Minute)
	case d < day:
		return fmt.Sprintf("%dh ago", d/time.Hour)
	case d < 31*day:
		return fmt.Sprintf("%dd ago", d/day)
	}
	return t.Format(time.DateOnly)
}

// Grouped writes a number with commas between groups of three digits.
func Grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	var parts []string
	for len(s) > 3 {
		parts = append([]string{s[len(s)-3:]}, parts...)
		s = s[:len(s)-3]
	}
	return sign + strings.Join(append([]string{s}, parts...), ",")
}

// Bytes writes a size as people read it.
func Bytes(n int64) string {
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	f, unit := float64(n), ""
	for _, unit = range []string{"KiB", "MiB", "GiB", "TiB"} {
		if f /= 1024; f < 1024 {
			break
		}
	}
	return fmt.Sprintf("%.1f %s", f, unit)
}
