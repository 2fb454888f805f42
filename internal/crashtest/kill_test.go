//go:build unix

package crashtest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"
)

// company is who writes beside the process that is killed.
type company struct {
	ours, foreign bool
}

// killing is a series of kills on stores.
type killing struct {
	company
	tracer func(path string) []string // around each process
	kinds  []string                   // of calls that the victim makes
	rounds int
}

// A process is killed at a random moment, again and again, alone and beside
// others that write.
func TestKilledWriter(t *testing.T) {
	for name, k := range map[string]killing{
		"alone":        {kinds: allKinds, rounds: 24},
		"beside ours":  {company{ours: true}, nil, allKinds, 12},
		"beside other": {company{foreign: true}, nil, allKinds, 12},
		"beside both":  {company{true, true}, nil, []string{"create", "append", "many", "replace", "delete"}, 12},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k.run(t, few(k.rounds))
		})
	}
}

// Where memory can't be shared between processes there is a rollback journal
// instead of a log.
func TestKilledWriterWithJournal(t *testing.T) {
	noLog := func(path string) []string {
		// As a grandchild (-D), so that the process is killed and not its tracer.
		return strace(t, "-D", "-o", filepath.Join(t.TempDir(), "trace"), "-e", "trace=mmap", "-P", path+"-shm", "-P", path+"-logtrial-shm", "-e", "inject=mmap:error=ENODEV")
	}
	for name, k := range map[string]killing{
		"alone":        {tracer: noLog, kinds: allKinds, rounds: 12},
		"beside ours":  {company{ours: true}, noLog, allKinds, 8},
		"beside other": {company{foreign: true}, noLog, allKinds, 6},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k.run(t, few(k.rounds))
		})
	}
}

// run kills in rounds; every now and then with a new store.
func (k killing) run(t *testing.T, n int) {
	r := random(t)
	var g *gathering
	kills := 0
	for i := range rounds(n) {
		if i%12 == 0 {
			g = newGathering(t, k, r)
		}
		kills += g.round(t, r)
	}
	t.Log(kills, "kills")
}

// gathering is a store and the lanes that write to it.
type gathering struct {
	killing
	path  string
	lanes map[string][]*lane // by process
}

func newGathering(t *testing.T, k killing, r *rand.Rand) *gathering {
	g := &gathering{killing: k, path: filepath.Join(t.TempDir(), "state.db"), lanes: map[string][]*lane{}}
	add := func(process string, n int, kinds []string) {
		for i := range n {
			g.lanes[process] = append(g.lanes[process], &lane{
				name: fmt.Sprintf("%s%d", process, i), kinds: kinds, state: state{Sessions: map[string]session{}},
			})
		}
	}
	add("victim", 1+r.IntN(4), k.kinds)
	if k.ours {
		add("ours", 2, []string{"create", "append", "append", "append", "replace"})
	}
	if k.foreign {
		add("python", 1, []string{"create", "append", "append", "append"})
		if err := reopen(t.Context(), g.path); err != nil { // it makes no schema
			t.Fatal(err)
		}
	}
	return g
}

// round lets all write, kills the victim and a little later the others, and
// looks at what is left.
func (g *gathering) round(t *testing.T, r *rand.Rand) (kills int) {
	var tracer []string
	if g.tracer != nil {
		tracer = g.tracer(g.path)
		withoutLog(t, g.path)
	}
	peers := []*peer{start(t, rpcServer(t, tracer, g.path), r, g.lanes["victim"]...)}
	if g.ours {
		peers = append(peers, start(t, rpcServer(t, tracer, g.path), r, g.lanes["ours"]...))
	}
	if cmd := pythonServer(t, tracer, g.path); g.foreign && cmd != nil {
		peers = append(peers, start(t, cmd, r, g.lanes["python"]...))
	}
	var wg sync.WaitGroup
	for _, p := range peers {
		answers, moment := r.IntN(25), time.Duration(r.IntN(4000))*time.Microsecond
		if tracer != nil {
			answers++ // a tracer that has not begun would wait for ever
		}
		wg.Go(func() { p.work(answers, moment) })
	}
	wg.Wait()
	var problems []string
	for _, p := range peers {
		problems = append(problems, p.failed...)
	}
	kept := snapshot(t, g.path)
	keep(t, kept, append(problems, g.look(t, r.IntN(2) == 0)...))
	return len(peers)
}

// withoutLog gives a store the rollback journal that it has where no log works.
func withoutLog(t *testing.T, path string) {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		return
	}
	j := plain(path)
	if mode := j.rows("PRAGMA journal_mode = DELETE"); len(j.found) > 0 || !slices.Equal(mode, []string{"delete"}) {
		t.Fatal("journal mode ", mode, j.found)
	}
	j.close()
}

// look checks the store after all its writers are dead: by plain SQLite first,
// or after a program of ours has opened it.
func (g *gathering) look(t *testing.T, plainFirst bool) (problems []string) {
	if plainFirst {
		problems = pages(g.path)
	}
	if err := reopen(t.Context(), g.path); err != nil {
		return append(problems, fmt.Sprintf("open: %v", err))
	}
	j := plain(g.path)
	j.sound()
	j.ourCounts()
	stored := j.stored()
	for _, lanes := range g.lanes {
		for _, l := range lanes {
			s, ok := stored[l.name]
			if !ok {
				s = state{Sessions: map[string]session{}}
			}
			j.found = append(j.found, l.settle(s)...)
		}
	}
	return append(problems, j.close()...)
}
