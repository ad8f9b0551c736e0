package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

func open(t *testing.T, path string) *DB {
	t.Helper()
	db, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func TestWriteIsSeenAndRolledBack(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "odd name?#%.db"))
	if err := db.Migrate(t.Context(), "test", `CREATE TABLE n (v INTEGER)`); err != nil {
		t.Fatal(err)
	}
	failed := errors.New("no")
	add := func(v int, end error) error {
		return db.Write(t.Context(), func(tx *sql.Tx) error {
			if _, err := tx.Exec(`INSERT INTO n VALUES (?)`, v); err != nil {
				return err
			}
			return end
		})
	}
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			if err := add(i, nil); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if err := add(99, failed); !errors.Is(err, failed) {
		t.Fatalf("got %v", err)
	}
	var count int
	if err := db.Read().QueryRow(`SELECT count(*) FROM n`).Scan(&count); err != nil || count != 20 {
		t.Fatalf("count %d, %v", count, err)
	}
	if _, err := db.Read().Exec(`INSERT INTO n VALUES (1)`); err == nil {
		t.Fatal("a reader wrote")
	}
}

func TestMigrateRunsEachStepOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	db := open(t, path)
	first, second := `CREATE TABLE a (v)`, `ALTER TABLE a ADD COLUMN w`
	for _, steps := range [][]string{{first}, {first}, {first, second}, {first, second}} {
		if err := db.Migrate(t.Context(), "a", steps...); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Migrate(t.Context(), "a", first); err == nil {
		t.Fatal("a newer file was taken")
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("mode %v, %v", info.Mode(), err)
	}
}

func TestOpenRefusesWhatIsNoDatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	text := []byte("this is a letter, not a database, and long enough to be read as a header of one: 0123456789 0123456789 0123")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if db, err := Open(context.Background(), path); err == nil {
		_ = db.Close()
		t.Fatal("opened")
	}
	if kept, err := os.ReadFile(path); err != nil || string(kept) != string(text) {
		t.Fatal("the file was changed")
	}
}

// A start with nothing to migrate waits for no disk.
func TestMigrateOfWhatIsUpToDateWritesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	db := open(t, path)
	written := func() int64 {
		if err := db.Migrate(t.Context(), "test", `CREATE TABLE n (v INTEGER)`); err != nil {
			t.Fatal(err)
		}
		log, err := os.Stat(path + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		return log.Size()
	}
	if first, second := written(), written(); first == 0 || second != first {
		t.Errorf("the log had %d bytes after the first time and %d after the second", first, second)
	}
}

// A database that was opened to others is closed to them, and so is what lies beside it.
func TestFilesAreOursAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	db := open(t, path)
	if err := db.Migrate(t.Context(), "test", `CREATE TABLE n (v INTEGER)`); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(path + "*")
	if err != nil || len(files) < 2 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", file, info.Mode(), err)
		}
	}
}
