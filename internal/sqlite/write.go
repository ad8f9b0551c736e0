package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime/debug"
)

// most is how many writes go to the disk together at the most.
const most = 64

// job is one Write that waits.
type job struct {
	ctx  context.Context
	do   func(*sql.Tx) error
	err  error
	lead chan struct{} // closed when the goroutine of this job is to commit the next batch
	done chan struct{} // closed when err is final
}

// Write runs do in a transaction and commits it; when do or the commit fails nothing of it is changed. It blocks
// until that is on the disk. Writes that wait at the same time share one commit, and so one flush of the disk; each
// fails alone. do may run on another caller's goroutine and more than once: it uses only tx, takes no lock, and sets
// anew whatever it sets outside. A do that panics is an error.
func (d *DB) Write(ctx context.Context, do func(tx *sql.Tx) error) error {
	j := &job{ctx: ctx, do: do, lead: make(chan struct{}), done: make(chan struct{})}
	if !d.enter(j) {
		return ErrClosed
	}
	defer d.writers.Done()
	select {
	case <-j.done:
	case <-j.lead:
		d.commitNext()
	}
	return j.err
}

// enter puts a job in line; the first in line leads.
func (d *DB) enter(j *job) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return false
	}
	d.writers.Add(1)
	d.queue = append(d.queue, j)
	if !d.leading {
		d.leading = true
		close(j.lead)
	}
	return true
}

// commitNext commits what waits, the leader's own job among it, and hands the lead on.
func (d *DB) commitNext() {
	d.mu.Lock()
	n := min(len(d.queue), most)
	batch := d.queue[:n:n]
	d.queue = d.queue[n:]
	d.mu.Unlock()
	if err := d.together(batch); err != nil {
		// Something broke that may be the fault of one: each has a transaction of its own.
		for _, j := range batch {
			j.err = d.alone(j)
		}
	}
	for _, j := range batch {
		close(j.done)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.leading = len(d.queue) > 0; d.leading {
		close(d.queue[0].lead)
	}
}

// errAlone says that a batch of one needs no batch.
var errAlone = errors.New("one job")

// together runs a batch in one transaction. A job that fails is undone and the others go on; an error means that
// the batch as a whole came to nothing.
func (d *DB) together(batch []*job) error {
	if len(batch) == 1 {
		return errAlone
	}
	tx, err := d.write.BeginTx(context.WithoutCancel(batch[0].ctx), nil)
	if err != nil {
		return err
	}
	for _, j := range batch {
		if err := d.within(tx, j); err != nil {
			return errors.Join(err, tx.Rollback())
		}
	}
	return tx.Commit()
}

// within runs a job inside a transaction of others. The error means that the transaction is broken: SQLite takes a
// whole transaction back when the disk is full or a statement of it is interrupted.
func (d *DB) within(tx *sql.Tx, j *job) error {
	if j.err = j.ctx.Err(); j.err != nil {
		return nil
	}
	if _, err := tx.Stmt(d.save).Exec(); err != nil {
		return err
	}
	if j.err = j.run(tx); j.err != nil {
		if _, err := tx.Stmt(d.undo).Exec(); err != nil {
			return err
		}
	}
	_, err := tx.Stmt(d.release).Exec()
	return err
}

// alone runs a job in a transaction of its own.
func (d *DB) alone(j *job) error {
	tx, err := d.write.BeginTx(j.ctx, nil)
	if err != nil {
		return err
	}
	if err := j.run(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

func (j *job) run(tx *sql.Tx) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("a write panicked: %v\n%s", r, debug.Stack())
		}
	}()
	return j.do(tx)
}
