// Package enginetest is the one suite that every engine passes whole. It tests
// a *sessiondb.DB through its public methods, a file a topic, a fresh store a
// subtest.
package enginetest

import (
	"sync"
	"testing"
	"time"

	"github.com/sessiondb-go/sessiondb"
)

// Options are what a test asks of the store it gets.
type Options struct {
	Now func() time.Time
}

// Open makes an empty store. Run closes it.
type Open func(t *testing.T, o Options) *sessiondb.DB

// topics are the parts of the suite; each stands in a file of its name.
var topics = map[string]func(t *testing.T, h *harness){
	"messages":     testMessages,
	"conversation": testConversation,
	"around":       testAround,
	"replace":      testReplace,
	"export":       testExport,
	"import":       testImport,
	"copy":         testCopy,
	"sessions":     testSessions,
	"titles":       testTitles,
	"lineage":      testLineage,
	"list":         testList,
	"pages":        testPages,
	"search":       testSearch,
	"watch":        testWatch,
	"usage":        testUsage,
	"delete":       testDelete,
	"prune":        testPrune,
	"fork":         testFork,
	"trash":        testTrash,
	"tags":         testTags,
	"housekeeping": testHousekeeping,
	"maintenance":  testMaintenance,
	"backup":       testBackup,
	"space":        testSpace,
	"files":        testFiles,
	"machine":      testMachine,
}

// Run holds an engine to the suite.
func Run(t *testing.T, open Open) {
	for name, test := range topics {
		t.Run(name, func(t *testing.T) { test(t, &harness{open: open}) })
	}
}

// harness opens stores for subtests.
type harness struct{ open Open }

// start is where the clock of every test store begins.
var start = time.Unix(1778000000, 0)

// store opens a fresh store and a clock that the test moves.
func (h *harness) store(t *testing.T) (*sessiondb.DB, *clock) {
	t.Helper()
	c := &clock{t: start}
	db := h.open(t, Options{Now: c.now})
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return db, c
}

// clock stands still until a test moves it.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) set(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = t
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

// sessions creates sessions of source cli.
func (h *harness) sessions(t *testing.T, db *sessiondb.DB, ids ...string) {
	t.Helper()
	for _, id := range ids {
		must[string](t)(db.CreateSession(t.Context(), sessiondb.NewSession{ID: id, Source: "cli"}))
	}
}

// child creates a session of source cli below a parent.
func (h *harness) child(t *testing.T, db *sessiondb.DB, parent, id, source string) {
	t.Helper()
	must[string](t)(db.CreateSession(t.Context(), sessiondb.NewSession{ID: id, Source: source, ParentID: parent}))
}

// chain creates sessions that continue one another after compression, a second
// apart.
func (h *harness) chain(t *testing.T, db *sessiondb.DB, c *clock, ids ...string) {
	t.Helper()
	h.sessions(t, db, ids[0])
	for i := 1; i < len(ids); i++ {
		c.add(time.Second)
		noError(t, db.EndSession(t.Context(), ids[i-1], "compression"))
		h.child(t, db, ids[i-1], ids[i], "cli")
	}
}

// say appends a user message to each session.
func (h *harness) say(t *testing.T, db *sessiondb.DB, c *clock, ids ...string) {
	t.Helper()
	for _, id := range ids {
		c.add(time.Second)
		must[int64](t)(db.AppendMessage(t.Context(), id, sessiondb.Message{Role: "user", Content: sessiondb.Text("hello from " + id)}))
	}
}

func text(s string) *string { return &s }

// failer is a test, or a run of a state machine.
type failer interface {
	Helper()
	Fatal(args ...any)
}

func must[T any](t failer) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func noError(t failer, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
