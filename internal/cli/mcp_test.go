package cli_test

import (
	"bufio"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sessiondb-go/sessiondb/internal/fixture"
)

func mcpClient(t *testing.T, tr sdk.Transport) *sdk.ClientSession {
	t.Helper()
	c, err := sdk.NewClient(&sdk.Implementation{Name: "test"}, nil).Connect(t.Context(), tr, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// recalls asks a server for what stands in the fixture.
func recalls(t *testing.T, c *sdk.ClientSession) {
	t.Helper()
	r, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "session_search", Arguments: map[string]any{"query": "docker"}})
	if err != nil {
		t.Fatal(err)
	}
	if text := r.Content[0].(*sdk.TextContent).Text; r.IsError || !strings.Contains(text, ">>>docker<<<") {
		t.Errorf("%s", text)
	}
}

func TestMCPOverPipes(t *testing.T) {
	path := fixture.Copy(t, "hermes-v11.db")
	c := mcpClient(t, &sdk.CommandTransport{Command: exec.Command("sessiondb", "mcp", "--db", path)})
	recalls(t, c)
	if _, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "session_append", Arguments: map[string]any{"session_id": "x", "role": "user", "text": "x"}}); err == nil {
		t.Error("a tool that writes is offered unasked")
	}
	if err := c.Close(); err != nil {
		t.Errorf("the server ended: %v", err)
	}
}

// holdLock takes the lock of a store as another program would, until the test ends.
func holdLock(t *testing.T, path string) {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3")
	}
	const hold = `import sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.read()`
	cmd := exec.Command(python, "-c", hold, path)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
}

// A server that is told to stop answers what is under way with an error, and says so
// by its exit code.
func TestMCPStops(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("signals can't be sent")
	}
	for _, busy := range []bool{false, true} {
		path := fixture.Copy(t, "hermes-v11.db")
		cmd := exec.Command("sessiondb", "mcp", "--allow-write", "--db", path)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		answers := bufio.NewReader(out)
		ask := func(line string) {
			t.Helper()
			if _, err := io.WriteString(in, line+"\n"); err != nil {
				t.Fatal(err)
			}
		}
		answer := func() string {
			t.Helper()
			line, err := answers.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			return line
		}
		ask(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
		ask(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		answer()
		if busy {
			holdLock(t, path)
			ask(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"session_append","arguments":{"session_id":"20260321_165320_d00001","role":"user","text":"x"}}}`)
			ask(`{"jsonrpc":"2.0","id":3,"method":"ping"}`) // when it is answered, the call is under way
			answer()
		}
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if busy {
			if got := answer(); !strings.Contains(got, `"id":2`) || !strings.Contains(got, "cancelled") {
				t.Errorf("a call under way is answered with %s", got)
			}
		}
		if err := cmd.Wait(); (err != nil) != busy {
			t.Errorf("a call under way: %v, and it ended with %v", busy, err)
		}
	}
}

// With --allow-write, a store that is not there is made.
func TestMCPMakesAStore(t *testing.T) {
	c := mcpClient(t, &sdk.CommandTransport{Command: exec.Command("sessiondb", "mcp", "--allow-write", "--db", filepath.Join(t.TempDir(), "state.db"))})
	r, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "session_list"})
	if err != nil || r.IsError {
		t.Errorf("%+v, %v", r, err)
	}
	if err := c.Close(); err != nil {
		t.Errorf("the server ended: %v", err)
	}
}

func TestMCPOverHTTP(t *testing.T) {
	cmd := exec.Command("sessiondb", "mcp", "--listen", "127.0.0.1:0", "--db", fixture.Copy(t, "hermes-v11.db"))
	cmd.Env = append(cmd.Environ(), "SESSIONDB_TOKEN=")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var token, url string
	lines := bufio.NewScanner(stderr)
	for url == "" && lines.Scan() {
		if _, rest, ok := strings.Cut(lines.Text(), "token: "); ok {
			token = rest
		}
		_, url, _ = strings.Cut(lines.Text(), "serving MCP at ")
	}
	if len(token) < 26 || url == "" {
		t.Fatalf("token %q, at %q", token, url)
	}
	c := mcpClient(t, &sdk.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: bearer(token)}})
	recalls(t, c)
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("told to stop, the server ended with %v", err)
	}
}

// bearer is a transport that brings a token.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}
