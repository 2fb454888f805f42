package sqlite

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/sessiondb-go/sessiondb"
)

// stampLayout is how a moment stands in the name of a file, in UTC.
const stampLayout = "20060102T150405Z"

// BackupPath is where in a folder a backup of the store at path goes that is
// made at a moment: the name of the store, a mark of this very file, and the
// time in UTC, such as state-1f2e3d4c-20260505T165320Z.db, with a number where
// that is taken. Names sort by time. The mark stays when the folder of the store
// is moved, and differs between stores of the same name, so that several can
// share a folder.
func BackupPath(path, dir string, at time.Time) (string, error) {
	stem, err := backupStem(path)
	if err != nil {
		return "", err
	}
	return freeName(filepath.Join(dir, stem+at.UTC().Format(stampLayout)), ".db"), nil
}

// backupStem is what the names of all backups of a store begin with.
func backupStem(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	base := strings.TrimSuffix(filepath.Base(path), ".db")
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	id, err := fileIdentity(real)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(id))
	return base + "-" + hex.EncodeToString(sum[:4]) + "-", nil
}

// nameIdentity is the identity of a file by its place.
func nameIdentity(path string) (string, error) {
	host, err := os.Hostname()
	return host + ":" + path, err
}

// Rotation tells what RotateBackups did.
type Rotation struct {
	Removed []string
	Held    []HeldBackup
}

// HeldBackup is a backup that was due to be removed, and was not.
type HeldBackup struct {
	Path string `json:"path"`
	Why  string `json:"why"`
}

// RotateBackups removes old backups of the store at path from the folder of the
// newest, until keep good ones are left, newest among them. r is what the
// report of newest said.
//
// Only files whose names are those that [BackupPath] gives to this store are
// ever removed. One that can't be read counts for nothing and stays. One that
// holds over twice as many messages as newest stays as well: a store that
// shrank does not push out what it lost. When newest has findings, nothing is
// removed.
func RotateBackups(ctx context.Context, path, newest string, r sessiondb.BackupReport, keep int) (out Rotation, err error) {
	if keep < 1 {
		return out, fmt.Errorf("rotate backups: %w: at least one is kept", sessiondb.ErrInvalid)
	}
	names, err := backupsOf(path, filepath.Dir(newest))
	if err != nil {
		return out, fmt.Errorf("rotate backups: %w", err)
	}
	good := 1
	for _, name := range names {
		if sameName(name, newest) {
			continue
		}
		n, err := glance(ctx, name)
		switch {
		case ctx.Err() != nil:
			return out, ctx.Err()
		case err != nil:
			out.hold(name, "it can't be read: %v", err)
		case good < keep:
			good++
		case len(r.Findings) > 0:
			out.hold(name, "the store has a damaged index")
		case n > 2*r.Messages:
			out.hold(name, "it holds %d messages, the new one %d", n, r.Messages)
		default:
			if err := os.Remove(name); err != nil && !os.IsNotExist(err) {
				out.hold(name, "%v", err)
				continue
			}
			out.Removed = append(out.Removed, name)
		}
	}
	return out, nil
}

func (r *Rotation) hold(path, format string, args ...any) {
	r.Held = append(r.Held, HeldBackup{path, fmt.Sprintf(format, args...)})
}

func sameName(a, b string) bool { return filepath.Base(a) == filepath.Base(b) }

// backupsOf lists the backups of a store in a folder, newest first. What is no
// regular file is none.
func backupsOf(path, dir string) (names []string, err error) {
	stem, err := backupStem(path)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	ours := regexp.MustCompile(`^` + regexp.QuoteMeta(stem) + `\d{8}T\d{6}Z(-\d+)?\.db$`)
	for _, e := range slices.Backward(entries) { // they are sorted by name
		if e.Type().IsRegular() && ours.MatchString(e.Name()) {
			names = append(names, filepath.Join(dir, e.Name()))
		}
	}
	return names, nil
}

// glance says how many messages a backup holds, or why it is none. It was read
// through when it was made: now it is enough that nothing is missing.
func glance(ctx context.Context, path string) (messages int64, err error) {
	c, sh, err := look(ctx, path, access{mode: "ro", immutable: true})
	if err != nil {
		return 0, err
	}
	defer func() { _ = c.close() }()
	p, err := countPages(ctx, c)
	if err != nil {
		return 0, err
	}
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return 0, err
	case !sh.ours() || sh.blank() || !sh.has("messages"):
		return 0, fmt.Errorf("%w: there are no sessions in it", sessiondb.ErrNotStore)
	case info.Size() != p.bytes():
		return 0, fmt.Errorf("%w: it has %d of %d bytes", sessiondb.ErrCorrupt, info.Size(), p.bytes())
	case fileHolds(path + "-wal"):
		return 0, fmt.Errorf("%w: it was written to", sessiondb.ErrInvalid)
	}
	err = c.queryRow(ctx, []any{&messages}, "SELECT COUNT(*) FROM main.messages")
	return messages, err
}
