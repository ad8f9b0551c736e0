package memory

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"familiar/internal/sqlite"
)

// known makes a rig whose two files are in the index.
func known(t *testing.T) (rig, *sqlite.DB) {
	r := newRig(t)
	db := r.indexed(600)
	var lines [2][]string
	for n := range 20 {
		kind := fileKind(1 - n%2)
		lines[kind] = append(lines[kind], memoryLine(fmt.Sprint("mem_", n), fmt.Sprintf("2025-01-%02dT00:00:00.000Z", n+1), string(kind.visibility()),
			[]string{"high", "normal"}[n%2], fmt.Sprintf("drank tea on day %d, 烏龍茶", n)))
	}
	r.write(publicFile, lines[publicFile]...)
	r.write(privateFile, lines[privateFile]...)
	r.important(true)
	r.tendAll()
	r.important(true)
	if r.covered(publicFile) == 0 || r.covered(privateFile) == 0 {
		t.Fatal("nothing is in the index: this test proves nothing")
	}
	return r, db
}

// whole asks for what every state of the index must give.
func (r rig) whole(when string) {
	r.t.Helper()
	r.want(when+": found", r.find(true, "烏龍 17"), "drank tea on day 17, 烏龍茶", "drank tea on day 19, 烏龍茶", "drank tea on day 18, 烏龍茶",
		"drank tea on day 16, 烏龍茶", "drank tea on day 15, 烏龍茶", "drank tea on day 14, 烏龍茶", "drank tea on day 13, 烏龍茶",
		"drank tea on day 12, 烏龍茶", "drank tea on day 11, 烏龍茶", "drank tea on day 10, 烏龍茶")
	if got := r.important(true); len(got) != 10 || got[0] != "drank tea on day 0, 烏龍茶" {
		r.t.Errorf("%s: important: %q", when, got)
	}
}

// A broken index costs time and no answer, and is built anew.
func TestABrokenIndexLosesNothing(t *testing.T) {
	for name, harm := range map[string]string{
		"sets that cannot be":     `UPDATE memory_terms SET entries = x'0900'`,
		"sets that are empty":     `UPDATE memory_terms SET entries = x''`,
		"entries elsewhere":       `UPDATE memory_entries SET offset = offset + 7`,
		"entries of other names":  `UPDATE memory_entries SET name = name + 1`,
		"entries that are gone":   `DELETE FROM memory_entries WHERE place > 2`,
		"another file":            `UPDATE memory_index SET inode = inode + 1`,
		"another last line":       `UPDATE memory_index SET last = x'00'`,
		"more than there is":      `UPDATE memory_index SET covered = covered + 100000`,
		"no index":                `DELETE FROM memory_index`,
		"no table":                `DROP TABLE memory_terms`,
		"a build that was cut":    `UPDATE memory_index SET state = 0`,
		"a patch that is not one": `INSERT INTO memory_patches SELECT build, 1, 3, 1 FROM memory_index; UPDATE memory_index SET loose = 1, patches = 1`,
	} {
		t.Run(name, func(t *testing.T) {
			r, db := known(t)
			if err := db.Write(t.Context(), func(tx *sql.Tx) error { _, err := tx.Exec(harm); return err }); err != nil {
				t.Fatal(err)
			}
			r.whole("broken while it is used")
			r.Store = nil
			if name == "no table" { // whoever opens it must not make it: the step ran
				r.again(db, 600)
				r.whole("after a start")
				return
			}
			r.again(db, 600)
			r.whole("after a start")
			r.tendAll()
			r.whole("built anew")
			if r.covered(publicFile) == 0 || r.covered(privateFile) == 0 {
				t.Error("it was not built anew")
			}
		})
	}
}

// Sets that lack a line hide it until all of the file was compared: the index itself is wrong, so nothing else can
// tell. A file that another hand changed in the middle is noticed so, after a start.
func TestAFileThatWasChangedWhileNobodyLooked(t *testing.T) {
	r, db := known(t)
	data, err := os.ReadFile(r.file(publicFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(r.file(publicFile), []byte(strings.Replace(string(data), "tea on day 3,", "cup on day 3,", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	r.again(db, 600)
	r.important(true)
	r.tendAll() // compares, and builds anew
	r.want("found", r.find(true, `"cup on"`), "drank cup on day 3, 烏龍茶")
}

// AF-148: with an index, too, a look outside direct conversations reads nothing private, and what is private is not
// in what it reads.
func TestInAGroupNothingPrivateIsAsked(t *testing.T) {
	r, db := known(t)
	r.again(db, 600)
	for _, hit := range r.find(false, "烏龍") {
		for n := 0; n < 20; n += 2 {
			if strings.Contains(hit, fmt.Sprintf("day %d,", n)) {
				t.Errorf("told %q", hit)
			}
		}
	}
	r.with(job{who{ann.Platform, ann.ID}, privateFile}, func(_ *person, f *file) {
		if f.read || f.from != 0 {
			t.Error("the private file was looked at")
		}
	})
}

// Saving waits for the file alone: it writes nothing to the database.
func TestASaveWritesNoIndex(t *testing.T) {
	r, db := known(t)
	version := func() (n int) {
		if err := db.Read().QueryRowContext(t.Context(), `PRAGMA data_version`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	info := func() int64 {
		log, err := os.Stat(walOf(t, db))
		if err != nil {
			t.Fatal(err)
		}
		return log.Size()
	}
	before, size := version(), info()
	r.save(false, "likes rain", Normal)
	r.want("found at once", r.find(false, "rain"), "likes rain")
	if version() != before || info() != size {
		t.Error("the database was written")
	}
}

func walOf(t *testing.T, db *sqlite.DB) (path string) {
	t.Helper()
	var n int
	var name string
	if err := db.Read().QueryRowContext(t.Context(), `PRAGMA database_list`).Scan(&n, &name, &path); err != nil {
		t.Fatal(err)
	}
	return path + "-wal"
}

// Keep builds while people are asked about and told of, and ends with its context.
func TestKeepBesideEverythingElse(t *testing.T) {
	r := newRig(t)
	r.indexed(600)
	ctx, end := context.WithCancel(t.Context())
	var keeping, working sync.WaitGroup
	keeping.Go(func() { r.Keep(ctx) })
	for n := range 4 {
		working.Go(func() {
			for i := range 25 {
				r.save(n%2 == 0, fmt.Sprintf("tea %d of %d", i, n), High)
				if got := r.find(true, fmt.Sprintf(`"tea %d of %d"`, i, n)); len(got) == 0 || got[0] != fmt.Sprintf("tea %d of %d", i, n) {
					t.Errorf("%q", got)
				}
			}
		})
	}
	working.Wait()
	if got := r.important(true); len(got) != 100 {
		t.Errorf("%d memories", len(got))
	}
	for deadline := time.Now().Add(20 * time.Second); r.covered(publicFile) == 0 && time.Now().Before(deadline); {
		r.important(false)
		time.Sleep(time.Millisecond)
	}
	if r.covered(publicFile) == 0 {
		t.Error("nothing was indexed")
	}
	end()
	keeping.Wait()
}
