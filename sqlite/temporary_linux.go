package sqlite

import (
	"os"
	"path/filepath"
	"strings"
)

// temporaryBytes is the size of the files of this process that have no name in
// the folder for temporary files, such as the copy that a vacuum makes. It looks
// and opens nothing.
func temporaryBytes() (sum int64) {
	open, _ := filepath.Glob("/proc/self/fd/*")
	for _, fd := range open {
		name, _ := os.Readlink(fd)
		if !strings.HasSuffix(name, " (deleted)") || filepath.Dir(name) != tempDir() {
			continue
		}
		if info, err := os.Stat(fd); err == nil {
			sum += info.Size()
		}
	}
	return sum
}
