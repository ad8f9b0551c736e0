// Package sqlite opens the one database file of an instance. There is one writer and a small pool of readers;
// WAL mode, so that neither waits for the other. A Write that returned nil is on the disk; writes that come at the
// same time go there together. Each owner of tables brings its own schema with Migrate.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"sync"

	_ "modernc.org/sqlite" // the driver, registered as "sqlite"
)

// DB is an open database. Safe for concurrent use.
type DB struct {
	write *sql.DB
	read  *sql.DB

	save, undo, release *sql.Stmt // of the writer: what every write that shares a commit says

	mu      sync.Mutex // guards what follows; nothing is called while it is held
	queue   []*job
	leading bool // a goroutine commits
	closed  bool
	writers sync.WaitGroup
}

// readers is how many connections read at once: the machine is a small home server.
const readers = 4

// ErrClosed says that the database was closed before the call.
var ErrClosed = errors.New("the database is closed")

// Open opens or makes the file at path, mode 0600. It fails on a file that is not a database, with a message
// that says so; it never replaces one.
func Open(ctx context.Context, path string) (*DB, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	// One that was opened to others is closed again, and what SQLite makes beside it has its mode.
	if err := errors.Join(file.Chmod(0o600), file.Close()); err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	d := &DB{}
	if d.write, err = connect(ctx, path, "rwc", 1); err != nil {
		return nil, err
	}
	if d.read, err = connect(ctx, path, "ro", readers); err != nil {
		return nil, errors.Join(err, d.write.Close())
	}
	if err := d.prepare(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", path, err), d.Close())
	}
	return d, nil
}

// connect makes a pool. synchronous=FULL: an accepted event survives a power cut, not just a crash.
func connect(ctx context.Context, path, mode string, conns int) (*sql.DB, error) {
	opts := url.Values{"mode": {mode}, "_txlock": {"immediate"}, "_pragma": {
		"busy_timeout(5000)", "synchronous(FULL)", "foreign_keys(ON)", "cache_size(-2000)"}}
	switch mode {
	case "rwc":
		opts["_pragma"] = append(opts["_pragma"], "journal_mode(WAL)")
	case frozen:
		opts["mode"], opts["immutable"] = []string{"ro"}, []string{"1"}
	}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Opaque: url.PathEscape(path), RawQuery: opts.Encode()}).String())
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	if err := db.PingContext(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w (put a backup in its place, or move it away to begin anew)", path, err), db.Close())
	}
	return db, nil
}

func (d *DB) prepare(ctx context.Context) error {
	_, err := d.write.ExecContext(ctx,
		`CREATE TABLE IF NOT EXISTS migrations (owner TEXT PRIMARY KEY, done INTEGER NOT NULL) WITHOUT ROWID`)
	for _, s := range []struct {
		stmt **sql.Stmt
		text string
	}{{&d.save, `SAVEPOINT job`}, {&d.undo, `ROLLBACK TO job`}, {&d.release, `RELEASE job`}} {
		if err == nil {
			*s.stmt, err = d.Prepare(ctx, s.text)
		}
	}
	return err
}

// Migrate brings an owner's tables up to date: steps that ran before are skipped, the rest run in order in one
// transaction. A step is never edited once released; a change is a new step. A file written by a newer program
// is refused.
func (d *DB) Migrate(ctx context.Context, owner string, steps ...string) error {
	err := d.Write(ctx, func(tx *sql.Tx) error {
		var done int
		err := tx.QueryRowContext(ctx, `SELECT done FROM migrations WHERE owner = ?`, owner).Scan(&done)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if done > len(steps) {
			return fmt.Errorf("the file is of a newer version (step %d, we know %d): use that program", done, len(steps))
		}
		if done == len(steps) {
			return nil // nothing is written, so the start waits for no disk
		}
		for _, step := range steps[done:] {
			if _, err := tx.ExecContext(ctx, step); err != nil {
				return err
			}
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO migrations VALUES (?, ?)
			ON CONFLICT (owner) DO UPDATE SET done = excluded.done`, owner, len(steps))
		return err
	})
	if err != nil {
		return fmt.Errorf("prepare the tables of %s: %w", owner, err)
	}
	return nil
}

// Prepare makes a statement once for what every write of a busy table says; inside of a Write it is used by way of
// tx.Stmt. It is closed with the database.
func (d *DB) Prepare(ctx context.Context, text string) (*sql.Stmt, error) {
	stmt, err := d.write.PrepareContext(ctx, text)
	if err != nil {
		return nil, fmt.Errorf("prepare a statement: %w", err)
	}
	return stmt, nil
}

// Read returns the readers' pool; writing through it fails. It sees every Write that returned.
func (d *DB) Read() *sql.DB { return d.read }

// Close waits for the writes that began, and ends both pools. A second call does nothing.
func (d *DB) Close() error {
	d.mu.Lock()
	was := d.closed
	d.closed = true
	d.mu.Unlock()
	d.writers.Wait()
	if was {
		return nil
	}
	return errors.Join(d.read.Close(), d.write.Close())
}
