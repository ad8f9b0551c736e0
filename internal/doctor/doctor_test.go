package doctor

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite"
)

func run(t *testing.T, c Check) []Line {
	t.Helper()
	return Run(t.Context(), []Check{c})
}

// worst returns the one line that is not well, or the first.
func worst(t *testing.T, c Check) Line {
	t.Helper()
	lines := run(t, c)
	for _, status := range []Status{Fail, Warn, OK} {
		for _, l := range lines {
			if l.Status != status {
				continue
			}
			if status != OK && l.Next == "" {
				t.Errorf("%q has no next step", l.Say)
			}
			return l
		}
	}
	t.Fatal("nothing was said")
	return Line{}
}

func TestACheckThatBreaksIsAloneInIt(t *testing.T) {
	lines := Run(t.Context(), []Check{
		{Name: "one", Look: func(context.Context) []Line { panic("boom") }},
		{Name: "two", Limit: time.Millisecond, Look: func(ctx context.Context) []Line {
			<-ctx.Done()
			return []Line{Bad("it took\ntoo long", "wait")}
		}},
		{Name: "three", Look: func(context.Context) []Line { return []Line{Well("fine")} }},
	})
	if len(lines) != 3 || lines[0].Status != Fail || lines[1].Say != "it took too long" || lines[2] != (Line{"three", OK, "fine", ""}) {
		t.Errorf("%+v", lines)
	}
	if (Report{Lines: lines}).Healthy() || !(Report{Lines: []Line{{Status: Warn}, {Status: OK}}}).Healthy() {
		t.Error("only a failure is one")
	}
}

func TestClosed(t *testing.T) {
	dir := t.TempDir()
	made := func(name string, mode fs.FileMode) string {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	open := filepath.Join(dir, "open")
	if err := errors.Join(os.Mkdir(open, 0o700), os.Chmod(open, 0o750)); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		thing Private
		want  Status
		next  string
	}{
		"closed":             {Private{Path: made("a", 0o600)}, OK, ""},
		"read only":          {Private{Path: made("b", 0o400)}, OK, ""},
		"open to the group":  {Private{Path: made("c", 0o640)}, Fail, "chmod 0600"},
		"open, where it may": {Private{Path: made("d", 0o644), Loose: true}, Warn, "chmod 0600"},
		"an open folder":     {Private{Path: open}, Fail, "chmod 0700"},
		"missing":            {Private{Path: filepath.Join(dir, "none")}, Fail, "--dir"},
		"missing, as it may": {Private{Path: filepath.Join(dir, "none"), Optional: true}, OK, ""},
		"a link":             {Private{Path: link}, Fail, "itself"},
	} {
		if got := worst(t, Closed(c.thing)); got.Status != c.want || !strings.Contains(got.Next, c.next) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// In a container the bot's directory and its mounted configuration are root's, and the bot is somebody else.
func TestWhatIsRoots(t *testing.T) {
	thing := Private{Path: "/tmp", Loose: true} // anybody may write there
	if l, odd := thing.look(12345); odd {
		t.Errorf("%+v", l)
	}
	thing.Loose = false
	if l, odd := thing.look(12345); !odd || l.Status != Fail {
		t.Errorf("what nobody else may see: %+v", l)
	}
	if os.Geteuid() != 0 {
		if l, odd := (Private{Path: "/", Loose: true}).look(12345); !odd || l.Status != Fail {
			t.Errorf("where we may not write: %+v", l)
		}
	}
}

func TestClock(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "deep", "memory.jsonl")
	if err := errors.Join(os.Mkdir(filepath.Dir(path), 0o700), os.WriteFile(path, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	at := time.Now()
	if got := worst(t, Clock(dir, time.Now)); got.Status != OK {
		t.Errorf("%+v", got)
	}
	if err := os.Chtimes(path, at, at.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if got := worst(t, Clock(dir, time.Now)); got.Status != Warn || !strings.Contains(got.Say, path) {
		t.Errorf("a file of the future: %+v", got)
	}
	if got := worst(t, Clock(dir, func() time.Time { return time.Unix(0, 0) })); got.Status != Fail {
		t.Errorf("in 1970: %+v", got)
	}
	if got := worst(t, Clock(filepath.Join(dir, "none"), time.Now)); got.Status != OK {
		t.Errorf("a folder that is not made yet: %+v", got)
	}
}

func TestPorts(t *testing.T) {
	held, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	addr, _ := held.Addr().(*net.TCPAddr)
	taken := Listener{Key: "server.port", Host: "127.0.0.1", Port: addr.Port, Next: "choose another"}
	another, ours := taken, taken
	another.Next, ours.Ours = "", true
	self, nobody := os.Getpid(), 1<<22+1 // above the highest number of a process
	who := fmt.Sprintf("process %d", self)
	for name, c := range map[string]struct {
		pid  int
		port Listener
		want Status
		say  string
	}{
		"taken by another":                        {0, taken, Fail, who},
		"taken by the bot that runs":              {self, taken, OK, "by the bot that runs"},
		"taken by another, and the bot runs":      {nobody, taken, Fail, who},
		"taken by the bot, which says so itself":  {nobody, ours, OK, "by the bot that runs"},
		"taken, and no matter":                    {0, another, OK, "another port will be used"},
		"taken, and no matter to a bot that runs": {nobody, another, OK, "uses another port"},
		"any":                          {0, Listener{Key: "x"}, OK, "any free port"},
		"an address that is not ours":  {0, Listener{Key: "x", Host: "192.0.2.1", Port: 1, Next: "y"}, Fail, "192.0.2.1"},
		"a name that is not to be had": {0, Listener{Key: "x", Host: "no such name", Port: 1, Next: "y"}, Fail, "no such name"},
	} {
		if got := worst(t, Ports(c.pid, c.port)); got.Status != c.want || !strings.Contains(got.Say, c.say) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	if got := worst(t, Ports(0, taken)); got.Status != OK {
		t.Errorf("free: %+v", got)
	}
	if got := worst(t, Ports(self, taken)); got.Status != Warn {
		t.Errorf("free, and the bot runs: %+v", got)
	}
}

func TestAddress(t *testing.T) {
	for host, want := range map[string]Status{"127.0.0.1": OK, "127.9.9.9": OK, "::1": OK, "[::1]": OK, "localhost": OK,
		"0.0.0.0": Warn, "::": Warn, "192.168.1.5": Warn, "bot.example.org": Warn} {
		if got := worst(t, Address("server.host", host)); got.Status != want {
			t.Errorf("%s: %+v", host, got)
		}
	}
}

func TestMachine(t *testing.T) {
	if got := worst(t, Space(t.TempDir(), filepath.Join(t.TempDir(), "not", "made"))); got.Status == Fail {
		t.Errorf("%+v", got)
	}
	if got := worst(t, Programs(Program{"no-such-program", "nothing", "install it"})); got.Status != Warn {
		t.Errorf("%+v", got)
	}
	if got := worst(t, Programs(Program{"go", "tests", "install it"})); got.Status != OK {
		t.Errorf("%+v", got)
	}
}

func TestSound(t *testing.T) {
	open := func(path string) *sql.DB {
		db, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		return db
	}
	path := filepath.Join(t.TempDir(), "x.db")
	db := open(path)
	if _, err := db.ExecContext(t.Context(), `CREATE TABLE a (b TEXT); CREATE INDEX c ON a (b);
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 5000) INSERT INTO a SELECT hex(randomblob(20)) FROM n`); err != nil {
		t.Fatal(err)
	}
	if got := Sound(t.Context(), db); got.Status != OK {
		t.Errorf("%+v", got)
	}
	_ = db.Close()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := len(text) / 3; i < len(text)/3+20_000; i++ {
		text[i] = 0xa5
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := Sound(t.Context(), open(path)); got.Status != Fail || got.Next == "" {
		t.Errorf("a damaged one: %+v", got)
	}
}

func TestBacklog(t *testing.T) {
	count := func(n int64, err error) Backlog {
		return Backlog{What: "wait", Most: 2, Next: "start it", Count: func(context.Context) (int64, error) { return n, err }}
	}
	for want, b := range map[Status]Backlog{OK: count(2, nil), Warn: count(3, nil), Fail: count(0, errors.New("gone"))} {
		if got := b.Look(t.Context()); got.Status != want || want != OK && got.Next == "" {
			t.Errorf("%+v, want %s", got, want)
		}
	}
}
