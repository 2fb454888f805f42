package searchql

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

var now = time.Date(2026, 5, 5, 18, 0, 0, 0, time.UTC)

var example = regexp.MustCompile("(?m)^\\| `(.*)` \\| `(.*)` \\|$")

// TestDocument reads the examples of docs/search.md.
func TestDocument(t *testing.T) {
	b, err := os.ReadFile("../../docs/search.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := example.FindAllStringSubmatch(string(b), -1)
	if len(examples) < 25 {
		t.Fatalf("only %d examples", len(examples))
	}
	for _, e := range examples {
		if got := Parse(e[1], Options{Now: now}).String(); got != e[2] {
			t.Errorf("%s is read as\n%s, not\n%s", e[1], got, e[2])
		}
	}
}

func TestNotices(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "no searchable terms",
		"***":                            "no searchable terms",
		"NOT docker":                     "only excludes",
		"NOT a OR NOT b":                 "only excludes",
		"a OR NOT b":                     "nothing to exclude from",
		"x after:soon":                   "is no filter",
		strings.Repeat("(", 99) + "x y)": "nested too deep",
		words(100):                       "only the first 64",
		strings.Repeat("x", 5000):        "more than 2000 characters",
	} {
		if q := Parse(text, Options{Now: now}); !strings.Contains(strings.Join(q.Notices, "\n"), want) {
			t.Errorf("%.40q: notices %q, not %q", text, q.Notices, want)
		}
	}
}

func words(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(" w")
		b.WriteString(strings.Repeat("x", i))
	}
	return b.String()
}

func TestTimes(t *testing.T) {
	for value, want := range map[string]time.Time{
		"2026":                      time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		"2026-03":                   time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC),
		"2026-01-31":                time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC),
		"2026-01-31T18:30":          time.Date(2026, 1, 31, 18, 30, 0, 0, time.UTC),
		"2026-01-31T18:30:01+01:00": time.Date(2026, 1, 31, 17, 30, 1, 0, time.UTC),
		"today":                     time.Date(2026, 5, 5, 0, 0, 0, 0, time.UTC),
		"yesterday":                 time.Date(2026, 5, 4, 0, 0, 0, 0, time.UTC),
		"30min":                     now.Add(-30 * time.Minute),
		"12h":                       now.Add(-12 * time.Hour),
		"7d":                        now.AddDate(0, 0, -7),
		"2w":                        now.AddDate(0, 0, -14),
		"3m":                        now.AddDate(0, -3, 0),
		"1y":                        now.AddDate(-1, 0, 0),
	} {
		q := Parse("x after:"+value, Options{Now: now})
		if len(q.Filters) != 1 || !q.Filters[0].Time.Equal(want) {
			t.Errorf("after:%s is %v, not %v", value, q.Filters, want)
		}
	}
}

// FuzzParse reads anything.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"a b", `"a" OR -b (c*)`, "배포 -🚀 x:y source:z", "NOT NOT a", "((", "a\x00\xff"} {
		f.Add(s, false)
		f.Add(s, true)
	}
	f.Fuzz(func(t *testing.T, s string, substring bool) {
		o := Options{Now: now, Substring: substring}
		q := Parse(s, o)
		if (q.Root == nil) != (len(q.Terms()) == 0) {
			t.Fatalf("%q: terms %v without a tree, or none in it", s, q.Terms())
		}
		if len(q.Terms()) > MaxTerms*2 {
			t.Fatalf("%q: %d terms", s, len(q.Terms()))
		}
		if strings.ContainsAny(q.String(), "\n\x00") {
			t.Fatalf("%q: %q is no line", s, q)
		}
	})
}
