package sessiondb

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// What can't be so is imported all the same, as it is, and named.

// oddTimes are times of a session and its messages that are none.
type oddTimes struct {
	first string // what is the matter with the first of them
	n     int
}

func (o *oddTimes) saw(what string, v any) {
	if o.n++; o.n == 1 {
		o.first = fmt.Sprintf("%s is no time: %s", what, shownTime(v))
	}
}

func (o *oddTimes) reason() string {
	if o.n > 1 {
		return fmt.Sprintf("%s, and %d more", o.first, o.n-1)
	}
	return o.first
}

// isTime says whether a value can be a time in seconds. NULL is none that is told.
func isTime(v any) bool {
	switch v := v.(type) {
	case float64:
		return math.Abs(v) < maxEpoch // false for NaN
	case string:
		_, ok := parseStoredTime(v)
		return ok
	}
	return true
}

// shownTime is a value that is no time, of bounded length.
func shownTime(v any) string {
	if f, ok := v.(float64); ok {
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	return fmt.Sprintf("%.40q", v)
}

// odd tells what can't be so of a session that is imported.
func (b *importBatch) odd(s *importedSession, reason string) {
	if reason != "" {
		b.report.Odd = append(b.report.Odd, b.im.issue(s, reason))
	}
}

// closesCircle tells if a session and those that it is the parent of stand in a
// circle of parents. Of sessions that came in the order they began, none waits for
// its parent, so that nothing is looked for.
func (b *importBatch) closesCircle(ctx context.Context, s *importedSession, parent any, children []waitingChild) error {
	if b.tx == nil {
		b.im.parents[s.id()] = s.text(parentAt)
	}
	at, _ := parent.(string) // empty where it did not come yet
	closes := func(id string) bool {
		return id == s.id() || slices.ContainsFunc(children, func(c waitingChild) bool { return c.id == id })
	}
	if at == "" || len(children) == 0 && !closes(at) {
		return nil
	}
	circle := []string{s.id()}
	for at != "" && !slices.Contains(circle, at) {
		circle = append(circle, at)
		if closes(at) {
			break
		}
		var err error
		if at, err = b.parentOf(ctx, at); err != nil {
			return err
		}
	}
	if closes(at) {
		b.odd(s, inCircle(circle))
	}
	return nil
}

// parentOf is the parent of a session that is stored, or would be by now.
func (b *importBatch) parentOf(ctx context.Context, id string) (string, error) {
	if p := b.im.parents[id]; p != "" {
		return p, nil
	}
	ids, err := queryStrings(ctx, b.q, `SELECT parent_session_id FROM sessions WHERE id = ? AND parent_session_id IS NOT NULL`, id)
	if err != nil || len(ids) == 0 {
		return "", err
	}
	return ids[0], nil
}

// inCircle says that sessions are their own ancestors.
func inCircle(ids []string) string {
	return counted(int64(len(ids)), "session") + " in a circle of parents: " + some(ids)
}
