package process_test

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"familiar/internal/process"
)

// confined is our own executable behind walls: what a dynamically linked program needs, ro readable, rw writable.
func confined(t *testing.T, ro, rw string, tries ...string) process.Spec {
	t.Helper()
	if _, err := process.Confinable(); err != nil {
		t.Skip(err)
	}
	spec := own(t, append([]string{"try"}, tries...)...)
	spec.Dir = rw
	spec.Env = []string{"SESSION_SECRET=1"}
	spec.Walls = &process.Walls{
		Read:  []string{"/usr", "/bin", "/lib", "/lib64", "/proc", "/no/such/thing", ro},
		Write: []string{rw, "/dev/null"},
	}
	return spec
}

func TestWalls(t *testing.T) {
	root := t.TempDir()
	path := func(names ...string) string { return filepath.Join(append([]string{root}, names...)...) }
	for _, dir := range []string{"ro", "rw", "rw/sub", "rw-not", "out"} {
		if err := os.Mkdir(path(dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"ro/a", "rw/a", "rw/b", "rw-not/a", "out/secret", "secret"} {
		if err := os.WriteFile(path(file), []byte("text"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(path("out/secret"), path("rw/old-link")); err != nil {
		t.Fatal(err)
	}
	host := strconv.Itoa(os.Getpid())
	cases := []struct{ try, want string }{
		{"read|" + path("rw/a"), "ok"},
		{"write|" + path("rw/new"), "ok"},
		{"truncate|" + path("rw/a"), "ok"},
		{"mkdir|" + path("rw/dir"), "ok"},
		{"rename|" + path("rw/b") + "|" + path("rw/sub/b"), "ok"}, // REFER
		{"remove|" + path("rw/dir"), "ok"},
		{"read|" + path("ro/a"), "ok"},
		{"list|" + path("ro"), "ok"},
		{"write|" + path("ro/new"), "EACCES"},
		{"truncate|" + path("ro/a"), "EACCES"},
		{"remove|" + path("ro/a"), "EACCES"},
		{"read|" + path("out/secret"), "EACCES"},
		{"read|" + path("secret"), "EACCES"},
		{"list|" + root, "EACCES"},
		{"read|" + path("rw-not/a"), "EACCES"},
		{"read|" + path("rw/../out/secret"), "EACCES"},
		{"write|" + path("out/new"), "EACCES"},
		{"truncate|" + path("out/secret"), "EACCES"},
		{"remove|" + path("out/secret"), "EACCES"},
		{"read|" + path("rw/old-link"), "EACCES"},
		{"symlink|" + path("out/secret") + "|" + path("rw/link"), "ok"},
		{"read|" + path("rw/link"), "EACCES"},
		{"link|" + path("out/secret") + "|" + path("rw/hard"), "EXDEV"},
		{"rename|" + path("out/secret") + "|" + path("rw/moved"), "EACCES"},
		{"rename|" + path("rw/a") + "|" + path("out/moved"), "EACCES"},
		{"read|/etc/shadow", "EACCES"},
		{"read|/etc/hostname", "EACCES"},
		{"list|/root", "EACCES"},
		{"read|/proc/self/environ", "ok"},
		{"read|/proc/" + host + "/environ", "EACCES"},
		{"readlink|/proc/" + host + "/fd/0", "EACCES"},
		{"read|/proc/" + host + "/maps", "EACCES"},
		{"list|/proc/" + host + "/root/etc", "EACCES"},
		{"write|/dev/null", "ok"},
		{"read|/dev/zero-not", "ENOENT"},
		{"read|/dev/mem", "EACCES"},
		{"mknod|" + path("rw/device"), "EACCES"},
		{"exec|/bin/true", "ok"},
		{"below|list|" + path("rw"), "ok"},
		{"below|read|" + path("out/secret"), "EACCES"},
		{"below|below|write|" + path("out/new"), "EACCES"},
	}
	var tries []string
	for _, c := range cases {
		tries = append(tries, c.try)
	}
	got := strings.Fields(output(t, confined(t, path("ro"), path("rw"), tries...)))
	if len(got) != len(cases) {
		t.Fatalf("got %d answers for %d tries: %q", len(got), len(cases), got)
	}
	for i, c := range cases {
		// A machine without /dev/mem; an ordinary user, who may make no devices at all.
		also := c.want == "EACCES" && (got[i] == "ENOENT" || got[i] == "EPERM")
		if got[i] != c.want && !also {
			t.Errorf("%s: %s, want %s", c.try, got[i], c.want)
		}
	}
	if text, err := os.ReadFile(path("out/secret")); string(text) != "text" {
		t.Errorf("the secret is %q, %v", text, err)
	}
}

func TestConfinedCannotSignal(t *testing.T) {
	if abi, err := process.Confinable(); err != nil || abi < 6 {
		t.Skipf("Landlock %d, %v: signals are not governed", abi, err)
	}
	dir := t.TempDir()
	other := start(t, confined(t, dir, dir, "exec|/bin/sleep|1000")) // a neighbour behind walls of its own
	got := strings.Fields(output(t, confined(t, dir, dir,
		"killparent", "kill|"+strconv.Itoa(os.Getpid()), "kill|"+strconv.Itoa(other.PID()),
		"exec|/bin/sh|-c|kill -0 $PPID", "read|/proc/"+strconv.Itoa(other.PID())+"/environ")))
	want := []string{"EPERM", "EPERM", "EPERM", "ok", "EACCES"}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestConfinedSockets(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(t.TempDir(), "daemon.sock")
	daemon, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer daemon.Close()
	abstract, err := net.Listen("unix", "@familiar-test-"+strconv.Itoa(os.Getpid()))
	if err != nil {
		t.Fatal(err)
	}
	defer abstract.Close()
	network, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer network.Close()
	spec := confined(t, dir, dir, "connect|unix|"+path, "connect|unix|"+abstract.Addr().String(),
		"connect|tcp|"+network.Addr().String(), "socketpair", "below|connect|unix|"+path)
	if got := strings.Join(strings.Fields(output(t, spec)), " "); got != "EACCES EACCES ok ok EACCES" {
		t.Errorf("got %s", got)
	}
	if got := strings.TrimSpace(output(t, confined(t, dir, dir, "uring"))); got != "ENOSYS" {
		t.Errorf("io_uring: %s", got)
	}
	spec.Walls.Sockets = true
	got := strings.Fields(output(t, spec))
	if abi, _ := process.Confinable(); abi >= 6 && abi < 9 && (got[0] != "ok" || got[1] != "EPERM") {
		t.Errorf("with sockets: %q", got)
	}
}

func TestConfinedIsStopped(t *testing.T) {
	dir := t.TempDir()
	spec := confined(t, dir, dir)
	spec.Args = own(t, "parent", "linger", "stubborn").Args
	p := start(t, spec)
	if err := p.Stop(quick); err != nil {
		t.Error(err)
	}
	if alive(p.PID()) {
		t.Error("it lives")
	}
}

// The thread that starts the program dies with the warden, and the program with it, also across the walls.
func TestConfinedDiesWithWarden(t *testing.T) {
	dir := t.TempDir()
	spec := confined(t, dir, dir)
	spec.Args = own(t, "stubborn").Args
	p := start(t, spec)
	warden := parentOf(t, p.PID())
	if got, want := privileges(t, warden), privileges(t, os.Getpid()); got != want {
		t.Errorf("the warden is behind the walls too: %s, want %s", got, want)
	}
	if got := privileges(t, p.PID()); got != "NoNewPrivs:\t1" {
		t.Errorf("the program is not: %s", got)
	}
	kill(t, warden)
	<-p.Done()
	eventually(t, "the program is gone", func() bool { return !alive(p.PID()) })
}

// privileges is what the kernel says of a process that can gain none.
func privileges(t *testing.T, pid int) string {
	t.Helper()
	status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if strings.HasPrefix(line, "NoNewPrivs:") {
			return strings.TrimSpace(line)
		}
	}
	return ""
}
