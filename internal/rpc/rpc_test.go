package rpc_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/rpc"
	"github.com/sessiondb-go/sessiondb/sqlite"
)

func store(t testing.TB) *sessiondb.DB {
	t.Helper()
	return storeAt(t, filepath.Join(t.TempDir(), "state.db"))
}

func storeAt(t testing.TB, path string) *sessiondb.DB {
	t.Helper()
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{Now: func() time.Time { return time.Unix(1778000000, 0) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// ask sends lines, and returns the lines that came back once all were answered.
func ask(t *testing.T, db *sessiondb.DB, o rpc.Options, lines ...string) []string {
	t.Helper()
	var out bytes.Buffer
	if err := rpc.Serve(t.Context(), db, strings.NewReader(strings.Join(lines, "\n")), &out, o); err != nil {
		t.Fatal(err)
	}
	if out.Len() == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
}

func call(id int, method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, method, params)
}

type answer struct {
	ID     json.RawMessage
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
		Data    map[string]any
	}
}

func parse(t *testing.T, line string) (a answer) {
	t.Helper()
	if err := json.Unmarshal([]byte(line), &a); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	return a
}

func TestTranscript(t *testing.T) {
	for _, c := range []struct {
		name     string
		in, want []string
	}{
		{"a result", []string{call(1, "create_session", `{"session_id":"a","source":"cli"}`)}, []string{`{"jsonrpc":"2.0","id":1,"result":"a"}`}},
		{"by position", []string{call(1, "create_session", `["a","cli"]`)}, []string{`{"jsonrpc":"2.0","id":1,"result":"a"}`}},
		{"a text id", []string{`{"jsonrpc":"2.0","id":"x<y","method":"session_count"}`}, []string{`{"jsonrpc":"2.0","id":"x<y","result":0}`}},
		{"no result", []string{call(1, "set_meta", `{"key":"k","value":"v"}`)}, []string{`{"jsonrpc":"2.0","id":1,"result":null}`}},
		{
			"a notification",
			[]string{`{"jsonrpc":"2.0","method":"create_session","params":["a"]}`, call(2, "session_count", `null`)},
			[]string{`{"jsonrpc":"2.0","id":2,"result":1}`},
		},
		{"a notification that fails", []string{`{"jsonrpc":"2.0","method":"nope"}`}, nil},
		{"empty lines", []string{"", "  \r", call(1, "session_count", `{}`), ""}, []string{`{"jsonrpc":"2.0","id":1,"result":0}`}},
		{
			"not JSON, and on",
			[]string{`{"jsonrpc":`, call(1, "session_count", `{}`)},
			[]string{
				`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"line is not JSON","data":{"kind":"parse"}}}`,
				`{"jsonrpc":"2.0","id":1,"result":0}`,
			},
		},
		{
			"no version",
			[]string{`{"id":7,"method":"session_count"}`},
			[]string{`{"jsonrpc":"2.0","id":7,"error":{"code":-32600,"message":"a request has \"jsonrpc\": \"2.0\"","data":{"kind":"invalid_request"}}}`},
		},
		{
			"a bad id",
			[]string{`{"jsonrpc":"2.0","id":{},"method":"session_count"}`},
			[]string{`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"an id is a string or a number","data":{"kind":"invalid_request"}}}`},
		},
		{
			"no method",
			[]string{`{"jsonrpc":"2.0","id":1,"method":5}`},
			[]string{`{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"a request has a method, a string","data":{"kind":"invalid_request"}}}`},
		},
		{
			"not an object",
			[]string{`"hello"`},
			[]string{`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"a request is a JSON object","data":{"kind":"invalid_request"}}}`},
		},
		{
			"unknown method",
			[]string{call(1, "nope", `{}`)},
			[]string{`{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"there is no method \"nope\"; rpc.discover lists them","data":{"kind":"unknown_method"}}}`},
		},
		{
			"unknown parameter",
			[]string{call(1, "get_session", `{"session_id":"a","sesion":"b"}`)},
			[]string{`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"parameter sesion: is unknown","data":{"kind":"invalid","param":"sesion"}}}`},
		},
		{
			"not found",
			[]string{call(1, "get_session", `{"session_id":"a"}`)},
			[]string{`{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"session a: not found","data":{"kind":"not_found"}}}`},
		},
		{
			"a batch",
			[]string{"[" + strings.Join([]string{call(1, "create_session", `["a"]`), `{"jsonrpc":"2.0","method":"create_session","params":["b"]}`, `5`, call(2, "session_count", `[]`)}, ",") + "]"},
			[]string{`[{"jsonrpc":"2.0","id":1,"result":"a"},{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"a request is a JSON object","data":{"kind":"invalid_request"}}},{"jsonrpc":"2.0","id":2,"result":2}]`},
		},
		{
			"an empty batch",
			[]string{`[]`},
			[]string{`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"a batch holds at least one request","data":{"kind":"invalid_request"}}}`},
		},
		{
			"too large a batch",
			[]string{"[" + strings.Repeat("1,", 10_000) + "1]"},
			[]string{`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"a batch holds at most 10000 requests","data":{"kind":"invalid_request"}}}`},
		},
		{"a batch of notifications", []string{`[{"jsonrpc":"2.0","method":"session_count"}]`}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := ask(t, store(t), rpc.Options{}, c.in...); !slices.Equal(got, c.want) {
				t.Errorf("sent %s\n got %s\nwant %s", c.in, strings.Join(got, "\n     "), strings.Join(c.want, "\n     "))
			}
		})
	}
}

func TestLongLine(t *testing.T) {
	const limit = 1000
	fits := call(1, "session_count", "{}")
	fits += strings.Repeat(" ", limit-len(fits))
	got := ask(t, store(t), rpc.Options{MaxLine: limit}, fits, fits+" ", strings.Repeat("x", 200<<10), fits, fits+" ")
	var codes []int
	for _, line := range got {
		a := parse(t, line)
		if a.Error == nil {
			codes = append(codes, 0)
			continue
		}
		codes = append(codes, a.Error.Code)
		if a.Error.Data["limit"] != float64(limit) || !strings.Contains(a.Error.Message, "1000") {
			t.Errorf("the limit is not named: %s", line)
		}
	}
	slices.Sort(codes)
	if want := []int{-32600, -32600, -32600, 0, 0}; !slices.Equal(codes, want) {
		t.Errorf("codes %v, want %v", codes, want)
	}
}

// Requests sent without waiting find what those before them wrote.
func TestOrder(t *testing.T) {
	const sessions, messages = 8, 20
	var in []string
	for s := range sessions {
		in = append(in, call(len(in), "create_session", fmt.Sprintf(`["s%d"]`, s)))
	}
	for m := range messages {
		for s := range sessions {
			in = append(in, call(len(in), "append_message", fmt.Sprintf(`{"session_id":"s%d","role":"user","content":"%d"}`, s, m)))
		}
	}
	in = append(in, call(len(in), "message_count", `{}`))
	counted := len(in) - 1
	for s := range sessions {
		in = append(in, call(len(in), "get_messages", fmt.Sprintf(`["s%d"]`, s)))
	}
	answers := map[string]answer{}
	for _, line := range ask(t, store(t), rpc.Options{}, in...) {
		a := parse(t, line)
		if a.Error != nil {
			t.Fatalf("%s", line)
		}
		answers[string(a.ID)] = a
	}
	if got := string(answers[fmt.Sprint(counted)].Result); got != fmt.Sprint(sessions*messages) {
		t.Errorf("counted %s messages", got)
	}
	for s := range sessions {
		var ms []struct{ Content string }
		if err := json.Unmarshal(answers[fmt.Sprint(counted+1+s)].Result, &ms); err != nil {
			t.Fatal(err)
		}
		for i, m := range ms {
			if m.Content != fmt.Sprint(i) {
				t.Fatalf("session %d: message %d says %q", s, i, m.Content)
			}
		}
		if len(ms) != messages {
			t.Errorf("session %d has %d messages", s, len(ms))
		}
	}
}

func TestDiscover(t *testing.T) {
	a := parse(t, ask(t, store(t), rpc.Options{}, `{"jsonrpc":"2.0","id":1,"method":"rpc.discover"}`)[0])
	var d struct {
		Methods []struct {
			Name, Doc string
			Params    []map[string]any
		}
	}
	if err := json.Unmarshal(a.Result, &d); err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(d.Methods, func(m struct {
		Name, Doc string
		Params    []map[string]any
	}) bool {
		return m.Name == "list_sessions_rich"
	})
	if i < 0 {
		t.Fatalf("list_sessions_rich is missing: %s", a.Result)
	}
	p := d.Methods[i].Params[2]
	if p["name"] != "limit" || p["default"] != 20.0 || p["type"] != "integer" {
		t.Errorf("third parameter is %v", p)
	}
}

// conn is a connection to a server that runs.
type conn struct {
	t   *testing.T
	in  *io.PipeWriter
	out *bufio.Reader
	end chan error
}

func serve(ctx context.Context, t *testing.T, db *sessiondb.DB, o rpc.Options) *conn {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	c := &conn{t: t, in: inW, out: bufio.NewReader(outR), end: make(chan error, 1)}
	go func() {
		c.end <- rpc.Serve(ctx, db, inR, outW, o)
		_ = outW.Close()
	}()
	return c
}

func (c *conn) send(line string) {
	c.t.Helper()
	if _, err := io.WriteString(c.in, line+"\n"); err != nil {
		c.t.Fatal(err)
	}
}

func (c *conn) receive() answer {
	c.t.Helper()
	line, err := c.out.ReadString('\n')
	if err != nil {
		c.t.Fatal(err)
	}
	return parse(c.t, line)
}

// A connection answers while its input stays open, and ends with it.
func TestConversation(t *testing.T) {
	c := serve(t.Context(), t, store(t), rpc.Options{})
	c.send(call(1, "create_session", `["a"]`))
	if a := c.receive(); string(a.Result) != `"a"` {
		t.Errorf("got %s", a.Result)
	}
	c.send(call(2, "session_count", `{}`))
	if a := c.receive(); string(a.Result) != "1" {
		t.Errorf("got %s", a.Result)
	}
	_ = c.in.Close()
	if err := <-c.end; err != nil {
		t.Error(err)
	}
}

func TestContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := serve(ctx, t, store(t), rpc.Options{})
	c.send(call(1, "session_count", `{}`))
	c.receive()
	cancel()
	if err := <-c.end; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestWriteFails(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	go func() { _, _ = io.WriteString(w, call(1, "session_count", `{}`)+"\n") }()
	if err := rpc.Serve(t.Context(), store(t), r, brokenPipe{}, rpc.Options{}); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("got %v", err)
	}
}
