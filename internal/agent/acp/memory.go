package acp

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// memory returns how much memory we may use, in bytes: the machine's, or what our control group is given of it. 0
// says that it cannot be told.
func memory() uint64 {
	var info syscall.Sysinfo_t
	var all uint64
	if syscall.Sysinfo(&info) == nil {
		all = uint64(info.Totalram) * uint64(info.Unit)
	}
	for _, file := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		if limit, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64); err == nil && limit > 0 && (all == 0 || limit < all) {
			all = limit
		}
	}
	return all
}
