package process

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ErrUnconfinable says that this kernel cannot build walls.
var ErrUnconfinable = errors.New("this kernel has no Landlock (Linux 5.13 or later with landlock among its security modules)")

// Confinable returns the version of Landlock here, or ErrUnconfinable.
func Confinable() (abi int, err error) {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 || int(v) < 1 {
		return 0, ErrUnconfinable
	}
	return int(v), nil
}

const (
	// readRights are what Walls.Read gives.
	readRights = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	// deviceMaking is handled and never given: a device made by the superuser would be a door in the wall.
	deviceMaking = unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK
	// fileRights are all that the kernel takes for something that is not a directory.
	fileRights = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE |
		unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV | unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX
)

// fileAccess returns every right on files that a version of Landlock can govern.
func fileAccess(abi int) uint64 {
	rights := uint64(unix.LANDLOCK_ACCESS_FS_MAKE_SYM<<1 - 1) // ABI 1: the first thirteen
	if abi >= 2 {
		rights |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if abi >= 3 {
		rights |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if abi >= 5 {
		rights |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	if abi >= 9 {
		rights |= unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX
	}
	return rights
}

// confine puts the calling thread, and all that it starts from now on, behind walls. There is no way back, so the
// thread must be locked and given up.
func confine(w Walls) error {
	abi, err := Confinable()
	if err != nil {
		return err
	}
	attr := unix.LandlockRulesetAttr{Handled_access_fs: fileAccess(abi)}
	if abi >= 6 {
		attr.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	// An older kernel takes a longer structure as long as what it does not know is zero.
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if errno != 0 {
		return fmt.Errorf("make rules: %w", errno)
	}
	ruleset := int(fd)
	defer unix.Close(ruleset)
	for _, path := range w.Read {
		err := open(ruleset, path, readRights&attr.Handled_access_fs)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	for _, path := range w.Write {
		if err := open(ruleset, path, attr.Handled_access_fs&^deviceMaking); err != nil {
			return err
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("give up new privileges: %w", err)
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(ruleset), 0, 0); errno != 0 {
		return fmt.Errorf("close the walls: %w", errno)
	}
	if abi < governsSockets && !w.Sockets {
		return shutSockets()
	}
	return nil
}

// open adds a door: what path names, and everything below, with the rights that fit what it is.
func open(ruleset int, path string, rights uint64) error {
	if !strings.HasPrefix(path, "/") {
		return fmt.Errorf("walls: %q is not an absolute path", path)
	}
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("walls: %w", &os.PathError{Op: "open", Path: path, Err: err})
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return fmt.Errorf("walls: %w", &os.PathError{Op: "stat", Path: path, Err: err})
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		rights &^= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV // of devices, only those named one by one
	case unix.S_IFCHR:
		rights &= fileRights
	default:
		rights &= fileRights &^ unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	runtime.KeepAlive(&rule)
	if errno != 0 {
		return fmt.Errorf("walls: add %s: %w", path, errno)
	}
	return nil
}
