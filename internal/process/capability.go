package process

import (
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sys/unix"
)

// What a confined program of the superuser keeps: to handle files of other owners, and low ports.
var kept = []int{
	unix.CAP_CHOWN, unix.CAP_DAC_OVERRIDE, unix.CAP_FOWNER, unix.CAP_FSETID, unix.CAP_SETGID, unix.CAP_SETUID,
	unix.CAP_NET_BIND_SERVICE,
}

// Capabilities that see through walls: with the first two the kernel shows the environment of any process.
var piercing = []int{unix.CAP_PERFMON, unix.CAP_SYS_ADMIN, unix.CAP_SYS_PTRACE}

// shed gives up, for the calling thread and all that it starts, every capability that is not kept. For an
// ordinary user there is nothing to give up.
func shed() error {
	for c := 0; c <= unix.CAP_LAST_CAP; c++ {
		if slices.Contains(kept, c) {
			continue
		}
		err := unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(c), 0, 0, 0)
		if errors.Is(err, unix.EINVAL) {
			break // this kernel has no more
		}
		if err != nil && unix.Geteuid() == 0 && slices.Contains(piercing, c) && bounding(c) {
			return fmt.Errorf("give up capability %d: %w; run as an ordinary user, or with CAP_SETPCAP", c, err)
		}
	}
	// Kernels before 4.3 have no ambient capabilities.
	_ = unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)

	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData
	if err := unix.Capget(&header, &sets[0]); err != nil {
		return fmt.Errorf("read capabilities: %w", err)
	}
	var keep [2]uint32
	for _, c := range kept {
		keep[c/32] |= 1 << (c % 32)
	}
	for i := range sets {
		sets[i].Permitted &= keep[i]
		sets[i].Effective &= keep[i]
		sets[i].Inheritable = 0
	}
	if err := unix.Capset(&header, &sets[0]); err != nil {
		return fmt.Errorf("give up capabilities: %w", err)
	}
	return nil
}

// bounding reports whether a program that starts now could get the capability.
func bounding(c int) bool {
	has, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, uintptr(c), 0, 0, 0)
	return err == nil && has == 1
}
