package term

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

var tableColumns = []Column{
	{Name: "id"},
	{Name: "title", Min: 10},
	{Name: "source", Min: 6, Drop: 1},
	{Name: "count", Right: true, Drop: 2},
	{Name: "plain", Plain: true},
}

func table(t *testing.T, s *Streams) string {
	t.Helper()
	var out bytes.Buffer
	s.Out = &out
	tb := s.NewTable(tableColumns...)
	for _, r := range [][]Cell{
		{Text("20260101_a"), Text("docker 배포 일정 정리"), Text("telegram"), Int(1234), Text("p")},
		{Text("b"), Text("tab\there\x1b[1m"), Text("cli"), Int(5), Text("")},
	} {
		if err := tb.Row(r...); err != nil {
			t.Fatal(err)
		}
	}
	if err := tb.Flush(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestTableOnTerminal(t *testing.T) {
	for width, want := range map[int]string{
		80: `
ID          TITLE                  SOURCE    COUNT
20260101_a  docker 배포 일정 정리  telegram  1,234
b           tab here␛[1m           cli           5
`,
		40: `
ID          TITLE        SOURCE    COUNT
20260101_a  docker 배…   telegram  1,234
b           tab here␛[…  cli           5
`,
		24: `
ID          TITLE
20260101_a  docker 배포…
b           tab here␛[1m
`,
		18: `
ID          TITLE
20260101_a  docke…
b           tab h…
`,
	} {
		got := table(t, &Streams{OutTTY: true, Width: width})
		if got != want[1:] {
			t.Errorf("width %d:\n%swant\n%s", width, got, want[1:])
		}
		for line := range strings.Lines(got) {
			if w := Width(strings.TrimSuffix(line, "\n")); w > width {
				t.Errorf("width %d: %q takes %d", width, line, w)
			}
		}
	}
}

func TestTableInPipe(t *testing.T) {
	want := "20260101_a\tdocker 배포 일정 정리\ttelegram\t1234\tp\nb\ttab here␛[1m\tcli\t5\t\n"
	if got := table(t, &Streams{Width: 20}); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestEmptyTable(t *testing.T) {
	var out bytes.Buffer
	if err := (&Streams{Out: &out, OutTTY: true, Width: 80}).NewTable(tableColumns...).Flush(); err != nil || out.Len() > 0 {
		t.Errorf("got %q, %v", out.String(), err)
	}
}

func TestCells(t *testing.T) {
	now := time.Date(2026, 5, 5, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		cell         Cell
		human, plain string
	}{
		{Int(-1234567), "-1,234,567", "-1234567"},
		{Int(999), "999", "999"},
		{Money(nil), "", ""},
		{Time(now, time.Time{}), "?", ""},
		{Time(now, now.Add(-30*time.Second)), "just now", "2026-05-05T11:59:30Z"},
		{Time(now, now.Add(-90*time.Minute)), "1h ago", "2026-05-05T10:30:00Z"},
		{Time(now, now.Add(-5*24*time.Hour)), "5d ago", "2026-04-30T12:00:00Z"},
		{Time(now, now.Add(-100*24*time.Hour)), "2026-01-25", "2026-01-25T12:00:00Z"},
		{Time(now, now.Add(5*365*24*time.Hour)), "2031-05-04", "2031-05-04T12:00:00Z"},
	} {
		if c.cell.human != c.human || c.cell.plain != c.plain {
			t.Errorf("got %+v, want %q and %q", c.cell, c.human, c.plain)
		}
	}
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 5 << 30: "5.0 GiB"} {
		if got := Bytes(n); got != want {
			t.Errorf("Bytes(%d) = %q, want %q", n, got, want)
		}
	}
}
