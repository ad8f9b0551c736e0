package state

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"familiar/internal/clock"
	"familiar/internal/kv"
	"familiar/internal/sqlite"
)

var now = time.UnixMilli(1_800_000_000_000)

func at() time.Time { return now }

func example() State {
	return State{
		Clock: []clock.State{{Name: "selfResearch", Next: now.Add(time.Hour), Last: now.Add(-time.Hour), Running: true, Outcome: clock.Done, Runs: 3},
			{Name: "memoryMaintenance", Next: now.Add(2 * time.Hour)}},
		KV: []kv.Entry{{Key: "pairing/admitted/net/ann", Value: `{"person":"<ann>"}`}, {Key: "lurk:net:hall", Value: "m1", Until: now.Add(time.Minute)},
			{Key: "old", Value: "x", Until: now.Add(-time.Minute)}},
	}
}

// A machine whose database is missing has after a start what the file says.
func TestAStateComesBack(t *testing.T) {
	dir := t.TempDir()
	path, database := filepath.Join(dir, File), filepath.Join(dir, "state", "familiar.db")
	if r, err := Revive(t.Context(), path, database, at); err != nil || r.Made {
		t.Fatal("made of nothing:", r, err)
	}
	if err := example().Write(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Dir(database), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, left := range []string{database + "-wal", database + ".new", database + ".new-wal"} { // of a crash
		if err := os.WriteFile(left, []byte("not SQLite"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r, err := Revive(t.Context(), path, database, at)
	if err != nil || !r.Made || r.Jobs != 2 || r.Values != 2 || r.Broken != 0 {
		t.Fatalf("%+v %v", r, err)
	}
	db, err := sqlite.Open(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	jobs, err := clock.Read(t.Context(), db.Read())
	if err != nil || len(jobs) != 2 || jobs[0].Name != "selfResearch" || !jobs[0].Next.Equal(now.Add(time.Hour)) || jobs[0].Running || jobs[0].Runs != 3 {
		t.Errorf("%+v %v", jobs, err)
	}
	store, err := kv.NewSQLite(t.Context(), db, at)
	if err != nil {
		t.Fatal(err)
	}
	all, err := store.All(t.Context())
	if err != nil || len(all) != 2 || all[1].Value != `{"person":"<ann>"}` || !all[0].Until.Equal(now.Add(time.Minute)) {
		t.Errorf("%+v %v", all, err)
	}
	if r, err := Revive(t.Context(), path, database, at); err != nil || r.Made {
		t.Error("what is there was made anew:", r, err)
	}
}

// The file is sorted, and is not written again for nothing.
func TestTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), File)
	if err := example().Write(path); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for line := range strings.Lines(string(text)) {
		names = append(names, strings.Split(line, `"`)[9])
	}
	if got := strings.Join(names, " "); got != "memoryMaintenance selfResearch lurk:net:hall old pairing/admitted/net/ann" {
		t.Errorf("%s\n%s", got, text)
	}
	before, _ := os.Stat(path)
	again := example()
	again.Clock[0], again.Clock[1] = again.Clock[1], again.Clock[0]
	again.Clock[1].Running = false
	if err := again.Write(path); err != nil {
		t.Fatal(err)
	}
	if after, _ := os.Stat(path); !os.SameFile(before, after) || before.Mode() != 0o600 {
		t.Error("it was written again, or others can read it")
	}
}

func TestABrokenFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, File)
	text := "<<<<<<< HEAD\n{\"kind\":\"kv\",\"entry\":{\"key\":\"a\",\"value\":\"1\"}}\n{\"kind\":\"kv\"}\n{\"kind\":\"clock\",\"job\":{\"name\":\"x\"}}\n{\"kind\":\"other\"}\nnull\n\n{"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := Revive(t.Context(), path, filepath.Join(dir, "familiar.db"), at)
	if err != nil || !r.Made || r.Values != 1 || r.Broken != 7 {
		t.Errorf("%+v %v", r, err)
	}
	if err := os.WriteFile(path, []byte(strings.Repeat("x", 2*mostLine)), 0o600); err != nil {
		t.Fatal(err)
	}
	if r, err := Revive(t.Context(), path, filepath.Join(dir, "other.db"), at); err == nil || r.Made {
		t.Error("a line without end:", r)
	}
	if _, err := os.Stat(filepath.Join(dir, "other.db")); err == nil {
		t.Error("half a database is there")
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"kind":"clock","job":{"name":"a","nextScheduledAt":"2026-01-01T00:00:00Z"}}` + "\n" + `{"kind":"kv","entry":{"key":"a","value":""}}`))
	f.Add([]byte("{}\n[]\nnull\n\"\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		dir := t.TempDir()
		path := filepath.Join(dir, File)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		s, _, err := Read(path)
		if err != nil {
			return
		}
		if err := s.Write(filepath.Join(dir, "again")); err != nil {
			t.Fatal(err)
		}
		if again, broken, err := Read(filepath.Join(dir, "again")); err != nil || broken != 0 || len(again.Clock) != len(s.Clock) || len(again.KV) != len(s.KV) {
			t.Errorf("%+v became %+v, %d broken, %v", s, again, broken, err)
		}
	})
}
