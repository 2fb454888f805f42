// Package cli is the command line: a file a command. Flags and the environment
// are read here and nowhere else; it picks the engine, and it speaks to people.
// What a command does is the library's business: no SQL stands here.
package cli

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/sessiondb-go/sessiondb/internal/term"
)

// Main runs the program with its arguments and returns its exit code.
func Main(args []string) int {
	signal.Ignore(syscall.SIGPIPE) // a closed pipe is an error of the write
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second interrupt ends the program at once
	a := &app{
		Streams: term.System(os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb"),
		env:     os.Getenv,
		now:     time.Now,
	}
	return a.run(ctx, args)
}

// app is one run of the program.
type app struct {
	*term.Streams
	env func(string) string
	now func() time.Time

	store   string // flag --db
	readDSN string // --read-dsn
	json    bool   // flag --json
	strict  bool   // reads of a damaged store fail, instead of giving what can be read
	started bool   // arguments and flags were understood
}

func (a *app) run(ctx context.Context, args []string) int {
	root := a.root()
	root.SetArgs(args)
	root.SetIn(a.In)
	help := &keptError{w: a.Out}
	root.SetOut(help)
	root.SetErr(a.Err)
	cmd, err := root.ExecuteContextC(ctx)
	if err != nil && !a.started {
		err = usageError{err}
	}
	return a.report(ctx, cmd.CommandPath(), cmp.Or(err, help.err))
}

// keptError is a writer that keeps its error: cobra prints help and looks at none.
type keptError struct {
	w   io.Writer
	err error
}

func (k *keptError) Write(p []byte) (n int, err error) {
	if n, err = k.w.Write(p); err != nil {
		k.err = err
	}
	return n, err
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "sessiondb",
		Short: "Keep, find and resume the conversations of AI agents",
		Long: `sessiondb keeps every conversation of your AI agents in one SQLite file, finds
any of them in milliseconds, and never loses one. It works in place on the
state.db of Hermes Agent.

The store is --db FILE, else $HERMES_HOME/state.db, else ~/.hermes/state.db.
A SESSION is an id, the unique beginning of one, or a title. To read or to go on,
a title stands for the newest of its numbered ones, "plan" for "plan #3"; rename,
delete and tag take the session of exactly that title.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(cmd *cobra.Command, args []string) error {
			if err := plausible(cmd); err != nil {
				return err
			}
			a.started = true
			return nil
		},
	}
	root.PersistentFlags().StringVar(&a.store, "db", "", "the store, a state.db `FILE` or postgres://...")
	root.PersistentFlags().StringVar(&a.readDSN, "read-dsn", "", "with a store on a server: the `URL` of replicas that reads go to")
	_ = root.MarkPersistentFlagFilename("db", "db")
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(a.commands()...)
	strict(root)
	return root
}

// strict makes the commands that cobra adds refuse what they don't know, as
// ours do.
func strict(root *cobra.Command) {
	root.InitDefaultHelpFlag() // else what comes behind --help is taken for its value
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "help":
			cmd.Args = func(_ *cobra.Command, args []string) error {
				_, _, err := root.Find(args)
				return err
			}
		case "completion":
			cmd.Args = func(cmd *cobra.Command, args []string) error {
				if len(args) > 0 {
					return usagef("there is no completion for %q", args[0])
				}
				return nil
			}
			cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		}
	}
}

func (a *app) commands() []*cobra.Command {
	return []*cobra.Command{
		a.browseCommand(), a.listCommand(), a.showCommand(), a.searchCommand(), a.resumeCommand(), a.lineageCommand(), a.usageCommand(), a.statsCommand(), a.watchCommand(),
		a.renameCommand(), a.tagCommand(), a.forkCommand(), a.exportCommand(), a.importCommand(), a.mergeCommand(), a.deleteCommand(), a.pruneCommand(), a.trashCommand(), a.compactCommand(), a.doctorCommand(), a.recoverCommand(),
		a.backupCommand(), a.restoreCommand(), a.copyCommand(),
		a.demoCommand(), a.rpcCommand(), a.mcpCommand(), a.serveCommand(), a.versionCommand(), a.manCommand(),
	}
}

// reading gives a command the flag --json.
func (a *app) reading(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().BoolVar(&a.json, "json", false, "print JSON, one object a line (see docs/json.md)")
	return cmd
}

// Windows has its own numbers for a pipe that nobody reads.
const (
	windowsBrokenPipe = syscall.Errno(109)
	windowsNoData     = syscall.Errno(232)
)

// unread tells that whoever read our output has gone away, which is no failure.
func unread(err error) bool {
	return errors.Is(err, syscall.EPIPE) ||
		runtime.GOOS == "windows" && (errors.Is(err, windowsBrokenPipe) || errors.Is(err, windowsNoData))
}
