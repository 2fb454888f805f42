package transcript

import (
	"context"
	"io"

	"github.com/sessiondb-go/sessiondb"
)

// Export hands the sessions of an export to a writer. They are made of the lines
// of an export, so that what is masked or left out is the same in all formats. It
// returns the number of sessions; those before an error are handed over whole.
func Export(ctx context.Context, db *sessiondb.DB, f sessiondb.ExportFilter, to Writer) (n int64, err error) {
	lines, out := io.Pipe()
	read := make(chan error)
	go func() {
		var err error
		n, err = db.ExportAll(ctx, out, f)
		_ = out.CloseWithError(err) // never fails
		read <- err
	}()
	shown := Exported(lines, to)
	_ = lines.CloseWithError(shown) // never fails
	if err := <-read; err != nil {
		return n, err // the other one says the same
	}
	return n, shown
}
