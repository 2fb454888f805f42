package sqlite

import (
	"os"
	"path/filepath"
)

// makeDir makes a directory, and those above it, for the user alone whatever
// the umask. A directory that exists is left as it is.
func makeDir(dir string) error {
	if exists(dir) {
		return nil
	}
	if parent := filepath.Dir(dir); parent != dir {
		if err := makeDir(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		if os.IsExist(err) {
			return nil
		}
		return err
	}
	return os.Chmod(dir, 0o700)
}

// tighten takes a store away from strangers: a file that anyone may read is an
// accident of a umask. One that a group may read is a decision, and a
// symbolic link is somebody else's file.
func tighten(path, real string) {
	if path != real {
		if info, err := os.Lstat(path); err != nil || info.Mode()&os.ModeSymlink != 0 {
			return
		}
	}
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		info, err := os.Lstat(real + suffix)
		if err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o007 != 0 {
			_ = os.Chmod(real+suffix, 0o600)
		}
	}
}
