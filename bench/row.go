package main

import (
	"context"
	"fmt"
	"regexp"
	"slices"
)

// A row is one thing that is measured on several sides.
type row struct {
	name   string
	data   string // what it is measured on
	sides  []side
	checks []check
}

// A side is one way to do it: ours, or a baseline.
type side struct {
	name string
	run  func(ctx context.Context) (outcome, error)
}

// outcome is what one run showed: figures by name, and what was answered, to
// see that the sides did the same.
type outcome struct {
	figures map[string]float64
	answer  string
}

// seconds is the outcome of a run that only took its time.
func seconds(s float64) outcome { return outcome{figures: map[string]float64{"s": s}} }

// A check holds a median of ours to a target. Figures are named side.figure.
type check struct {
	label string // added to the name of the row
	ours  string
	base  string // empty: the target is absolute
	unit  unit
	kind  kind
	limit float64
}

type kind int

const (
	noTarget     kind = iota
	atMost            // ours <= limit
	ratioAtMost       // ours / base <= limit
	ratioAtLeast      // ours / base >= limit
	timesFaster       // base / ours >= limit
)

// result is a row with the medians of its figures.
type result struct {
	row
	medians map[string]float64
	notes   []string
}

// measure runs the sides of all rows in turn, round by round, so that what else
// the machine does meets all of them alike.
func measure(ctx context.Context, rows []row, only *regexp.Regexp, rounds int, say func(string)) []result {
	var out []result
	samples := map[string][]float64{}
	for _, r := range rows {
		if only.MatchString(r.name + " " + r.data) {
			out = append(out, result{row: r})
		}
	}
	for round := range rounds {
		for i := range out {
			if ctx.Err() == nil {
				say(fmt.Sprintf("round %d: %s, %s", round+1, out[i].name, out[i].data))
				out[i].sample(ctx, i, round%2 == 1, samples)
			}
		}
	}
	for i := range out {
		out[i].medians = map[string]float64{}
		for _, s := range out[i].sides {
			for name, list := range samples {
				var figure string
				if cut(name, i, s.name, &figure) {
					out[i].medians[s.name+"."+figure] = median(list)
				}
			}
		}
	}
	return out
}

func key(i int, side, figure string) string { return fmt.Sprintf("%d/%s/%s", i, side, figure) }

func cut(name string, i int, side string, figure *string) bool {
	prefix := key(i, side, "")
	if len(name) <= len(prefix) || name[:len(prefix)] != prefix {
		return false
	}
	*figure = name[len(prefix):]
	return true
}

// sample measures each side of the row once. What runs second finds caches warm,
// so every other round goes from the last side to the first.
func (r *result) sample(ctx context.Context, i int, backward bool, samples map[string][]float64) {
	sides := slices.Clone(r.sides)
	if backward {
		slices.Reverse(sides)
	}
	var first, answer string
	for _, s := range sides {
		o, err := guarded(ctx, s)
		if err != nil {
			r.note(fmt.Sprintf("%s: %v", s.name, err))
			continue
		}
		for figure, v := range o.figures {
			k := key(i, s.name, figure)
			samples[k] = append(samples[k], v)
		}
		switch {
		case o.answer == "":
		case answer == "":
			first, answer = s.name, o.answer
		case answer != o.answer:
			r.note(fmt.Sprintf("%s and %s answer differently: %.60s / %.60s", first, s.name, answer, o.answer))
		}
	}
}

func (r *result) note(s string) {
	if !slices.Contains(r.notes, s) {
		r.notes = append(r.notes, s)
	}
}

// guarded makes a panic the failure of one row.
func guarded(ctx context.Context, s side) (o outcome, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return s.run(ctx)
}

func median(list []float64) float64 {
	list = slices.Sorted(slices.Values(list))
	n := len(list)
	if n%2 == 1 {
		return list[n/2]
	}
	return (list[n/2-1] + list[n/2]) / 2
}
