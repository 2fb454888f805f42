package sqlite

import (
	"context"
	"errors"
	"fmt"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// maxBatch bounds how many writes share a transaction.
const maxBatch = 128

// checkpointEvery is how many write transactions pass between checkpoints.
const checkpointEvery = 50

// Write implements [engine.Engine].
func (s *store) Write(ctx context.Context, fn func(engine.Execer) error) error {
	if err := s.refused(); err != nil {
		return err
	}
	err := s.locate(s.writer.do(ctx, fn))
	if errors.Is(err, sessiondb.ErrCorrupt) {
		s.damage.CompareAndSwap(nil, &err)
	}
	return err
}

// refused is the reason why nothing may be written, nil when it may. Once a
// write met damaged pages, each further one could make it worse.
func (s *store) refused() error {
	if s.refusal != nil {
		return s.refusal
	}
	if cause := s.damage.Load(); cause != nil {
		return fmt.Errorf("writing stopped when damage was found: %w", *cause)
	}
	return nil
}

// batch is the jobs of one transaction. The first is the leader's.
type batch struct{ jobs []*job }

// serve runs the job of a leader and those that wait.
func (s *store) serve(first *job) {
	b := &batch{jobs: []*job{first}}
	done := false
	defer func() { s.finish(b, done) }()
	s.serveBatch(first, b)
	done = true
}

func (s *store) serveBatch(first *job, b *batch) {
	release, err := s.queue.acquire(first.ctx)
	if err != nil {
		first.err = err
		return
	}
	defer release()
	s.offerActivityIndex()
	err = s.retry(first.ctx, func() error {
		if err := s.begin(first.ctx); err != nil {
			return err
		}
		return s.runBatch(b)
	})
	var undone *undoneError
	switch {
	case err == nil:
	case first.ctx.Err() != nil && errors.Is(err, first.ctx.Err()):
		first.err = err
		s.writer.putBack(b.jobs[1:])
		b.jobs = b.jobs[:1]
	case errors.As(err, &undone):
		s.runSingly(b.jobs, undone)
	default:
		for _, j := range b.jobs {
			j.fail(err)
		}
	}
	s.runUnindexed(b.jobs)
}

// finish wakes the callers, and checkpoints now and then. A leader that never
// came back (its function ended the goroutine) leaves no caller waiting.
func (s *store) finish(b *batch, done bool) {
	for _, j := range b.jobs[1:] {
		if !done && j.err == nil {
			j.err = errAbandoned
		}
		close(j.wake)
	}
	if !done {
		s.rollback()
	}
	if s.sinceCheckpoint >= checkpointEvery {
		s.checkpoint()
	}
}

var errAbandoned = errors.New("write abandoned: the program ended the goroutine that led it")

// undoneError says that the work of one job made SQLite undo the transaction,
// so that the others have to be done again without it.
type undoneError struct{ cause error }

func (e *undoneError) Error() string { return e.cause.Error() }
func (e *undoneError) Unwrap() error { return e.cause }

// runSingly gives each job a transaction of its own, so that each caller gets
// its own truth.
func (s *store) runSingly(jobs []*job, cause *undoneError) {
	if len(jobs) == 1 {
		jobs[0].fail(cause.cause)
		return
	}
	for _, j := range jobs {
		if err := s.runAlone(j); err != nil {
			j.fail(err)
		}
	}
}

// fail gives a job an error of the whole transaction. The full-text index is
// written as late as in the commit, so that its damage may show there.
func (j *job) fail(err error) {
	j.err, j.unindex = err, indexSuspect(err)
}

func (s *store) runAlone(j *job) error {
	err := s.retry(j.ctx, func() error {
		if err := s.begin(j.ctx); err != nil {
			return err
		}
		b := &batch{jobs: []*job{j}}
		return s.runJobs(b, false)
	})
	var undone *undoneError
	if errors.As(err, &undone) {
		return undone.cause
	}
	return err
}

// begin takes the write lock and sees that the schema is still ours.
func (s *store) begin(ctx context.Context) error {
	if err := s.haveWriter(ctx); err != nil {
		return err
	}
	if _, err := s.w.exec(ctx, "BEGIN IMMEDIATE"); err != nil {
		if noSharedMemory(err) {
			s.dropWriter() // to be opened anew, without the log
		}
		return err
	}
	if err := s.recheckSchema(); err != nil {
		s.rollback()
		return err
	}
	return nil
}

func (s *store) rollback() {
	if s.w == nil {
		return
	}
	s.w.closeRows()
	_, _ = s.w.exec(context.Background(), "ROLLBACK")
}

func (s *store) runBatch(b *batch) error { return s.runJobs(b, true) }

// runJobs runs the jobs of a batch in the transaction that was begun, and
// commits. On error nothing of it is left.
func (s *store) runJobs(b *batch, join bool) (err error) {
	defer func() {
		if err != nil {
			s.rollback()
		}
	}()
	changed := false
	for i := 0; ; i++ {
		if join && len(b.jobs) < maxBatch {
			b.jobs = append(b.jobs, s.writer.takeWaiting(maxBatch-len(b.jobs))...)
		}
		if i == len(b.jobs) {
			break
		}
		j := b.jobs[i]
		alone := len(b.jobs) == 1
		if err := s.runJob(j, !alone); err != nil {
			return &undoneError{err}
		}
		failed := j.err != nil || j.panicked != nil
		if failed && alone {
			s.rollback()
			return nil
		}
		changed = changed || !failed
	}
	if !changed {
		s.rollback()
		return nil
	}
	return s.commit()
}

// commit makes the transaction durable, in the file that is at the path. It
// looks before, since a log or a journal that stays behind is applied to the
// new file and one that is gone takes the write along, and afterwards, since
// either may go in between.
func (s *store) commit() error {
	if err := s.ident.checkAll(); err != nil {
		return err
	}
	if _, err := s.w.exec(context.Background(), "COMMIT"); err != nil {
		return err
	}
	s.sinceCheckpoint++
	return s.ident.checkAll()
}

// runJob runs one job, in a savepoint if it is not alone in its transaction.
// Its own error goes to the job; the error returned means that the whole
// transaction is lost.
func (s *store) runJob(j *job, savepoint bool) error {
	j.err, j.panicked, j.unindex = nil, nil, false
	if j.err = j.ctx.Err(); j.err != nil {
		return nil
	}
	if savepoint {
		if _, err := s.w.exec(context.Background(), "SAVEPOINT job"); err != nil {
			return err
		}
	}
	tx := &writeTx{c: s.w}
	j.panicked, j.err = call(j.fn, tx)
	s.w.closeRows()
	if tx.undone != nil {
		return tx.undone
	}
	j.unindex = tx.suspect && j.err != nil
	if !savepoint {
		return nil
	}
	if j.err != nil || j.panicked != nil {
		if _, err := s.w.exec(context.Background(), "ROLLBACK TO job"); err != nil {
			return firstError(j.err, err)
		}
	}
	_, err := s.w.exec(context.Background(), "RELEASE job")
	return err
}

// call runs fn and catches its panic.
func call(fn func(engine.Execer) error, tx engine.Execer) (p *panicked, err error) {
	defer func() {
		if v := recover(); v != nil {
			p, err = &panicked{v}, nil
		}
	}()
	return nil, fn(tx)
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// checkpoint moves what it can from the log to the database without making
// anybody wait. Once the file was replaced, the log may hold what others wrote
// for the new one: moving that to the old one would take it from them.
func (s *store) checkpoint() {
	s.sinceCheckpoint = 0
	if s.w == nil || s.ident.checkAll() != nil {
		return
	}
	_ = s.w.queryRow(context.Background(), []any{new(any), new(any), new(any)}, "PRAGMA wal_checkpoint(PASSIVE)")
}

// writeTx reads and writes in a transaction that other writes may share. Its
// statements are never interrupted: that would undo the others too. A context
// that ended is noticed before the next statement.
type writeTx struct {
	c       *conn
	undone  error // SQLite may have rolled everything back
	suspect bool  // the error may come from the full-text index
}

// ready says whether a statement may run.
func (t *writeTx) ready(ctx context.Context) error {
	if t.undone != nil {
		return t.undone
	}
	return ctx.Err()
}

// note remembers what an error means for the transaction.
func (t *writeTx) note(err error) {
	if undoes(err) {
		t.undone = err
	}
	t.suspect = t.suspect || indexSuspect(err)
}

func (t *writeTx) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	if err := t.ready(ctx); err != nil {
		return 0, err
	}
	n, err := t.c.exec(context.Background(), query, args...)
	if err != nil {
		t.note(err)
	}
	return n, err
}

func (t *writeTx) Query(ctx context.Context, query string, args ...any) (engine.Rows, error) {
	r, err := t.query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	return r, nil
}

func (t *writeTx) QueryRow(ctx context.Context, query string, args ...any) engine.Row {
	r, err := t.query(ctx, query, args...)
	return row{r, err}
}

func (t *writeTx) QueryColumns(ctx context.Context, columns, rest string, args ...any) (engine.Rows, error) {
	r, err := t.begun(ctx, func() (*rows, error) { return t.c.queryWide(context.Background(), columns, rest, args...) })
	if err != nil {
		return nil, err
	}
	return r, nil
}

func (t *writeTx) query(ctx context.Context, query string, args ...any) (*rows, error) {
	return t.begun(ctx, func() (*rows, error) { return t.c.query(context.Background(), query, args...) })
}

// begun is a result that was asked for, if a statement may run.
func (t *writeTx) begun(ctx context.Context, ask func() (*rows, error)) (*rows, error) {
	if err := t.ready(ctx); err != nil {
		return nil, err
	}
	r, err := ask()
	if err != nil {
		t.note(err)
		return nil, err
	}
	r.note, r.ctx = t.note, ctx
	return r, nil
}
