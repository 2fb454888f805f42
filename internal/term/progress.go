package term

import (
	"fmt"
	"sync"
	"time"
)

// Progress shows on a terminal at Err how far long work is, on one line that
// Done wipes away. Elsewhere it shows nothing. It may be called from several
// goroutines.
type Progress struct {
	s     *Streams
	every time.Duration
	mu    sync.Mutex
	begun time.Time
	shown time.Time
	wrote bool
}

// showAfter keeps short work from flickering.
const showAfter = 300 * time.Millisecond

// NewProgress begins to watch work.
func (s *Streams) NewProgress() *Progress {
	return &Progress{s: s, every: 100 * time.Millisecond, begun: time.Now()}
}

// Report tells how much of the work is done; total 0 means that it is not
// known.
func (p *Progress) Report(what string, done, total int64) {
	if !p.s.ErrTTY {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if now.Sub(p.begun) < showAfter || now.Sub(p.shown) < p.every {
		return
	}
	p.shown, p.wrote = now, true
	_, _ = fmt.Fprint(p.s.Err, "\r\x1b[K"+Cut(progressLine(what, done, total), p.s.Width-1))
}

func progressLine(what string, done, total int64) string {
	if total <= 0 {
		return fmt.Sprintf("%s: %s", Line(what), Grouped(done))
	}
	return fmt.Sprintf("%s: %s of %s (%d%%)", Line(what), Grouped(done), Grouped(total), done*100/total)
}

// Done wipes the line away.
func (p *Progress) Done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.wrote {
		_, _ = fmt.Fprint(p.s.Err, "\r\x1b[K")
		p.wrote = false
	}
}
