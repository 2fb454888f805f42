//go:build unix

package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/sessiondb-go/sessiondb/internal/fixture"
)

func TestFilesAreForTheUserAlone(t *testing.T) {
	for _, umask := range []int{0, 0o022, 0o077} {
		withUmask(t, umask, func() {
			dir := filepath.Join(t.TempDir(), "a", "b")
			s := open(t, filepath.Join(dir, "state.db"), Options{})
			if err := s.Write(t.Context(), put(t.Context(), "a")); err != nil {
				t.Fatal(err)
			}
			for path, want := range map[string]fs.FileMode{
				filepath.Dir(dir): 0o700, dir: 0o700, s.path: 0o600, s.path + "-wal": 0o600, s.path + "-shm": 0o600, s.path + "-queue": 0o600,
			} {
				info, err := os.Stat(path)
				if err != nil {
					t.Error(err)
				} else if got := info.Mode().Perm(); got != want {
					t.Errorf("umask %03o: %s is %o", umask, path, got)
				}
			}
		})
	}
}

func TestOldFilesAreTightened(t *testing.T) {
	for was, want := range map[fs.FileMode]fs.FileMode{0o644: 0o600, 0o666: 0o600, 0o640: 0o640, 0o600: 0o600} {
		path := fixture.Copy(t, "hermes-v11.db")
		if err := os.Chmod(path, was); err != nil {
			t.Fatal(err)
		}
		open(t, path, Options{})
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%o became %o, %v", was, info.Mode().Perm(), err)
		}
	}
	path := fixture.Copy(t, "hermes-v11.db")
	link := filepath.Join(t.TempDir(), "link.db")
	if err := errors.Join(os.Chmod(path, 0o644), os.Symlink(path, link)); err != nil {
		t.Fatal(err)
	}
	open(t, link, Options{})
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("behind a link: %v, %v", info.Mode(), err)
	}
}

// withUmask runs fn under a umask, which belongs to the whole process.
func withUmask(t *testing.T, mask int, fn func()) {
	t.Helper()
	old := syscall.Umask(mask)
	defer syscall.Umask(old)
	fn()
}
