package misskey

import "sync"

// mostKnown is how many authors are remembered.
const mostKnown = 1000

// people remembers the authors that we met: messages of a chat name theirs by id alone.
type people struct {
	mu    sync.Mutex
	known map[string]user
	order []string
}

func (p *people) meet(u user) {
	if u.ID == "" || u.Username == "" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known == nil {
		p.known = map[string]user{}
	}
	if _, ok := p.known[u.ID]; !ok {
		if len(p.order) == mostKnown {
			delete(p.known, p.order[0])
			p.order = p.order[1:]
		}
		p.order = append(p.order, u.ID)
	}
	p.known[u.ID] = u
}

// of returns what is known of an account; ok is false when that is its id alone.
func (p *people) of(id string) (u user, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if u, ok = p.known[id]; !ok {
		u = user{ID: id}
	}
	return u, ok
}
