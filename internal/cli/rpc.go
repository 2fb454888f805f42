package cli

import (
	"github.com/spf13/cobra"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/rpc"
)

func (a *app) rpcCommand() *cobra.Command {
	var readOnly bool
	var o rpc.Options
	cmd := &cobra.Command{
		Use:   "rpc",
		Short: "Answer JSON-RPC 2.0 requests, one a line, until the input ends",
		Long: `Answer JSON-RPC 2.0 requests on the standard input and output, one JSON object a
line, until the input ends. The method rpc.discover lists all methods. The store
is made if there is none.`,
		Example: `  echo '{"jsonrpc":"2.0","id":1,"method":"rpc.discover"}' | sessiondb rpc`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			a.strict = true // a program must not take a part for the whole
			open := a.create
			if readOnly {
				open = a.read
			}
			o.Logger = a.logger()
			return open(ctx, func(db *sessiondb.DB) error {
				err := rpc.Serve(ctx, db, a.In, a.jsonOut(), o)
				if ctx.Err() != nil {
					return nil // a signal is how a server is told to stop
				}
				return err
			})
		},
	}
	cmd.Flags().BoolVar(&readOnly, "read-only", false, "refuse every change")
	cmd.Flags().IntVar(&o.Workers, "workers", rpc.DefaultWorkers, "run at most `N` requests at the same time")
	return cmd
}
