package enginetest

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessiondb-go/sessiondb"
)

func testFiles(t *testing.T, h *harness) {
	t.Run("a session's own files go", func(t *testing.T) { filesOwn(t, h) })
	t.Run("an id reaches nothing outside", func(t *testing.T) { filesHostile(t, h) })
	t.Run("a request dump belongs to the longest id", func(t *testing.T) { filesOfLonger(t, h) })
	t.Run("links and folders", func(t *testing.T) { filesLinks(t, h) })
	t.Run("no such folder", func(t *testing.T) {
		db, _ := h.store(t)
		h.sessions(t, db, "a")
		r := remove(t, db, "a", sessiondb.DeleteOptions{SessionsDir: filepath.Join(t.TempDir(), "none")})
		if len(r.Files)+len(r.FileErrors) > 0 {
			t.Errorf("got %+v", r)
		}
	})
	t.Run("a file that can't be removed", func(t *testing.T) { filesStuck(t, h) })
}

// files makes empty files in a new folder.
func files(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		noError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	return dir
}

func names(t *testing.T, dir string) (out []string) {
	t.Helper()
	for _, e := range must[[]os.DirEntry](t)(os.ReadDir(dir)) {
		out = append(out, e.Name())
	}
	return out
}

func filesOwn(t *testing.T, h *harness) {
	others := []string{"a.json.bak", "a.txt", "aa.json", "request_dump_aa_1.json", "request_dump_a.json", "request_dump_a_1.jsonl", "xa.jsonl", "xrequest_dump_a_1.json"}
	own := []string{"a.json", "a.jsonl", "b.jsonl", "request_dump_a_1.json", "request_dump_a_20260101_120000_000001.json"}
	for _, dry := range []bool{true, false} {
		db, c := h.store(t)
		h.chain(t, db, c, "a", "b")
		dir := files(t, append(slices.Clone(own), others...)...)
		r := remove(t, db, "b", sessiondb.DeleteOptions{SessionsDir: dir, DryRun: dry})
		if d := cmp.Diff(own, r.Files); d != "" || r.FileErrors != nil {
			t.Errorf("dry run %v: %s %q", dry, d, r.FileErrors)
		}
		want := slices.Clone(others)
		if dry {
			want = append(want, own...)
		}
		slices.Sort(want)
		if d := cmp.Diff(want, names(t, dir)); d != "" {
			t.Errorf("dry run %v: %s", dry, d)
		}
	}
}

func filesHostile(t *testing.T, h *harness) {
	db, c := h.store(t)
	top := files(t, "keep.json", "keep.jsonl", "..json")
	dir := filepath.Join(top, "sessions")
	noError(t, os.MkdirAll(filepath.Join(dir, "sub"), 0o700))
	keep := []string{"ab.json", "a.json", "request_dump_ab_1.json", "request_dump_a_1.json", "keep.json", "sub"}
	for _, name := range keep[:5] {
		noError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	noError(t, os.WriteFile(filepath.Join(dir, "sub", "keep.json"), nil, 0o600))
	slices.Sort(keep)
	ids := []string{
		"../keep", "..", ".", "/", "//", filepath.Join(top, "keep"), "sub/keep", "./keep", "sub/../keep", `..\keep`, `sub\keep`,
		"*", "?", "[a-z]", "[", "a*", "*_1", "a?", "keep.json/", strings.Repeat("x", 300), "C:keep", "a.json:stream", " ", "~", "%2e%2e/keep", "A", "KEEP",
	}
	o := sessiondb.DeleteOptions{SessionsDir: dir}
	for _, id := range ids {
		h.sessions(t, db, id)
		end(t, db, id)
	}
	for i, id := range ids {
		if i%2 == 0 {
			if r := remove(t, db, id, o); len(r.Files)+len(r.FileErrors) > 0 || len(r.Sessions) != 1 {
				t.Errorf("%q: %+v", id, r)
			}
		}
	}
	c.add(100 * day)
	r := must[sessiondb.DeleteReport](t)(db.Prune(t.Context(), sessiondb.PruneFilter{}, o))
	if len(r.Files)+len(r.FileErrors) > 0 || len(r.Sessions) != len(ids)/2 {
		t.Errorf("prune: %+v", r)
	}
	if d := cmp.Diff(keep, names(t, dir)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"..json", "keep.json", "keep.jsonl", "sessions"}, names(t, top)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"keep.json"}, names(t, filepath.Join(dir, "sub"))); d != "" {
		t.Error(d)
	}
}

func filesOfLonger(t *testing.T, h *harness) {
	all := []string{
		"file_only.json", "request_dump_a_1.json", "request_dump_a_b_1.json", "request_dump_a_b_c_1.json",
		"request_dump_file_1.json", "request_dump_file_only_1.json", "request_dump_x_1.json", "request_dump_x_1_2.json",
	}
	steps := []struct {
		id   string
		want []string
	}{
		{"a", []string{"request_dump_a_1.json"}},
		{"a_b", []string{"request_dump_a_b_1.json", "request_dump_a_b_c_1.json"}},
		{"file", []string{"request_dump_file_1.json"}},
		{"x", nil}, // request_dump_x_1 is a session too
		{"request_dump_x_1", []string{"request_dump_x_1.json"}},
	}
	db, c := h.store(t)
	dir := files(t, all...)
	for _, s := range steps {
		h.sessions(t, db, s.id)
		end(t, db, s.id)
	}
	h.sessions(t, db, "x_1")
	for _, s := range steps {
		if r := remove(t, db, s.id, sessiondb.DeleteOptions{SessionsDir: dir}); !slices.Equal(r.Files, s.want) {
			t.Errorf("%s: %q, want %q", s.id, r.Files, s.want)
		}
	}
	if d := cmp.Diff([]string{"file_only.json", "request_dump_file_only_1.json", "request_dump_x_1_2.json"}, names(t, dir)); d != "" {
		t.Error(d)
	}

	// A prune may take the shorter id before or after the longer one.
	for _, ids := range [][]string{{"a", "a_b"}, {"a_b", "a"}} {
		dir := files(t, all...)
		for _, id := range ids {
			c.add(day)
			h.sessions(t, db, id)
			end(t, db, id)
		}
		c.add(100 * day)
		r := must[sessiondb.DeleteReport](t)(db.Prune(t.Context(), sessiondb.PruneFilter{}, sessiondb.DeleteOptions{SessionsDir: dir}))
		if d := cmp.Diff([]string{"request_dump_a_1.json", "request_dump_a_b_1.json", "request_dump_a_b_c_1.json"}, r.Files); d != "" {
			t.Error(d)
		}
	}
}

func filesLinks(t *testing.T, h *harness) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege")
	}
	db, _ := h.store(t)
	h.sessions(t, db, "a")
	outside := files(t, "kept.json")
	dir := t.TempDir()
	noError(t, os.Symlink(filepath.Join(outside, "kept.json"), filepath.Join(dir, "a.json")))
	noError(t, os.Symlink(outside, filepath.Join(dir, "request_dump_a_1.json")))
	noError(t, os.Mkdir(filepath.Join(dir, "a.jsonl"), 0o700))
	link := filepath.Join(t.TempDir(), "link")
	noError(t, os.Symlink(dir, link))
	r := remove(t, db, "a", sessiondb.DeleteOptions{SessionsDir: link})
	if d := cmp.Diff([]string{"a.json", "request_dump_a_1.json"}, r.Files); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"a.jsonl"}, names(t, dir)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"kept.json"}, names(t, outside)); d != "" {
		t.Error(d)
	}
}

func filesStuck(t *testing.T, h *harness) {
	db, _ := h.store(t)
	h.sessions(t, db, "a", "b")
	notDir := filepath.Join(files(t, "file"), "file")
	if r := remove(t, db, "a", sessiondb.DeleteOptions{SessionsDir: notDir}); len(r.FileErrors) != 1 || len(r.Sessions) != 1 {
		t.Errorf("a file for a folder: %+v", r)
	}
	if runtime.GOOS == "windows" || os.Getuid() == 0 {
		t.Skip("permissions don't hold here")
	}
	dir := files(t, "b.json")
	noError(t, os.Chmod(dir, 0o500))
	t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
	r := remove(t, db, "b", sessiondb.DeleteOptions{SessionsDir: dir})
	if len(r.FileErrors) != 1 || !strings.Contains(r.FileErrors[0], "b.json") || len(r.Files) != 0 || len(r.Sessions) != 1 {
		t.Errorf("got %+v", r)
	}
}
