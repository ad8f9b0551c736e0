package sqlite

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"
)

// killPoints is how often the writers are killed when CRASH_POINTS does not say otherwise; a run that asks for more
// than that wants the whole thing, which is manyPoints.
const (
	killPoints = 25
	manyPoints = 1000
	writers    = 20
)

// asWriter is the environment variable that makes the test's executable the process that is killed: it holds the
// path of the database.
const asWriter = "FAMILIAR_TEST_WRITER"

func TestMain(m *testing.M) {
	if path := os.Getenv(asWriter); path != "" {
		if err := writeUntilKilled(path, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// writeUntilKilled has many writers add rows at once while checkpoints run without a pause, and says of each row on
// a line of its own when it was written.
func writeUntilKilled(path string, out io.Writer) error {
	ctx := context.Background()
	db, err := Open(ctx, path)
	if err != nil {
		return err
	}
	if err := db.Migrate(ctx, "test", `CREATE TABLE n (writer INTEGER, v INTEGER, filler TEXT, PRIMARY KEY (writer, v))`); err != nil {
		return err
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	errs := make(chan error, writers+1)
	for w := range writers {
		wg.Go(func() { errs <- writeRows(ctx, db, w, &mu, out) })
	}
	for ctx.Err() == nil {
		if _, err := db.write.ExecContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`); err != nil {
			return err
		}
		select {
		case err := <-errs:
			return err
		default:
		}
	}
	wg.Wait()
	return nil
}

func writeRows(ctx context.Context, db *DB, w int, mu *sync.Mutex, out io.Writer) error {
	filler := string(slices.Repeat([]byte("x"), 20_000))
	var next int
	if err := db.Read().QueryRow(`SELECT coalesce(max(v) + 1, 0) FROM n WHERE writer = ?`, w).Scan(&next); err != nil {
		return err
	}
	for v := next; ; v++ {
		if err := db.Write(ctx, func(tx *sql.Tx) error {
			_, err := tx.Exec(`INSERT INTO n VALUES (?, ?, ?)`, w, v, filler)
			return err
		}); err != nil {
			return err
		}
		mu.Lock()
		_, err := fmt.Fprintln(out, w, v)
		mu.Unlock()
		if err != nil {
			return err
		}
	}
}

// BUG-I04: twenty writers at once, killed in the midst of checkpoints again and again. Every row that was said to be
// written is there, none is there that nobody wrote, and the file is whole.
func TestCrashDuringCheckpoints(t *testing.T) {
	points := killPoints
	if n, err := strconv.Atoi(os.Getenv("CRASH_POINTS")); err == nil {
		if points = n; n > killPoints {
			points = manyPoints
		}
	}
	seed := uint64(time.Now().UnixNano()) //nolint:gosec // any number will do
	t.Logf("%d points, seed %d", points, seed)
	dice := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // no secret
	var path string
	var written []int // how many rows of each were said to be written
	for n := range points {
		if n%killPoints == 0 { // a new file, before the old one is large
			path, written = filepath.Join(t.TempDir(), "a.db"), make([]int, writers)
		}
		killOnce(t, path, written, dice)
		whole(t, path, written)
		if n%killPoints == killPoints-1 {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// killOnce lets the writers run until they have said something, and kills them a moment later.
func killOnce(t *testing.T, path string, written []int, dice *rand.Rand) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self) //nolint:gosec // ourselves
	cmd.Env = append(os.Environ(), asWriter+"="+path)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for n := 0; lines.Scan(); n++ {
		if n == 20 { // what is varied, not waited for
			time.AfterFunc(time.Duration(dice.Int64N(int64(60*time.Millisecond))), func() { _ = cmd.Process.Kill() })
		}
		var w, v int
		if _, err := fmt.Sscan(lines.Text(), &w, &v); err != nil {
			break // the last line, cut off
		}
		if v != written[w] {
			t.Fatalf("writer %d wrote row %d, not %d", w, v, written[w])
		}
		written[w]++
	}
	var ended *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &ended) || ended.ExitCode() != -1 {
		t.Fatalf("it was not killed: %v", err)
	}
}

// whole looks at the file as the next start finds it. A row may be there of which nobody had time to say so.
func whole(t *testing.T, path string, written []int) {
	t.Helper()
	db, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	var fit string
	if err := db.Read().QueryRow(`PRAGMA quick_check`).Scan(&fit); err != nil || fit != "ok" {
		t.Fatalf("the file is broken: %s, %v", fit, err)
	}
	for w := range written {
		var rows, most int
		if err := db.Read().QueryRow(`SELECT count(*), coalesce(max(v) + 1, 0) FROM n WHERE writer = ?`, w).Scan(&rows, &most); err != nil {
			t.Fatal(err)
		}
		if rows != most || rows < written[w] || rows > written[w]+1 {
			t.Fatalf("writer %d: %d rows up to %d; %d were said to be written", w, rows, most, written[w])
		}
		written[w] = rows
	}
}
