package workspace

import (
	"bufio"
	"cmp"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"familiar/internal/process"
)

// run runs a shell line where the stand is, behind its walls, and returns what it wrote and its end.
func run(t *testing.T, s *Stand, line string) (string, error) {
	t.Helper()
	if _, err := process.Confinable(); err != nil {
		t.Skip(err)
	}
	p, err := process.Start(t.Context(), process.Spec{
		Path: "/bin/sh", Args: []string{"-c", line}, Dir: s.Work, Walls: s.Walls(),
		Env: []string{"PATH=/usr/bin:/bin", "HOME=" + s.Home, "TMPDIR=" + s.Tmp, "NOTES=" + s.Notes, "ROOT=" + s.Root},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := p.Stop(process.Grace{EOF: time.Second}); err != nil {
			t.Error(err)
		}
	}()
	p.Stdin().Close()
	out, err := io.ReadAll(p.Stdout())
	if err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	return string(out), p.Err()
}

func TestWalls(t *testing.T) {
	root := t.TempDir()
	f, err := Open(filepath.Join(root, "data"), "workspaces", root)
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(root, "state", "token"), "SECRET")
	put(t, filepath.Join(root, "config.yaml"), "SECRET")
	group := enter(t, f, Ref{Platform: "web", User: "ann", Session: "group"})
	private := enter(t, f, Ref{Platform: "web", User: "ann", Session: "private"})
	other := enter(t, f, Ref{Platform: "web", User: "bob", Session: "s"})
	research := enter(t, f, Ref{Platform: "self", User: "bot", Session: "s", Notes: true})
	for _, path := range []string{
		group.Root + "/memory.private.jsonl", private.Home + "/.history", private.Tmp + "/x",
		other.Root + "/memory.public.jsonl", other.Work + "/x", root + "/data/notes-waiting/sess_1/notes/a.md",
	} {
		put(t, path, "SECRET")
	}
	for _, c := range []struct {
		stand *Stand
		line  string
		want  bool
	}{
		{group, "echo hi > a && cat a && mkdir -p b && mv a b/ && rm -r b", true},
		{group, "echo hi > $TMPDIR/a && mv $TMPDIR/a . && cat a", true},
		{group, "mkdir -p $HOME/.config && echo > $HOME/.config/x", true},
		{group, "cat $NOTES/notes/_index.md", true},
		{group, "cat /etc/hosts /etc/passwd /etc/resolv.conf; echo > /dev/null; head -c 1 /dev/urandom > x", true},
		{group, "echo x > $NOTES/notes/x.md", false},
		{research, "echo x > $NOTES/notes/x.md && cat $NOTES/notes/_index.md", true},
		{research, "echo x > " + group.Notes + "/notes/y.md", false}, // the notes themselves
		{research, "echo x >> " + group.Notes + "/notes/_index.md", false},
		{research, "rm " + group.Notes + "/notes/_index.md", false},
		{research, "ln " + group.Notes + "/notes/_index.md $NOTES/notes/z.md", false},
		{research, "cat " + root + "/data/notes-waiting/sess_1/notes/a.md", false},
		{group, "cat " + root + "/data/notes-waiting/sess_1/notes/a.md", false}, // a draft
		{group, "ls " + root + "/data/notes-waiting", false},
		{group, "cat " + research.Notes + "/notes/x.md", false},
		{group, "cat $ROOT/memory.private.jsonl", false},
		{group, "cat " + private.Home + "/.history", false},
		{group, "cat " + private.Tmp + "/x", false},
		{group, "ls $ROOT", false},
		{group, "ls $ROOT/tmp", false},
		{group, "echo x >> $ROOT/memory.private.jsonl", false},
		{group, "rm -f $ROOT/memory.private.jsonl", false},
		{group, "cat " + other.Root + "/memory.public.jsonl", false},
		{group, "cat " + other.Work + "/x", false},
		{group, "echo x > " + other.Work + "/y", false},
		{group, "cat " + root + "/state/token", false},
		{group, "cat " + root + "/config.yaml", false},
		{group, "cat /etc/shadow", false},
		{group, "ls /root", false},
		{group, "ls /home", false},
		{group, "ls /tmp", false},
		{group, "ls /dev/shm", false},
		{group, "echo x > /dev/shm/x", false},
		{group, "ls /dev/pts", false},
	} {
		out, err := run(t, c.stand, c.line)
		if (err == nil) != c.want || strings.Contains(out, "SECRET") {
			t.Errorf("%s: %q, %v", c.line, out, err)
		}
	}
}

func TestWallsLeaveOutWhatIsGuarded(t *testing.T) {
	root := t.TempDir()
	f, err := Open(filepath.Join(root, "bot", "data"), "workspaces", filepath.Join(root, "bot"))
	if err != nil {
		t.Fatal(err)
	}
	s := enter(t, f, Ref{Platform: "web", User: "ann", Session: "s"})
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(root, link); err != nil {
		t.Fatal(err)
	}
	inside := filepath.Join(root, "bot", "skills")
	w := s.Walls("/", root, link, filepath.Join(root, "bot"), inside)
	for _, path := range []string{"/", root, link, filepath.Join(root, "bot")} {
		if slices.Contains(w.Read, path) {
			t.Errorf("%s would show the whole instance", path)
		}
	}
	if !slices.Contains(w.Read, inside) || !slices.Contains(w.Read, "/usr") {
		t.Error("what is not guarded is missing")
	}
}

// OpenCode starts behind the walls and answers its first request.
func TestWallsFitOpenCode(t *testing.T) {
	path, err := exec.LookPath(cmp.Or(os.Getenv("OPENCODE_BIN"), "opencode"))
	if err != nil {
		t.Skip("OpenCode is not here: ", err)
	}
	if _, err := process.Confinable(); err != nil {
		t.Skip(err)
	}
	s := enter(t, folders(t), Ref{Platform: "web", User: "ann", Session: "s"})
	p, err := process.Start(t.Context(), process.Spec{
		Path: path, Args: []string{"acp"}, Dir: s.Work, Walls: s.Walls(),
		Env:    []string{"PATH=/usr/bin:/bin", "HOME=" + s.Home, "TMPDIR=" + s.Tmp},
		Stderr: func(line string) { t.Log(line) },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := p.Stop(process.Grace{EOF: time.Second, Term: time.Second}); err != nil {
			t.Error(err)
		}
	}()
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}` + "\n"
	if _, err := p.Stdin().WriteString(hello); err != nil {
		t.Fatal(err)
	}
	if err := p.Stdout().SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	for in := bufio.NewReader(p.Stdout()); ; {
		line, err := in.ReadBytes('\n')
		if err != nil {
			t.Fatalf("no answer: %v; %q", err, line)
		}
		var answer struct {
			ID     int
			Result struct{ ProtocolVersion int }
		}
		if json.Unmarshal(line, &answer) == nil && answer.ID == 1 {
			if answer.Result.ProtocolVersion != 1 {
				t.Errorf("answer: %s", line)
			}
			return
		}
	}
}
