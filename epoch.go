package sessiondb

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Times are Unix epoch floats in the database. A float that is read and
// written back is the same float: a nanosecond is finer than what a float of
// today's size resolves. What a time.Time can't hold is kept beside it as it
// was (see odd).

// maxEpoch is later than any time in seconds that is meant as one: of
// milliseconds, it is a day of 1973.
const maxEpoch = 1e11

func timeFromEpoch(f float64) time.Time {
	sec, frac := math.Modf(f)
	return time.Unix(int64(sec), int64(math.Round(frac*1e9)))
}

func epoch(t time.Time) float64 {
	return float64(t.Unix()) + float64(t.Nanosecond())/1e9
}

// epochOrNil is NULL for the zero time.
func epochOrNil(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return epoch(t)
}

// parseStoredTime reads what other programs put where a float belongs. SQLite
// accepts any text there.
func parseStoredTime(s string) (time.Time, bool) {
	s = strings.TrimSpace(s)
	if f, err := strconv.ParseFloat(s, 64); err == nil && !math.IsNaN(f) && math.Abs(f) < maxEpoch {
		return timeFromEpoch(f), true
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999", time.DateOnly} {
		if t, err := time.Parse(layout, s); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}
