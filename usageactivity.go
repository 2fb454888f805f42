package sessiondb

import (
	"context"
	"time"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// WeekHours counts by the day of the week (0 is Sunday, as in [time.Weekday]) and
// the hour of the day, in local time.
type WeekHours [7][24]int64

// ToolUse tells how often a tool answered.
type ToolUse struct {
	Name    string `json:"name"`
	Answers int64  `json:"answers"`
}

// MessagesByHour counts messages by day of the week and hour. The times of f are
// those of the messages here. A message whose time is none is left out.
func (db *DB) MessagesByHour(ctx context.Context, f UsageFilter) (out WeekHours, err error) {
	defer wrap(&err, "messages by hour")
	times := f
	times.Source, times.Tags = "", nil // how far to go back is told by the index alone
	zone := db.now().Location()
	err = db.readPast(ctx, func(q engine.Queryer) error {
		all, bounds, err := times.ofMessages(ctx, q)
		if err != nil {
			return err
		}
		where, args, err := f.ofMessages(ctx, q)
		if err != nil {
			return err
		}
		out = WeekHours{}
		for before := bounds[1]; ; {
			var newest *float64
			err := q.QueryRow(ctx, `SELECT MAX(m.timestamp) FROM messages m`+all, bounds[0], before).Scan(&newest)
			if err != nil || newest == nil {
				return err
			}
			from := max(*newest-hoursAtOnce, bounds[0].(float64))
			args[0], args[1], before = from, before, from
			if err := out.add(ctx, q, zone, where, args); err != nil {
				return err
			}
		}
	})
	return out, err
}

// hoursAtOnce are the seconds that are counted together: to sort the times of all
// messages takes longer, and memory for all of them.
const hoursAtOnce = 7 * 24 * 3600

// add counts the messages of a condition.
func (w *WeekHours) add(ctx context.Context, q engine.Queryer, zone *time.Location, where string, args []any) error {
	return eachRow(ctx, q, func(r engine.Rows) error {
		var quarter float64
		var n int64
		if err := r.Scan(&quarter, &n); err != nil {
			return err
		}
		at := time.Unix(int64(quarter)*quarterHour, 0).In(zone)
		w[at.Weekday()][at.Hour()] += n
		return nil
	}, `SELECT `+quarterSQL+`, COUNT(*) FROM messages m`+where+` GROUP BY `+quarterSQL, args...)
}

// No zone's hours begin elsewhere than at a quarter. What SQL engines share has no
// floor; a moment before a quarter counts as the quarter.
const (
	quarterHour = 900
	quarterSQL  = `ROUND(m.timestamp / 900 - 0.499999)`
)

// ToolUses counts what tools answered, the most first; equal ones by name. The
// times of f are those of the messages here. Answers that name no tool are left
// out.
func (db *DB) ToolUses(ctx context.Context, f UsageFilter) (out []ToolUse, err error) {
	defer wrap(&err, "tool uses")
	err = db.readPast(ctx, func(q engine.Queryer) error {
		where, args, err := f.ofMessages(ctx, q)
		if err != nil {
			return err
		}
		out = nil
		return eachRow(ctx, q, func(r engine.Rows) error {
			var u ToolUse
			err := r.Scan(textColumn{"", &u.Name, new(odd)}, &u.Answers)
			out = append(out, u)
			return err
		}, `SELECT m.tool_name, COUNT(*) FROM messages m`+where+` AND m.role = 'tool' AND m.tool_name <> ''
 GROUP BY m.tool_name ORDER BY COUNT(*) DESC, m.tool_name`, args...)
	})
	return out, err
}

// ofMessages is the filter as a condition on messages m.
func (f UsageFilter) ofMessages(ctx context.Context, q engine.Queryer) (string, []any, error) {
	from, to := float64(-farthestTime), float64(farthestTime)
	if !f.After.IsZero() {
		from = epoch(f.After)
	}
	if !f.Before.IsZero() {
		to = epoch(f.Before)
	}
	where, args := ` WHERE m.timestamp >= ? AND m.timestamp < ?`, []any{from, to}
	if f.Source != "" {
		where += ` AND EXISTS (SELECT 1 FROM sessions s WHERE s.id = m.session_id AND s.source = ?)`
		args = append(args, f.Source)
	}
	tagged, err := isTagged(ctx, q, f.Tags)
	for _, cond := range tagged.ofMessages().conds {
		where += ` AND ` + cond
	}
	return where, append(args, tagged.args...), err
}
