package sqlitefile

import (
	"math"
	"strings"
)

// Object is an entry of the schema.
type Object struct {
	Type, Name, Table string
	Root              uint32 // 0 for what has no pages of its own
	SQL               string // empty for indexes that SQLite makes by itself
}

// everything are the bounds of a whole tree.
func everything(root uint32) Lost { return Lost{root, math.MinInt64, math.MaxInt64} }

// Schema reads the schema. whole says that nothing of it was missing; where
// something is, what can be found on pages that its tree does not lead to any
// more is added.
func (f *File) Schema() (objects []Object, whole bool) {
	have := map[[2]string]bool{}
	add := func(r Row) error {
		o, ok := object(r)
		if key := [2]string{o.Type, o.Name}; ok && !have[key] {
			have[key] = true
			objects = append(objects, o)
		}
		return nil
	}
	w, _ := f.Table(1, add)
	if w.Whole() && len(objects) > 0 {
		return objects, true
	}
	f.FreePages()
	_ = f.Orphans(func(l Leaf) error {
		entries := 0
		for _, r := range l.Rows {
			if _, ok := object(r); ok {
				entries++
			}
		}
		if 2*entries > len(l.Rows) {
			f.owner[l.Page] |= ownedByTree
			for _, r := range l.Rows {
				_ = add(r)
			}
		}
		return nil
	}, nil)
	return objects, false
}

// object reads an entry. ok is false for what is none.
func object(r Row) (o Object, ok bool) {
	if r.Columns != 5 || len(r.Values) < 5 || r.Cut {
		return o, false
	}
	var isText [3]bool
	o.Type, isText[0] = r.Values[0].(string)
	o.Name, isText[1] = r.Values[1].(string)
	o.Table, isText[2] = r.Values[2].(string)
	if isText != [3]bool{true, true, true} {
		return o, false
	}
	if root, is := r.Values[3].(int64); is && root > 0 && root <= math.MaxUint32 {
		o.Root = uint32(root)
	}
	o.SQL, _ = r.Values[4].(string)
	switch o.Type {
	case "table", "index", "trigger", "view":
		return o, o.SQL == "" && o.Type == "index" || strings.HasPrefix(strings.ToUpper(o.SQL), "CREATE ")
	}
	return o, false
}
