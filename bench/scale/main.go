// Command scale measures what one PostgreSQL server does for a store of a size:
// appends a second, and how long searches take, at several numbers of clients. It
// prints rows of the tables of docs/scale.md.
//
//	go run ./scale -dsn 'postgres://user@host/database?search_path=scale' -messages 1000000
//
// The first run of a size makes the store in that schema, whatever was in it. What
// it appends stays there, so that searches are measured first.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"time"

	"github.com/sessiondb-go/sessiondb/bench/corpus"
)

func main() {
	var o options
	flag.StringVar(&o.dsn, "dsn", "", "`connection string` of the server; its search_path names the schema")
	messages := flag.Int("messages", 100_000, "how many messages the store has")
	flag.IntVar(&o.copies, "copies", 1, "make a part of the messages, and store them so many times: faster, and the words are the same")
	clients := flag.String("clients", "1,8,64", "`numbers` of clients")
	flag.StringVar(&o.what, "what", "", "measure only what has this `word` in its name")
	flag.DurationVar(&o.length, "for", 5*time.Second, "how long each is measured; 0 only makes the store")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	n := *messages / o.copies
	o.size = corpus.Size{Name: "scale", Sessions: max(n/15, 1), Messages: n}
	err := o.setClients(*clients)
	if err == nil {
		err = run(ctx, o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

// options say what is measured.
type options struct {
	dsn     string
	size    corpus.Size
	copies  int
	clients []int
	what    string
	length  time.Duration
}

func (o *options) setClients(list string) error {
	for s := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			return fmt.Errorf("-clients: %q is no number of clients", s)
		}
		o.clients = append(o.clients, n)
	}
	return nil
}

func run(ctx context.Context, o options) error {
	say := func(s string) { fmt.Fprintln(os.Stderr, time.Now().Format(time.TimeOnly), s) }
	if err := corpus.OnServer(ctx, o.dsn, o.size, o.copies, say); err != nil || o.length == 0 {
		return err
	}
	fmt.Println("| messages | what | clients | a second | median | of a hundred, one takes longer than |\n|---|---|---|---|---|---|")
	for _, l := range loads {
		if !strings.Contains(l.name, o.what) {
			continue
		}
		for _, n := range o.clients {
			f, err := measure(ctx, o, l, n)
			if err != nil {
				return fmt.Errorf("%s, %d clients: %w", l.name, n, err)
			}
			fmt.Printf("| %d | %s | %d | %s | %s | %s |\n", o.size.Messages*o.copies, l.name, n, rate(f.perSecond), short(f.median), short(f.p99))
		}
	}
	return ctx.Err()
}

func rate(perSecond float64) string {
	if perSecond < 10 {
		return fmt.Sprintf("%.1f", perSecond)
	}
	return fmt.Sprintf("%.0f", perSecond)
}

func short(d time.Duration) string {
	if d < 100*time.Millisecond {
		return fmt.Sprintf("%.1f ms", d.Seconds()*1e3)
	}
	return fmt.Sprintf("%.0f ms", d.Seconds()*1e3)
}
