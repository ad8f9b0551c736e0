package kv

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"familiar/internal/sqlite"
)

// clock is a time that a test moves.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func TestStores(t *testing.T) {
	stores := map[string]func(*testing.T, *clock) Store{
		"memory": func(_ *testing.T, c *clock) Store { return NewMemory(c.now) },
		"sqlite": func(t *testing.T, c *clock) Store {
			db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "kv.db"))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = db.Close() })
			s, err := NewSQLite(t.Context(), db, c.now)
			if err != nil {
				t.Fatal(err)
			}
			return s
		},
	}
	for name, open := range stores {
		t.Run(name, func(t *testing.T) {
			c := &clock{time.UnixMilli(1000)}
			contract(t, open(t, c), c)
		})
	}
}

// contract is what every Store promises.
func contract(t *testing.T, s Store, c *clock) {
	ctx := t.Context()
	save := func(key, value string, ttl time.Duration) {
		t.Helper()
		if err := s.Save(ctx, key, value, ttl); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Load(ctx, "a"); !errors.Is(err, ErrMissing) {
		t.Fatalf("missing key: %v", err)
	}
	save("a", "1", 0)
	save("a", "2", 0)
	save("ab%", "x", time.Second)
	save("ab_", "", 0)
	save("b", "y", 0)
	if v, err := s.Load(ctx, "a"); err != nil || v != "2" {
		t.Fatalf("load: %q, %v", v, err)
	}
	if keys, err := s.List(ctx, "ab"); err != nil || !slices.Equal(keys, []string{"ab%", "ab_"}) {
		t.Fatalf("list: %q, %v", keys, err)
	}
	if m, err := s.Many(ctx, "a", "nope", "ab_"); err != nil || len(m) != 2 || m["a"] != "2" {
		t.Fatalf("many: %v, %v", m, err)
	}
	c.at = c.at.Add(time.Second)
	if _, err := s.Load(ctx, "ab%"); !errors.Is(err, ErrMissing) {
		t.Fatalf("expired key: %v", err)
	}
	if keys, _ := s.List(ctx, ""); !slices.Equal(keys, []string{"a", "ab_", "b"}) {
		t.Fatalf("list after expiry: %q", keys)
	}
	if err := s.Delete(ctx, "a", "nope"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Load(ctx, "a"); !errors.Is(err, ErrMissing) {
		t.Fatalf("deleted key: %v", err)
	}
}
