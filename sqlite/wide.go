package sqlite

import (
	"context"
	sqldriver "database/sql/driver"
	"fmt"
	"strings"
	"sync"

	driver "modernc.org/sqlite"
)

// rowCall hands the columns of a row over at once. Asked for one by one, each
// takes the lock of the connection two or three times; the arguments of a
// function take none. It stands in queries alone: no trigger or index of a file
// may need a function of ours.
const rowCall = "sessiondb_row"

func init() {
	driver.MustRegisterFunction(rowCall, &driver.FunctionImpl{NArgs: -1, VolatileArgs: true, Scalar: handOver})
}

// wide makes a query whose only column is the number of a row that was handed
// over to the receiver in its first parameter.
func wide(columns, rest string) string {
	return "SELECT " + rowCall + "(?, " + columns + ") " + rest
}

// handOver is rowCall: the number of the receiver, then the columns, which lie
// in SQLite's memory and are gone when it returns.
func handOver(_ *driver.FunctionContext, args []sqldriver.Value) (sqldriver.Value, error) {
	id, _ := args[0].(int64)
	r := receivers.find(id)
	if r == nil {
		return nil, fmt.Errorf("%s: nobody receives %d", rowCall, id)
	}
	return r.receive(args[1:]), nil
}

// receivers are the results that are being read in this process.
var receivers registry

type registry struct {
	mu   sync.RWMutex
	last int64
	byID map[int64]*receiver
}

func (g *registry) find(id int64) *receiver {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.byID[id]
}

func (g *registry) add() *receiver {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.byID == nil {
		g.byID = map[int64]*receiver{}
	}
	g.last++
	r := &receiver{id: g.last}
	g.byID[r.id] = r
	return r
}

func (g *registry) remove(r *receiver) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.byID, r.id)
}

// receiver holds the rows of one result from when SQLite made them until they
// are read. That is one row at a time, unless SQLite sorts rows it made.
type receiver struct {
	id      int64
	waiting [][]sqldriver.Value // nil once it was read
	left    int                 // how many of them were not
	spare   []sqldriver.Value   // to be used again
	before  []string            // the texts of the row before, by column
}

// receive copies a row and returns its number.
func (r *receiver) receive(from []sqldriver.Value) int64 {
	to := r.spare
	if r.spare = nil; len(to) != len(from) {
		to = make([]sqldriver.Value, len(from))
	}
	if r.before == nil {
		r.before = make([]string, len(from))
	}
	r.copy(to, from)
	if r.left == 0 {
		r.waiting = r.waiting[:0]
	}
	r.left++
	r.waiting = append(r.waiting, to)
	return int64(len(r.waiting)) - 1
}

// copy copies values; texts become pointers to strings, which lie together. So
// do the bytes of all texts of a row. Many columns say the same in each row, such
// as the session: those bytes are shared.
func (r *receiver) copy(to, from []sqldriver.Value) {
	size, texts := 0, 0
	for i, v := range from {
		switch v := v.(type) {
		case string:
			texts++
			if r.before[i] != v {
				size += len(v)
			}
		case []byte:
			to[i] = append([]byte{}, v...)
		default:
			to[i] = v
		}
	}
	if texts == 0 {
		return
	}
	var bytes strings.Builder
	bytes.Grow(size)
	heads := make([]string, 0, texts)
	for i, v := range from {
		v, ok := v.(string)
		if !ok {
			continue
		}
		if r.before[i] != v {
			bytes.WriteString(v)
			r.before[i] = bytes.String()[bytes.Len()-len(v):]
		}
		heads = append(heads, r.before[i])
		to[i] = &heads[len(heads)-1]
	}
}

// take returns a row that was received, valid until the next one is taken. Its
// texts are pointers to strings that stay as they are.
func (r *receiver) take(number any, last []sqldriver.Value) ([]sqldriver.Value, error) {
	i, _ := number.(int64)
	if i < 0 || i >= int64(len(r.waiting)) || r.waiting[i] == nil {
		return nil, fmt.Errorf("%s: row %v was not received", rowCall, number)
	}
	row := r.waiting[i]
	r.waiting[i] = nil
	r.left--
	r.spare = last
	return row, nil
}

// queryWide is query for SELECT columns rest.
func (c *conn) queryWide(ctx context.Context, columns, rest string, args ...any) (*rows, error) {
	to := receivers.add()
	r, err := c.query(ctx, wide(columns, rest), append([]any{to.id}, args...)...)
	if err != nil {
		receivers.remove(to)
		return nil, err
	}
	r.wide = to
	return r, nil
}
