package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
)

// Peek opens a database that is there, to look at it and nothing else: no file is made or changed, whether its bot
// runs or not, and a Write fails. It sees what was written before.
func Peek(ctx context.Context, path string) (*DB, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	mode := "ro"
	if _, err := os.Stat(path + "-wal"); errors.Is(err, fs.ErrNotExist) {
		mode = frozen
	}
	pool, err := connect(ctx, path, mode, 1)
	if err != nil {
		return nil, err
	}
	return &DB{read: pool, write: pool}, nil
}

// frozen is the mode of a file that nobody writes: without it, SQLite would make files beside it to watch for writers.
const frozen = "frozen"

// Has reports whether there is a table of that name.
func (d *DB) Has(ctx context.Context, table string) (bool, error) {
	var one int
	err := d.read.QueryRowContext(ctx, `SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?`, table).Scan(&one)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}
