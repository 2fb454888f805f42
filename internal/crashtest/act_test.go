package crashtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/api"
	"github.com/sessiondb-go/sessiondb/sqlite"
)

func init() { roles["act"] = actRole }

// actRole opens a store, acts on it and closes it: act PATH ACTION. It prints
// a line for each thing done. A failure is a line "error KIND: TEXT" and exit
// code 1. All system calls come from one thread, since those are counted by
// thread.
func actRole(ctx context.Context, args []string) int {
	runtime.LockOSThread()
	if err := act(ctx, args[0], actions[args[1]]); err != nil {
		fmt.Printf("error %s: %v\n", api.Explain(err).Kind, err)
		return 1
	}
	return 0
}

func act(ctx context.Context, path string, a action) (err error) {
	db, err := sqlite.Open(ctx, path, sqlite.Options{ReadOnly: a.reads})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	say("opened")
	return a.do(ctx, db)
}

// say acknowledges.
func say(line string) { _, _ = os.Stdout.WriteString(line + "\n") }

// action is what a process does, and how to see afterwards that what it
// acknowledged is there.
type action struct {
	reads bool
	// prepare fills a store; nil leaves it as it is.
	prepare func(ctx context.Context, db *sessiondb.DB) error
	fixture string // the store to begin with, instead of a new one
	absent  bool   // begin with no file
	do      func(ctx context.Context, db *sessiondb.DB) error
	acks    []string // what it prints when nothing fails, after "opened"
	// stored looks at what is left, with plain SQLite.
	stored func(j *judge, acked []string)
}

var actions = map[string]action{
	"create": {
		absent: true,
		do: func(ctx context.Context, db *sessiondb.DB) error {
			if _, err := db.CreateSession(ctx, sessiondb.NewSession{ID: "s", Source: "cli"}); err != nil {
				return err
			}
			return appendAll(ctx, db, 2)
		},
		acks:   []string{"message 0", "message 1"},
		stored: messagesStored,
	},
	"append": {
		prepare: fill,
		do:      func(ctx context.Context, db *sessiondb.DB) error { return appendAll(ctx, db, 3) },
		acks:    []string{"message 0", "message 1", "message 2"},
		stored:  messagesStored,
	},
	"replace": {
		prepare: fill,
		do: func(ctx context.Context, db *sessiondb.DB) error {
			err := db.ReplaceMessages(ctx, "s", transcript("new", 20))
			return done(err, "replaced")
		},
		acks:   []string{"replaced"},
		stored: transcriptStored,
	},
	"prune": {
		prepare: fill,
		do: func(ctx context.Context, db *sessiondb.DB) error {
			_, err := db.Prune(ctx, sessiondb.PruneFilter{}, sessiondb.DeleteOptions{})
			return done(err, "pruned")
		},
		acks:   []string{"pruned"},
		stored: oldStored,
	},
	"trash": {
		prepare: fill,
		do: func(ctx context.Context, db *sessiondb.DB) error {
			_, err := db.DeleteSession(ctx, "s", sessiondb.DeleteOptions{Trash: true})
			return done(err, "trashed")
		},
		acks:   []string{"trashed"},
		stored: trashStored("trashed"),
	},
	"untrash": {
		prepare: func(ctx context.Context, db *sessiondb.DB) error {
			if err := fill(ctx, db); err != nil {
				return err
			}
			_, err := db.DeleteSession(ctx, "s", sessiondb.DeleteOptions{Trash: true})
			return err
		},
		do: func(ctx context.Context, db *sessiondb.DB) error {
			e, err := db.FindTrashed(ctx, "s")
			if err == nil {
				_, err = db.RestoreTrashed(ctx, e.ID)
			}
			return done(err, "restored")
		},
		acks:   []string{"restored"},
		stored: trashStored("restored"),
	},
	"vacuum": {
		prepare: fill,
		do:      func(ctx context.Context, db *sessiondb.DB) error { return done(db.Vacuum(ctx), "vacuumed") },
		acks:    []string{"vacuumed"},
		stored:  oldStored,
	},
	"migrate": {
		fixture: "hermes-v3.db",
		do:      func(context.Context, *sessiondb.DB) error { return nil },
		stored:  fixtureStored,
	},
	"log": { // what others committed is in the log only
		fixture: "v11-dangling-wal.db",
		do: func(ctx context.Context, db *sessiondb.DB) error {
			return done(db.SetMeta(ctx, "k", "v"), "set")
		},
		acks:   []string{"set"},
		stored: capybarasStored,
	},
	"read": {
		reads:   true,
		prepare: fill,
		do:      readAll,
		acks:    []string{"listed 6", "read 10", "found 10", "exported 6"},
		stored:  oldStored,
	},
}

func done(err error, what string) error {
	if err == nil {
		say(what)
	}
	return err
}

func transcript(word string, n int) (out []sessiondb.Message) {
	for i := range n {
		out = append(out, sessiondb.Message{Role: "user", Content: sessiondb.Text(fmt.Sprintf("%s %d %s", word, i, strings.Repeat("and so on ", 200)))})
	}
	return out
}

// fill makes a session of ten messages and five old ones, and leaves all of it
// in the database itself.
func fill(ctx context.Context, db *sessiondb.DB) error {
	_, err := db.CreateSession(ctx, sessiondb.NewSession{ID: "s", Source: "cli"})
	if err != nil {
		return err
	}
	var lines strings.Builder
	for i := range 5 {
		fmt.Fprintf(&lines, `{"id":"old%d","source":"cli","started_at":1500000000,"ended_at":1500000001,"messages":[{"role":"user","content":"long ago","timestamp":1500000000},{"role":"user","content":"and then","timestamp":1500000000}]}`+"\n", i)
	}
	if _, err := db.Import(ctx, strings.NewReader(lines.String()), sessiondb.ImportOptions{}); err != nil {
		return err
	}
	_, err = db.AppendMessages(ctx, "s", transcript("before", 10))
	return err
}

func appendAll(ctx context.Context, db *sessiondb.DB, n int) error {
	for i := range n {
		text := "message " + strconv.Itoa(i)
		_, err := db.AppendMessage(ctx, "s", sessiondb.Message{Role: "user", Content: sessiondb.Text(text), Timestamp: time.Unix(1_700_000_000, 0)})
		if err := done(err, text); err != nil {
			return err
		}
	}
	return nil
}

func readAll(ctx context.Context, db *sessiondb.DB) error {
	list, err := db.Sessions(ctx, sessiondb.ListFilter{})
	if err != nil {
		return err
	}
	say(fmt.Sprint("listed ", len(list)))
	ms, err := db.Messages(ctx, "s")
	if err != nil {
		return err
	}
	say(fmt.Sprint("read ", len(ms)))
	found, err := db.Search(ctx, sessiondb.SearchQuery{Text: "before"})
	if err != nil {
		return err
	}
	say(fmt.Sprint("found ", len(found.Hits)))
	var out strings.Builder
	n, err := db.ExportAll(ctx, &out, sessiondb.ExportFilter{})
	if err != nil {
		return err
	}
	say(fmt.Sprint("exported ", n))
	return nil
}

// messagesStored: every message that was acknowledged is there, and none twice.
func messagesStored(j *judge, acked []string) {
	stored := j.rows("SELECT content FROM messages WHERE content LIKE 'message %'")
	count := map[string]int{}
	for _, text := range stored {
		count[text]++
	}
	for _, text := range acked {
		if count[text] == 0 {
			j.say("%q was acknowledged and is lost", text)
		}
	}
	for text, n := range count {
		if n > 1 {
			j.say("%q is stored %d times", text, n)
		}
	}
}

// transcriptStored: the old transcript or the new one.
func transcriptStored(j *judge, acked []string) {
	before := len(j.rows("SELECT 1 FROM messages WHERE session_id = 's' AND content LIKE 'before %'"))
	after := len(j.rows("SELECT 1 FROM messages WHERE session_id = 's' AND content LIKE 'new %'"))
	if !(before == 0 && after == 20) && (len(acked) > 0 || before != 10 || after != 0) {
		j.say("%d messages of the old transcript and %d of the new, acknowledged %q", before, after, acked)
	}
}

// oldStored: an old session is whole, or pruned.
func oldStored(j *judge, acked []string) {
	j.none("half pruned", "SELECT s.id FROM sessions s LEFT JOIN messages m ON m.session_id = s.id WHERE s.id LIKE 'old%' GROUP BY s.id HAVING COUNT(m.id) <> 2")
	old := len(j.rows("SELECT 1 FROM sessions WHERE id LIKE 'old%'"))
	if len(acked) > 0 && acked[0] == "pruned" && old != 0 || len(acked) > 0 && acked[0] != "pruned" && old != 5 {
		j.say("%d old sessions after %q", old, acked)
	}
	if n := len(j.rows("SELECT 1 FROM messages WHERE session_id = 's' AND content LIKE 'before %'")); n != 10 {
		j.say("%d of 10 messages", n)
	}
}

// trashStored: a session is whole in the store or whole in the trash, and where it
// was put once that was acknowledged.
func trashStored(what string) func(j *judge, acked []string) {
	return func(j *judge, acked []string) {
		const here, there = "1 10 0 0 0", "0 0 1 1 10"
		query := "SELECT (SELECT COUNT(*) FROM sessions WHERE id = 's'), (SELECT COUNT(*) FROM messages WHERE session_id = 's')"
		trash := ", 0, 0, 0"
		if len(j.rows("SELECT 1 FROM sqlite_schema WHERE name = 'sessiondb_trash_messages'")) > 0 {
			trash = ", (SELECT COUNT(*) FROM sessiondb_trash), (SELECT COUNT(*) FROM sessiondb_trash_sessions), (SELECT COUNT(*) FROM sessiondb_trash_messages)"
		}
		got := strings.Join(j.rows(query+trash), "; ")
		want := []string{here, there}
		if len(acked) > 0 && acked[0] == what {
			want = map[string][]string{"trashed": {there}, "restored": {here}}[what]
		}
		if !slices.Contains(want, got) {
			j.say("in the store and in the trash: %s, acknowledged %q", got, acked)
		}
	}
}

func fixtureStored(j *judge, _ []string) {
	const rows = "93 844"
	if got := j.rows("SELECT (SELECT COUNT(*) FROM sessions), (SELECT COUNT(*) FROM messages)"); len(got) == 1 && got[0] != rows {
		j.say("sessions and messages: %s, want %s", got[0], rows)
	}
}

func capybarasStored(j *judge, acked []string) {
	if n := len(j.rows("SELECT 1 FROM messages WHERE content LIKE '%capybara%'")); n != 20 {
		j.say("%d of 20 committed rows", n)
	}
	if n := len(j.rows("SELECT 1 FROM messages WHERE content LIKE '%axolotl%'")); n != 0 {
		j.say("%d rows that were not committed", n)
	}
	if n := len(j.rows("SELECT 1 FROM state_meta WHERE key = 'k'")); n < len(acked) {
		j.say("acknowledged %q, and it is lost", acked)
	}
}
