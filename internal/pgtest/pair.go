package pgtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Pair is a primary and a standby that follows it synchronously. Both write as a
// server does that must lose nothing.
type Pair struct {
	// Primary and Standby are their connection strings, Both that of whichever can
	// be written.
	Primary, Standby, Both string

	dir              string
	primary, standby *cluster
	killed           bool
}

// StartPair makes a pair from what is installed, in a temporary folder. Without
// that it is nil.
func StartPair() (*Pair, error) {
	bin := programs()
	if bin == "" {
		return nil, nil
	}
	dir, err := os.MkdirTemp("", "sessiondb-postgres")
	if err != nil {
		return nil, err
	}
	p := &Pair{dir: dir}
	if err := p.start(bin); err != nil {
		p.Stop()
		return nil, fmt.Errorf("start PostgreSQL: %w", err)
	}
	return p, nil
}

const durable = "-c dynamic_shared_memory_type=mmap -c synchronous_commit=on "

func (p *Pair) start(bin string) (err error) {
	if err := os.Chmod(p.dir, 0o755); err != nil { // #nosec G302 -- the server runs as another user
		return err
	}
	if p.primary, err = p.cluster(bin, "a"); err != nil {
		return err
	}
	if p.standby, err = p.cluster(bin, "b"); err != nil {
		return err
	}
	p.Primary, p.Standby = dsnOf(p.primary.dir), dsnOf(p.standby.dir)
	p.Both = dsnOf(p.primary.dir, p.standby.dir) + "&target_session_attrs=read-write"
	if err := p.primary.init(); err != nil {
		return err
	}
	if err := p.primary.start(durable); err != nil {
		return err
	}
	if err := p.standby.run("pg_basebackup", "--host="+p.primary.dir, "--username=test", "--pgdata="+p.standby.data(), "--write-recovery-conf", "--checkpoint=fast", "--no-sync"); err != nil {
		return err
	}
	return p.standby.start(durable)
}

func (p *Pair) cluster(bin, name string) (*cluster, error) {
	dir := filepath.Join(p.dir, name)
	if err := os.Mkdir(dir, 0o755); err != nil { // #nosec G301 -- the server runs as another user
		return nil, err
	}
	return newCluster(bin, dir)
}

// KillPrimary ends the primary as a failure does, without a word to anybody.
func (p *Pair) KillPrimary() error {
	b, err := os.ReadFile(filepath.Join(p.primary.data(), "postmaster.pid"))
	if err != nil {
		return err
	}
	first, _, _ := strings.Cut(string(b), "\n")
	pid, err := strconv.Atoi(first)
	if err != nil {
		return err
	}
	process, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	p.killed = true
	return process.Kill()
}

// Promote makes the standby a primary.
func (p *Pair) Promote() error {
	return p.standby.run("pg_ctl", "--pgdata="+p.standby.data(), "--wait", "promote")
}

// Stop ends both and removes their data.
func (p *Pair) Stop() {
	if p.standby != nil {
		_ = p.standby.stop()
	}
	if p.primary != nil && !p.killed {
		_ = p.primary.stop()
	}
	_ = os.RemoveAll(p.dir)
}
