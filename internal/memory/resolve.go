package memory

import "slices"

// resolve applies every patch to its memory, in the order of the patches' times, and returns the memories, the
// oldest first. Patches for memories that are not there do nothing; of two memories of one id the first counts.
func resolve(files ...parsed) []Memory {
	count := 0
	for _, f := range files {
		count += len(f.memories)
	}
	memories := make([]Memory, 0, count)
	var patches []patch
	for _, f := range files {
		memories = append(memories, f.memories...)
		patches = append(patches, f.patches...)
	}
	older := func(a, b Memory) int { return a.At.Compare(b.At) }
	if !slices.IsSortedFunc(memories, older) { // one file nearly always is
		slices.SortStableFunc(memories, older)
	}
	at := make(map[string]int, len(memories))
	memories = slices.DeleteFunc(memories, func(m Memory) bool {
		if _, twice := at[m.ID]; twice {
			return true
		}
		at[m.ID] = len(at)
		return false
	})
	slices.SortStableFunc(patches, func(a, b patch) int { return a.at.Compare(b.at) })
	for _, p := range patches {
		if i, ok := at[p.target]; ok {
			memories[i].apply(p.changes)
			memories[i].ModifiedAt = p.at
		}
	}
	return memories
}

// apply changes m. Words that are not known never make a memory more visible or more important.
func (m *Memory) apply(c Changes) {
	if c.Enabled != nil {
		m.Enabled = *c.Enabled
	}
	if c.Visibility != nil {
		m.Visibility = Private
		if *c.Visibility == Public {
			m.Visibility = Public
		}
	}
	if c.Importance != nil {
		m.Importance = Normal
		if *c.Importance == High {
			m.Importance = High
		}
	}
	m.RelatedTo = union(m.RelatedTo, c.RelatedTo)
	m.Supersedes = union(m.Supersedes, c.Supersedes)
}

// union returns a followed by what b has besides; it changes neither.
func union(a, b []string) []string {
	if len(b) == 0 {
		return a
	}
	all := make([]string, 0, len(a)+len(b))
	for _, ids := range [][]string{a, b} {
		for _, id := range ids {
			if !slices.Contains(all, id) {
				all = append(all, id)
			}
		}
	}
	return all
}
