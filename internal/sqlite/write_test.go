package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// crowd holds the writer with one job until the others wait behind it, so that they become one batch.
func crowd(t *testing.T, db *DB, others ...func()) {
	t.Helper()
	in, out := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		first := true
		if err := db.Write(t.Context(), func(*sql.Tx) error {
			if first {
				first = false
				close(in)
				<-out
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
	})
	<-in
	for i, other := range others {
		wg.Go(other)
		for waiting := -1; waiting != i+1; {
			time.Sleep(time.Millisecond)
			db.mu.Lock()
			waiting = len(db.queue)
			db.mu.Unlock()
		}
	}
	close(out)
	wg.Wait()
}

func table(t *testing.T) *DB {
	db := open(t, filepath.Join(t.TempDir(), "a.db"))
	if err := db.Migrate(t.Context(), "test", `CREATE TABLE n (v INTEGER PRIMARY KEY)`); err != nil {
		t.Fatal(err)
	}
	return db
}

func values(t *testing.T, db *DB) (all []int) {
	t.Helper()
	rows, err := db.Read().Query(`SELECT v FROM n ORDER BY v`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var v int
		if err := rows.Scan(&v); err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
	return all
}

func TestOneOfABatchFailsAlone(t *testing.T) {
	db := table(t)
	own := errors.New("no")
	errs := make([]error, 6)
	add := func(i int, ctx context.Context, then func(*sql.Tx) error) func() {
		return func() {
			errs[i] = db.Write(ctx, func(tx *sql.Tx) error {
				if _, err := tx.ExecContext(ctx, `INSERT INTO n VALUES (?)`, i); err != nil {
					return err
				}
				return then(tx)
			})
		}
	}
	fine := func(*sql.Tx) error { return nil }
	over, cancel := context.WithCancel(t.Context())
	cancel()
	crowd(t, db,
		add(0, t.Context(), fine),
		add(1, t.Context(), func(*sql.Tx) error { return own }),
		add(2, t.Context(), func(tx *sql.Tx) error { _, err := tx.Exec(`INSERT INTO n VALUES (0)`); return err }),
		add(3, t.Context(), func(*sql.Tx) error { panic("a bug") }),
		add(4, over, fine),
		add(5, t.Context(), fine))
	if got := values(t, db); !slices.Equal(got, []int{0, 5}) {
		t.Fatal(got)
	}
	if errs[0] != nil || !errors.Is(errs[1], own) || errs[2] == nil || errs[3] == nil || !strings.Contains(errs[3].Error(), "a bug") ||
		!errors.Is(errs[4], context.Canceled) || errs[5] != nil {
		t.Fatal(errs)
	}
}

// A statement that is interrupted takes the whole transaction back: the others of the batch must not notice.
func TestAnInterruptedStatementIsNobodyElsesLoss(t *testing.T) {
	db := table(t)
	ctx, cancel := context.WithCancel(t.Context())
	var before, slow, after error
	insert := func(v int, err *error) func() {
		return func() {
			*err = db.Write(t.Context(), func(tx *sql.Tx) error { _, err := tx.Exec(`INSERT INTO n VALUES (?)`, v); return err })
		}
	}
	crowd(t, db, insert(1, &before), func() {
		slow = db.Write(ctx, func(tx *sql.Tx) error {
			time.AfterFunc(20*time.Millisecond, cancel)
			_, err := tx.ExecContext(ctx, `INSERT INTO n WITH RECURSIVE c (x) AS (SELECT 100 UNION ALL SELECT x + 1 FROM c LIMIT 100000000) SELECT x FROM c`)
			return err
		})
	}, insert(2, &after))
	if got := values(t, db); before != nil || after != nil || slow == nil || !slices.Equal(got, []int{1, 2}) {
		t.Fatal(len(got), before, slow, after)
	}
}

func TestWritesShareOneCommit(t *testing.T) {
	db := table(t)
	var others []func()
	for i := range 20 {
		others = append(others, func() {
			if err := db.Write(t.Context(), func(tx *sql.Tx) error {
				_, err := tx.Exec(`INSERT INTO n VALUES (?)`, i)
				return err
			}); err != nil {
				t.Error(err)
			}
		})
	}
	before := version(t, db)
	crowd(t, db, others...)
	if got := version(t, db) - before; got != 1 || len(values(t, db)) != 20 {
		t.Fatalf("%d commits for 20 writes", got)
	}
}

// version counts the commits that changed the file, as a reader sees them.
func version(t *testing.T, db *DB) (n int) {
	t.Helper()
	conn, err := db.read.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.QueryRowContext(t.Context(), `PRAGMA data_version`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestCloseWaitsForWrites(t *testing.T) {
	db := table(t)
	in, closed := make(chan struct{}), make(chan error)
	written := make(chan error)
	go func() {
		written <- db.Write(t.Context(), func(tx *sql.Tx) error {
			close(in)
			for db.enterable() { // Close has begun when nobody may enter any more
				time.Sleep(time.Millisecond)
			}
			_, err := tx.Exec(`INSERT INTO n VALUES (1)`)
			return err
		})
	}()
	<-in
	go func() { closed <- db.Close() }()
	if err := errors.Join(<-written, <-closed); err != nil {
		t.Fatal(err)
	}
	if err := db.Write(t.Context(), func(*sql.Tx) error { return nil }); !errors.Is(err, ErrClosed) {
		t.Fatal(err)
	}
}

func (d *DB) enterable() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return !d.closed
}

func BenchmarkWrite(b *testing.B) {
	for _, writers := range []int{1, 16} {
		b.Run(fmt.Sprint(writers, " at once"), func(b *testing.B) {
			db, err := Open(b.Context(), filepath.Join(b.TempDir(), "a.db"))
			if err != nil {
				b.Fatal(err)
			}
			defer db.Close()
			if err := db.Migrate(b.Context(), "test", `CREATE TABLE n (v TEXT)`); err != nil {
				b.Fatal(err)
			}
			b.SetParallelism(writers / 2)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if err := db.Write(b.Context(), func(tx *sql.Tx) error {
						_, err := tx.Exec(`INSERT INTO n VALUES ('some words of a usual length')`)
						return err
					}); err != nil {
						b.Error(err)
					}
				}
			})
		})
	}
}
