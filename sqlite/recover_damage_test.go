package sqlite

import (
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sessiondb-go/sessiondb/internal/fixture"
)

// page4096 is the size of a page in every fixture.
const page4096 = 4096

// original is a sound store, and on which pages each of its rows stands.
type original struct {
	bytes []byte
	rows  map[string]map[int64]string // by table and id: the values
	pages map[string]map[int64][]int  // where they are
}

// comparedTables are those whose rows have to come back as they were.
var comparedTables = []string{"sessions", "messages", "state_meta"}

// allRows reads every row of a table, by id. Counters are left out: they are
// recounted where messages are lost. A parent that is lost counts as it was.
func allRows(t *testing.T, c *conn, table string) map[int64]string {
	t.Helper()
	out := map[int64]string{}
	was := parents(t, c)
	r, err := c.query(t.Context(), "SELECT rowid, * FROM "+table)
	if err != nil {
		t.Fatal(err)
	}
	names := r.raw.Columns()
	for r.Next() {
		var b strings.Builder
		for i, v := range r.vals[1:] {
			n := names[i+1]
			if n == "parent_session_id" {
				v = was[r.vals[1]]
			}
			if n != "message_count" && n != "tool_call_count" {
				fmt.Fprintf(&b, "%s=%#v\n", n, v)
			}
		}
		out[r.vals[0].(int64)] = b.String()
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// parents are those of all sessions, also the ones that a repair took away.
func parents(t *testing.T, c *conn) map[any]any {
	t.Helper()
	out := map[any]any{}
	read := func(query string) {
		r, err := c.query(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		for r.Next() {
			out[r.vals[0]] = r.vals[1]
		}
	}
	read("SELECT id, parent_session_id FROM sessions WHERE parent_session_id IS NOT NULL")
	if scalar[int64](t, c, "SELECT COUNT(*) FROM sqlite_schema WHERE name = 'sessiondb_orphans'") > 0 {
		read("SELECT session_id, parent_id FROM sessiondb_orphans")
	}
	return out
}

// study finds the pages of every row by walking the trees of a sound file, with
// nothing but the description of the format.
func study(t *testing.T, name string) *original {
	t.Helper()
	path := fixture.Copy(t, name)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	o := &original{bytes: b, rows: map[string]map[int64]string{}, pages: map[string]map[int64][]int{}}
	c := raw(t, path)
	for _, table := range comparedTables {
		o.rows[table] = allRows(t, c, table)
		o.pages[table] = map[int64][]int{}
		o.leaves(int(scalar[int64](t, c, "SELECT rootpage FROM sqlite_schema WHERE name = ?", table)), o.pages[table])
		if len(o.pages[table]) != len(o.rows[table]) {
			t.Fatalf("%s: the pages of %d of %d rows", table, len(o.pages[table]), len(o.rows[table]))
		}
	}
	return o
}

func (o *original) page(n int) []byte { return o.bytes[(n-1)*page4096 : n*page4096] }

func (o *original) leaves(n int, out map[int64][]int) {
	p := o.page(n)
	u16 := func(i int) int { return int(binary.BigEndian.Uint16(p[i:])) }
	u32 := func(i int) int { return int(binary.BigEndian.Uint32(p[i:])) }
	if p[0] == 5 {
		for i := range u16(3) {
			o.leaves(u32(u16(12+2*i)), out)
		}
		o.leaves(u32(8), out)
		return
	}
	for i := range u16(3) {
		at := u16(8 + 2*i)
		size, used := uvarint(p[at:])
		id, more := uvarint(p[at+used:])
		pages := []int{n}
		if size > page4096-35 {
			m := (page4096-12)*32/255 - 23
			local := m + (size-m)%(page4096-4)
			if local > page4096-35 {
				local = m
			}
			for next := u32(at + used + more + local); next != 0; next = int(binary.BigEndian.Uint32(o.page(next))) {
				pages = append(pages, next)
			}
		}
		out[int64(id)] = pages
	}
}

func uvarint(b []byte) (v, n int) {
	for n < 8 {
		v = v<<7 | int(b[n]&0x7f)
		n++
		if b[n-1] < 0x80 {
			return v, n
		}
	}
	return v<<8 | int(b[8]), 9
}

// damage is what was done to a file.
type damage struct {
	pages map[int]bool
	bytes []byte
}

func (o *original) damage(pages map[int]bool, spoil func(page []byte)) damage {
	d := damage{pages, slices.Clone(o.bytes)}
	for n := range pages {
		spoil(d.bytes[(n-1)*page4096 : n*page4096])
	}
	return d
}

func (o *original) cut(size int) damage {
	d := damage{map[int]bool{}, slices.Clone(o.bytes[:size])}
	for n := size/page4096 + 1; n <= len(o.bytes)/page4096; n++ {
		d.pages[n] = true
	}
	return d
}

// recover recovers a damaged file and lists what is wrong with the result: a row
// of which no page was hit does not come back as it was, or one was made up.
func (o *original) recover(t *testing.T, d damage) (report RecoverReport, wrong []string) {
	t.Helper()
	src := filepath.Join(t.TempDir(), "damaged.db")
	if err := os.WriteFile(src, d.bytes, 0o600); err != nil {
		t.Fatal(err)
	}
	dst, report := recovered(t, src)
	c := raw(t, dst)
	for _, table := range comparedTables {
		got := allRows(t, c, table)
		if report.Table(table).Rows != int64(len(got)) {
			wrong = append(wrong, fmt.Sprintf("%s: %d rows, reported are %d", table, len(got), report.Table(table).Rows))
		}
		for id, pages := range o.pages[table] {
			if slices.ContainsFunc(pages, func(n int) bool { return d.pages[n] }) {
				continue
			}
			if diff := cmp.Diff(o.rows[table][id], got[id]); diff != "" {
				wrong = append(wrong, fmt.Sprintf("%s %d, on the pages %v that were not hit: before (-), recovered (+):\n%s", table, id, pages, diff))
			}
		}
		for id, row := range got {
			ours := strings.Contains(row, `source="unknown"`) || strings.Contains(row, `key="sessiondb_orphans"`)
			if o.rows[table][id] == "" && !ours {
				wrong = append(wrong, fmt.Sprintf("%s %d was not there before: %s", table, id, row))
			}
		}
	}
	return report, wrong
}

// TestRecoverRandomDamage hits random pages, or cuts the file off anywhere.
func TestRecoverRandomDamage(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long, and no goroutines meet in it")
	}
	o := study(t, "hermes-v11.db")
	pages := len(o.bytes) / page4096
	fewer(t, few(12))
	rapid.Check(t, func(r *rapid.T) {
		check := func(d damage) {
			if _, wrong := o.recover(t, d); len(wrong) > 0 {
				r.Errorf("%d rows are wrong, the first: %s", len(wrong), wrong[0])
			}
		}
		if rapid.Bool().Draw(r, "cut") {
			check(o.cut(rapid.IntRange(100*page4096, len(o.bytes)).Draw(r, "size")))
			return
		}
		hit := map[int]bool{}
		for _, n := range rapid.SliceOfNDistinct(rapid.IntRange(2, pages), 1, 60, rapid.ID).Draw(r, "pages") {
			hit[n] = true
		}
		mask := byte(rapid.IntRange(0, 255).Draw(r, "mask")) // 0 makes zeros
		check(o.damage(hit, func(p []byte) {
			for i := range p {
				if mask == 0 {
					p[i] = 0
				} else {
					p[i] ^= mask
				}
			}
		}))
	})
}

// TestRecoverCutOff cuts a store off where rows of sessions, or what tells which
// messages they have, are lost.
func TestRecoverCutOff(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long, and no goroutines meet in it")
	}
	o := study(t, "hermes-v11.db")
	for _, size := range []int{len(o.bytes) - 1, 1311136, 1056339, 300 * 1024} {
		if _, wrong := o.recover(t, o.cut(size)); len(wrong) > 0 {
			t.Errorf("cut off after %d bytes: %d rows are wrong, the first: %s", size, len(wrong), wrong[0])
		}
	}
}

// fewer sets how many cases a property is tried with: each one makes a store.
func fewer(t *testing.T, n int) {
	t.Helper()
	f := flag.Lookup("rapid.checks")
	before := f.Value.String()
	if err := f.Value.Set(fmt.Sprint(n)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Value.Set(before) })
}
