package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

const maxLine = 16 << 20 // bytes of a request

// lines stands between a client and the SDK, which would end at a line that is
// no message, and drop what it has not answered when the input ends. It answers
// the one with an error, and holds the end back until all is answered, however
// long that takes.
type lines struct {
	in  *bufio.Reader
	out io.Writer

	mu         sync.Mutex
	answered   *sync.Cond
	unanswered map[jsonrpc.ID]bool // requests, and whether the client waits
	over       bool                // no more answers will come

	rest []byte // of a line that is being read
	half []byte // of a line that is being written
}

func newLines(in io.Reader, out io.Writer) *lines {
	l := &lines{in: bufio.NewReaderSize(in, 64<<10), out: out, unanswered: map[jsonrpc.ID]bool{}}
	l.answered = sync.NewCond(&l.mu)
	return l
}

// Read gives the SDK whole lines that are messages.
func (l *lines) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		line, err := l.line()
		if err != nil {
			return 0, err
		}
		l.rest = line
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// line is the next message; nil where there was something else.
func (l *lines) line() ([]byte, error) {
	line, err := readLine(l.in)
	switch {
	case errors.Is(err, errLong):
		return nil, l.refuse(jsonrpc.CodeParseError, noMessage+err.Error())
	case err != nil && len(line) == 0:
		l.drained()
		return nil, err
	case len(bytes.TrimSpace(line)) == 0:
		return nil, nil
	}
	m, err := jsonrpc.DecodeMessage(line)
	if err != nil {
		return nil, l.refuse(jsonrpc.CodeParseError, noMessage+err.Error())
	}
	if r, ok := m.(*jsonrpc.Request); ok && !l.note(r) {
		return nil, l.refuse(jsonrpc.CodeInvalidRequest, fmt.Sprintf("a request with the id %v is not answered yet: give each its own", r.ID.Raw()))
	}
	return append(bytes.TrimSpace(line), '\n'), nil
}

var errLong = fmt.Errorf("a line of more than %d MiB", maxLine>>20)

// readLine reads a line, and passes over the rest of one that is too long.
func readLine(r *bufio.Reader) (line []byte, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if len(line) <= maxLine {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if len(line) > maxLine {
			return nil, errLong
		}
		return line, err
	}
}

// note remembers a request, unless one of its id is under way: the SDK would not
// answer both. One that is cancelled may never be answered.
func (l *lines) note(r *jsonrpc.Request) (ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch _, used := l.unanswered[r.ID]; {
	case r.Method == "notifications/cancelled":
		var p struct {
			RequestID any `json:"requestId"`
		}
		_ = json.Unmarshal(r.Params, &p) // without an id nothing is cancelled
		if id, err := jsonrpc.MakeID(p.RequestID); err == nil && l.unanswered[id] {
			l.unanswered[id] = false
		}
	case r.IsCall() && used:
		return false
	case r.IsCall():
		l.unanswered[r.ID] = true
	}
	return true
}

// drained waits until every request is answered, or no more answers will come.
func (l *lines) drained() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.waiting()) > 0 && !l.over {
		l.answered.Wait()
	}
}

// waiting are the requests that a client waits for.
func (l *lines) waiting() (ids []jsonrpc.ID) {
	for id, waits := range l.unanswered {
		if waits {
			ids = append(ids, id)
		}
	}
	return ids
}

// Close says that no more answers will come. It closes nothing: both ends are
// somebody else's.
func (l *lines) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
	l.answered.Broadcast()
	return nil
}

const noMessage = "the line is no JSON-RPC 2.0 message: "

// refuse answers a line of which nobody knows the id, or another one has it.
func (l *lines) refuse(code int, why string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	message, err := json.Marshal(why)
	if err == nil {
		_, err = fmt.Fprintf(l.out, `{"jsonrpc":"2.0","id":null,"error":{"code":%d,"message":%s}}`+"\n", code, message)
	}
	return err
}

// Write passes on whole lines of the SDK, and notes which requests they answer.
func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.half = append(l.half, p...)
	end := bytes.LastIndexByte(l.half, '\n') + 1
	for line := range bytes.Lines(l.half[:end]) {
		if _, err := l.out.Write(line); err != nil {
			l.over = true
			l.answered.Broadcast()
			return 0, err
		}
		l.answer(line)
	}
	l.half = append(l.half[:0], l.half[end:]...)
	return len(p), nil
}

func (l *lines) answer(line []byte) {
	m, err := jsonrpc.DecodeMessage(line)
	r, ok := m.(*jsonrpc.Response)
	if err != nil || !ok {
		return
	}
	delete(l.unanswered, r.ID)
	l.answered.Broadcast()
}

// giveUp answers what was not answered, and tells how many those were.
func (l *lines) giveUp() (n int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range l.waiting() {
		stopped := &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: errStopped.Error()}
		line, err := jsonrpc.EncodeMessage(&jsonrpc.Response{ID: id, Error: stopped})
		if err == nil {
			_, err = l.out.Write(append(line, '\n'))
		}
		if err != nil {
			return n, err
		}
		delete(l.unanswered, id)
		n++
	}
	return n, nil
}
