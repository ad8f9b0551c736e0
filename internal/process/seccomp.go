package process

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Landlock governs connecting to sockets in the file system only from this version on.
const governsSockets = 9

// Where the kernel puts what a filter looks at (struct seccomp_data, little endian).
const (
	offsetNumber = 0
	offsetArch   = 4
	offsetArg0   = 16
)

// foreignCalls is the first number of amd64's second table of system calls.
const foreignCalls = 0x40000000

// auditArch names the machine as filters see it; other machines than these get no filter.
var auditArch = map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}

// shutSockets keeps the calling thread, and all that it starts, from making Unix sockets that could be connected
// to one outside: the session bus or a container daemon would open any file on request. Pairs of sockets stay.
// io_uring, which would make sockets past the filter, and system calls of other machines do not exist then.
func shutSockets() error {
	arch, ok := auditArch[runtime.GOARCH]
	if !ok {
		return nil
	}
	load := func(offset uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
	}
	// jump skips yes lines where the value fits k, else no lines.
	jump := func(how uint16, k uint32, yes, no uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | how | unix.BPF_K, Jt: yes, Jf: no, K: k}
	}
	end := func(action uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: action}
	}
	program := []unix.SockFilter{
		load(offsetArch),
		jump(unix.BPF_JEQ, arch, 0, 6), // → no such call
		load(offsetNumber),
		jump(unix.BPF_JGE, foreignCalls, 4, 0),            // → no such call
		jump(unix.BPF_JEQ, unix.SYS_IO_URING_SETUP, 3, 0), // → no such call
		jump(unix.BPF_JEQ, unix.SYS_SOCKET, 0, 3),         // → allowed
		load(offsetArg0),                                  //
		jump(unix.BPF_JEQ, unix.AF_UNIX, 2, 1),            // → refused, allowed
		end(unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)), // no such call
		end(unix.SECCOMP_RET_ALLOW),                       // allowed
		end(unix.SECCOMP_RET_ERRNO | uint32(unix.EACCES)), // refused
	}
	filter := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&filter)), 0, 0)
	runtime.KeepAlive(program)
	if err != nil {
		return fmt.Errorf("shut sockets: %w", err)
	}
	return nil
}
