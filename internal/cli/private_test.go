//go:build unix

package cli_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// making are the commands that make files; %s is a store that is there.
var making = [][]string{
	{"import", "in.jsonl", "--db", "new/deep/state.db"},
	{"rename", "s1", "another", "--db", "%s"},
	{"export", "-o", "out.jsonl", "--db", "%s"},
	{"vacuum", "--db", "%s"},
	{"demo", "--keep"},
}

// privately runs a command in a folder under a umask, with the words of a
// program before it that watches it.
func privately(t *testing.T, dir, umask string, watch []string, args []string) {
	t.Helper()
	sessiondb, err := exec.LookPath("sessiondb")
	if err != nil {
		t.Fatal(err)
	}
	script := `umask ` + umask + ` && exec "$@"`
	cmd := exec.Command("sh", append(append([]string{"-c", script, "sh"}, watch...), append([]string{sessiondb}, args...)...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir, "HERMES_HOME=", "TMPDIR="+filepath.Join(dir, "tmp"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%q: %v\n%s", args, err, out)
	}
}

// place makes a folder with what the commands need.
func place(t *testing.T) (dir, store string) {
	t.Helper()
	dir = t.TempDir()
	store = filepath.Join(dir, "old", "state.db")
	line := `{"id":"s1","source":"cli","started_at":1778000000,"messages":[{"role":"user","content":"hi","timestamp":1778000000}]}`
	if err := os.WriteFile(filepath.Join(dir, "in.jsonl"), []byte(line+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	privately(t, dir, "077", nil, []string{"import", "in.jsonl", "--db", store})
	return dir, store
}

func filled(args []string, store string) (out []string) {
	for _, a := range args {
		out = append(out, strings.ReplaceAll(a, "%s", store))
	}
	return out
}

// Whatever the umask, what is made is for its owner alone.
func TestMadeForTheOwnerAlone(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long, and no goroutines meet in it")
	}
	for _, umask := range []string{"000", "022"} {
		dir, store := place(t)
		for _, args := range making {
			privately(t, dir, umask, nil, filled(args, store))
		}
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || path == dir {
				return err
			}
			info, err := d.Info()
			if err == nil && info.Mode().Perm()&0o077 != 0 {
				t.Errorf("umask %s: %s has mode %v", umask, path, info.Mode())
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

var (
	makesFile = regexp.MustCompile(`open(?:at)?\((?:AT_FDCWD, )?"([^"]*)", [A-Z_|]*O_CREAT[A-Z_|]*, (0\d+)`)
	makesDir  = regexp.MustCompile(`mkdir(?:at)?\((?:AT_FDCWD, )?"([^"]*)", (0\d+)`)
	widens    = regexp.MustCompile(`chmod(?:at)?2?\([^)]*, (0\d+)`)
)

// Nothing is ever wider, not even for the moment in which it is made.
func TestNeverWiderForAMoment(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long, and no goroutines meet in it")
	}
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is needed to look")
	}
	if err := exec.Command(strace, "-f", "-qq", "-o", os.DevNull, "true").Run(); err != nil {
		t.Skipf("strace may not trace here: %v", err)
	}
	dir, store := place(t)
	log := filepath.Join(t.TempDir(), "log")
	calls := "trace=open,openat,creat,mkdir,mkdirat,chmod,fchmod,fchmodat,mknod,mknodat"
	files, dirs := 0, 0
	for _, args := range making {
		privately(t, dir, "000", []string{strace, "-f", "-qq", "-o", log, "-e", calls}, filled(args, store))
		b, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(b)) {
			if m := makesFile.FindStringSubmatch(line); m != nil {
				if files++; m[2] != "0600" {
					t.Errorf("%q makes a file for others: %s", args, line)
				}
			}
			if m := makesDir.FindStringSubmatch(line); m != nil {
				if dirs++; m[2] != "0700" {
					t.Errorf("%q makes a folder for others: %s", args, line)
				}
			}
			if m := widens.FindStringSubmatch(line); m != nil && m[1] != "0600" && m[1] != "0700" {
				t.Errorf("%q lets others in: %s", args, line)
			}
		}
	}
	if files < 8 || dirs < 2 {
		t.Errorf("saw only %d files and %d folders being made", files, dirs)
	}
}

// Links that others left where files are made lead nowhere.
func TestLinksAreNotFollowed(t *testing.T) {
	for _, name := range []string{"new.db", "new.db-wal", "new.db-shm", "new.db-journal", "new.db-queue"} {
		dir, _ := place(t)
		victim := filepath.Join(t.TempDir(), "victim")
		if err := os.Symlink(victim, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("sessiondb", "import", "in.jsonl", "--db", "new.db")
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if _, gone := os.Lstat(victim); gone == nil {
			t.Errorf("%s: followed: %v %s", name, err, out)
		}
		if name == "new.db-queue" && err != nil {
			t.Errorf("%s: a store that could have been made was not: %s", name, out)
		}
	}
}
