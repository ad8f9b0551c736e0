package skill

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// swap puts fresh in the place of old; afterwards fresh is the old one, if there was any.
func swap(fresh, old string) error {
	if err := os.Rename(fresh, old); err == nil {
		return nil
	}
	err := unix.Renameat2(unix.AT_FDCWD, fresh, unix.AT_FDCWD, old, unix.RENAME_EXCHANGE)
	if err == nil {
		return nil
	}
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) { // a file system that cannot exchange
		return swapInTwo(fresh, old)
	}
	return &os.LinkError{Op: "exchange", Old: fresh, New: old, Err: err}
}
