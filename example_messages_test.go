package sessiondb_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sessiondb-go/sessiondb"
)

func ExampleDB_AppendMessage() {
	ctx := context.Background()
	db, done := example()
	defer done()
	id, err := db.CreateSession(ctx, sessiondb.NewSession{Source: "cli"})
	try(err)

	_, err = db.AppendMessage(ctx, id, sessiondb.Message{Role: "user", Content: sessiondb.Text("how full is the disk?")})
	try(err)
	_, err = db.AppendMessage(ctx, id, sessiondb.Message{
		Role:      "assistant",
		ToolCalls: json.RawMessage(`[{"id":"call_1","type":"function","function":{"name":"terminal","arguments":"{\"command\":\"df -h\"}"}}]`),
	})
	try(err)
	s, err := db.Session(ctx, id)
	try(err)
	fmt.Println(s.MessageCount, "messages,", s.ToolCallCount, "tool call")

	_, err = db.AppendMessage(ctx, "no-such-session", sessiondb.Message{Role: "user"})
	fmt.Println(errors.Is(err, sessiondb.ErrNotFound))
	// Output:
	// 2 messages, 1 tool call
	// true
}

func ExampleDB_AppendMessages() {
	ctx := context.Background()
	db, done := example()
	defer done()
	id, err := db.CreateSession(ctx, sessiondb.NewSession{Source: "cli"})
	try(err)

	// All of them, or none.
	ids, err := db.AppendMessages(ctx, id, []sessiondb.Message{
		{Role: "user", Content: sessiondb.Text("hello")},
		{Role: "assistant", Content: sessiondb.Text("Hi.")},
	})
	fmt.Println(len(ids), err)
	// Output: 2 <nil>
}

func ExampleStructured() {
	ctx := context.Background()
	db, done := example()
	defer done()
	id, err := db.CreateSession(ctx, sessiondb.NewSession{Source: "telegram"})
	try(err)

	_, err = db.AppendMessage(ctx, id, sessiondb.Message{Role: "user", Content: sessiondb.Structured(json.RawMessage(
		`[{"type":"text","text":"what is this?"},{"type":"image_url","image_url":{"url":"https://example.com/cat.png"}}]`))})
	try(err)
	ms, err := db.Messages(ctx, id)
	try(err)
	fmt.Println(ms[0].Content.PlainText())
	fmt.Println(string(ms[0].Content.Parts()))
	// Output:
	// what is this?
	// [{"type":"text","text":"what is this?"},{"type":"image_url","image_url":{"url":"https://example.com/cat.png"}}]
}

// talk makes a session in which user and assistant take turns.
func talk(db *sessiondb.DB, id string, said ...string) {
	_, err := db.CreateSession(context.Background(), sessiondb.NewSession{ID: id, Source: "cli"})
	try(err)
	for i, s := range said {
		role := []string{"user", "assistant"}[i%2]
		_, err := db.AppendMessage(context.Background(), id, sessiondb.Message{Role: role, Content: sessiondb.Text(s)})
		try(err)
	}
}

func ExampleDB_Conversation() {
	ctx := context.Background()
	db, done := example()
	defer done()
	talk(db, "monday", "<memory-context>likes tea</memory-context>good morning", "Good morning.")

	ms, err := db.Conversation(ctx, "monday", true)
	try(err)
	for _, m := range ms {
		line, err := json.Marshal(m)
		try(err)
		fmt.Println(string(line))
	}
	// Output:
	// {"role":"user","content":"good morning"}
	// {"role":"assistant","content":"Good morning."}
}

func ExampleDB_ReplaceMessages() {
	ctx := context.Background()
	db, done := example()
	defer done()
	talk(db, "monday", "one", "two", "thre")
	ms, err := db.Messages(ctx, "monday")
	try(err)

	// Drop the second, mend the third. What brings its ID keeps it, and its time.
	ms[2].Content = sessiondb.Text("three")
	try(db.ReplaceMessages(ctx, "monday", []sessiondb.Message{ms[0], ms[2]}))

	now, err := db.Messages(ctx, "monday")
	try(err)
	for _, m := range now {
		fmt.Println(m.ID, m.Timestamp.UTC().Format(time.TimeOnly), m.Content.PlainText())
	}
	// Output:
	// 1 12:02:00 one
	// 3 12:04:00 three
}

func ExampleDB_MessagesAround() {
	ctx := context.Background()
	db, done := example()
	defer done()
	talk(db, "monday", "a", "b", "c", "d", "e")
	ms, err := db.Messages(ctx, "monday")
	try(err)

	w, err := db.MessagesAround(ctx, "monday", ms[1].ID, 2)
	try(err)
	for _, m := range w.Window {
		fmt.Print(m.Content.PlainText(), " ")
	}
	fmt.Println(w.MessagesBefore, w.MessagesAfter)
	// Output: a b c d 1 2
}

func ExampleDB_AnchoredView() {
	ctx := context.Background()
	db, done := example()
	defer done()
	talk(db, "monday", "deploy it", "How?", "as always", "Done.", "thanks", "You're welcome.")
	ms, err := db.Messages(ctx, "monday")
	try(err)

	v, err := db.AnchoredView(ctx, "monday", ms[3].ID, sessiondb.AnchoredOptions{Window: 1, Bookend: 1})
	try(err)
	for _, m := range append(append(v.BookendStart, v.Window...), v.BookendEnd...) {
		fmt.Println(m.Content.PlainText())
	}
	// Output:
	// deploy it
	// as always
	// Done.
	// thanks
	// You're welcome.
}

func ExampleDB_ExportAll() {
	ctx := context.Background()
	db, done := example()
	defer done()
	talk(db, "monday", "hello")
	talk(db, "tuesday")

	var b bytes.Buffer
	n, err := db.ExportAll(ctx, &b, sessiondb.ExportFilter{})
	fmt.Println(n, "sessions,", strings.Count(b.String(), "\n"), "lines,", err)

	other, done := example()
	defer done()
	report, err := other.Import(ctx, &b, sessiondb.ImportOptions{})
	fmt.Println(report.Imported, "imported,", err)
	// Output:
	// 2 sessions, 2 lines, <nil>
	// 2 imported, <nil>
}

func ExampleDB_ExportSession() {
	ctx := context.Background()
	db, done := example()
	defer done()
	talk(db, "monday", "hello", "Hi.")

	e, err := db.ExportSession(ctx, "monday")
	try(err)
	fmt.Println(e.Session.ID, len(e.Messages))
	// Output: monday 2
}

func ExampleDB_Import() {
	ctx := context.Background()
	db, done := example()
	defer done()
	talk(db, "monday")

	report, err := db.Import(ctx, strings.NewReader(`{"id":"monday","messages":[]}
{"id":"tuesday","source":"cli","messages":[{"role":"user","content":"hello"}]}
what is this?
`), sessiondb.ImportOptions{})
	try(err)
	fmt.Println(report.Imported, "imported,", report.Same, "there already")
	for _, i := range report.Failed {
		fmt.Println("line", i.Line, i.SessionID, i.Reason)
	}
	// Output:
	// 1 imported, 1 there already
	// line 3  not JSON
}

func ExampleDB_ClearMessages() {
	ctx := context.Background()
	db, done := example()
	defer done()
	talk(db, "monday", "hello", "Hi.")

	try(db.ClearMessages(ctx, "monday"))
	s, err := db.Session(ctx, "monday")
	fmt.Println(s.MessageCount, err)
	// Output: 0 <nil>
}
