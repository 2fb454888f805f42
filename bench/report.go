package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
)

// unit is how a figure is shown.
type unit int

const (
	inSeconds unit = iota
	inBytes
	bytesPerSecond
	plain
)

func (u unit) show(v float64) string {
	switch u {
	case inBytes:
		if v < 1<<20 {
			return fmt.Sprintf("%.0f KiB", v/1024)
		}
		return fmt.Sprintf("%.1f MiB", v/(1<<20))
	case bytesPerSecond:
		return fmt.Sprintf("%.1f MB/s", v/1e6)
	case plain:
		return fmt.Sprintf("%.0f", v)
	}
	switch {
	case v < 0.001:
		return fmt.Sprintf("%.3f ms", v*1e3)
	case v < 0.1:
		return fmt.Sprintf("%.2f ms", v*1e3)
	case v < 1:
		return fmt.Sprintf("%.0f ms", v*1e3)
	}
	return fmt.Sprintf("%.2f s", v)
}

// line is a check with its figures, ready to show.
type line struct {
	ours, base, ratio, target, met string
}

func (c check) line(medians map[string]float64) line {
	l := line{base: "–", ratio: "–", target: "–", met: "not measured"}
	ours, ok := medians[c.ours]
	base, okBase := medians[c.base]
	l.target = c.target()
	if ok {
		l.ours = c.unit.show(ours)
	}
	if okBase {
		l.base = c.unit.show(base)
	}
	if !ok || (c.base != "" && !okBase) {
		return l
	}
	if c.base != "" && c.kind == timesFaster {
		l.ratio = "1/" + strconv.FormatFloat(base/ours, 'f', digits(base/ours), 64)
	} else if c.base != "" {
		l.ratio = fmt.Sprintf("%.2f", ours/base)
	}
	l.met = c.verdict(ours, base)
	return l
}

// digits is how many decimals a ratio is worth.
func digits(ratio float64) int {
	if ratio < 10 {
		return 1
	}
	return 0
}

func (c check) target() string {
	switch c.kind {
	case atMost:
		return "≤ " + c.unit.show(c.limit)
	case ratioAtMost:
		return fmt.Sprintf("≤ %g ×", c.limit)
	case ratioAtLeast:
		return fmt.Sprintf("≥ %g ×", c.limit)
	case timesFaster:
		return fmt.Sprintf("≤ 1/%g", c.limit)
	}
	return "–"
}

func (c check) verdict(ours, base float64) string {
	var met bool
	switch c.kind {
	case atMost:
		met = ours <= c.limit
	case ratioAtMost:
		met = ours <= c.limit*base
	case ratioAtLeast:
		met = ours >= c.limit*base
	case timesFaster:
		met = ours*c.limit <= base
	default:
		return "–"
	}
	if met {
		return "yes"
	}
	return "**no**"
}

func (e *env) report(results []result) string {
	var b, notes strings.Builder
	fmt.Fprintf(&b, "Medians of %d rounds, the sides of each row in turn, from the last to the first in every other round.", e.Rounds)
	if e.Postgres == "" {
		fmt.Fprintf(&b, " Data: %s (small) and %s (large).", describe(e.Small), describe(e.Large))
	}
	b.WriteString("\n\n")
	for _, v := range e.versions {
		fmt.Fprintf(&b, "- %s\n", v)
	}
	if load, err := os.ReadFile("/proc/loadavg"); err == nil && len(strings.Fields(string(load))) > 2 {
		fmt.Fprintf(&b, "- Load of the machine over the last 15 minutes: %s\n", strings.Fields(string(load))[2])
	}
	b.WriteString("\n| what | on | sessiondb | baseline | ratio | target | met |\n|---|---|---|---|---|---|---|\n")
	for _, r := range results {
		for _, c := range r.checks {
			name := r.name
			if c.label != "" {
				name += ": " + c.label
			}
			l := c.line(r.medians)
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s |\n", name, r.data, l.ours, l.base, l.ratio, l.target, l.met)
		}
		for _, n := range r.notes {
			fmt.Fprintf(&notes, "- %s, %s: %s\n", r.name, r.data, n)
		}
	}
	if notes.Len() > 0 {
		b.WriteString("\nNoticed while measuring:\n\n" + notes.String())
	}
	return b.String()
}

// readVersions notes what was measured, and on what.
func (e *env) readVersions(ctx context.Context) error {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	var version string
	if err := db.QueryRowContext(ctx, "SELECT sqlite_version()").Scan(&version); err != nil {
		return err
	}
	modules := map[string]string{}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			modules[m.Path] = m.Version
		}
	}
	a, err := e.python.do(map[string]any{"op": "version"})
	if err != nil {
		return err
	}
	gcc, err := output(ctx, "gcc", "-dumpfullversion")
	if err != nil {
		return err
	}
	raw, err := output(ctx, "go", "list", "-m", "-f", "{{.Version}}", "github.com/mattn/go-sqlite3")
	e.versions = []string{
		fmt.Sprintf("sessiondb: %s, modernc.org/sqlite %s, SQLite %s", runtime.Version(), modules["modernc.org/sqlite"], version),
		fmt.Sprintf("C: SQLite of go-sqlite3 %s, gcc %s -O2", raw, gcc),
		fmt.Sprintf("Python %s, SQLite %s", a.Python, a.SQLite),
		machine(),
	}
	return err
}

func machine() string {
	return fmt.Sprintf("Machine: %s/%s, %d cores", runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
}

// A table stands between two lines of docs/benchmarks.md that name it; what is
// around them is written by hand.
const (
	files    = "bench"
	onServer = "bench postgres"
)

func writeReport(path, table, report string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	beginMark, endMark := "<!-- "+table+": begin -->", "<!-- "+table+": end -->"
	head, rest, ok := strings.Cut(string(b), beginMark)
	_, tail, ok2 := strings.Cut(rest, endMark)
	if !ok || !ok2 {
		return errors.New(path + " has no place for the table")
	}
	return os.WriteFile(path, []byte(head+beginMark+"\n\n"+report+"\n"+endMark+tail), 0o644)
}
