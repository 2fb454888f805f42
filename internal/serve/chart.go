package serve

import (
	"fmt"
	"html/template"
	"strings"
	"time"

	"github.com/sessiondb-go/sessiondb"
)

// A chart is SVG without styles of its own: its classes are those of the page, so
// that it follows light and dark. It is a picture for who sees; a table beside it
// says the same.
type chart struct{ b strings.Builder }

const (
	chartWidth  = 720.0
	chartHeight = 160.0
	chartFoot   = 18.0 // for the days
	chartHead   = 14.0 // for the scale
	chartWidest = 40.0 // a bar, with what is beside it
)

func (c *chart) printf(format string, args ...any) { fmt.Fprintf(&c.b, format, args...) }

func (c *chart) open(label string, width, height float64) {
	c.printf(`<svg class="chart" viewBox="0 0 %g %g" role="img" aria-label="%s">`, width, height, template.HTMLEscapeString(label))
}

func (c *chart) close() template.HTML {
	c.b.WriteString(`</svg>`)
	return template.HTML(c.b.String()) // #nosec G203 -- numbers, and texts that are escaped
}

// bar draws a piece of a bar that says something when it is pointed at.
func (c *chart) bar(class string, x, y, width, height float64, says string) {
	if height > 0 {
		c.printf(`<rect class="%s" x="%.2f" y="%.2f" width="%.2f" height="%.2f"><title>%s</title></rect>`,
			class, x, y, width, height, template.HTMLEscapeString(says))
	}
}

// column is a bar of pieces that stand on each other.
type column struct {
	name, says string
	parts      []piece
}

type piece struct {
	class string
	value float64
}

// columns draws a bar for each day.
func columns(label string, cols []column, number func(float64) string) template.HTML {
	var c chart
	c.open(label, chartWidth, chartHeight)
	most := 0.0
	for _, col := range cols {
		sum := 0.0
		for _, p := range col.parts {
			sum += p.value
		}
		most = max(most, sum)
	}
	room := chartHeight - chartFoot - chartHead
	step := min(chartWidth/float64(max(len(cols), 1)), chartWidest)
	for i, col := range cols {
		y := chartHead + room
		for _, p := range col.parts {
			height := p.value / max(most, 1e-9) * room
			y -= height
			c.bar(p.class, float64(i)*step, y, max(step*.85, .5), height, col.says)
		}
	}
	c.printf(`<text class="scale" x="0" y="%g">%s</text><line class="axis" x1="0" x2="%g" y1="%g" y2="%g"/>`,
		chartHead-3, template.HTMLEscapeString(number(most)), chartWidth, chartHead+room, chartHead+room)
	if n := len(cols); n > 0 {
		c.printf(`<text class="scale" x="0" y="%g">%s</text>`, chartHeight-4, template.HTMLEscapeString(cols[0].name))
	}
	if n := len(cols); float64(n)*step > 200 { // there is room for two
		c.printf(`<text class="scale end" x="%g" y="%g">%s</text>`, float64(n)*step, chartHeight-4, template.HTMLEscapeString(cols[n-1].name))
	}
	return c.close()
}

// tokenChart shows the tokens of each day.
func tokenChart(days []dayUsage) template.HTML {
	cols := make([]column, len(days))
	for i, d := range days {
		t := d.Tokens
		cols[i] = column{d.Day, fmt.Sprintf("%s: %s in, %s out", d.Day, grouped(t.Input), grouped(t.Output)), []piece{{"input", float64(t.Input)}, {"output", float64(t.Output)}}}
	}
	return columns("Tokens by day", cols, func(n float64) string { return grouped(int64(n)) + " tokens" })
}

// costChart shows the cost of each day.
func costChart(days []dayUsage) template.HTML {
	cols := make([]column, len(days))
	for i, d := range days {
		cost := costOf(d.ActualCostUSD, d.EstimatedCostUSD)
		cols[i] = column{d.Day, d.Day + ": " + dollars(cost), []piece{{"cost", cost}}}
	}
	return columns("Cost by day", cols, dollars)
}

// shareBar is the bar of a row of a table.
func shareBar(part float64) template.HTML {
	var c chart
	c.printf(`<svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">`)
	c.bar("input", 0, 0, part*100, 8, "")
	return c.close()
}

const (
	hourCell = 28.0
	hourLeft = 40.0
)

// hourChart shows which hours of the week are busy.
func hourChart(w sessiondb.WeekHours) template.HTML {
	most := int64(1)
	for _, day := range w {
		for _, n := range day {
			most = max(most, n)
		}
	}
	var c chart
	c.open("Messages by day of the week and hour", hourLeft+24*hourCell, 8*hourCell)
	for i := range 7 {
		day := time.Weekday((i + 1) % 7) // Monday first
		y := float64(i) * hourCell
		c.printf(`<text class="scale" x="0" y="%g">%s</text>`, y+hourCell*.65, day.String()[:3])
		for hour, n := range w[day] {
			shade := 0
			if n > 0 {
				shade = 1 + int(n*8/most)
			}
			c.bar(fmt.Sprintf("heat heat-%d", shade), hourLeft+float64(hour)*hourCell, y, hourCell-2, hourCell-2,
				fmt.Sprintf("%s %02d:00: %s messages", day, hour, grouped(n)))
		}
	}
	for hour := 0; hour < 24; hour += 6 {
		c.printf(`<text class="scale" x="%g" y="%g">%02d:00</text>`, hourLeft+float64(hour)*hourCell, 7*hourCell+14, hour)
	}
	return c.close()
}
