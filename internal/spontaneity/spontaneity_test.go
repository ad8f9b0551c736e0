package spontaneity

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"pgregory.net/rapid"

	"familiar/internal/chat"
	"familiar/internal/kv"
	"familiar/internal/setting"
	"familiar/internal/sqlite"
)

// AF-159
func TestChoose(t *testing.T) {
	if got, ok := Choose(nil, time.Now()); ok {
		t.Error(got)
	}
	counts := map[string]int{}
	three := []Target{{Place: chat.Place{ID: "a"}}, {Place: chat.Place{ID: "b"}}, {Person: chat.Person{ID: "c"}}}
	for i := range 3000 {
		due := time.UnixMilli(1_800_000_000_000 + int64(i)*3_600_000)
		got, _ := Choose(three, due)
		if again, _ := Choose(three, due.Add(time.Microsecond)); again != got { // a database keeps milliseconds
			t.Fatal("another one for the same time:", got, again)
		}
		counts[got.Place.ID+got.Person.ID]++
	}
	for _, id := range []string{"a", "b", "c"} {
		if n := counts[id]; n < 700 || n > 1300 { // 11 standard deviations
			t.Errorf("%s was chosen %d times of 3000", id, n)
		}
	}
}

func TestFetch(t *testing.T) {
	count := func(p float64) (n int) {
		for range 1000 {
			if (Config{ContextFetchProbability: p}).Fetch() {
				n++
			}
		}
		return n
	}
	if never, always, half := count(0), count(1), count(0.5); never != 0 || always != 1000 || half < 300 || half > 700 {
		t.Error(never, always, half)
	}
}

// AF-167, AF-168
func TestWorth(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	open := func() *Lurker {
		db, err := sqlite.Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		store, err := kv.NewSQLite(t.Context(), db, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		return NewLurker(store)
	}
	l, here := open(), chat.Place{Platform: "discord", ID: "1"}
	said := func(change func(*chat.Message)) chat.Message {
		m := chat.Message{ID: "m", From: chat.Person{Platform: "discord", ID: "ann"}, Text: "hello"}
		change(&m)
		return m
	}
	for _, c := range []struct {
		name string
		last chat.Message
		want bool
	}{
		{"nothing was said", chat.Message{}, false},
		{"by the bot", said(func(m *chat.Message) { m.From.Us = true }), false},
		{"by another program", said(func(m *chat.Message) { m.From.Bot = true }), false},
		{"mentions the bot", said(func(m *chat.Message) { m.Addressed = true }), false},
		{"reacted already", said(func(m *chat.Message) { m.Reacted = true }), false},
		{"none of these", said(func(*chat.Message) {}), true},
		{"same id as before", said(func(*chat.Message) {}), false},
		{"another one", said(func(m *chat.Message) { m.ID = "n" }), true},
	} {
		if got, err := l.Worth(t.Context(), here, c.last); err != nil || got != c.want {
			t.Errorf("%s: %v, %v", c.name, got, err)
		}
	}
	if got, err := l.Worth(t.Context(), chat.Place{Platform: "discord", ID: "2"}, said(func(*chat.Message) {})); err != nil || !got {
		t.Error("in another place:", got, err)
	}
	if got, err := open().Worth(t.Context(), here, said(func(m *chat.Message) { m.ID = "n" })); err != nil || got {
		t.Error("after a restart:", got, err)
	}
}

// A store that cannot tell lets the bot keep quiet.
func TestAStoreThatFails(t *testing.T) {
	l := NewLurker(broken{})
	if got, err := l.Worth(t.Context(), chat.Place{}, chat.Message{ID: "m"}); got || err == nil {
		t.Error(got, err)
	}
}

type broken struct{ kv.Store }

func (broken) Load(ctx context.Context, _ string) (string, error) { return "", errors.New("disk") }

// AF-17, AF-18, AF-19, and whatever else is written: what comes out is in bounds.
func TestCheck(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Config{MinIntervalMs: rapid.Int().Draw(t, "min"), MaxIntervalMs: rapid.Int().Draw(t, "max"),
			ContextFetchProbability: rapid.Float64().Draw(t, "p")}
		var r setting.Report
		c.Check(r.At("x"))
		if c.MinIntervalMs < 60_000 || c.MaxIntervalMs < c.MinIntervalMs || !(c.ContextFetchProbability >= 0 && c.ContextFetchProbability <= 1) {
			t.Fatalf("%+v", c)
		}
		for _, p := range r.Problems() {
			if p.Severity == setting.Fatal {
				t.Fatal(p)
			}
		}
	})
}
