package memory

import (
	"container/list"
	"slices"
	"sync"

	"familiar/internal/chat"
)

// The bounds of the cache: people whose files stay parsed, and bytes of those files together. Whoever is left
// over is read again when they speak.
const (
	maxPeople = 64
	maxBytes  = 32 << 20
)

// who names a person's workspace.
type who struct{ platform, id string }

// person is one person's files, parsed. Whoever holds mu is the one reader and writer of them.
type person struct {
	who who

	mu     sync.Mutex
	folder string
	files  [2]file  // by fileKind
	views  [2]*view // what is seen outside direct conversations, and in them; nil: to be resolved

	users int // guarded by people.mu, like the two below
	bytes int64
	place *list.Element
}

// people holds who spoke lately. A person in use is never dropped, so that nobody has two writers.
type people struct {
	mu    sync.Mutex
	all   map[who]*person
	order *list.List // of *person, the latest first
	bytes int64
}

// take returns the person, locked. The caller gives them back.
func (p *people) take(of chat.Person) *person {
	key := who{of.Platform, of.ID}
	p.mu.Lock()
	one, ok := p.all[key]
	if !ok {
		one = &person{who: key}
		one.files[publicFile].kind, one.files[privateFile].kind = publicFile, privateFile
		one.place = p.order.PushFront(one)
		p.all[key] = one
	}
	p.order.MoveToFront(one.place)
	one.users++
	p.mu.Unlock()
	one.mu.Lock()
	return one
}

// give unlocks the person, and drops people while there are too many.
func (p *people) give(one *person) {
	bytes := one.files[publicFile].held() + one.files[privateFile].held()
	one.mu.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bytes += bytes - one.bytes
	one.bytes = bytes
	one.users--
	for at := p.order.Back(); at != nil && (len(p.all) > maxPeople || p.bytes > maxBytes); {
		old := at.Value.(*person) //nolint:forcetypeassert // nothing else is ever put in
		before := at.Prev()
		if old.users == 0 && old != one {
			p.order.Remove(at)
			delete(p.all, old.who)
			p.bytes -= old.bytes
		}
		at = before
	}
}

// view is what may be seen in one kind of place. It is never changed once made.
type view struct {
	memories []Memory // all that is not in an index
	indexed  []shelf
	far      []shelf // what is read at every look
	once     sync.Once
	shown    shown
}

// search returns the best hits of a query among what is not in an index: most of them at the most.
func (v *view) search(q query, most int) []hit {
	if len(q.words) > 0 {
		v.once.Do(func() { v.shown = newShown(v.memories) })
	}
	return shown{v.memories, v.shown.folded}.search(q, most)
}

// view returns what may be seen now, reading the files that changed. Outside direct conversations the private
// file is left alone.
func (p *person) view(private bool, look func(*file) (changed bool, err error)) (v *view, skipped int, err error) {
	slot, files := 0, p.files[:1]
	if private {
		slot, files = 1, p.files[:]
	}
	for i := range files {
		changed, err := look(&files[i])
		if err != nil {
			return nil, 0, err
		}
		if changed {
			skipped += files[i].skipped
			p.forget()
		}
	}
	if p.views[slot] == nil {
		p.views[slot] = newView(private, files)
	}
	return p.views[slot], skipped, nil
}

// forget drops what was resolved.
func (p *person) forget() { p.views = [2]*view{} }

// anew makes the files be read again; from their beginning where the index is not to be trusted.
func (p *person) anew(private, distrust bool) {
	for i := range p.files {
		if private || fileKind(i) == publicFile {
			p.files[i].read = false
			p.files[i].distrusted = p.files[i].distrusted || distrust && p.files[i].from > 0
		}
	}
	p.forget()
}

func newView(private bool, files []file) *view {
	v := &view{memories: visible(private, files)}
	var extra map[string][]patch
	for _, f := range files {
		if f.from == 0 && !f.far {
			continue
		}
		if extra == nil {
			extra = extras(files)
		}
		one := shelf{kind: f.kind, build: f.build, from: f.from, private: private, extra: extra}
		if f.from > 0 {
			v.indexed = append(v.indexed, one)
		}
		if f.far {
			v.far = append(v.far, one)
		}
	}
	return v
}

// visible returns the memories that are held, as they may be seen.
func visible(private bool, files []file) []Memory {
	all := make([]parsed, len(files))
	for i, f := range files {
		all[i] = f.lines
		if len(f.loose) > 0 {
			all[i].patches = slices.Concat(f.loose, f.lines.patches)
		}
	}
	if private {
		return resolve(all...)
	}
	var seen []Memory
	for _, m := range resolve(all...) {
		if m.Visibility == Public {
			seen = append(seen, m)
		}
	}
	return seen
}
