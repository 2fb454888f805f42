//go:build !windows

package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/creack/pty"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/fixture"
	"github.com/sessiondb-go/sessiondb/internal/term"
	"github.com/sessiondb-go/sessiondb/sqlite"
)

// onTerminal runs the program on a terminal of a width, types what is given,
// and returns what the terminal got and how the program ended.
func onTerminal(t *testing.T, width int, typed string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.Command("sessiondb", args...)
	cmd.Env = append(os.Environ(), "TERM=xterm", "NO_COLOR=")
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 50, Cols: uint16(width)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tty.Close() }()
	if typed != "" {
		if _, err := io.WriteString(tty, typed); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	_, _ = io.Copy(&out, tty) // ends with an error when the other side closes
	return strings.ReplaceAll(out.String(), "\r\n", "\n"), cmd.Wait()
}

var color = regexp.MustCompile("\x1b\\[[0-9]*m")

// hangul makes a store with wide characters, and control characters, in titles
// and messages.
func hangul(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "state.db")
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for i, title := range []string{"배포 일정을 금요일에서 목요일로 옮기는 일에 대한 긴 제목", "広西と桂林への旅行の計画", "👨‍👩‍👧 family", "plain"} {
		id := fmt.Sprintf("20260501_12000%d_abcdef", i)
		_, err := db.CreateSession(t.Context(), sessiondb.NewSession{ID: id, Source: "telegram", Model: "모델-이름"})
		if err == nil {
			err = db.SetTitle(t.Context(), id, title)
		}
		for _, text := range []string{
			strings.Repeat("docker 이미지를 목요일에 배포합니다. ", 20),
			"evil \x1b]0;title\a \x1b[2J \u009b31m \u202etxt",
		} {
			if err == nil {
				_, err = db.AppendMessage(t.Context(), id, sessiondb.Message{Role: "user", Content: sessiondb.Text(text)})
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return path
}

func TestFitsTheTerminal(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long, and no goroutines meet in it")
	}
	path := hangul(t)
	old := fixture.Copy(t, "hermes-v11.db")
	for _, width := range []int{40, 60, 80, 120} {
		for _, args := range [][]string{
			{"list", "--db", path}, {"show", "plain", "--db", path}, {"resume", "plain", "--db", path}, {"search", "docker 이미지", "--db", path},
			{"search", "docker 이미지", "--grouped", "--db", path},
			{"list", "--all", "--db", old}, {"lineage", "refactor auth", "--db", old}, {"usage", "--db", old}, {"demo"},
		} {
			out, err := onTerminal(t, width, "", args...)
			if err != nil {
				t.Errorf("%s: %v\n%s", args, err, out)
			}
			plain := color.ReplaceAllString(out, "")
			for line := range strings.Lines(plain) {
				if w := term.Width(strings.TrimSuffix(line, "\n")); w > width && args[0] != "demo" {
					t.Errorf("%s: %d cells do not fit %d: %q", args, w, width, line)
				}
			}
			if strings.ContainsAny(plain, "\x1b\a\u009b\u202e") {
				t.Errorf("%s: control characters reach the terminal: %q", args, plain)
			}
		}
	}
}

// Columns stand one below the other whatever is in them.
func TestColumnsAlign(t *testing.T) {
	out, err := onTerminal(t, 100, "", "list", "--db", hangul(t))
	if err != nil {
		t.Fatal(err, out)
	}
	at := -1
	for line := range strings.Lines(color.ReplaceAllString(out, "")) {
		i := strings.Index(line, "telegram")
		if i < 0 {
			continue
		}
		if w := term.Width(line[:i]); at < 0 {
			at = w
		} else if w != at {
			t.Errorf("column begins at %d and at %d:\n%s", at, w, out)
		}
	}
	if at < 0 {
		t.Errorf("no sessions:\n%s", out)
	}
}

func TestJSONOnTerminal(t *testing.T) {
	path := hangul(t)
	out, err := onTerminal(t, 80, "", "show", "plain", "--json", "--db", path)
	if err != nil || strings.ContainsAny(out, "\x1b\a\u009b\u202e") {
		t.Fatalf("%v: %q", err, out)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	var m struct{ Content string }
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &m); err != nil || !strings.Contains(m.Content, "\u009b31m \u202etxt") {
		t.Errorf("%v: %q", err, m.Content)
	}
}

func TestAsking(t *testing.T) {
	path := fixture.Copy(t, "hermes-v11.db")
	out, err := onTerminal(t, 80, "n\n", "delete", "refactor auth", "--db", path)
	if err == nil || !strings.Contains(out, "4 sessions, ") || !strings.Contains(out, "not confirmed; nothing was changed") {
		t.Errorf("%v: %s", err, out)
	}
	run(t, "show", "refactor auth", "--db", path)
	if out, err := onTerminal(t, 80, "y\n", "delete", "refactor auth", "--db", path); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	if err := exec.Command("sessiondb", "show", "refactor auth", "--db", path).Run(); err == nil {
		t.Error("it is still there")
	}
}

// Tags stand beside a title where a person reads it.
func TestTagsOnTerminal(t *testing.T) {
	store := fixture.Copy(t, "hermes-v11.db")
	run(t, "tag", "refactor auth", "+work", "+urgent", "--db", store)
	for _, args := range [][]string{{"list", "--tag", "work"}, {"search", "--grouped", "kubernetes", "tag:work"}} {
		out, err := onTerminal(t, 120, "", append(args, "--db", store)...)
		if err != nil || !strings.Contains(out, "#urgent #work") {
			t.Errorf("%s: %v\n%s", args, err, out)
		}
	}
}
