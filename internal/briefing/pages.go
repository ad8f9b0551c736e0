package briefing

import "sync"

// pages keeps parsed prompts, each with what was read for it: a prompt whose files still say the same need not be
// parsed again, which is most of the work of a briefing. Safe for concurrent use; a nil one keeps nothing.
type pages struct {
	mu   sync.Mutex
	kept map[string]keptPage
}

type keptPage struct {
	page Page
	made []reading
}

// reading is what reading a prompt file came to.
type reading struct {
	file, text, path string
	found            bool
}

// find returns the page of that name, if every file that it was made of still reads the same.
func (k *pages) find(name string, read reader) (Page, bool) {
	if k == nil {
		return Page{}, false
	}
	k.mu.Lock()
	kept, ok := k.kept[name]
	k.mu.Unlock()
	for _, was := range kept.made {
		text, path, found, err := read(was.file)
		if err != nil || was != (reading{was.file, text, path, found}) {
			return Page{}, false
		}
	}
	return kept.page, ok
}

// keep keeps a page with what was read for it.
func (k *pages) keep(name string, page Page, made []reading) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.kept == nil {
		k.kept = map[string]keptPage{}
	}
	k.kept[name] = keptPage{page, made}
}
