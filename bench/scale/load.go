package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/bench/corpus"
	"github.com/sessiondb-go/sessiondb/postgres"
)

// work is what one client does over and over; i counts.
type work func(ctx context.Context, i int) error

// load is something that clients do.
type load struct {
	name   string
	client func(ctx context.Context, db *sessiondb.DB, k int) (work, error)
}

var loads = []load{
	{"search: two words", search(corpus.TwoWords)},
	{"search: a rare word", search(corpus.RareWord)},
	{"search: two CJK characters", search(corpus.CJKMany)},
	{"search: a very common word", search(corpus.CommonWord)},
	{"append", appending},
}

func search(text string) func(context.Context, *sessiondb.DB, int) (work, error) {
	return func(_ context.Context, db *sessiondb.DB, _ int) (work, error) {
		return func(ctx context.Context, _ int) error {
			r, err := db.Search(ctx, sessiondb.SearchQuery{Text: text})
			if err == nil && len(r.Hits) == 0 {
				err = errors.New("nothing was found")
			}
			return err
		}, nil
	}
}

// appending is a client that has a conversation of its own.
func appending(ctx context.Context, db *sessiondb.DB, k int) (work, error) {
	id, err := db.CreateSession(ctx, sessiondb.NewSession{ID: fmt.Sprintf("append-%d-%d-%d", os.Getpid(), time.Now().UnixNano(), k), Source: "bench"})
	if err != nil {
		return nil, err
	}
	ms := corpus.Messages(int64(k), 500)
	return func(ctx context.Context, i int) error {
		_, err := db.AppendMessage(ctx, id, ms[i%len(ms)].Stored())
		return err
	}, nil
}

// figures are what was measured.
type figures struct {
	perSecond   float64
	median, p99 time.Duration
}

// measure lets n clients work at once, on a connection each.
func measure(ctx context.Context, o options, l load, n int) (f figures, err error) {
	dsn, err := withConnections(o.dsn, n+spare)
	if err != nil {
		return f, err
	}
	db, err := postgres.Open(ctx, dsn, postgres.Options{})
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	clients := make([]work, n)
	for k := range clients {
		if clients[k], err = l.client(ctx, db, k); err != nil {
			return f, err
		}
	}
	if _, err := together(ctx, clients, o.length/10); err != nil { // connections are made, and caches filled
		return f, err
	}
	start := time.Now()
	took, err := together(ctx, clients, o.length)
	if err != nil {
		return f, err
	}
	f.perSecond = float64(len(took)) / time.Since(start).Seconds()
	slices.Sort(took)
	f.median, f.p99 = took[len(took)/2], took[len(took)*99/100]
	return f, nil
}

// together lets clients work until the time is up, and returns how long each piece
// of work took. Each client does one at least, and ends what it began.
func together(ctx context.Context, clients []work, length time.Duration) (all []time.Duration, err error) {
	took, errs := make([][]time.Duration, len(clients)), make([]error, len(clients))
	end := time.Now().Add(length)
	var wg sync.WaitGroup
	for k, do := range clients {
		wg.Go(func() {
			for i := 0; errs[k] == nil && (i == 0 || time.Now().Before(end)); i++ {
				start := time.Now()
				errs[k] = do(ctx, i)
				took[k] = append(took[k], time.Since(start))
			}
		})
	}
	wg.Wait()
	return slices.Concat(took...), errors.Join(errs...)
}

// spare are the connections that a store keeps from writers.
const spare = 2

// withConnections lets the pool of a connection string have n connections.
func withConnections(dsn string, n int) (string, error) {
	u, err := url.Parse(dsn)
	if err != nil || u.Scheme == "" {
		return "", errors.New("the connection string must be a URL")
	}
	q := u.Query()
	q.Set("pool_max_conns", fmt.Sprint(n))
	u.RawQuery = q.Encode()
	return u.String(), nil
}
