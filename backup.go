package sessiondb

import (
	"context"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// BackupReport tells what a backup holds.
type BackupReport struct {
	Bytes         int64 `json:"bytes"` // size of the file
	SchemaVersion int   `json:"schema_version"`
	Sessions      int64 `json:"sessions"` // every row, also what newer programs hide
	Messages      int64 `json:"messages"`
	// Findings are what is wrong with it and costs no session and no message:
	// an index that is damaged, as it is in the store.
	Findings []Finding `json:"findings,omitempty"`
}

// Backup copies the store to the file dst while others go on reading and
// writing. The copy is the store at one moment, with all that other programs
// keep in it; it is read through, and has its name only when no session and no
// message in it is damaged. The file can be read by its owner alone.
//
// What is at dst is never overwritten, nor is a symbolic link there followed:
// that is [io/fs.ErrExist]. A damaged store is [ErrCorrupt], a full disk
// [ErrFull]. Whenever Backup fails, no file is left; what a run that was killed
// left is removed by the next one into the same folder.
func (db *DB) Backup(ctx context.Context, dst string) error {
	_, err := db.BackupWithReport(ctx, dst)
	return err
}

// BackupWithReport is Backup that tells what the copy holds.
func (db *DB) BackupWithReport(ctx context.Context, dst string) (r BackupReport, err error) {
	defer wrap(&err, "back up")
	b, err := db.engine.Backup(ctx, dst)
	if err != nil {
		return r, err
	}
	return reportOf(db.engine.Info().Place, b), nil
}

// Verify reads every session, every message and every index, and tells what the
// store holds. It is how a backup is tested: open the file for reading and
// verify it. A damaged table is [ErrCorrupt]. [DB.Check] looks at more, and
// takes longer.
func (db *DB) Verify(ctx context.Context) (r BackupReport, err error) {
	defer wrap(&err, "verify")
	b, err := db.engine.Verify(ctx)
	if err != nil {
		return r, err
	}
	return reportOf(db.engine.Info().Place, b), nil
}

func reportOf(place string, b engine.Backup) BackupReport {
	r := BackupReport{Bytes: b.Bytes, SchemaVersion: b.SchemaVersion, Sessions: b.Sessions, Messages: b.Messages}
	r.Findings = DescribeFindings(place, b.Findings)
	return r
}
