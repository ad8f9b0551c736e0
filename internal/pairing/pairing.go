// Package pairing lets an owner admit people: a stranger gets a code, brings it to the owner in some other way, and
// the owner gives it back to the bot. It is the one place that knows who is admitted.
//
// It promises: of a stranger nothing is kept but who and where they are; a code is random, lasts for an hour and
// works once; nobody gets a second one within that hour, and no more than 100 wait at once, so that a crowd of
// strangers costs no more than that. Of a code only a hash is kept. Admissions are durable before anybody is told of
// them. Codes are compared in a time that tells nothing, and who guesses wrong ten times has to wait.
package pairing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"familiar/internal/chat"
	"familiar/internal/kv"
)

// The bounds. They are no settings: a bot of one owner needs no others.
const (
	CodeLife     = time.Hour
	MostOffers   = 100  // codes that wait at once
	MostAdmitted = 1000 // people

	mostWrong   = 10 // wrong codes within wrongWindow
	wrongWindow = 10 * time.Minute
	longestName = 60 // code points of a name that is shown
)

// OfferKeys is how the keys of codes begin that wait for an owner: what is kept of them is for this machine alone.
const OfferKeys = "pairing/offer/"

// What can be wrong with a code, or with somebody to remove.
var (
	ErrCode    = errors.New("no such code")
	ErrTooMany = errors.New("too many wrong codes")
	ErrFull    = errors.New("too many people are admitted")
	ErrUnknown = errors.New("no such person")
)

// Admission is a person whom an owner let in.
type Admission struct {
	Person chat.Person `json:"person"`
	Place  chat.Place  `json:"place"` // where they asked
	By     chat.Person `json:"by"`
	At     time.Time   `json:"at"`
}

// offer is a code that waits for an owner. Without a hash there is no code: somebody was removed, and hears nothing until
// the time is over, as anybody hears nothing twice within the hour.
type offer struct {
	Person chat.Person `json:"person"`
	Place  chat.Place  `json:"place"`
	Hash   digest      `json:"hash"`
	Until  time.Time   `json:"until"`
}

// who is the identity of a person.
type who struct{ platform, id string }

func identity(p chat.Person) who { return who{p.Platform, p.ID} }

// Pairing holds codes and admissions. Safe for concurrent use; Admitted never blocks for the disk, the other calls do.
type Pairing struct {
	store kv.Store
	now   func() time.Time

	changes sync.Mutex // held over the store, so that memory and disk take admissions and removals in one order

	mu       sync.Mutex // guards what follows; the store is not called while it is held
	admitted map[who]Admission
	offers   map[who]offer
	wrong    []time.Time
}

// Open reads who is admitted and which codes wait.
func Open(ctx context.Context, store kv.Store, now func() time.Time) (*Pairing, error) {
	p := &Pairing{store: store, now: now}
	var err error
	if p.admitted, err = load(ctx, store, admissionKey, func(a Admission) who { return identity(a.Person) }); err != nil {
		return nil, err
	}
	if p.offers, err = load(ctx, store, offerKey, func(o offer) who { return identity(o.Person) }); err != nil {
		return nil, err
	}
	for id := range p.admitted { // the process died between the two writes of an admission
		delete(p.offers, id)
	}
	return p, nil
}

// Admitted reports whether an owner let the person in.
func (p *Pairing) Admitted(person chat.Person) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, ok := p.admitted[identity(person)]
	return ok
}

// Offer makes a code for a stranger who wrote in a place. It is "" where they have one already, or too many wait.
func (p *Pairing) Offer(ctx context.Context, person chat.Person, place chat.Place) (code string, err error) {
	code = mint()
	o := offer{Person: known(person), Place: place, Hash: hash(code), Until: p.now().Add(CodeLife)}
	if !p.reserve(o) {
		return "", nil
	}
	if err := save(ctx, p.store, offerKey+identity(person).key(), o, CodeLife); err != nil {
		p.take(identity(person), o)
		return "", fmt.Errorf("offer a pairing code: %w", err)
	}
	return code, nil
}

// reserve keeps an offer if there is room for it.
func (p *Pairing) reserve(o offer) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	id := identity(o.Person)
	if id.platform == "" || id.id == "" {
		return false
	}
	if _, ok := p.admitted[id]; ok {
		return false
	}
	if old, ok := p.offers[id]; ok && p.now().Before(old.Until) {
		return false
	}
	if len(p.offers) >= MostOffers {
		p.sweep()
	}
	if len(p.offers) >= MostOffers {
		return false
	}
	p.offers[id] = o
	return true
}

// sweep drops codes whose time is over. Call it with mu held.
func (p *Pairing) sweep() {
	for id, o := range p.offers {
		if !p.now().Before(o.Until) {
			delete(p.offers, id)
		}
	}
}

// Withdraw takes back the code of a person who could not be told of it, so that their next message earns another.
func (p *Pairing) Withdraw(ctx context.Context, person chat.Person) error {
	id := identity(person)
	p.mu.Lock()
	delete(p.offers, id)
	p.mu.Unlock()
	return remove(ctx, p.store, offerKey, id)
}

// take removes an offer if it is still the one that is held, and reports whether it was.
func (p *Pairing) take(id who, o offer) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	held, ok := p.offers[id]
	if !ok || held.Hash != o.Hash {
		return false
	}
	delete(p.offers, id)
	return true
}

// Admit lets in the person who has the code. by is the owner who says so: whether they are one is for the caller to
// know. The error is ErrCode for a code that is wrong, used or too old; ErrTooMany after ten of those; ErrFull.
func (p *Pairing) Admit(ctx context.Context, code string, by chat.Person) (Admission, error) {
	p.changes.Lock()
	defer p.changes.Unlock()
	o, err := p.find(code)
	if err != nil {
		return Admission{}, err
	}
	id := identity(o.Person)
	a := Admission{Person: o.Person, Place: o.Place, By: known(by), At: p.now().UTC()}
	if err := save(ctx, p.store, admissionKey+id.key(), a, 0); err != nil {
		return Admission{}, fmt.Errorf("admit somebody: %w", err) // and the code still works
	}
	p.mu.Lock()
	p.admitted[id] = a
	delete(p.offers, id)
	p.mu.Unlock()
	// The admission is durable. Should the old code stay, the next start drops it, and until then nobody holds it.
	_ = remove(ctx, p.store, offerKey, id)
	return a, nil
}

// find returns the offer with that code. Call it with changes held, so that nobody else uses it meanwhile.
func (p *Pairing) find(code string) (offer, error) {
	sum, now := hash(tidy(code)), p.now()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wrong = slices.DeleteFunc(p.wrong, func(at time.Time) bool { return now.Sub(at) >= wrongWindow })
	if len(p.wrong) >= mostWrong {
		return offer{}, ErrTooMany
	}
	var found *offer
	for _, o := range p.offers { // all of them, so that the time says nothing of which was near
		if o.Hash.is(sum) && o.waits() && now.Before(o.Until) {
			found = &o
		}
	}
	switch {
	case found == nil:
		p.wrong = append(p.wrong, now)
		return offer{}, ErrCode
	case len(p.admitted) >= MostAdmitted:
		return offer{}, ErrFull
	}
	return *found, nil
}

// Remove shuts somebody out again. name is their id, with the platform and a slash before it where two platforms have
// the same id. What was accepted of them before is not touched here.
func (p *Pairing) Remove(ctx context.Context, name string) (Admission, error) {
	p.changes.Lock()
	defer p.changes.Unlock()
	p.mu.Lock()
	var found []Admission
	for id, a := range p.admitted {
		if name == id.id || name == id.platform+"/"+id.id {
			found = append(found, a)
		}
	}
	p.mu.Unlock()
	if len(found) != 1 {
		return Admission{}, ErrUnknown
	}
	id := identity(found[0].Person)
	if err := remove(ctx, p.store, admissionKey, id); err != nil {
		return Admission{}, fmt.Errorf("remove somebody: %w", err)
	}
	quiet := offer{Person: found[0].Person, Place: found[0].Place, Until: p.now().Add(CodeLife)}
	p.mu.Lock()
	delete(p.admitted, id)
	if len(p.offers) < MostOffers {
		p.offers[id] = quiet
	}
	p.mu.Unlock()
	// They are shut out, whatever the disk says to this: at worst a restart lets them ask again within the hour.
	_ = save(ctx, p.store, offerKey+id.key(), quiet, CodeLife)
	return found[0], nil
}

// waits reports whether there is a code that somebody could bring.
func (o offer) waits() bool { return o.Hash != digest{} }

// People returns who is admitted, in the order in which they were, and how many codes wait.
func (p *Pairing) People() (people []Admission, waiting int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sweep()
	for _, a := range p.admitted {
		people = append(people, a)
	}
	slices.SortFunc(people, func(a, b Admission) int {
		if c := a.At.Compare(b.At); c != 0 {
			return c
		}
		return strings.Compare(a.Person.Platform+"/"+a.Person.ID, b.Person.Platform+"/"+b.Person.ID)
	})
	for _, o := range p.offers {
		if o.waits() {
			waiting++
		}
	}
	return people, waiting
}

// The keys of the store. Behind them comes a hash of the person, since an id may hold any character.
const (
	offerKey     = OfferKeys
	admissionKey = "pairing/admitted/"
)

func load[V any](ctx context.Context, store kv.Store, prefix string, of func(V) who) (map[who]V, error) {
	keys, err := store.List(ctx, prefix)
	if err != nil {
		return nil, fmt.Errorf("read who is admitted: %w", err)
	}
	values, err := store.Many(ctx, keys...)
	if err != nil {
		return nil, fmt.Errorf("read who is admitted: %w", err)
	}
	all := map[who]V{}
	for key, text := range values {
		var v V
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			return nil, fmt.Errorf("read who is admitted: the entry %s: %w", key, err)
		}
		all[of(v)] = v
	}
	return all, nil
}

func save[V any](ctx context.Context, store kv.Store, key string, v V, ttl time.Duration) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return store.Save(ctx, key, string(text), ttl)
}

func remove(ctx context.Context, store kv.Store, prefix string, id who) error {
	return store.Delete(ctx, prefix+id.key())
}
