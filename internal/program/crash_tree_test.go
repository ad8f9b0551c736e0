package program

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// task is a process: its number may be used again, its number with its birth is not.
type task struct {
	pid  int
	born string
}

// life returns a process's parent and birth; ok is false when it has ended, also when nobody has asked for its end
// yet.
func life(pid int) (parent int, born string, ok bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	end := bytes.LastIndexByte(text, ')')
	if err != nil || end < 0 {
		return 0, "", false
	}
	fields := strings.Fields(string(text[end+1:]))
	if len(fields) < 20 || fields[0] == "Z" || fields[0] == "X" {
		return 0, "", false
	}
	parent, err = strconv.Atoi(fields[1])
	return parent, fields[19], err == nil
}

// tasks are the processes that there are.
func tasks() (pids []int) {
	entries, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		panic(err) // the pattern is right
	}
	for _, entry := range entries {
		if pid, err := strconv.Atoi(filepath.Base(entry)); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// descendants returns the processes below one.
func descendants(root int) (tree []task) {
	below := map[int][]task{}
	for _, pid := range tasks() {
		if parent, born, ok := life(pid); ok {
			below[parent] = append(below[parent], task{pid, born})
		}
	}
	for next := []int{root}; len(next) > 0; next = next[1:] {
		for _, child := range below[next[0]] {
			tree = append(tree, child)
			next = append(next, child.pid)
		}
	}
	return tree
}

// freeze stops a process that is about to be killed, so that it does nothing more while we look at its tree.
func freeze(p *os.Process) []task {
	_ = p.Signal(syscall.SIGSTOP) // it may have ended
	return descendants(p.Pid)
}

// marked returns the processes that were told of our directory, in their arguments or their environment.
func (b *bot) marked() (found []int) {
	home := []byte(filepath.Dir(b.dir))
	for _, pid := range tasks() {
		if _, _, ok := life(pid); !ok || pid == os.Getpid() {
			continue
		}
		for _, name := range []string{"cmdline", "environ"} {
			// A process that has ended meanwhile has neither.
			if text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, name)); err == nil && bytes.Contains(text, home) {
				found = append(found, pid)
				break
			}
		}
	}
	return found
}

// gone waits until none of the tree is left.
func (b *bot) gone(tree []task) {
	b.t.Helper()
	alive := func(one task) bool {
		_, born, ok := life(one.pid)
		return ok && born == one.born
	}
	for deadline := time.Now().Add(patience); slices.ContainsFunc(tree, alive); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			b.t.Fatalf("these outlive the program: %v", slices.DeleteFunc(tree, func(one task) bool { return !alive(one) }))
		}
	}
}

// nobodyLeft waits until no process knows of our directory; the program itself has ended.
func (b *bot) nobodyLeft() {
	b.t.Helper()
	for deadline := time.Now().Add(patience); len(b.marked()) > 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			b.t.Fatalf("these outlive the program: %v", b.marked())
		}
	}
}
