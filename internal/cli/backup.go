package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/term"
	"github.com/sessiondb-go/sessiondb/sqlite"
)

// backedUp is what the backup command tells.
type backedUp struct {
	Path string `json:"path"`
	sessiondb.BackupReport
	Removed []string            `json:"removed"`
	Held    []sqlite.HeldBackup `json:"held"`
}

func (a *app) backupCommand() *cobra.Command {
	var keep int
	var verify string
	cmd := a.reading(&cobra.Command{
		Use:   "backup [FILE or FOLDER]",
		Short: "Copy the store while others use it",
		Long: `Copy the store, as it is at one moment, while others read and write it. The copy
is read through before it is called done, and nothing is ever overwritten.

Into a folder, by default the folder 'backups' beside the store, the file gets a
name with the time in UTC. There --keep N removes older backups of this store:
never other files, none when the new one has a damaged index, and none that
holds more than twice as many messages as the new one.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case verify != "" && (len(args) > 0 || keep > 0):
				return usagef("--verify reads a backup, and makes none: give it alone")
			case verify != "":
				return a.verify(cmd.Context(), verify)
			case cmd.Flags().Changed("keep") && keep == 0:
				return usagef("--keep 0 would keep none: give a number, or leave it out to keep all")
			}
			return a.backup(cmd.Context(), args, keep)
		},
	})
	cmd.Flags().IntVar(&keep, "keep", 0, "keep the newest `N` good backups of this store in the folder, remove older ones")
	cmd.Flags().StringVar(&verify, "verify", "", "read the backup `FILE` through, and tell what it holds")
	return cmd
}

func (a *app) backup(ctx context.Context, args []string, keep int) error {
	path, err := a.existing()
	if err != nil {
		return err
	}
	if onServer(path) {
		b, err := a.backupServer(ctx, args, keep)
		if err != nil {
			return err
		}
		return a.backedUp(b)
	}
	dst, inFolder, err := backupPlace(path, args)
	if err != nil {
		return err
	}
	if keep > 0 && !inFolder {
		return usagef("--keep is about the backups in a folder, and %s is a file: give a folder", args[0])
	}
	b := backedUp{Removed: []string{}, Held: []sqlite.HeldBackup{}}
	write := func(dst string) error {
		return a.read(ctx, func(db *sessiondb.DB) (err error) {
			b.BackupReport, err = db.BackupWithReport(ctx, dst)
			return err
		})
	}
	if inFolder {
		dst, err = a.backupInto(path, dst, write)
	} else {
		err = write(dst)
	}
	if err != nil {
		return err
	}
	b.Path = dst
	if keep > 0 {
		rotated, err := sqlite.RotateBackups(ctx, path, dst, b.BackupReport, keep)
		b.Removed, b.Held = append(b.Removed, rotated.Removed...), append(b.Held, rotated.Held...)
		if err != nil {
			a.note("the backup is made: %s", dst)
			return err
		}
	}
	return a.backedUp(b)
}

// backupPlace is the file or the folder that a backup goes to.
func backupPlace(store string, args []string) (place string, folder bool, err error) {
	dir := filepath.Join(filepath.Dir(resolved(store)), "backups")
	if len(args) > 0 {
		dir = args[0]
		if dir == "" {
			return "", false, usagef("the file or folder for the backup is empty")
		}
		info, err := os.Stat(dir)
		if isFolder := err == nil && info.IsDir(); !isFolder && !os.IsPathSeparator(dir[len(dir)-1]) {
			return dir, false, nil
		}
	}
	return dir, true, nil
}

// backupInto makes a backup of a name of ours in a folder, which is made if need
// be, and which goes again if no backup came to be in it.
func (a *app) backupInto(store, dir string, write func(dst string) error) (dst string, err error) {
	if _, missing := os.Stat(dir); os.IsNotExist(missing) {
		if err = os.MkdirAll(dir, 0o700); err != nil {
			return "", err
		}
		defer func() {
			if err != nil {
				_ = os.Remove(dir) // unless something is in it
			}
		}()
	}
	err = untaken(func() error {
		if dst, err = sqlite.BackupPath(store, dir, a.now()); err != nil {
			return err
		}
		return write(dst)
	})
	return dst, err
}

// untaken makes a file of the next free name, anew where another program took
// that meanwhile: one that began at the same moment.
func untaken(write func() error) (err error) {
	for range 100 {
		if err = write(); !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return err
}

// backedUp prints what was done, and warns of what is not as it should be.
func (a *app) backedUp(b backedUp) error {
	a.noteFindings(b.BackupReport)
	for _, h := range b.Held {
		a.note("warning: %s was not removed: %s", h.Path, h.Why)
	}
	switch {
	case a.json:
		return printJSON(a, b)
	case !a.OutTTY:
		_, err := fmt.Fprintln(a.Out, term.Line(b.Path))
		return err
	}
	parts := []string{holding(b.BackupReport)}
	if n := len(b.Removed); n > 0 {
		parts = append(parts, count(int64(n), "older backup")+" removed")
	}
	_, err := fmt.Fprintf(a.Out, "%s: %s\n", term.Line(b.Path), strings.Join(parts, "; "))
	return err
}

// noteFindings warns of what costs no message.
func (a *app) noteFindings(r sessiondb.BackupReport) {
	for _, f := range r.Findings {
		a.note("warning: %s", f.What)
	}
	if len(r.Findings) > 0 {
		a.note("every session and message is in it; what is damaged can be rebuilt from them")
	}
}

func holding(r sessiondb.BackupReport) string {
	return count(r.Sessions, "session") + ", " + count(r.Messages, "message") + ", " + term.Bytes(r.Bytes)
}

// verify reads a backup, or any store, through.
func (a *app) verify(ctx context.Context, path string) error {
	if _, err := os.Stat(path); err != nil {
		return err
	}
	b := backedUp{Path: path, Removed: []string{}, Held: []sqlite.HeldBackup{}}
	err := a.with(ctx, path, true, func(db *sessiondb.DB) (err error) {
		b.BackupReport, err = db.Verify(ctx)
		return err
	})
	if errors.Is(err, sessiondb.ErrNotStore) {
		err = a.verifyDump(ctx, path, &b.BackupReport, err)
	}
	if err != nil {
		return failf(badBackup(err), "%s is not good: %v", path, err)
	}
	return a.backedUp(b)
}
