//go:build unix

package crashtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/creack/pty"
)

// hostile is what a transcript may hold to take a terminal over, each between
// marks that show where it came out.
var hostile = []string{
	"\x1b[2J", "\x1b[31;5m", "\x1b]0;title\a", "\x1b]52;c;ZXZpbA==\a", "\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\", "\x1bP1$r\x1b\\", "\x1bc",
	"\u009b31m", "\u009d0;title\u009c", "\u0085", "\u202etxt\u202c", "\u2066txt\u2069", "\u200f", "\u061c", "\u2028",
	"\x00", "\x7f", "\r", "\b\b\b", "\x0e", "\v\f", "\x1a", "\xff\xfe", "\x9b31m", "\xed\xa0\x80", "\n",
}

func marked(h string) string { return "quokka<" + h + ">" }

// inertLines are command lines that show what a store holds, by every command.
// $ stands for the folder, % for something hostile, @ for the id of a session.
var inertLines = []string{
	"help", "completion", "version", "demo",
	"list --all", "list --json", "list --source %", "search quokka", "search quokka --grouped", "search quokka --json", "search %",
	"show @", "show @ --json", "resume @", "resume @ --json", "lineage @", "lineage @ --json", "usage", "usage --by source", "usage --json",
	"usage --by day", "usage --top 50", "stats", "stats --space", "stats --json", "export", "export --redact", "export @ -o $/out.jsonl",
	"doctor", "doctor --full", "doctor --json", "show quokka", "show %", "delete % --yes", "rename @ %", "rename % other", "resume %", "lineage %",
	"import $/%.jsonl", "export -o $/%/out", "backup $/%/copy.db", "backup --verify $/%.db", "restore $/%.db --yes", "recover $/%.db $/new.db",
	"list --db $/%.db", "list --%", "%", "list %", "compact --layout %", "prune --source % --yes", "usage --by %", "completion %", "help %",
	"import $/hostile.jsonl", "backup", "backup --json", "recover $/state.db $/new.db", "compact --layout external", "doctor --fix --yes --full",
	"browse %", "browse --db $/%.db", "serve --listen %", "serve %", "copy --from $/%.db --to $/copied.db", "copy --from $/state.db --to $/copied.db",
	"merge $/%.db", "merge $/hostile.db", "merge $/hostile.db --json", "fork % --at 1", "fork @", "fork @ --at %", "tag @ +%", "tag @ +work", "tag list", "list --tag %",
	"trash list", "trash restore %", "trash %", "import --dry-run $/hostile.jsonl", "import --format % $/hostile.jsonl",
	"rpc", "mcp", "watch --after 0", "delete @ --yes", "prune --older-than 1d --yes", "prune --yes", "trash list --json", "trash restore @", "trash empty --yes", "compact", "restore $/hostile.db --yes",
}

// No command sends a control character of a store, or of a name that it was
// given, to a terminal; nor does one that writes lines into a pipe.
func TestOutputIsInert(t *testing.T) {
	if underRace {
		t.Skip("takes minutes under the race detector, and looks for no race")
	}
	for _, terminal := range []bool{true, false} {
		t.Run(fmt.Sprintf("terminal %v", terminal), func(t *testing.T) {
			t.Parallel()
			dir := hostileStore(t)
			ran := map[string]bool{}
			for i, line := range inertLines {
				args := inertArgs(dir, line, i)
				ran[args[0]] = true
				out, stderr := output(t, terminal, dir, args)
				if line == "list --all" && !bytes.Contains(out, []byte("␛")) {
					t.Errorf("nothing hostile is listed: %q", out)
				}
				for _, p := range obeyed(out, terminal, args) {
					t.Errorf("%q: %s", args, p)
				}
				for _, p := range obeyed(stderr, true, nil) {
					t.Errorf("%q, standard error: %s", args, p)
				}
			}
			help, _ := output(t, false, dir, []string{"help"})
			for _, m := range regexp.MustCompile(`(?m)^  (\w+) {2,}`).FindAllSubmatch(help, -1) {
				if !ran[string(m[1])] {
					t.Errorf("no line runs the command %s", m[1])
				}
			}
		})
	}
}

func inertArgs(dir, line string, i int) (args []string) {
	for _, word := range strings.Fields(line) {
		h := marked(hostile[i%len(hostile)])
		word = strings.ReplaceAll(strings.ReplaceAll(word, "$", dir), "@", "id3")
		args = append(args, strings.ReplaceAll(strings.ReplaceAll(word, "%", h), "\x00", "")) // no argument has a NUL
	}
	if !slices.Contains(args, "--db") && args[0] != "version" && args[0] != "help" && args[0] != "completion" && args[0] != "demo" {
		args = append(args, "--db", filepath.Join(dir, "state.db"))
	}
	return args
}

// What the program itself sends to a terminal: colours, and lines of progress.
var own = regexp.MustCompile("\x1b\\[(?:[012]|33|36)m|\r\x1b\\[K|\r\n")

var armed = regexp.MustCompile("[\\x00-\\x08\\x0b-\\x1f\\x7f\u0080-\u009f\u2028-\u202e\u2066-\u2069\u061c\u200e\u200f]")

// obeyed finds what a terminal would obey. JSON in a pipe may have all but the
// C0 controls, and a text that people read has its line breaks.
func obeyed(out []byte, terminal bool, args []string) (problems []string) {
	text := own.ReplaceAllString(string(out), "\n")
	bad := armed
	if !terminal && len(args) > 0 && (slices.Contains(args, "--json") || slices.Contains([]string{"export", "rpc", "mcp", "watch"}, args[0])) {
		bad = regexp.MustCompile(`[\x00-\x08\x0b-\x1f]`)
	}
	if m := bad.FindStringIndex(text); m != nil {
		problems = append(problems, fmt.Sprintf("%q", text[max(0, m[0]-40):min(len(text), m[1]+20)]))
	}
	if !utf8.ValidString(text) {
		i := strings.IndexRune(strings.ToValidUTF8(text, "\u0000"), 0)
		problems = append(problems, fmt.Sprintf("no UTF-8: %q", text[max(0, i-40):min(len(text), i+20)]))
	}
	if strings.Contains(text, "<\n>") && (len(args) == 0 || args[0] != "show" && args[0] != "resume") {
		problems = append(problems, "a value breaks its line")
	}
	return problems
}

// output is what a command prints: on a terminal all of it together.
func output(t *testing.T, terminal bool, dir string, args []string) (out, stderr []byte) {
	t.Helper()
	cmd := as(t, "sessiondb", nil, args...)
	cmd.Env = append(cmd.Env, "HOME="+dir, "TMPDIR="+dir, "TERM=xterm") // the demo goes to a temporary folder
	switch {
	case terminal:
		return onTerminal(t, cmd, requests(args[0])), nil
	case args[0] == "watch":
		return nil, nil // it does not end
	}
	cmd.Stdin = strings.NewReader(requests(args[0]))
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, _ = cmd.Output() // whatever comes of it
	return out, errs.Bytes()
}

// requests are what a command that answers is asked.
func requests(name string) string {
	call := func(id int, method string, params any) string {
		b, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
		return string(b) + "\n"
	}
	switch name {
	case "rpc":
		return call(1, "get_messages", params{"session_id": "id3"}) + call(2, "list_sessions_rich", params{})
	case "mcp":
		return call(1, "initialize", params{"protocolVersion": "2025-06-18", "capabilities": params{}, "clientInfo": params{"name": "t", "version": "1"}}) +
			call(2, "tools/list", params{})
	}
	return ""
}

func onTerminal(t *testing.T, cmd *exec.Cmd, typed string) []byte {
	t.Helper()
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 50, Cols: 200})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tty.Close() }()
	var out bytes.Buffer
	_, _ = io.WriteString(tty, typed+"\x04")
	if slices.Contains(cmd.Args, "watch") { // it does not end by itself
		_, _ = io.CopyN(&out, tty, 10_000)
		_ = cmd.Process.Kill()
	}
	_, _ = io.Copy(&out, tty) // ends with an error when the other side closes
	_ = cmd.Wait()
	return out.Bytes()
}

// hostileStore makes a store with something hostile in every text column of
// every table, beside a file to import and a store to restore.
func hostileStore(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	path := filledStore(t, dir)
	j := plain(path)
	run := func(query string, args ...any) {
		t.Helper()
		if _, err := j.db.Exec(query, args...); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
	run("PRAGMA foreign_keys = OFF")
	run("DROP TRIGGER messages_fts_insert")
	for _, name := range []string{"\x1b[2J", "\u009b31m"} {
		run(fmt.Sprintf(`CREATE TABLE "%s" (id TEXT, "column %[1]s" TEXT REFERENCES sessions(id))`, marked(name)))
		run(fmt.Sprintf(`CREATE VIEW "view %s" AS SELECT * FROM messages_fts`, marked(name)))
		run(fmt.Sprintf(`CREATE INDEX "index %s" ON messages(role)`, marked(name)))
	}
	for _, table := range j.rows("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite%' AND name <> 'schema_version'") {
		fillHostile(t, j, table, run)
	}
	run("UPDATE sessions SET parent_session_id = 'id3' WHERE id LIKE 'id4%' OR id LIKE 'id5%'")
	if j.close(); len(j.found) > 0 {
		t.Fatal(j.found)
	}
	var lines strings.Builder
	for i, h := range hostile {
		b, _ := json.Marshal(map[string]any{"id": fmt.Sprintf("new%d %s", i, h), "source": h, "title": marked(h), "messages": "no list " + h})
		lines.Write(append(b, '\n'))
	}
	if err := os.WriteFile(filepath.Join(dir, "hostile.jsonl"), []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	copyTo(t, path, filepath.Join(dir, "hostile.db"))
	return dir
}

// fillHostile inserts rows for each hostile text: as it is, in JSON, and in
// columns of numbers too.
func fillHostile(t *testing.T, j *judge, table string, run func(string, ...any)) {
	t.Helper()
	quoted := `"` + table + `"`
	kinds := j.rows("SELECT type FROM pragma_table_info(?)", table)
	names := j.rows("SELECT name FROM pragma_table_info(?)", table)
	if !slices.Contains(kinds, "TEXT") {
		return
	}
	for way := range 3 {
		for i, h := range hostile {
			var columns, marks []string
			var values []any
			for c, kind := range kinds {
				var v any = i
				switch {
				case names[c] == "id" && table == "sessions" && h == "\x1b[2J" && way == 0:
					v = "id3"
				case names[c] == "id" && kind == "TEXT":
					v = fmt.Sprintf("id%d%d%s", way+4, i, marked(h))
				case names[c] == "session_id":
					v = []string{"id3", fmt.Sprintf("id%d%d%s", way+4, i, marked(h)), "nobody " + marked(h)}[way]
				case names[c] == "id" && table == "messages":
					continue
				case kind == "TEXT" && way == 1 && strings.HasSuffix(names[c], "s"):
					b, _ := json.Marshal([]any{params{"id": h, "type": "function", "function": params{"name": marked(h), "arguments": marked(h)}}})
					v = string(b)
				case kind == "TEXT":
					v = fmt.Sprintf("%d%d%s", way, i, marked(h))
				case way == 2:
					v = marked(h)
				}
				columns, values = append(columns, `"`+names[c]+`"`), append(values, v)
				marks = append(marks, "?")
			}
			run("INSERT OR REPLACE INTO "+quoted+" ("+strings.Join(columns, ", ")+") VALUES ("+strings.Join(marks, ", ")+")", values...)
		}
	}
}
