//go:build !windows

package cli_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/fixture"
	"github.com/sessiondb-go/sessiondb/sqlite"
)

// tmux drives the program as a person does, and waits for what appears.
type tmux struct {
	t      *testing.T
	socket string
}

func (m tmux) run(args ...string) string {
	m.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-S", m.socket}, args...)...).CombinedOutput()
	if err != nil {
		m.t.Fatalf("tmux %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// see waits until the screen has a text, asking tmux again and again.
func (m tmux) see(text string) {
	m.t.Helper()
	var screen string
	for range 2_000 {
		if screen = m.run("capture-pane", "-p"); strings.Contains(screen, text) {
			return
		}
	}
	m.t.Fatalf("no %q on the screen:\n%s", text, screen)
}

func newTmux(t *testing.T, width, command string) tmux {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is not installed")
	}
	m := tmux{t: t, socket: filepath.Join(t.TempDir(), "s")}
	m.run("-f", os.DevNull, "new-session", "-d", "-x", width, "-y", "24", command+"; cat")
	t.Cleanup(func() { _ = exec.Command("tmux", "-S", m.socket, "kill-server").Run() })
	return m
}

func TestBrowseInTmux(t *testing.T) {
	path := hangul(t)
	m := newTmux(t, "100", `echo "chosen: $(sessiondb browse --db `+path+`)"`)
	m.see("plain")
	m.run("send-keys", "広西")
	m.see("1 of 1 · 20260501_120001_abcdef")
	m.run("resize-window", "-x", "50", "-y", "20")
	m.run("send-keys", "C-t")
	m.see("● root")
	m.run("send-keys", "x", "Enter")
	m.see("chosen: 20260501_120001_abcdef")
}

func TestBrowseExecutesInTmux(t *testing.T) {
	path := hangul(t)
	m := newTmux(t, "100", `sessiondb browse --db `+path+` --exec 'printf "got %s\n" {id}'`)
	m.see("plain")
	m.run("send-keys", "family")
	m.see("1 of 1")
	m.run("send-keys", "Enter")
	m.see("got 20260501_120002_abcdef")
}

// An export is what the name of its file says, and nothing is overwritten.
func TestBrowseExportsInTmux(t *testing.T) {
	path, dir := hangul(t), t.TempDir()
	m := newTmux(t, "100", `sessiondb browse --db `+path)
	m.see("plain")
	for name, want := range map[string]string{"a.md": "# ", "a.html": "<!doctype html>", "a.json": "{"} {
		file := filepath.Join(dir, name)
		m.run("send-keys", "C-e", "C-u", file, "Enter")
		m.see("exported to")
		if got, err := os.ReadFile(file); err != nil || !strings.HasPrefix(string(got), want) {
			t.Errorf("%s: %.40q, %v", name, got, err)
		}
		m.run("send-keys", "C-e", "C-u", file, "Enter")
		m.see("nothing is overwritten")
	}
}

// An id is one word of the command, and no shell reads it.
func TestBrowseExecutesWithHostileID(t *testing.T) {
	path, pwned := filepath.Join(t.TempDir(), "state.db"), filepath.Join(t.TempDir(), "pwned")
	id := `a'b"c $(touch ` + pwned + `); touch ` + pwned
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err == nil {
		_, err = db.CreateSession(t.Context(), sessiondb.NewSession{ID: id, Source: "cli"})
		err = errors.Join(err, db.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	m := newTmux(t, "100", `sessiondb browse --db `+path+` --exec 'printf "<%s>" {id} end'`)
	m.see("1 of 1")
	m.run("send-keys", "Enter")
	m.see("<end>")
	m.see("<a'b\"c $(touch")
	if _, err := os.Lstat(pwned); err == nil {
		t.Error("the id was obeyed")
	}
}

// What others store appears by itself, and an id can be taken away from here.
func TestBrowseFollowsInTmux(t *testing.T) {
	path := hangul(t)
	m := newTmux(t, "100", `sessiondb browse --db `+path)
	m.run("set-option", "-s", "set-clipboard", "on")
	m.see("plain")
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err == nil {
		_, err = db.CreateSession(t.Context(), sessiondb.NewSession{ID: "later", Source: "cli"})
	}
	if err == nil {
		_, err = db.AppendMessage(t.Context(), "later", sessiondb.Message{Role: "user", Content: sessiondb.Text("written meanwhile")})
		err = errors.Join(err, db.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	m.see("written meanwhile")
	m.run("send-keys", "Home", "C-y")
	m.see("copied ")
	for range 2_000 {
		if m.run("list-buffers") != "" {
			break
		}
	}
	if got := m.run("show-buffer"); !strings.Contains(m.run("capture-pane", "-p"), "copied "+strings.TrimSpace(got)) {
		t.Errorf("the clipboard has %q", got)
	}
}

// Where no terminal is left at all, there is one line.
func TestBrowseWithoutTerminal(t *testing.T) {
	cmd := exec.Command("sessiondb", "browse", "--db", hangul(t))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != 2 || strings.Count(string(out), "\n") != 1 {
		t.Errorf("%v: %s", err, out)
	}
}

// What is damaged is told, and the terminal is left as it was.
func TestBrowseDamagedInTmux(t *testing.T) {
	path := fixture.Copy(t, "v11-header-only.db")
	m := newTmux(t, "100", `sessiondb browse --db `+path+`; echo "exit $?"`)
	m.see("sessiondb doctor")
	m.see("exit 1")
}

// What a damaged store still has can be chosen, and the damage is told after.
func TestBrowseAroundDamageInTmux(t *testing.T) {
	path := fixture.Copy(t, "v11-truncated.db")
	m := newTmux(t, "100", `echo "chose $(sessiondb browse --db `+path+`; echo exit $?)"`)
	m.see("of 50+")
	m.run("send-keys", "docker")
	m.see("searched one by one")
	m.run("send-keys", "Enter")
	m.see("a1b2c3\nexit 1")
	m.see("sessiondb doctor")
}
