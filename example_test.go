package sessiondb_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/sqlite"
)

// example is a store in a temporary folder, with a clock that goes on by a
// minute whenever it is read.
func example() (db *sessiondb.DB, done func()) {
	dir, err := os.MkdirTemp("", "sessiondb")
	if err != nil {
		log.Fatal(err)
	}
	clock := time.Date(2026, 4, 9, 12, 0, 0, 0, time.UTC)
	db, err = sqlite.Open(context.Background(), filepath.Join(dir, "state.db"), sqlite.Options{Now: func() time.Time {
		clock = clock.Add(time.Minute)
		return clock
	}})
	if err != nil {
		log.Fatal(err)
	}
	return db, func() {
		_ = db.Close()
		_ = os.RemoveAll(dir)
	}
}

// try ends an example that can't go on.
func try(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func ExampleDB_CreateSession() {
	ctx := context.Background()
	db, done := example()
	defer done()

	id, err := db.CreateSession(ctx, sessiondb.NewSession{Source: "cli", Model: "some-model"})
	try(err)
	_, err = db.AppendMessage(ctx, id, sessiondb.Message{Role: "user", Content: sessiondb.Text("deploy it, please")})
	try(err)
	try(db.EndSession(ctx, id, "user_exit"))
	try(db.EndSession(ctx, id, "timeout")) // the first reason wins

	s, err := db.Session(ctx, id)
	try(err)
	fmt.Println(s.Source, *s.Model, s.MessageCount, *s.EndReason)

	_, err = db.Session(ctx, "no such session")
	fmt.Println(errors.Is(err, sessiondb.ErrNotFound))
	// Output:
	// cli some-model 1 user_exit
	// true
}

func ExampleDB_ResolveSessionID() {
	ctx := context.Background()
	db, done := example()
	defer done()
	for _, id := range []string{"20260409_120000_aaaaaa", "20260409_130000_bbbbbb"} {
		_, err := db.CreateSession(ctx, sessiondb.NewSession{ID: id, Source: "cli"})
		try(err)
	}

	id, err := db.ResolveSessionID(ctx, "20260409_13")
	fmt.Println(id, err)

	_, err = db.ResolveSessionID(ctx, "2026")
	var several *sessiondb.AmbiguousError
	if errors.As(err, &several) {
		fmt.Println(several.Candidates)
	}
	// Output:
	// 20260409_130000_bbbbbb <nil>
	// [20260409_130000_bbbbbb 20260409_120000_aaaaaa]
}

func ExampleDB_SetTitle() {
	ctx := context.Background()
	db, done := example()
	defer done()
	for _, id := range []string{"a", "b"} {
		_, err := db.CreateSession(ctx, sessiondb.NewSession{ID: id, Source: "cli"})
		try(err)
	}

	try(db.SetTitle(ctx, "a", "  release\tplan "))
	fmt.Println(db.SetTitle(ctx, "b", "release plan"))

	// A title that is made up, not typed, takes the next free number.
	title, err := db.SetTitleAuto(ctx, "b", "release plan")
	try(err)
	fmt.Println(title)

	// The title stands for the newest of its lineage.
	id, err := db.ResolveTitle(ctx, "release plan")
	fmt.Println(id, err)
	// Output:
	// set title of b: title "release plan" is taken by session a
	// release plan #2
	// b <nil>
}

// compressed makes a conversation that outgrew its context once: the session
// "start" goes on as "rest".
func compressed(ctx context.Context, db *sessiondb.DB) {
	say := func(id, text string) {
		_, err := db.AppendMessage(ctx, id, sessiondb.Message{Role: "user", Content: sessiondb.Text(text)})
		try(err)
	}
	_, err := db.CreateSession(ctx, sessiondb.NewSession{ID: "start", Source: "cli"})
	try(err)
	say("start", "let us write a parser")
	_, err = db.CreateSession(ctx, sessiondb.NewSession{ID: "helper", Source: "subagent", ParentID: "start"})
	try(err)
	try(db.EndSession(ctx, "start", "compression"))
	_, err = db.CreateSession(ctx, sessiondb.NewSession{ID: "rest", Source: "cli", ParentID: "start"})
	try(err)
	say("rest", "now the tests")
}

func ExampleDB_Lineage() {
	ctx := context.Background()
	db, done := example()
	defer done()
	compressed(ctx, db)

	tree, err := db.Lineage(ctx, "rest")
	try(err)
	for _, n := range tree {
		fmt.Println(n.Depth, n.ID, n.Kind)
	}

	id, err := db.ResumeSessionID(ctx, "start")
	fmt.Println("resume", id, err)
	// Output:
	// 0 start root
	// 1 helper delegate
	// 1 rest continuation
	// resume rest <nil>
}

func ExampleDB_Sessions() {
	ctx := context.Background()
	db, done := example()
	defer done()
	compressed(ctx, db)
	_, err := db.CreateSession(ctx, sessiondb.NewSession{ID: "other", Source: "telegram"})
	try(err)

	list, err := db.Sessions(ctx, sessiondb.ListFilter{ByLastActive: true})
	try(err)
	for _, s := range list {
		fmt.Printf("%s %q\n", s.ID, s.Preview)
	}
	// Output:
	// other ""
	// rest "now the tests"
}

func ExampleDB_UpdateUsage() {
	ctx := context.Background()
	db, done := example()
	defer done()
	model, cost := "some-model", 0.25
	for _, id := range []string{"a", "a", "b"} {
		try(db.UpdateUsage(ctx, id, sessiondb.UsageUpdate{
			Tokens: sessiondb.Tokens{Input: 1000, Output: 50}, APICalls: 1, Model: &model, EstimatedCostUSD: &cost,
		}))
	}

	rows, err := db.UsageByModel(ctx, sessiondb.UsageFilter{})
	try(err)
	for _, r := range rows {
		fmt.Println(r.Key, r.Sessions, r.Tokens.Input, r.Tokens.Output, *r.EstimatedCostUSD)
	}
	days, err := db.UsageByDay(ctx, sessiondb.UsageFilter{})
	try(err)
	fmt.Println(days[0].Key, days[0].APICalls)
	// Output:
	// some-model 2 3000 150 0.75
	// 2026-04-09 3
}

func ExampleDB_Prune() {
	ctx := context.Background()
	db, done := example()
	defer done()
	compressed(ctx, db)
	try(db.EndSession(ctx, "rest", "user_exit"))

	// Everything that ended and was not used in the last second: first only
	// look, then do it. The helper never ended and stays.
	old := sessiondb.PruneFilter{OlderThan: time.Second}
	for _, dryRun := range []bool{true, false} {
		r, err := db.Prune(ctx, old, sessiondb.DeleteOptions{DryRun: dryRun})
		try(err)
		fmt.Println(r.Sessions, r.Messages, r.Orphaned, r.SkippedOpen)
	}
	n, err := db.SessionCount(ctx, "")
	fmt.Println(n, err)
	// Output:
	// [start rest] 2 [helper] 1
	// [start rest] 2 [helper] 1
	// 1 <nil>
}

func ExampleDB_DeleteSession() {
	ctx := context.Background()
	db, done := example()
	defer done()
	compressed(ctx, db)

	// What a list shows as one conversation goes as one.
	r, err := db.DeleteSession(ctx, "rest", sessiondb.DeleteOptions{})
	try(err)
	fmt.Println(r.Sessions, r.Orphaned)

	list, err := db.Sessions(ctx, sessiondb.ListFilter{})
	fmt.Println(len(list), err)
	// Output:
	// [start rest] [helper]
	// 0 <nil>
}
