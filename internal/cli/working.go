package cli

import (
	"sync/atomic"
	"time"
)

// working shows for how long work whose progress is not known goes on, until
// the function it returns is called.
func (a *app) working(what string) (done func()) {
	_, done = a.stages(what)
	return done
}

// stages is working for work that has several stages, which stage is told of.
func (a *app) stages(what string) (stage func(what string, done, total int64), done func()) {
	p := a.NewProgress()
	begun := time.Now()
	var now atomic.Pointer[string]
	now.Store(&what)
	tick := time.NewTicker(time.Second)
	stop := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-stop:
				return
			case t := <-tick.C:
				p.Report(*now.Load()+", seconds", int64(t.Sub(begun).Seconds()), 0)
			}
		}
	}()
	stage = func(at string, _, _ int64) {
		at = what + " " + at
		now.Store(&at)
	}
	return stage, func() {
		tick.Stop()
		close(stop)
		<-ended
		p.Done()
	}
}
