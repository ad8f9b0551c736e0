package backup

import (
	"context"
	"strconv"
	"strings"
)

// How much may lie in the repository unpacked. A copy leaves some objects and, after a start, a pack.
const (
	mostLoose = 1000 // objects
	mostPacks = 20
)

// pack puts together what the copies left lying about: in one pack Git keeps of each state of a file how it differs from
// the others, and a year of copies takes little more room than the files. It is no part of a copy, and its failure is none.
func (b *Backup) pack(ctx context.Context) {
	if ctx.Err() != nil {
		return
	}
	loose, packs, err := b.scattered(ctx)
	if err == nil && (loose > mostLoose || packs > mostPacks) {
		_, err = b.git.here(ctx, "gc", "--quiet", "--force", "--prune=1.day.ago") // the lock of one that was killed does not count
	}
	if err != nil {
		b.log.Warn("the repository of the backup was not packed", "err", err)
	}
}

// scattered counts the objects in no pack, and the packs.
func (b *Backup) scattered(ctx context.Context) (loose, packs int, err error) {
	out, err := b.git.here(ctx, "count-objects", "-v")
	for line := range strings.Lines(out) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		n, _ := strconv.Atoi(value)
		switch name {
		case "count":
			loose = n
		case "packs":
			packs = n
		}
	}
	return loose, packs, err
}
