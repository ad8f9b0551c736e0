package doctor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// How much of a disk must be free. Below low there is not enough for a day of work, below none not for a message.
const (
	low  = 1 << 30
	none = 64 << 20
)

// Space checks that the disks of some folders have room. A folder that is not there stands for the one above it.
func Space(dirs ...string) Check {
	return Check{Name: "disk", Look: func(context.Context) []Line {
		var lines []Line
		seen := map[uint64]bool{}
		for _, dir := range dirs {
			free, device, err := room(dir)
			switch {
			case err != nil:
				lines = append(lines, Bad(err.Error(), "see the check of the files"))
			case seen[device]:
			case free < none:
				lines = append(lines, Bad(fmt.Sprintf("the disk of %s is full: %s are free", dir, mib(free)), "make room: nothing can be accepted that cannot be kept"))
			case free < low:
				lines = append(lines, Doubtful(fmt.Sprintf("the disk of %s has %s left", dir, mib(free)), "make room soon"))
			default:
				lines = append(lines, Well("the disk of %s has %s free", dir, mib(free)))
			}
			seen[device] = true
		}
		return lines
	}}
}

func room(dir string) (free, device uint64, err error) {
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); err == nil || dir == filepath.Dir(dir) {
			break
		}
	}
	var fs syscall.Statfs_t
	var at syscall.Stat_t
	if err := errors.Join(syscall.Statfs(dir, &fs), syscall.Stat(dir, &at)); err != nil {
		return 0, 0, fmt.Errorf("look at the disk of %s: %w", dir, err)
	}
	return fs.Bavail * uint64(fs.Bsize), at.Dev, nil
}

func mib(n uint64) string { return strconv.FormatUint(n>>20, 10) + " MiB" }

// Program is a program that others need, and what for.
type Program struct{ Name, For, Next string }

// Programs checks that programs are on PATH.
func Programs(all ...Program) Check {
	return Check{Name: "programs", Look: func(context.Context) []Line {
		var there []string
		var lines []Line
		for _, p := range all {
			if _, err := exec.LookPath(p.Name); err != nil {
				lines = append(lines, Doubtful(fmt.Sprintf("%s is not on PATH; it is for %s", p.Name, p.For), p.Next))
				continue
			}
			there = append(there, p.Name)
		}
		if len(there) > 0 {
			lines = append(lines, Well("found %s", strings.Join(there, ", ")))
		}
		return lines
	}}
}

// Address says who can reach a listener.
func Address(key, host string) Check {
	return Check{Name: "listener", Look: func(context.Context) []Line {
		ip := net.ParseIP(strings.Trim(host, "[]"))
		if host == "localhost" || ip != nil && ip.IsLoopback() {
			return []Line{Well("only this machine reaches %s %s", key, host)}
		}
		return []Line{Doubtful(fmt.Sprintf("other machines reach %s %s; whoever has the token is the owner", key, host),
			"put a proxy with TLS in front, or set it to 127.0.0.1 and forward the port")}
	}}
}
