// Command bench measures sessiondb beside raw SQLite in C and Python's sqlite3
// on the same data in the same run, and writes the table of docs/benchmarks.md.
//
//	go run . -data /var/tmp/bench -rounds 9 -write
//
// It needs gcc and python3. The first run makes the stores to measure on,
// which takes some minutes and two gigabytes. With -postgres URL it measures the
// store on that server beside the bare driver.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime/pprof"

	"github.com/sessiondb-go/sessiondb/bench/corpus"
)

func main() {
	if workerMain(os.Args[1:]) {
		return
	}
	c := config{Small: corpus.Small, Large: corpus.Large, Server: corpus.Server, say: func(s string) { fmt.Fprintln(os.Stderr, s) }}
	rows := flag.String("rows", "", "measure only the rows whose name matches this expression")
	write := flag.Bool("write", false, "write the table to docs/benchmarks.md")
	profile := flag.String("cpuprofile", "", "write a CPU profile of this process to `file`")
	flag.StringVar(&c.Dir, "data", filepath.Join(os.TempDir(), "bench-data"), "`folder` of the stores, kept from run to run")
	flag.IntVar(&c.Rounds, "rounds", 5, "how often each row is measured")
	flag.IntVar(&c.Appends, "appends", 2000, "how many messages a writing row appends")
	flag.StringVar(&c.Postgres, "postgres", "", "measure the rows of PostgreSQL instead, on the server of this `URL`, in schemas that begin with sessiondb_bench")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, c, *rows, *write, *profile); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// config says what is measured, and how often.
type config struct {
	Dir          string
	Small, Large corpus.Size
	Server       corpus.Size // of the store on a server that is searched
	Rounds       int
	Appends      int
	Postgres     string
	say          func(string)
}

func run(ctx context.Context, c config, rows string, write bool, profile string) error {
	only, err := regexp.Compile(rows)
	if err != nil {
		return err
	}
	prepare, rowsOf, place := setUp, allRows, files
	if c.Postgres != "" {
		prepare, rowsOf, place = setUpServer, postgresRows, onServer
	}
	e, err := prepare(ctx, c)
	if err != nil {
		return err
	}
	defer e.close()
	if profile != "" {
		f, err := os.Create(profile)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	results := measure(ctx, rowsOf(e), only, c.Rounds, c.say)
	report := e.report(results)
	fmt.Print(report)
	if write {
		return writeReport(filepath.Join(e.module, "docs", "benchmarks.md"), place, report)
	}
	return ctx.Err()
}
