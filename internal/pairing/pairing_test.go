package pairing

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"familiar/internal/chat"
	"familiar/internal/kv"
	"familiar/internal/sqlite"
)

var (
	owner = chat.Person{Platform: "web", ID: "owner"}
	there = chat.Place{Platform: "net", ID: "dm1", Kind: chat.Direct}
)

func person(id string) chat.Person { return chat.Person{Platform: "net", ID: id, Name: "Some " + id} }

// clock is a time that a test moves.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// rig is a pairing over a database that can be opened again.
type rig struct {
	*Pairing
	t     *testing.T
	clock *clock
	store kv.Store
}

func newRig(t *testing.T) *rig {
	t.Helper()
	c := &clock{at: time.UnixMilli(1_800_000_000_000)}
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "a.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	store, err := kv.NewSQLite(t.Context(), db, c.now)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, clock: c, store: store}
	r.restart()
	return r
}

func (r *rig) restart() {
	r.t.Helper()
	p, err := Open(r.t.Context(), r.store, r.clock.now)
	if err != nil {
		r.t.Fatal(err)
	}
	r.Pairing = p
}

func (r *rig) offers(id string) string {
	r.t.Helper()
	code, err := r.Offer(r.t.Context(), person(id), there)
	if err != nil {
		r.t.Fatal(err)
	}
	return code
}

func (r *rig) admit(code string, want error) {
	r.t.Helper()
	if _, err := r.Admit(r.t.Context(), code, owner); !errors.Is(err, want) {
		r.t.Fatalf("admit %q: %v, want %v", code, err, want)
	}
}

func (r *rig) knows(id string, want bool) {
	r.t.Helper()
	if r.Admitted(person(id)) != want {
		r.t.Fatalf("%s is admitted: %v", id, !want)
	}
}

func TestACodeWorksOnce(t *testing.T) {
	r := newRig(t)
	code := r.offers("ann")
	if len(code) != codeLetters+1 || strings.Trim(code, alphabet+"-") != "" {
		t.Fatalf("code %q", code)
	}
	if again := r.offers("ann"); again != "" {
		t.Fatalf("a second code within the hour: %q", again)
	}
	r.knows("ann", false)
	r.admit(strings.ToLower(strings.Replace(code, "-", " ", 1)), nil) // as people write it
	r.knows("ann", true)
	r.knows("ben", false)
	if r.Admitted(chat.Person{Platform: "other", ID: "ann"}) {
		t.Error("the same id on another network is admitted")
	}
	r.admit(code, ErrCode)
	if more := r.offers("ann"); more != "" {
		t.Errorf("somebody who is admitted gets a code: %q", more)
	}
}

func TestAnExpiredCodeIsNone(t *testing.T) {
	r := newRig(t)
	code := r.offers("ann")
	r.clock.pass(CodeLife)
	r.admit(code, ErrCode)
	if _, waiting := r.People(); waiting != 0 {
		t.Errorf("%d codes wait", waiting)
	}
	r.restart()
	r.admit(code, ErrCode)
	if next := r.offers("ann"); next == "" || next == code {
		t.Errorf("the next code is %q", next)
	}
}

func TestARestartLosesNeitherCodesNorAdmissions(t *testing.T) {
	r := newRig(t)
	ann, ben := r.offers("ann"), r.offers("ben")
	r.admit(ann, nil)
	r.restart()
	r.knows("ann", true)
	r.admit(ann, ErrCode)
	if again := r.offers("ben"); again != "" {
		t.Errorf("the restart earned ben a second code: %q", again)
	}
	r.admit(ben, nil)
	people, waiting := r.People()
	if len(people) != 2 || waiting != 0 || people[0].By.ID != "owner" || people[0].Person.Name != "Some ann" {
		t.Fatalf("%+v, %d waiting", people, waiting)
	}
	for _, name := range []string{"ann", "net/ben"} {
		if _, err := r.Remove(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	r.restart()
	r.knows("ann", false)
	r.knows("ben", false)
	if _, err := r.Remove(t.Context(), "ann"); !errors.Is(err, ErrUnknown) {
		t.Fatal(err)
	}
}

// Ten thousand strangers get a hundred codes, and none of what is kept grows with them.
func TestACrowdOfStrangers(t *testing.T) {
	r := newRig(t)
	given := 0
	for i := range 10_000 {
		for range 2 {
			if r.offers(fmt.Sprint("stranger", i)) != "" {
				given++
			}
		}
	}
	keys, err := r.store.List(t.Context(), "")
	if err != nil || given != MostOffers || len(r.Pairing.offers) != MostOffers || len(keys) != MostOffers {
		t.Fatalf("%d codes were given, %d are held, %d are kept, %v", given, len(r.Pairing.offers), len(keys), err)
	}
	r.clock.pass(CodeLife)
	if r.offers("late") == "" {
		t.Fatal("there is no room again after an hour")
	}
	if keys, err = r.store.List(t.Context(), ""); err != nil || len(keys) != 1 || len(r.Pairing.offers) != 1 {
		t.Fatalf("%d are kept, %d held, %v", len(keys), len(r.Pairing.offers), err)
	}
}

func TestGuessing(t *testing.T) {
	r := newRig(t)
	code := r.offers("ann")
	for _, wrong := range []string{"", "x", "AAAA-AAAA", code + "A", code[:8], strings.Repeat("A", 100_000), "ÄÄÄÄ", "%_%_%_%_", "\x00", "0000-0000"} {
		r.admit(wrong, ErrCode)
	}
	r.admit(code, ErrTooMany) // even the right one has to wait
	r.clock.pass(wrongWindow)
	r.admit(code, nil)
}

func TestTwoOwnersAtOnce(t *testing.T) {
	r := newRig(t)
	for round := range 20 {
		id := fmt.Sprint("ann", round)
		code := r.offers(id)
		var wg sync.WaitGroup
		var mu sync.Mutex
		worked := 0
		for range 4 {
			wg.Go(func() {
				_, err := r.Admit(context.WithoutCancel(t.Context()), code, owner)
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					worked++
				}
			})
		}
		wg.Wait()
		if worked != 1 {
			t.Fatalf("the code worked %d times", worked)
		}
		r.knows(id, true)
		r.clock.pass(wrongWindow)
	}
}

// moody is a store that fails when it is told.
type moody struct {
	kv.Store
	fails bool
}

var errDisk = errors.New("disk full")

func (m *moody) Save(ctx context.Context, key, value string, ttl time.Duration) error {
	if m.fails {
		return errDisk
	}
	return m.Store.Save(ctx, key, value, ttl)
}

func (m *moody) Delete(ctx context.Context, keys ...string) error {
	if m.fails {
		return errDisk
	}
	return m.Store.Delete(ctx, keys...)
}

func TestAFullDisk(t *testing.T) {
	r := newRig(t)
	disk := &moody{Store: r.store}
	r.store = disk
	r.restart()
	code := r.offers("ann")
	disk.fails = true
	r.admit(code, errDisk)
	r.knows("ann", false)
	if got, err := r.Offer(t.Context(), person("ben"), there); got != "" || !errors.Is(err, errDisk) {
		t.Fatalf("%q, %v", got, err)
	}
	disk.fails = false
	r.admit(code, nil) // it was not used up
	if r.offers("ben") == "" {
		t.Error("the code that was never told counts")
	}
	disk.fails = true
	if _, err := r.Remove(t.Context(), "ann"); !errors.Is(err, errDisk) {
		t.Fatal(err)
	}
	r.knows("ann", true) // nobody is told otherwise, and a restart would bring them back
}

// A crash between the two writes of an admission leaves the code; it opens nothing.
func TestACrashWithinAnAdmission(t *testing.T) {
	r := newRig(t)
	code := r.offers("ann")
	disk := &keeps{r.store}
	r.store = disk
	r.restart()
	r.admit(code, nil)
	r.restart()
	r.knows("ann", true)
	if _, waiting := r.People(); waiting != 0 {
		t.Errorf("%d codes wait", waiting)
	}
	if _, err := r.Remove(t.Context(), "ann"); err != nil {
		t.Fatal(err)
	}
	r.admit(code, ErrCode)
	r.knows("ann", false)
}

// keeps is a store that loses the deletion of a code, as a crash would.
type keeps struct{ kv.Store }

func (k *keeps) Delete(ctx context.Context, keys ...string) error {
	if strings.HasPrefix(keys[0], offerKey) {
		return nil
	}
	return k.Store.Delete(ctx, keys...)
}

func TestWithdrawnCodesAreGone(t *testing.T) {
	r := newRig(t)
	code := r.offers("ann")
	if err := r.Withdraw(t.Context(), person("ann")); err != nil {
		t.Fatal(err)
	}
	r.restart()
	r.admit(code, ErrCode)
	if r.offers("ann") == "" {
		t.Error("they get no other")
	}
}

// Somebody who was removed is not asked to bring a code at once, and nothing opens what has no code.
func TestRemovedPeopleAreNotAskedInAgainAtOnce(t *testing.T) {
	r := newRig(t)
	r.admit(r.offers("ann"), nil)
	if _, err := r.Remove(t.Context(), "ann"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if code := r.offers("ann"); code != "" {
			t.Fatalf("a code at once: %q", code)
		}
		if _, waiting := r.People(); waiting != 0 {
			t.Errorf("%d codes wait", waiting)
		}
		r.restart()
	}
	r.admit("", ErrCode)
	r.knows("ann", false)
	r.clock.pass(CodeLife)
	r.admit(r.offers("ann"), nil)
	r.knows("ann", true)
}

func TestOnlyAHashIsKept(t *testing.T) {
	r := newRig(t)
	code := r.offers("ann")
	keys, err := r.store.List(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	all, err := r.store.Many(t.Context(), keys...)
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	for key, value := range all {
		for _, part := range []string{code, code[:4], code[5:]} {
			if strings.Contains(key+value, part) {
				t.Errorf("%s stands in %s %s", part, key, value)
			}
		}
	}
}

func TestANameForgesNoList(t *testing.T) {
	hostile := chat.Person{Platform: "net", ID: "x", Name: "`net/ann`\n- **Bob** \u202e@everyone " + strings.Repeat("z", 500)}
	name := known(hostile).Name
	if strings.ContainsAny(name, "`\n*@\u202e") || len(name) > longestName {
		t.Errorf("%q", name)
	}
}

func TestIdsOfTwoNetworksStayApart(t *testing.T) {
	r := newRig(t)
	for _, platform := range []string{"net", "web"} {
		code, err := r.Offer(t.Context(), chat.Person{Platform: platform, ID: "ann"}, there)
		if err != nil {
			t.Fatal(err)
		}
		r.admit(code, nil)
	}
	if _, err := r.Remove(t.Context(), "ann"); !errors.Is(err, ErrUnknown) {
		t.Fatalf("either of two was removed: %v", err)
	}
	if _, err := r.Remove(t.Context(), "web/ann"); err != nil {
		t.Fatal(err)
	}
	r.knows("ann", true)
}

func TestThereIsRoomForSoManyPeople(t *testing.T) {
	r := newRig(t)
	for i := range MostAdmitted {
		id := who{"net", fmt.Sprint(i)}
		r.admitted[id] = Admission{Person: chat.Person{Platform: id.platform, ID: id.id}}
	}
	code := r.offers("ann")
	r.admit(code, ErrFull)
	if _, err := r.Remove(t.Context(), "7"); err != nil {
		t.Fatal(err)
	}
	r.admit(code, nil)
}
