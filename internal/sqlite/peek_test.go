package sqlite

import (
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// A look changes nothing: not in a database that nobody has open, and not in one that somebody has.
func TestPeek(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	if _, err := Peek(t.Context(), path); !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	db, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Migrate(t.Context(), "test", `CREATE TABLE words (word TEXT)`); err != nil {
		t.Fatal(err)
	}
	write := func(db *DB) error {
		return db.Write(t.Context(), func(tx *sql.Tx) error {
			_, err := tx.Exec(`INSERT INTO words VALUES ('tea')`)
			return err
		})
	}
	for n, state := range []string{"open", "closed"} {
		if n == 0 {
			if err := write(db); err != nil {
				t.Fatal(err)
			}
		} else if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		before := files(t, path)
		look, err := Peek(t.Context(), path)
		if err != nil {
			t.Fatal(state, err)
		}
		var count int
		if err := look.Read().QueryRow(`SELECT count(*) FROM words`).Scan(&count); err != nil || count != 1 {
			t.Errorf("%s: %d words, %v", state, count, err)
		}
		has, err := look.Has(t.Context(), "words")
		hasNot, other := look.Has(t.Context(), "deeds")
		if !has || hasNot || errors.Join(err, other) != nil {
			t.Errorf("%s: %v %v, %v", state, has, hasNot, errors.Join(err, other))
		}
		if err := write(look); err == nil {
			t.Errorf("%s: a look wrote", state)
		}
		if err := look.Close(); err != nil {
			t.Error(state, err)
		}
		if after := files(t, path); after != before {
			t.Errorf("%s: from %s to %s", state, before, after)
		}
	}
}

// files lists what lies beside the database, and the content of the database itself.
func files(t *testing.T, path string) string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	all := ""
	for _, e := range entries {
		all += e.Name() + " "
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return all + string(data)
}
