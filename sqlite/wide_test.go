package sqlite

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// oddRows is a table whose values are of all types.
const oddRows = `FROM (SELECT 1 AS a, 'x' AS b, 'same' AS c, NULL AS d UNION ALL SELECT 2, char(0) || 'nul' || char(0), 'same', ''
 UNION ALL SELECT 3.5, x'00ff', 'same', x'' UNION ALL SELECT -9223372036854775808, CAST(x'ff' AS TEXT), 'same', 'y') t `

// Rows that are handed over at once hold what the columns hold one by one, also
// where SQLite makes all of them before it gives the first.
func TestColumnsAtOnce(t *testing.T) {
	s := fresh(t)
	for _, rest := range []string{"", "WHERE a > 1", "ORDER BY b DESC", "ORDER BY d, a LIMIT 2", "ORDER BY a LIMIT 2 OFFSET 1", "WHERE a = 99"} {
		want := dump(t, s.w, "SELECT a, b, c, d "+oddRows+rest)
		var got []string
		r, err := s.w.queryWide(t.Context(), "a, b, c, d", oddRows+rest)
		if err != nil {
			t.Fatal(err)
		}
		for r.Next() {
			var v [4]any
			if err := r.Scan(&v[0], &v[1], &v[2], &v[3]); err != nil {
				t.Fatal(err)
			}
			got = append(got, strings.ReplaceAll(fmt.Sprintf("%#v", v[:]), "interface {}", "driver.Value"))
		}
		if err := r.Err(); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(emptyBlobs(want), got) {
			t.Errorf("%s: %s", rest, cmp.Diff(want, got))
		}
	}
	if n := len(receivers.byID); n > 0 {
		t.Errorf("%d results are still expected", n)
	}
}

// emptyBlobs writes the driver's empty blob as one that is not nil.
func emptyBlobs(rows []string) []string {
	for i, r := range rows {
		rows[i] = strings.ReplaceAll(r, "[]uint8(nil)", "[]uint8{}")
	}
	return rows
}

// What was read stays as it was while reading goes on, and results may nest.
func TestColumnsAtOnceAreKept(t *testing.T) {
	s := fresh(t)
	const numbers = `FROM (WITH RECURSIVE n(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n WHERE i < 99) SELECT i FROM n WHERE i < ?)`
	texts := func(q engine.Queryer, n int, each func()) (out []string) {
		r, err := q.QueryColumns(t.Context(), "'number ' || i, 'same'", numbers, n)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = r.Close() }()
		for r.Next() {
			var number, same string
			if err := r.Scan(&number, &same); err != nil || same != "same" {
				t.Fatal(same, err)
			}
			out = append(out, number)
			each()
		}
		if err := r.Err(); err != nil {
			t.Fatal(err)
		}
		return out
	}
	var want []string
	for i := range 50 {
		want = append(want, fmt.Sprintf("number %d", i))
	}
	err := s.Read(t.Context(), func(q engine.Queryer) error {
		got := texts(q, 50, func() {
			if inner := texts(q, 3, func() {}); !slices.Equal(inner, want[:3]) {
				t.Error("inside:", inner)
			}
		})
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
		// Left open, it ends with the transaction.
		r, err := q.QueryColumns(t.Context(), "i", numbers, 50)
		if err == nil && !r.Next() {
			t.Error("no row")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(receivers.byID); n > 0 {
		t.Errorf("%d results are still expected", n)
	}
}
