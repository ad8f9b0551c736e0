package workspace

import (
	"slices"

	"familiar/internal/process"
)

// Fence are walls around a program of ours that is no agent: what programs need of the machine, and read; it writes
// only below the folders of write. A folder that holds workspaces or what else is guarded is left out of what it reads.
func (f *Folders) Fence(write []string, read ...string) *process.Walls {
	w := &process.Walls{Write: slices.Concat(write, devices)}
	for _, path := range slices.Concat(programs, system, read) {
		if !f.holdsGuarded(path) {
			w.Read = append(w.Read, path)
		}
	}
	return w
}
