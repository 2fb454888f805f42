package foreign_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/foreign"
)

var update = flag.Bool("update", false, "write the golden files anew")

// eachFixture calls fn for every transcript in testdata.
func eachFixture(t testing.TB, fn func(path string, data []byte)) {
	t.Helper()
	err := filepath.WalkDir("testdata", func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".jsonl" {
			return err
		}
		data, err := os.ReadFile(path)
		if err == nil {
			fn(path, data)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func formatOf(path string) foreign.Format {
	switch {
	case strings.Contains(path, "claude"):
		return foreign.ClaudeCode
	case strings.Contains(path, "codex"):
		return foreign.Codex
	}
	return foreign.Hermes
}

// told is what a transcript gives: a line a message, a session or a bad line.
func told(t testing.TB, f foreign.Format, name string, data []byte) string {
	t.Helper()
	tr, err := foreign.New(f, name, bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	var ids []string
	known := map[string]bool{}
	for {
		m, err := tr.Next()
		var bad *sessiondb.LineError
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, foreign.ErrOtherFormat):
			if !errors.Is(err, io.EOF) {
				fmt.Fprintln(&b, err)
			}
			for _, id := range ids {
				fmt.Fprintln(&b, toldOf(t, tr.Session(id)))
			}
			return b.String()
		case errors.As(err, &bad):
			fmt.Fprintf(&b, "%v, unfinished %v\n", bad, bad.Unfinished)
			continue
		case err != nil:
			t.Fatal(err)
		}
		if !known[m.SessionID] {
			known[m.SessionID] = true
			ids = append(ids, m.SessionID)
		}
		m.Message.SessionID = m.SessionID
		fmt.Fprintf(&b, "%d %s %s\n", m.Line, m.Key, marshal(t, m.Message))
	}
}

// toldOf is what is told of a session; what it used is summed up.
func toldOf(t testing.TB, s sessiondb.TranscriptSession) string {
	t.Helper()
	keys := map[string]bool{}
	for _, u := range s.Uses {
		s.APICallCount++
		s.Usage.Input += u.Tokens.Input
		s.Usage.Output += u.Tokens.Output
		s.Usage.CacheRead += u.Tokens.CacheRead
		s.Usage.CacheWrite += u.Tokens.CacheWrite
		s.Usage.Reasoning += u.Tokens.Reasoning
		for _, key := range u.Keys {
			if keys[key] {
				t.Errorf("%q counts twice", key)
			}
			keys[key] = true
		}
	}
	told := fmt.Sprintf("session, delegate %v: %s", s.Delegate, marshal(t, s.Session))
	if s.ForkedFrom != "" {
		told += ", forked from " + s.ForkedFrom
	}
	if s.After != "" {
		told += ", after " + s.After
	}
	return told
}

// marshal leaves out what is null or 0, to be read.
func marshal(t testing.TB, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var members map[string]any
	if err := json.Unmarshal(raw, &members); err != nil {
		t.Fatal(err)
	}
	for k, v := range members {
		if v == nil || v == float64(0) {
			delete(members, k)
		}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(members); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(b.String())
}

func TestTranscripts(t *testing.T) {
	eachFixture(t, func(path string, data []byte) {
		if got := foreign.Detect(data[:min(len(data), foreign.DetectSize)]); got != formatOf(path) {
			t.Errorf("%s is %q", path, got)
		}
		got := told(t, formatOf(path), path, data)
		golden := strings.TrimSuffix(path, ".jsonl") + ".golden"
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(want), got); d != "" {
			t.Errorf("%s: %s", path, d)
		}
	})
}

// A file that is cut anywhere gives the same messages up to there, under the
// same keys, but for the last one.
func TestGrowing(t *testing.T) {
	eachFixture(t, func(path string, data []byte) {
		whole := keys(told(t, formatOf(path), path, data))
		for at := 0; at <= len(data); at += 1 + len(data)/97 {
			part := keys(told(t, formatOf(path), path, data[:at]))
			for id, of := range part {
				if len(of) > len(whole[id]) || !cmp.Equal(of, whole[id][:len(of)]) {
					t.Fatalf("%s cut at %d, session %s: %q, not %q", path, at, id, of, whole[id])
				}
			}
		}
	})
}

// keys are the lines and keys of messages, by session.
func keys(told string) map[string][]string {
	out := map[string][]string{}
	for line := range strings.Lines(told) {
		if f := strings.SplitN(line, " ", 3); line[0] >= '0' && line[0] <= '9' {
			_, id, _ := strings.Cut(f[2], `"session_id":"`)
			id, _, _ = strings.Cut(id, `"`)
			out[id] = append(out[id], f[0]+" "+f[1])
		}
	}
	return out
}

func TestDetect(t *testing.T) {
	for head, want := range map[string]foreign.Format{
		"":                                  foreign.Unknown,
		"hello\nworld\n":                    foreign.Unknown,
		`{"a":1}`:                           foreign.Unknown,
		`[{"id":"a"}]`:                      foreign.Unknown,
		`{"id":"a"}`:                        foreign.Sessiondb,
		`{"id":"a","source":"cli","messag`:  foreign.Sessiondb,
		"broken\n{\"id\":\"a\",\"title\":1": foreign.Sessiondb,
		`{"role":"user","content":"x"}`:     foreign.Hermes,
		`{"type":"summary","summary":"x","leafUuid":"y"}`:        foreign.ClaudeCode,
		`{"timestamp":"x","type":"session_meta","payload":{"id"`: foreign.Codex,
		`{"timestamp":"x","type":"session_meta","payload":{}}`:   foreign.Codex,
		`{"record_type":"state"}`:                                foreign.Codex,
	} {
		if got := foreign.Detect([]byte(head)); got != want {
			t.Errorf("%q is %q, not %q", head, got, want)
		}
	}
	if _, err := foreign.New(foreign.Sessiondb, "", nil); !errors.Is(err, sessiondb.ErrInvalid) {
		t.Errorf("our own: %v", err)
	}
}

// Nobody uses fewer than no tokens: a sum would shrink.
func TestNegativeTokens(t *testing.T) {
	for f, lines := range map[foreign.Format]string{
		foreign.ClaudeCode: `{"sessionId":"s","type":"assistant","uuid":"u","timestamp":"2026-01-01T00:00:00Z","message":{"id":"m","role":"assistant","content":"x",` +
			`"usage":{"input_tokens":-5,"output_tokens":-6,"cache_read_input_tokens":-7,"cache_creation_input_tokens":-8}}}`,
		foreign.Codex: `{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{"id":"s"}}
{"timestamp":"2026-01-01T00:00:01Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"x"}]}}
{"timestamp":"2026-01-01T00:00:02Z","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":-5,"cached_input_tokens":-6,"output_tokens":-7,"reasoning_output_tokens":-8}}}}`,
	} {
		if got := told(t, f, "s", []byte(lines)); !strings.Contains(got, `"id":"s"`) || strings.Contains(got, `tokens":-`) {
			t.Errorf("%v: %s", f, got)
		}
	}
}

// What is nested without end is kept as it is, and costs what it is long.
func TestNested(t *testing.T) {
	const depth, wide = 2000, 1 << 20
	content := `"` + strings.Repeat("x", wide) + `"`
	content = strings.Repeat(`[{"type":"tool_result","content":`, depth) + content + strings.Repeat("}]", depth)
	line := `{"type":"user","uuid":"u","sessionId":"s","message":{"content":` + content + `}}`
	if got := told(t, foreign.ClaudeCode, "s", []byte(line)); strings.Count(got, "x") < wide || !strings.Contains(got, "tool_result") {
		t.Errorf("%d bytes of %d", len(got), len(line))
	}
}

func FuzzTranscripts(f *testing.F) {
	eachFixture(f, func(path string, data []byte) { f.Add(data) })
	f.Fuzz(func(t *testing.T, data []byte) {
		foreign.Detect(data)
		foreign.Began(data)
		for _, format := range []foreign.Format{foreign.ClaudeCode, foreign.Codex, foreign.Hermes} {
			tr, err := foreign.New(format, "x.jsonl", bytes.NewReader(data))
			if err != nil {
				t.Fatal(err)
			}
			line, keys := int64(0), map[string]bool{}
			for {
				m, err := tr.Next()
				var bad *sessiondb.LineError
				if errors.Is(err, io.EOF) || errors.Is(err, foreign.ErrOtherFormat) {
					break
				}
				if err != nil && !errors.As(err, &bad) {
					t.Fatal(err)
				}
				if err != nil {
					continue
				}
				line = max(line, m.Line)
				for _, key := range append(m.Also, m.Key) {
					if key = m.SessionID + " " + key; keys[key] && format == foreign.ClaudeCode {
						t.Fatalf("%q names two messages", key)
					}
					keys[key] = true
				}
				if m.SessionID == "" || m.Key == "" || m.Message.Role == "" || m.Line < 1 || tr.Session(m.SessionID).ID != m.SessionID {
					t.Fatalf("%s: %+v of %+v", format, m, tr.Session(m.SessionID))
				}
			}
			if n := int64(bytes.Count(data, []byte("\n"))) + 1; line > n {
				t.Fatalf("line %d of %d", line, n)
			}
		}
	})
}
