package attachment

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"familiar/internal/chat"
	"familiar/internal/setting"
	"familiar/internal/tool"
)

// rig is the tool with somebody's folders.
type rig struct {
	t         *testing.T
	kit       *Kit
	work, tmp string
	stage     string
	sent      []chat.File
	content   []string
	caption   string
	fail      error
	least     int // how many fewer than all the network takes
}

func newRig(t *testing.T, set func(*Config)) *rig {
	t.Helper()
	root := t.TempDir()
	r := &rig{t: t, work: filepath.Join(root, "work"), tmp: filepath.Join(root, "tmp"), stage: filepath.Join(root, "stage")}
	for _, dir := range []string{r.work, r.tmp, r.stage, filepath.Join(r.work, "sub")} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	r.put(filepath.Join(root, "memory.private.jsonl"), "secret")
	r.put(filepath.Join(r.work, "good.txt"), "good words")
	r.put(filepath.Join(r.work, "sub", "chart.PNG"), "\x89PNG\r\n\x1a\n")
	r.put(filepath.Join(r.tmp, "draft.md"), "# draft")
	cfg := Defaults()
	cfg.Enabled = true
	if set != nil {
		set(&cfg)
	}
	var report setting.Report
	cfg.Check(&report)
	r.kit = New(cfg, Deps{Stage: r.stage, Send: r.send,
		Folders: func(chat.Turn, string) ([]string, error) { return []string{r.work, r.tmp}, nil }})
	return r
}

func (r *rig) put(path, text string) {
	r.t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) send(_ context.Context, _ chat.Turn, caption string, files []chat.File) ([]chat.Receipt, int, error) {
	if r.fail != nil {
		return nil, 0, r.fail
	}
	for _, f := range files {
		text, err := os.ReadFile(f.Path)
		if err != nil {
			r.t.Error(err)
		}
		if rel, err := filepath.Rel(r.stage, f.Path); err != nil || !filepath.IsLocal(rel) || int64(len(text)) != f.Size {
			r.t.Errorf("%+v", f)
		}
		r.content = append(r.content, string(text))
	}
	r.sent, r.caption = append(r.sent, files...), caption
	return []chat.Receipt{{Message: "m1"}, {Message: "m2"}}, len(files) - r.least, nil
}

func asked() chat.Turn {
	ev := chat.Event{ID: "e", Message: "q", Place: chat.Place{Platform: "net", ID: "here", Kind: chat.Direct}, From: chat.Person{Platform: "net", ID: "ann"}}
	return chat.NewTurn(chat.Talk, ev, chat.Public, time.Now())
}

// call calls the tool from a session of a turn.
func (r *rig) call(turn chat.Turn, args string) (fileDone, error) {
	r.t.Helper()
	seat := tool.NewBox(nil, r.kit.Tools()...).Seat("sess_1", []string{"send-file"}, func(string) {})
	seat.Begin(r.t.Context(), turn)
	res, err := seat.Call(r.t.Context(), "send-file", json.RawMessage(args))
	var done fileDone
	if err == nil {
		err = json.Unmarshal(res.Data, &done)
	}
	if left, _ := os.ReadDir(r.stage); len(left) > 0 {
		r.t.Errorf("%d copies stay", len(left))
	}
	return done, err
}

func status(err error) int {
	var fault tool.Fault
	if errors.As(err, &fault) {
		return fault.Status
	}
	return 0
}

func TestFilesAreSent(t *testing.T) {
	for name, c := range map[string]struct{ args, content, kinds string }{
		"relative":  {`{"filePaths": ["good.txt", "sub/chart.PNG"], "caption": "look"}`, "good words|\x89PNG\r\n\x1a\n", "good.txt text/plain|chart.PNG image/png"},
		"absolute":  {`{"filePaths": ["WORK/good.txt", "TMP/draft.md"]}`, "good words|# draft", "good.txt text/plain|draft.md text/"},
		"one":       {`{"filePath": "./good.txt"}`, "good words", "good.txt text/plain"},
		"both ways": {`{"filePath": "good.txt", "filePaths": ["TMP/draft.md"]}`, "# draft|good words", "draft.md text/|good.txt text/"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			done, err := r.call(asked(), strings.NewReplacer("WORK", r.work, "TMP", r.tmp).Replace(c.args))
			if err != nil || done.MessageID != "m2" || len(done.MessageIDs) != 2 || done.FilesCount != len(r.sent) || done.NextAction == "" {
				t.Fatalf("%+v, %v", done, err)
			}
			if got := strings.Join(r.content, "|"); got != c.content {
				t.Errorf("sent %q", got)
			}
			for i, want := range strings.Split(c.kinds, "|") {
				if got := r.sent[i].Name + " " + r.sent[i].MIME; !strings.HasPrefix(got, want) {
					t.Errorf("%q, want %q", got, want)
				}
			}
		})
	}
}

// AF-133 and its like: one path that may not go keeps the good ones back.
func TestOneBadFileKeepsAllBack(t *testing.T) {
	r := newRig(t, func(c *Config) { c.AllowedExtensions = []string{".TXT", "md", ".png", ".pipe", ".jsonl", ".big"} })
	r.put(filepath.Join(r.work, "tool.sh"), "x")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.Symlink("../memory.private.jsonl", filepath.Join(r.work, "up.txt")))
	must(os.Symlink("good.txt", filepath.Join(r.work, "link.txt")))
	must(os.Symlink("/etc", filepath.Join(r.work, "etc")))
	must(os.Symlink(r.tmp, filepath.Join(r.work, "across")))
	must(syscall.Mkfifo(filepath.Join(r.work, "a.pipe"), 0o600))
	must(os.Mkdir(filepath.Join(r.work, "folder.txt"), 0o700))
	must(os.Truncate(filepath.Join(r.work, "tool.sh"), 1))
	r.put(filepath.Join(r.work, "large.big"), "")
	must(os.Truncate(filepath.Join(r.work, "large.big"), 25<<20+1))
	for _, bad := range []string{
		"../../etc/passwd", "../memory.private.jsonl", "sub/../good.txt", `..\\good.txt`, "WORK/../memory.private.jsonl", "/etc/passwd",
		"/etc/hosts.txt", "up.txt", "link.txt", "etc/hosts.txt", "across/draft.md", "a.pipe", "folder.txt", "missing.txt", "tool.sh",
		"", ".", "WORK", "a\\u0000.txt", "large.big", "/proc/self/environ.txt", "WORKgood.txt", "~/good.txt",
	} {
		args := `{"filePaths": ["good.txt", "` + strings.ReplaceAll(bad, "WORK", r.work) + `"]}`
		done, err := r.call(asked(), args)
		if status(err) != 400 || !strings.Contains(err.Error(), "nothing was sent") {
			t.Errorf("%q: %+v, %v", bad, done, err)
		}
	}
	if len(r.sent) > 0 {
		t.Errorf("sent %+v", r.sent)
	}
	if _, err := r.call(asked(), `{"filePaths": ["good.txt", "sub/chart.PNG"]}`); err != nil || len(r.sent) != 2 {
		t.Errorf("the good ones alone: %v", err)
	}
}

func TestBoundsOfFiles(t *testing.T) {
	for name, c := range map[string]struct {
		set  func(*Config)
		args string
		ok   bool
	}{
		"as many as may go": {func(c *Config) { c.MaxFilesPerInvocation = 2 }, `{"filePaths": ["good.txt", "good.txt"]}`, true},
		"too many":          {func(c *Config) { c.MaxFilesPerInvocation = 1 }, `{"filePaths": ["good.txt", "good.txt"]}`, false},
		"too large":         {func(c *Config) { c.MaxFileSizeMB = 0.000005 }, `{"filePath": "good.txt"}`, false},
		"together":          {func(c *Config) { c.MaxTotalSizeMB = 0.000015 }, `{"filePaths": ["good.txt", "good.txt"]}`, false},
		"without a limit":   {func(c *Config) { c.MaxFileSizeMB, c.MaxTotalSizeMB = 0, 0 }, `{"filePath": "good.txt"}`, true},
		"none":              {func(*Config) {}, `{"filePaths": []}`, false},
		"nothing":           {func(*Config) {}, `{}`, false},
		"no list":           {func(*Config) {}, `{"filePaths": "good.txt"}`, false},
	} {
		r := newRig(t, c.set)
		_, err := r.call(asked(), c.args)
		if c.ok != (err == nil) || !c.ok && (status(err) != 400 || len(r.sent) > 0) {
			t.Errorf("%s: %v", name, err)
		}
	}
	r := newRig(t, func(c *Config) { c.MaxFileSizeMB, c.MaxTotalSizeMB = 0, 0 })
	if err := os.Truncate(filepath.Join(r.work, "good.txt"), 1<<40); err != nil {
		t.Fatal(err)
	}
	if _, err := r.call(asked(), `{"filePath": "good.txt"}`); status(err) != 400 {
		t.Errorf("a file of a tebibyte: %v", err)
	}
}

func TestFilesNeedATrigger(t *testing.T) {
	r := newRig(t, nil)
	wake := asked()
	wake.Cause = []chat.Event{{ID: "e", Place: wake.Place, From: wake.From, Body: chat.Woke{Job: chat.SpontaneousSession}}}
	if _, err := r.call(wake, `{"filePath": "good.txt"}`); status(err) != 403 {
		t.Errorf("unasked: %v", err)
	}
	_, err := tool.NewBox(nil, r.kit.Tools()...).Call(t.Context(), asked(), "send-file", json.RawMessage(`{"filePath": "good.txt"}`))
	if status(err) != 403 || len(r.sent) > 0 {
		t.Errorf("outside of a session: %v", err)
	}
}

func TestWhatTheNetworkDoesNotTake(t *testing.T) {
	r := newRig(t, nil)
	r.fail = tool.Fault{Status: 429, Say: "enough"}
	if _, err := r.call(asked(), `{"filePath": "good.txt"}`); status(err) != 429 {
		t.Error(err)
	}
	r.fail, r.least = nil, 1
	done, err := r.call(asked(), `{"filePaths": ["good.txt", "good.txt"]}`)
	if err != nil || done.FilesCount != 1 || done.Warning == "" {
		t.Errorf("%+v, %v", done, err)
	}
	var off *Kit
	if len(off.Tools()) != 0 {
		t.Error("a tool that is off is there")
	}
}

// What is judged is what is sent: the copy was read through the file that was judged, and a file that grows is refused.
func TestAFileThatChangesMeanwhile(t *testing.T) {
	r := newRig(t, nil)
	chosen, err := r.kit.choose([]string{r.work}, []string{"good.txt"})
	if err != nil {
		t.Fatal(err)
	}
	defer chosen.close()
	if err := os.Remove(filepath.Join(r.work, "good.txt")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../memory.private.jsonl", filepath.Join(r.work, "good.txt")); err != nil {
		t.Fatal(err)
	}
	files, err := chosen.copyTo(t.Context(), r.stage)
	if err != nil {
		t.Fatal(err)
	}
	if text, _ := os.ReadFile(files[0].Path); string(text) != "good words" {
		t.Errorf("copied %q", text)
	}
	grows, err := r.kit.choose([]string{r.tmp}, []string{"draft.md"})
	if err != nil {
		t.Fatal(err)
	}
	defer grows.close()
	r.put(filepath.Join(r.tmp, "draft.md"), "# draft and much more")
	if _, err := grows.copyTo(t.Context(), t.TempDir()); status(err) != 400 {
		t.Errorf("a file that grew: %v", err)
	}
}
