package doctor

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// holder is who listens on a port, as far as the kernel tells it to us: of processes of other users it says nothing.
type holder struct {
	pid  int
	name string
}

func (h holder) String() string {
	if h.pid == 0 {
		return "another program"
	}
	return fmt.Sprintf("another program (%s, process %d)", h.name, h.pid)
}

// HolderOf says in words who listens on a port.
func HolderOf(port int) string { return holderOf(port, 0).String() }

// holderOf finds who listens on a port. first is the process that is looked at first, 0 for none.
func holderOf(port, first int) holder {
	sockets := listening(port)
	if len(sockets) == 0 {
		return holder{}
	}
	if first != 0 && holds(first, sockets) {
		return holder{first, ""}
	}
	processes, _ := filepath.Glob("/proc/[0-9]*") // the pattern is a good one
	for _, dir := range processes {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil || !holds(pid, sockets) {
			continue
		}
		name, _ := os.ReadFile(filepath.Join(dir, "comm")) // it may be gone by now
		return holder{pid, strings.TrimSpace(string(name))}
	}
	return holder{}
}

// holds reports whether a process has one of those sockets open.
func holds(pid int, sockets []string) bool {
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	open, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(open, func(f os.DirEntry) bool {
		link, err := os.Readlink(filepath.Join(dir, f.Name()))
		return err == nil && slices.Contains(sockets, link)
	})
}

// listening are the sockets that listen on a port, in the words of /proc/PID/fd.
func listening(port int) (sockets []string) {
	const listen = "0A"
	suffix := fmt.Sprintf(":%04X", port)
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		file, err := os.Open(table)
		if err != nil {
			continue
		}
		for lines := bufio.NewScanner(file); lines.Scan(); {
			// number, local address, remote address, state, …, inode
			if f := strings.Fields(lines.Text()); len(f) > 9 && strings.HasSuffix(f[1], suffix) && f[3] == listen {
				sockets = append(sockets, "socket:["+f[9]+"]")
			}
		}
		_ = file.Close()
	}
	return sockets
}
