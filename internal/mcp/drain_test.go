package mcp

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// The input does not end for the SDK before what was asked is answered, however long
// that takes and however a client writes an id.
func TestEndWaits(t *testing.T) {
	for name, c := range map[string]struct{ asked, answered string }{
		"number":   {`{"jsonrpc":"2.0","id":7,"method":"tools/list"}`, `{"jsonrpc":"2.0","id":7,"result":{}}`},
		"fraction": {`{"jsonrpc":"2.0","id":7.0,"method":"tools/list"}`, `{"jsonrpc":"2.0","id":7,"result":{}}`},
		"text":     {`{"jsonrpc":"2.0","id":"a\/b","method":"tools/list"}`, `{"jsonrpc":"2.0","id":"a/b","error":{"code":1,"message":"no"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const slow = time.Hour
				l := newLines(strings.NewReader(c.asked), io.Discard)
				if _, err := l.Read(make([]byte, 1000)); err != nil {
					t.Fatal(err)
				}
				begun := time.Now()
				time.AfterFunc(slow, func() { _, _ = l.Write([]byte(c.answered + "\n")) })
				if _, err := l.Read(make([]byte, 1000)); err != io.EOF || time.Since(begun) != slow {
					t.Errorf("it ended after %v: %v", time.Since(begun), err)
				}
			})
		})
	}
}

// A request with the id of one that is under way gets an error, not silence.
func TestIDInUse(t *testing.T) {
	const asked = `{"jsonrpc":"2.0","id":7,"method":"tools/list"}` + "\n"
	const cancelled = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}` + "\n"
	var out bytes.Buffer
	l := newLines(strings.NewReader(asked+asked+cancelled+asked), &out)
	got, err := io.ReadAll(l)
	if err != nil || string(got) != asked+cancelled || strings.Count(out.String(), "the id 7 is not answered yet") != 2 {
		t.Errorf("%s\n%s\n%v", got, out.String(), err)
	}
}

// What was not answered when the server had to stop is answered with an error.
func TestGivesUp(t *testing.T) {
	var out bytes.Buffer
	l := newLines(strings.NewReader(`{"jsonrpc":"2.0","id":"x","method":"tools/list"}`), &out)
	if _, err := l.Read(make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	if _, err := l.Read(make([]byte, 1000)); err != io.EOF {
		t.Error(err)
	}
	if n, err := l.giveUp(); err != nil || n != 1 || !strings.Contains(out.String(), `"id":"x"`) || !strings.Contains(out.String(), "told to stop") {
		t.Errorf("%v: %s", err, out.String())
	}
}
