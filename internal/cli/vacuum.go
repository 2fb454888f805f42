package cli

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/term"
)

func (a *app) vacuumCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "vacuum",
		Short: "Merge the search index and give free space back to the disk",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			path, err := a.existing()
			if err != nil {
				return err
			}
			before := fileSizes(path)
			err = a.write(ctx, func(db *sessiondb.DB) error {
				defer a.working("vacuuming")()
				return db.Vacuum(ctx)
			})
			if err != nil {
				return err
			}
			after := fileSizes(path)
			if a.OutTTY {
				_, err = fmt.Fprintf(a.Out, "%s before, %s now\n", term.Bytes(before), term.Bytes(after))
			} else {
				_, err = fmt.Fprintf(a.Out, "%d\t%d\n", before, after)
			}
			return err
		},
	}
}

// fileSizes is the size of a store with its write-ahead log.
func fileSizes(path string) (sum int64) {
	for _, suffix := range []string{"", "-wal"} {
		if info, err := os.Stat(path + suffix); err == nil {
			sum += info.Size()
		}
	}
	return sum
}

// working shows for how long work whose progress is not known goes on, until
// the function it returns is called.
func (a *app) working(what string) (done func()) {
	p := a.NewProgress()
	begun := time.Now()
	tick := time.NewTicker(time.Second)
	stop := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-stop:
				return
			case now := <-tick.C:
				p.Report(what+", seconds", int64(now.Sub(begun).Seconds()), 0)
			}
		}
	}()
	return func() {
		tick.Stop()
		close(stop)
		<-ended
		p.Done()
	}
}
