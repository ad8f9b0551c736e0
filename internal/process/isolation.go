package process

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// Isolation is how a program is kept from every network, also from that of this machine itself: it is born into a
// network of its own that leads nowhere.
type Isolation string

// The ways. The superuser makes a network; anybody else only as the superuser of a world of users of their own.
const (
	NoIsolation Isolation = ""
	OwnNetwork  Isolation = "network"
	OwnUsers    Isolation = "users"
)

// ErrNoIsolation says that no program can be kept from the network here.
var ErrNoIsolation = errors.New("this system lets nobody make a network of their own (user namespaces may be switched off, or forbidden by a container)")

// Isolable finds a way that works here by starting our own executable in it, or returns ErrNoIsolation.
func Isolable() (Isolation, error) {
	ways := []Isolation{OwnUsers}
	if os.Geteuid() == 0 {
		ways = []Isolation{OwnNetwork, OwnUsers}
	}
	var errs []error
	for _, way := range ways {
		err := tryOut(way)
		if err == nil {
			return way, nil
		}
		errs = append(errs, err)
	}
	return NoIsolation, fmt.Errorf("%w: %w", ErrNoIsolation, errors.Join(errs...))
}

// tryOut starts a gate that is told nothing, so that it ends at once.
func tryOut(way Isolation) error {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close() //nolint:errcheck // nothing is written there
	pid, err := syscall.ForkExec("/proc/self/exe", []string{gateName}, &syscall.ProcAttr{Dir: "/", Env: []string{wardenMark + "=1"},
		Files: []uintptr{null.Fd(), null.Fd(), null.Fd(), null.Fd(), null.Fd()}, Sys: way.apply(&syscall.SysProcAttr{})})
	if err != nil {
		return err
	}
	_, err = syscall.Wait4(pid, nil, 0, nil)
	return err
}

// apply makes a child be born that way. Of users it knows ourselves alone, by our own number.
func (i Isolation) apply(attr *syscall.SysProcAttr) *syscall.SysProcAttr {
	switch i {
	case OwnNetwork:
		attr.Cloneflags |= syscall.CLONE_NEWNET
	case OwnUsers:
		attr.Cloneflags |= syscall.CLONE_NEWNET | syscall.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}}
	case NoIsolation:
	}
	return attr
}
