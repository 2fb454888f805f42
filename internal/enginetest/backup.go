package enginetest

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/sessiondb-go/sessiondb"
)

func testBackup(t *testing.T, h *harness) {
	t.Run("what it tells", func(t *testing.T) {
		db, c := h.store(t)
		h.sessions(t, db, "a", "b")
		h.say(t, db, c, "a", "a", "b")
		dst := filepath.Join(t.TempDir(), "copy")
		r := must[sessiondb.BackupReport](t)(db.BackupWithReport(t.Context(), dst))
		info, err := os.Stat(dst)
		noError(t, err)
		if r.Sessions != 2 || r.Messages != 3 || r.Bytes != info.Size() || r.SchemaVersion != db.Info().SchemaVersion || len(r.Findings) > 0 {
			t.Errorf("%+v of %d bytes", r, info.Size())
		}
	})
	t.Run("never overwrites", func(t *testing.T) {
		db, _ := h.store(t)
		dst := filepath.Join(t.TempDir(), "copy")
		noError(t, os.WriteFile(dst, []byte("mine"), 0o600))
		if err := db.Backup(t.Context(), dst); !errors.Is(err, fs.ErrExist) {
			t.Errorf("got %v", err)
		}
		if b, err := os.ReadFile(dst); err != nil || string(b) != "mine" {
			t.Errorf("%q, %v", b, err)
		}
	})
	t.Run("leaves nothing when it fails", func(t *testing.T) {
		db, _ := h.store(t)
		dir := t.TempDir()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := db.Backup(ctx, filepath.Join(dir, "copy")); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		if err := db.Backup(t.Context(), ""); !errors.Is(err, sessiondb.ErrInvalid) {
			t.Errorf("got %v", err)
		}
		if left := must[[]os.DirEntry](t)(os.ReadDir(dir)); len(left) > 0 {
			t.Errorf("left %v", left)
		}
	})
	t.Run("while others write", func(t *testing.T) { backupWhileWriting(t, h) })
}

// backupWhileWriting makes backups while messages are written: each holds what
// was acknowledged before it began, and nothing that was begun after it ended.
func backupWhileWriting(t *testing.T, h *harness) {
	db, _ := h.store(t)
	h.sessions(t, db, "a")
	var begun, stored atomic.Int64
	stop := make(chan struct{})
	var writers sync.WaitGroup
	for range 3 {
		writers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				begun.Add(1)
				if _, err := db.AppendMessage(t.Context(), "a", sessiondb.Message{Role: "user", Content: sessiondb.Text("more")}); err != nil {
					t.Error(err)
					return
				}
				stored.Add(1)
			}
		})
	}
	dir := t.TempDir()
	for _, name := range []string{"1", "2", "3", "4", "5"} {
		least := stored.Load()
		r, err := db.BackupWithReport(t.Context(), filepath.Join(dir, name))
		if most := begun.Load(); err != nil || r.Messages < least || r.Messages > most {
			t.Errorf("%d messages, between %d and %d were written, %v", r.Messages, least, most, err)
		}
	}
	close(stop)
	writers.Wait()
}
