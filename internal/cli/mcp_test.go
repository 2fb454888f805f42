package cli_test

import (
	"bufio"
	"net/http"
	"os/exec"
	"path/filepath"
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
