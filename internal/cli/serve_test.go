package cli_test

import (
	"bufio"
	"io"
	"net/http"
	"net/url"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/sessiondb-go/sessiondb/internal/fixture"
)

// startServe runs the server and returns it with the link that it printed.
func startServe(t *testing.T, args ...string) (*exec.Cmd, *url.URL) {
	t.Helper()
	cmd := exec.Command("sessiondb", append([]string{"serve"}, args...)...)
	cmd.Env = append(cmd.Environ(), "SESSIONDB_TOKEN=")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		if _, link, ok := strings.Cut(lines.Text(), "serving at "); ok {
			u, err := url.Parse(link)
			if err != nil {
				t.Fatal(err)
			}
			go func() { _, _ = io.Copy(io.Discard, stderr) }()
			return cmd, u
		}
	}
	t.Fatal("it printed no link")
	return nil, nil
}

func TestServe(t *testing.T) {
	cmd, link := startServe(t, "--listen", "127.0.0.1:0", "--db", fixture.Copy(t, "hermes-v11.db"))
	token := link.Query().Get("token")
	if len(token) < 26 {
		t.Errorf("token %q", token)
	}
	link.Path, link.RawQuery = "/rpc/session_count", ""
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, link.String(), nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := (&http.Client{Transport: bearer(token)}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	if err != nil || res.StatusCode != http.StatusOK || string(b) == "0\n" {
		t.Errorf("status %d, %q, %v", res.StatusCode, b, err)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("told to stop, the server ended with %v", err)
	}
}
