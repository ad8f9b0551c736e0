package thread

import (
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"familiar/internal/chat"
	"familiar/internal/sqlite"
)

var (
	hall = chat.Place{Platform: "net", ID: "hall", Kind: chat.Group}
	ann  = Whose{hall, chat.Person{Platform: "net", ID: "ann"}}
	ben  = Whose{hall, chat.Person{Platform: "net", ID: "ben"}}
)

// rig is a store whose clock goes on by a second with every look at it.
type rig struct {
	*Threads
	t  *testing.T
	db *sqlite.DB
	at time.Time
	mu sync.Mutex
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, at: time.UnixMilli(1_800_000_000_000)}
	var err error
	if r.db, err = sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "a.db")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.db.Close() })
	r.Threads, err = Open(t.Context(), r.db, func() time.Time {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.at = r.at.Add(time.Second)
		return r.at
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *rig) begins(of Whose, name string) Thread {
	r.t.Helper()
	t, err := r.Begin(r.t.Context(), of, name)
	if err != nil {
		r.t.Fatal(err)
	}
	return t
}

// says notes a message, and returns a turn about it.
func (r *rig) says(of Whose, id, text string) chat.Turn {
	r.t.Helper()
	ev := chat.Event{ID: chat.EventID(id), Place: of.Place, From: of.Person, Message: chat.MessageID(id), Body: chat.Said{Text: text}}
	if err := r.db.Write(r.t.Context(), func(tx *sql.Tx) error { return r.Noting(r.t.Context(), ev)(tx) }); err != nil {
		r.t.Fatal(err)
	}
	return chat.NewTurn(chat.Talk, ev, chat.Public, time.Now())
}

func (r *rig) isFor(t chat.Turn, name string) Thread {
	r.t.Helper()
	got, err := r.For(r.t.Context(), t)
	if err != nil || got.Name != name {
		r.t.Fatalf("%+v, %v, want %q", got, err, name)
	}
	return got
}

func names(all []Thread) string {
	var text []string
	for _, t := range all {
		if t.Current {
			t.Name += "*"
		}
		text = append(text, t.Name)
	}
	return strings.Join(text, " ")
}

func (r *rig) lists(of Whose, want string) {
	r.t.Helper()
	all, err := r.List(r.t.Context(), of)
	if got := names(all); err != nil || got != want {
		r.t.Fatalf("%q, %v, want %q", got, err, want)
	}
}

func TestTheFirstConversationBeginsByItself(t *testing.T) {
	r := newRig(t)
	r.lists(ann, "")
	first := r.says(ann, "m1", "  Hello `there`\nand more")
	got := r.isFor(first, "1")
	if got.Title != "Hello there" || got.Agent != "" || !got.Current {
		t.Fatalf("%+v", got)
	}
	r.says(ann, "m2", "something else")
	if again := r.isFor(first, "1"); again.Title != got.Title || again.ID != got.ID {
		t.Fatalf("%+v", again)
	}
	r.lists(ann, "1*")
	r.lists(ben, "")
}

// Messages stay in the conversation that was current when they came, and what a turn binds is its own.
func TestSwitchingMixesNothing(t *testing.T) {
	r := newRig(t)
	one := r.says(ann, "m1", "one")
	before := r.isFor(one, "1")
	waits := r.says(ann, "m2", "waits in line")
	tea := r.begins(ann, "tea")
	two := r.says(ann, "m3", "two")
	r.isFor(one, "1")
	r.isFor(waits, "1")
	r.isFor(two, "tea")
	for id, session := range map[ID]string{before.ID: "agent-1", tea.ID: "agent-2"} {
		if err := r.Bind(t.Context(), id, session); err != nil {
			t.Fatal(err)
		}
	}
	if a, b := r.isFor(waits, "1"), r.isFor(two, "tea"); a.Agent != "agent-1" || b.Agent != "agent-2" {
		t.Fatalf("%+v, %+v", a, b)
	}
	if got, err := r.Switch(t.Context(), ann, " 1 "); err != nil || got.ID != before.ID || !got.Current {
		t.Fatalf("%+v, %v", got, err)
	}
	r.isFor(r.says(ann, "m4", "three"), "1")
	r.isFor(two, "tea")
	r.lists(ann, "1* tea")
	if err := r.Bind(t.Context(), tea.ID, ""); err != nil {
		t.Fatal(err)
	}
	if got := r.isFor(two, "tea"); got.Agent != "" {
		t.Fatalf("it was reset: %+v", got)
	}
	if err := r.Bind(t.Context(), 999, "x"); !errors.Is(err, ErrUnknown) {
		t.Fatal(err)
	}
}

func TestTwoPeopleInOnePlace(t *testing.T) {
	r := newRig(t)
	r.begins(ann, "plans")
	r.begins(ben, "plans")
	a, b := r.isFor(r.says(ann, "m1", "of Ann"), "plans"), r.isFor(r.says(ben, "m2", "of Ben"), "plans")
	if a.ID == b.ID {
		t.Fatal("two people share a conversation")
	}
	r.begins(ann, "secret")
	if _, err := r.Switch(t.Context(), ben, "secret"); !errors.Is(err, ErrUnknown) {
		t.Fatalf("ben got ann's: %v", err)
	}
	// Nor does somebody else's message lead there.
	forged := r.says(ben, "m3", "of Ben")
	forged.From = ann.Person
	if got, err := r.For(t.Context(), forged); err != nil || got.Name != "secret" {
		t.Fatalf("%+v, %v", got, err)
	}
	elsewhere := Whose{chat.Place{Platform: "net", ID: "dm"}, ann.Person}
	r.lists(elsewhere, "")
	r.lists(ben, "plans*")
}

func TestNames(t *testing.T) {
	r := newRig(t)
	r.begins(ann, "  Tea `and`\n\tcake ")
	r.lists(ann, "Tea and cake*")
	for name, want := range map[string]error{"tea AND cake": ErrTaken, " ` ": ErrName, strings.Repeat("ü", LongestName+1): ErrName, "\x00\u202e": ErrName} {
		if _, err := r.Begin(t.Context(), ann, name); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", name, err, want)
		}
	}
	r.begins(ann, strings.Repeat("ü", LongestName))
	r.begins(ann, "")
	r.begins(ann, "3")
	r.begins(ann, "")
	if all, _ := r.List(t.Context(), ann); all[0].Name != "2" || all[2].Name != "1" {
		t.Errorf("numbers: %s", names(all))
	}
	for _, c := range []struct {
		name string
		want error
	}{{"3", ErrTaken}, {"", ErrName}, {"two", nil}, {"TWO", nil}} {
		if _, err := r.Rename(t.Context(), ann, c.name); !errors.Is(err, c.want) {
			t.Errorf("rename to %q: %v, want %v", c.name, err, c.want)
		}
	}
	if got, err := r.Current(t.Context(), ann); err != nil || got.Name != "TWO" {
		t.Fatalf("%+v, %v", got, err)
	}
}

func TestSearch(t *testing.T) {
	r := newRig(t)
	said := func(id, text string) chat.Message { return chat.Message{ID: chat.MessageID(id), Text: text} }
	r.begins(ann, "Holiday")
	r.says(ann, "m1", "flights to Oslo")
	r.begins(ann, "work")
	r.says(ann, "m2", "the report")
	r.says(ben, "m3", "Oslo is far") // somebody else's
	answer := func(id, to string) {
		m := chat.Message{ID: chat.MessageID(id), ReplyTo: chat.MessageID(to)}
		if err := r.db.Write(t.Context(), func(tx *sql.Tx) error { return r.Answering(hall, m)(tx) }); err != nil {
			t.Fatal(err)
		}
	}
	answer("b1", "m1")
	answer("b2", "unknown")
	history := []chat.Message{said("m1", "flights to Oslo"), said("b1", "Take the 台北 train"), said("m2", "the report"),
		said("m3", "Oslo is far"), said("b2", "台北")}
	for words, want := range map[string]string{"oslo": "Holiday", "HOLI": "Holiday", "report": "work*", "台北": "Holiday",
		"the": "work* Holiday", "far": "", "oslo report": "", "": "work* Holiday"} {
		got, err := r.Search(t.Context(), ann, words, history)
		if err != nil || names(got) != want {
			t.Errorf("%q: %q, %v, want %q", words, names(got), err, want)
		}
	}
}

func TestWhatIsKeptIsBounded(t *testing.T) {
	r := newRig(t)
	first := r.says(ann, "m0", "hello")
	old := r.isFor(first, "1")
	for range MostKept - 1 {
		r.begins(ann, "")
	}
	r.begins(ben, "")
	if _, err := r.Switch(t.Context(), ann, "1"); err != nil {
		t.Fatal(err)
	}
	r.begins(ann, "one too many") // "1" was used lately, so "2" goes
	all, err := r.List(t.Context(), ann)
	if err != nil || len(all) != MostKept {
		t.Fatal(len(all), err)
	}
	if _, err := r.Switch(t.Context(), ann, "2"); !errors.Is(err, ErrUnknown) {
		t.Fatal(err)
	}
	if got := r.isFor(first, "1"); got.ID != old.ID {
		t.Fatalf("%+v", got)
	}
	for i := range messagesKept + 10 {
		r.says(ann, fmt.Sprint("x", i), "hello")
	}
	var n int
	if err := r.db.Read().QueryRow(`SELECT count(*) FROM threads_messages`).Scan(&n); err != nil || n != messagesKept {
		t.Fatal(n, err)
	}
	r.mu.Lock()
	r.at = r.at.Add(messagesFor + time.Hour)
	r.mu.Unlock()
	r.says(ben, "y", "hello")
	if err := r.db.Read().QueryRow(`SELECT count(*) FROM threads_messages`).Scan(&n); err != nil || n != 1 {
		t.Fatal(n, err)
	}
}

// Whoever speaks, switches and begins at once gets one current conversation, and no turn a foreign one.
func TestAllAtOnce(t *testing.T) {
	r := newRig(t)
	var wg sync.WaitGroup
	for i := range 8 {
		of := []Whose{ann, ben}[i%2]
		wg.Go(func() {
			for j := range 10 {
				turn := r.says(of, fmt.Sprint("m", i, "-", j), "hello")
				if got, err := r.For(t.Context(), turn); err != nil || got.ID == 0 {
					t.Error(got, err)
				}
				if _, err := r.Begin(t.Context(), of, ""); err != nil {
					t.Error(err)
				}
				if _, err := r.Switch(t.Context(), of, "1"); err != nil && !errors.Is(err, ErrUnknown) {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for _, of := range []Whose{ann, ben} {
		all, err := r.List(t.Context(), of)
		current := 0
		for _, one := range all {
			if one.Current {
				current++
			}
		}
		if err != nil || current != 1 || len(all) != 41 && len(all) != 40 {
			t.Errorf("%d current of %d, %v", current, len(all), err)
		}
	}
}
