package workspace

import (
	"fmt"
	"path/filepath"
	"slices"

	"familiar/internal/process"
)

// programs is where every program's libraries are, so it cannot be shut.
var programs = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"}

// system is what programs need of a machine besides: other places of programs, and the few settings without which
// names, certificates and clocks do not work. Nothing here tells about people, and nothing is a secret.
var system = []string{
	"/opt", "/nix/store",

	"/etc/alternatives", "/etc/ca-certificates", "/etc/ca-certificates.conf", "/etc/debian_version",
	"/etc/gai.conf", "/etc/group", "/etc/host.conf", "/etc/hosts", "/etc/ld.so.cache", "/etc/ld.so.conf",
	"/etc/ld.so.conf.d", "/etc/locale.alias", "/etc/localtime", "/etc/lsb-release", "/etc/mime.types",
	"/etc/nsswitch.conf", "/etc/os-release", "/etc/passwd", "/etc/pki/ca-trust", "/etc/pki/tls/certs",
	"/etc/pki/tls/cert.pem", "/etc/protocols", "/etc/resolv.conf", "/etc/services", "/etc/ssl/cert.pem",
	"/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/timezone",

	// What these say of other processes is their names and arguments; their memory, environment and files are
	// shut by the walls themselves.
	"/proc",
	// How many processors and how much memory there are.
	"/sys/devices/system/cpu", "/sys/devices/system/node", "/sys/fs/cgroup", "/sys/kernel/mm/transparent_hugepage",
}

// devices may be read and written. Terminals and shared memory are not here: both are shared by everything that
// runs under the same user.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}

// Walls are what exists for an agent that stands here: its own folders, the agent workspace to read (or nothing but its
// own copy of it, to write, if the session may write notes), what programs need of the machine, and read, the further
// files and folders that this agent needs, such as its own program. A folder that holds workspaces or what else is
// guarded is left out of it.
func (s *Stand) Walls(read ...string) *process.Walls {
	w := &process.Walls{Write: append([]string{s.Work, s.Tmp, s.Home}, devices...)}
	for _, path := range slices.Concat(programs, system, read) {
		if !s.folders.holdsGuarded(path) {
			w.Read = append(w.Read, path)
		}
	}
	if s.Ref.Notes {
		w.Write = append(w.Write, s.Notes)
	} else {
		w.Read = append(w.Read, s.Notes)
	}
	return w
}

// holdsGuarded reports whether making path readable would make readable what no agent may see.
func (f *Folders) holdsGuarded(path string) bool {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		real = filepath.Clean(path)
	}
	return slices.ContainsFunc(f.guarded, func(g string) bool { return within(real, g) })
}

// within reports whether path is dir or below it.
func within(dir, path string) bool {
	name, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(name)
}

// shuttable refuses a place that every agent could read.
func (f *Folders) shuttable() error {
	for _, dir := range programs {
		if f.holdsGuarded(dir) {
			return fmt.Errorf("everything below %s is readable for agents; keep the instance and its data elsewhere", dir)
		}
	}
	return nil
}
