package cli_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"runtime"
	"testing"

	"github.com/sessiondb-go/sessiondb/internal/fixture"
)

// What another program commits is seen, and an interrupt is no failure.
func TestWatch(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("signals can't be sent")
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3, which is to write to the store")
	}
	path := fixture.Copy(t, "hermes-v11.db")
	cmd := exec.Command("sessiondb", "watch", "--after", "0", "--db", path)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	var m struct {
		ID      int64
		Content any
	}
	next := func() {
		line, err := lines.ReadBytes('\n')
		if err == nil {
			err = json.Unmarshal(line, &m)
		}
		if err != nil {
			t.Fatalf("after message %d: %v, %s", m.ID, err, stderr.String())
		}
	}
	next()
	if m.ID != 1 {
		t.Errorf("the first is message %d", m.ID)
	}
	const insert = `
import sqlite3, sys
c = sqlite3.connect(sys.argv[1])
session = c.execute("SELECT id FROM sessions LIMIT 1").fetchone()[0]
with c:
    print(c.execute("INSERT INTO messages (session_id, role, content, timestamp) VALUES (?, 'user', 'from elsewhere', 1)", (session,)).lastrowid)
`
	b, err := exec.Command(python, "-c", insert, path).Output()
	if err != nil {
		t.Fatal(err)
	}
	var id int64
	if _, err := fmt.Sscan(string(b), &id); err != nil {
		t.Fatal(err)
	}
	for before := m.ID; m.ID < id; before = m.ID {
		if next(); m.ID <= before {
			t.Fatalf("message %d after %d", m.ID, before)
		}
	}
	if m.ID != id || m.Content != "from elsewhere" {
		t.Errorf("message %d: %v", m.ID, m.Content)
	}
	interrupt(t, cmd)
	if err := cmd.Wait(); err != nil || stderr.Len() > 0 {
		t.Errorf("%v, %q", err, stderr.String())
	}
}
