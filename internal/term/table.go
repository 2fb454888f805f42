package term

import (
	"bufio"
	"slices"
	"strings"
)

// Column is a column of a table.
type Column struct {
	Name  string
	Right bool // aligned on the right
	// Min is the width down to which the column may be cut before others are
	// left out; 0 is never. Without others, it is cut further.
	Min int
	// Drop orders what is left out when the table does not fit even so: the
	// highest goes first, 0 never.
	Drop int
	// Plain columns are for programs only.
	Plain bool
}

// Table writes rows. A terminal gets them aligned under a head, within its
// width, once Flush is called; anything else gets tab-separated values, a line
// at once, without a head.
type Table struct {
	s    *Streams
	cols []Column
	rows [][]string
}

// NewTable begins a table on s.Out.
func (s *Streams) NewTable(cols ...Column) *Table { return &Table{s: s, cols: cols} }

// Row adds a row, a cell for each column.
func (t *Table) Row(cells ...Cell) error {
	texts := make([]string, len(cells))
	if t.s.OutTTY {
		for i, c := range cells {
			texts[i] = c.human
		}
		t.rows = append(t.rows, texts)
		return nil
	}
	for i, c := range cells {
		texts[i] = c.plain
	}
	_, err := t.s.Out.Write([]byte(strings.Join(texts, "\t") + "\n"))
	return err
}

// Flush writes what was held back to align it. A table without rows has no
// head either.
func (t *Table) Flush() error {
	if len(t.rows) == 0 {
		return nil
	}
	shown, widths := fit(t.cols, t.natural(), t.s.Width)
	w := bufio.NewWriter(t.s.Out)
	head := make([]string, len(t.cols))
	for i, c := range t.cols {
		head[i] = strings.ToUpper(c.Name)
	}
	_, _ = w.WriteString(t.s.Paint(Bold, t.line(shown, widths, head)) + "\n")
	for _, r := range t.rows {
		_, _ = w.WriteString(t.line(shown, widths, r) + "\n")
	}
	t.rows = nil
	return w.Flush()
}

const gap = "  "

func (t *Table) line(shown []int, widths []int, cells []string) string {
	var parts []string
	for _, i := range shown {
		parts = append(parts, pad(Cut(cells[i], widths[i]), widths[i], t.cols[i].Right))
	}
	return strings.TrimRight(strings.Join(parts, gap), " ")
}

// natural is the width each column would like to have.
func (t *Table) natural() []int {
	widths := make([]int, len(t.cols))
	for i, c := range t.cols {
		widths[i] = Width(c.Name)
		for _, r := range t.rows {
			widths[i] = max(widths[i], Width(r[i]))
		}
	}
	return widths
}

// least is the width down to which a column is cut when nothing else helps.
const least = 4

// fit chooses the columns to show and their widths so that a line takes at
// most width cells, as far as the columns that may be cut or left out allow.
func fit(cols []Column, natural []int, width int) (shown []int, widths []int) {
	for i, c := range cols {
		if !c.Plain {
			shown = append(shown, i)
		}
	}
	for {
		widths = slices.Clone(natural)
		drop := nextToDrop(cols, shown)
		for over := total(shown, widths) - width; over > 0; over-- {
			i := widestCuttable(cols, shown, widths, drop < 0)
			if i < 0 {
				break
			}
			widths[i]--
		}
		if drop < 0 || total(shown, widths) <= width {
			return shown, widths
		}
		shown = slices.Delete(shown, drop, drop+1)
	}
}

// nextToDrop is the place in shown of the column to leave out next, or -1.
func nextToDrop(cols []Column, shown []int) int {
	at := -1
	for k, i := range shown {
		if cols[i].Drop > 0 && (at < 0 || cols[i].Drop > cols[shown[at]].Drop) {
			at = k
		}
	}
	return at
}

func total(shown, widths []int) int {
	sum := len(gap) * (len(shown) - 1)
	for _, i := range shown {
		sum += widths[i]
	}
	return sum
}

func widestCuttable(cols []Column, shown, widths []int, hard bool) int {
	widest := -1
	for _, i := range shown {
		floor := cols[i].Min
		if hard {
			floor = min(floor, least)
		}
		if cols[i].Min > 0 && widths[i] > floor && (widest < 0 || widths[i] > widths[widest]) {
			widest = i
		}
	}
	return widest
}
