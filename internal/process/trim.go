package process

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// Trim gives back the pages of our own program that nobody uses now: those that only the start needed, for the most
// part. They are as on the disk, so whatever is needed again is mapped again when it is touched.
func Trim() error {
	self, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return fmt.Errorf("trim: %w", err)
	}
	maps, err := os.Open("/proc/self/maps")
	if err != nil {
		return fmt.Errorf("trim: %w", err)
	}
	defer maps.Close()
	for _, r := range unwritten(maps, self) {
		// By address, not by a slice: nothing of ours may hold it as memory.
		if _, _, errno := unix.Syscall(unix.SYS_MADVISE, r.from, r.to-r.from, unix.MADV_DONTNEED); errno != 0 {
			return fmt.Errorf("trim: %w", errno)
		}
	}
	return nil
}

// stretch is a stretch of our addresses.
type stretch struct{ from, to uintptr }

// unwritten lists where a file is mapped in such a way that it cannot have been written to, as /proc/self/maps tells.
func unwritten(maps io.Reader, file string) (found []stretch) {
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		line := lines.Text()
		name := strings.Index(line, "/")
		if name < 0 || line[name:] != file {
			continue
		}
		var s stretch
		var mode string
		if n, err := fmt.Sscanf(line, "%x-%x %s", &s.from, &s.to, &mode); err != nil || n != 3 || strings.Contains(mode, "w") {
			continue
		}
		found = append(found, s)
	}
	return found
}
