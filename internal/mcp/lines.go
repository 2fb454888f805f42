package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

const (
	maxLine = 16 << 20         // bytes of a request
	drain   = 30 * time.Second // how long what runs may take after the input ended
)

// lines stands between a client and the SDK, which would end at a line that is
// no message, and drop what it has not answered when the input ends. It answers
// the one with an error, and holds the end back until all is answered.
type lines struct {
	in  *bufio.Reader
	out io.Writer

	mu       sync.Mutex
	answered *sync.Cond
	waiting  map[string]int // requests by id
	late     bool

	rest []byte // of a line that is being read
	half []byte // of a line that is being written
}

func newLines(in io.Reader, out io.Writer) *lines {
	l := &lines{in: bufio.NewReaderSize(in, 64<<10), out: out, waiting: map[string]int{}}
	l.answered = sync.NewCond(&l.mu)
	return l
}

// envelope is what tells a request, an answer and a notification apart.
type envelope struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// hasID is false for null too.
func (e envelope) hasID() bool { return e.ID != nil && string(e.ID) != "null" }

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
		return nil, l.refuse(err.Error())
	case err != nil && len(line) == 0:
		l.drained()
		return nil, err
	case len(bytes.TrimSpace(line)) == 0:
		return nil, nil
	}
	if _, err := jsonrpc.DecodeMessage(line); err != nil {
		return nil, l.refuse(err.Error())
	}
	l.note(line)
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

// note remembers a request. One that is cancelled may never be answered.
func (l *lines) note(line []byte) {
	var e envelope
	if json.Unmarshal(line, &e) != nil {
		return // it was read before
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case e.Method == "notifications/cancelled":
		var p struct {
			RequestID json.RawMessage `json:"requestId"`
		}
		_ = json.Unmarshal(e.Params, &p) // without an id nothing is cancelled
		delete(l.waiting, string(p.RequestID))
	case e.Method != "" && e.hasID():
		l.waiting[string(e.ID)]++
	}
}

// drained waits until every request is answered.
func (l *lines) drained() {
	defer time.AfterFunc(drain, func() {
		l.mu.Lock()
		l.late = true
		l.mu.Unlock()
		l.answered.Broadcast()
	}).Stop()
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.waiting) > 0 && !l.late {
		l.answered.Wait()
	}
}

// refuse answers a line of which nobody knows the id.
func (l *lines) refuse(why string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	message, err := json.Marshal("the line is no JSON-RPC 2.0 message: " + why)
	if err == nil {
		_, err = fmt.Fprintf(l.out, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":%s}}`+"\n", message)
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
			return 0, err
		}
		l.answer(line)
	}
	l.half = append(l.half[:0], l.half[end:]...)
	return len(p), nil
}

func (l *lines) answer(line []byte) {
	var e envelope
	if json.Unmarshal(line, &e) != nil || e.Method != "" || !e.hasID() {
		return
	}
	if id := string(e.ID); l.waiting[id] > 1 {
		l.waiting[id]--
	} else {
		delete(l.waiting, id)
	}
	l.answered.Broadcast()
}

// Close closes nothing: both ends are somebody else's.
func (l *lines) Close() error { return nil }
