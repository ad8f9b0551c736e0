package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// skillRig is a skill API that records, and the environment of an agent.
type skillRig struct {
	t      *testing.T
	tmp    string
	path   string
	auth   string
	body   map[string]any
	calls  int
	status int
	answer string
}

func newSkillRig(t *testing.T) *skillRig {
	r := &skillRig{t: t, tmp: t.TempDir(), status: 200, answer: `{"success":true,"data":{"id":"x"},"statusCode":200}`}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.calls++
		r.path, r.auth, r.body = req.URL.Path, req.Header.Get("Authorization"), nil
		if err := json.NewDecoder(req.Body).Decode(&r.body); err != nil {
			t.Error(err)
		}
		w.WriteHeader(r.status)
		_, _ = io.WriteString(w, r.answer)
	}))
	t.Cleanup(server.Close)
	t.Setenv("TMPDIR", r.tmp)
	t.Setenv("SESSION_ID", "sess_1_a")
	t.Setenv("SKILL_API_URL", server.URL)
	t.Setenv("SKILL_API_TOKEN", "the-token")
	return r
}

func (r *skillRig) file(name, text string) string {
	r.t.Helper()
	path := filepath.Join(r.tmp, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
	return path
}

// run gives exit code, standard output and standard error.
func (r *skillRig) run(stdin string, args ...string) (int, string, string) {
	r.t.Helper()
	cmd := skillCommand()
	var out, errs bytes.Buffer
	cmd.SetIn(strings.NewReader(stdin))
	cmd.SetOut(&out)
	cmd.SetErr(&errs)
	cmd.SetArgs(args)
	err := cmd.ExecuteContext(r.t.Context())
	var exit exitError
	if err != nil && !errors.As(err, &exit) {
		r.t.Fatalf("%q: %v", args, err)
	}
	return exit.code, out.String(), errs.String()
}

func TestSkillFlagsBecomeParameters(t *testing.T) {
	for _, c := range []struct {
		args   string
		params string
	}{
		{"memory-save --content-file F -i high --related-to a,b --related-to c --supersedes d",
			`{"content":"T","importance":"high","relatedTo":["a","b","c"],"supersedes":["d"]}`},
		{"memory-save --content-file F", `{"content":"T"}`},
		{"memory-search --query-file F --limit 5", `{"query":"T","limit":5}`},
		{"memory-patch -m mem_1 --disabled --visibility private --importance normal", `{"memory_id":"mem_1","enabled":false,"visibility":"private","importance":"normal"}`},
		{"memory-patch --memory-id mem_1 --enabled", `{"memory_id":"mem_1","enabled":true}`},
		{"memory-patch --memory-id mem_1 --enabled=false", `{"memory_id":"mem_1","enabled":false}`},
		{"send-reply --message-file F", `{"message":"T"}`},
		{"send-reply --message-file -", `{"message":"from stdin"}`},
		{"send-reply --message -", `{"message":"from stdin"}`},
		{"send-reply -", `{"message":"from stdin"}`},
		{"send-file -f a.png --file-paths b,c.txt --caption-file F", `{"filePaths":["a.png","b,c.txt"],"caption":"T"}`},
		{"send-file --file-paths a.png", `{"filePaths":["a.png"]}`},
		{"set-reminder --scheduled-at 2026-03-01T09:00:00Z --message-file F", `{"scheduledAt":"2026-03-01T09:00:00Z","message":"T"}`},
		{"cancel-reminder --reminder-id rem_1", `{"reminderId":"rem_1"}`},
		{"list-reminders", `{}`},
		{"edit-reply --message-id 7 --message-file F", `{"messageId":"7","message":"T"}`},
		{"react-message -e 👍", `{"emoji":"👍"}`},
		{"get-message", `{}`},
		{"get-message --message-id 7", `{"messageId":"7"}`},
		{"fetch-context -t search_messages --query-file F --limit 3", `{"type":"search_messages","query":"T","limit":3}`},
		{"fetch-context --type user_info", `{"type":"user_info"}`},
	} {
		t.Run(c.args, func(t *testing.T) {
			r := newSkillRig(t)
			path := r.file("a file.txt", "T")
			args := strings.Fields(c.args)
			for i, a := range args {
				if a == "F" {
					args[i] = path
				}
			}
			code, out, errs := r.run("from stdin", args...)
			if code != 0 || errs != "" || strings.TrimSpace(out) != r.answer {
				t.Fatalf("exit %d, %q, %q", code, out, errs)
			}
			var want map[string]any
			_ = json.Unmarshal([]byte(c.params), &want)
			if !reflect.DeepEqual(r.body["parameters"], any(want)) || r.body["sessionId"] != "sess_1_a" {
				t.Errorf("sent %v", r.body)
			}
			if r.path != "/api/skill/"+args[0] || r.auth != "Bearer the-token" {
				t.Errorf("%s with %q", r.path, r.auth)
			}
			if _, err := os.Stat(path); strings.Contains(c.args, "F") != errors.Is(err, os.ErrNotExist) {
				t.Errorf("the file: %v", err)
			}
		})
	}
}

// Text reaches the skill byte for byte, whatever a shell would have made of it.
func TestSkillTextIsVerbatim(t *testing.T) {
	r := newSkillRig(t)
	text := "$HOME `id` \\n \"quoted\" <b>&</b>\r\n  你好\n\n"
	if code, _, errs := r.run("", "send-reply", "--message-file", r.file("t", text)); code != 0 {
		t.Fatal(errs)
	}
	if got := r.body["parameters"].(map[string]any)["message"]; got != text {
		t.Fatalf("%q", got)
	}
}

func TestSkillArgumentsAreRefused(t *testing.T) {
	r := newSkillRig(t)
	outside := filepath.Join(t.TempDir(), "secret.txt")
	if err := os.WriteFile(outside, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	link, dir := filepath.Join(r.tmp, "link"), filepath.Join(r.tmp, "dir")
	if err := errors.Join(os.Symlink(outside, link), os.Mkdir(dir, 0o700)); err != nil {
		t.Fatal(err)
	}
	good, blank, long := r.file("good", "x"), r.file("blank", " \n"), r.file("long", strings.Repeat("a", maxPayload+1))
	for _, c := range []struct {
		name, code string
		args       []string
	}{
		{"message", codeLegacy, []string{"send-reply", "--message", "hi"}},
		{"short message", codeLegacy, []string{"send-reply", "-m", "hi"}},
		{"message beside a file", codeLegacy, []string{"send-reply", "--message-file", good, "--message", "hi"}},
		{"content", codeLegacy, []string{"memory-save", "--content", "hi"}},
		{"short content", codeLegacy, []string{"memory-save", "-c", "hi"}},
		{"query", codeLegacy, []string{"memory-search", "-q", "hi"}},
		{"query of context", codeLegacy, []string{"fetch-context", "-t", "recent_messages", "--query", "hi"}},
		{"nothing", codeMissing, []string{"send-reply"}},
		{"no name", codeMissing, []string{"send-reply", "--message-file", ""}},
		{"blank file", codeMissing, []string{"send-reply", "--message-file", blank}},
		{"blank input", codeMissing, []string{"send-reply", "--message-file", "-"}},
		{"elsewhere", codeOutOfBounds, []string{"send-reply", "--message-file", outside}},
		{"elsewhere and missing", codeOutOfBounds, []string{"send-reply", "--message-file", outside + "x"}},
		{"dots", codeOutOfBounds, []string{"send-reply", "--message-file", r.tmp + "/../" + filepath.Base(r.tmp) + "x/y"}},
		{"a link out", codeOutOfBounds, []string{"send-reply", "--message-file", link}},
		{"the folder itself", codeNotFound, []string{"send-reply", "--message-file", r.tmp}},
		{"a folder", codeNotFound, []string{"send-reply", "--message-file", dir}},
		{"too long", codeOutOfBounds, []string{"send-reply", "--message-file", long}},
		{"not text", codeOutOfBounds, []string{"send-reply", "--message-file", r.file("bin", "a\xff")}},
		{"missing", codeNotFound, []string{"send-reply", "--message-file", r.tmp + "/none"}},
		{"twice", codeSingle, []string{"send-reply", "--message-file", good, "--message-file", good}},
		{"file and input", codeSingle, []string{"send-reply", "--message-file", good, "-"}},
		{"words", codeUsage, []string{"send-reply", "hello", "there"}},
		{"no text wanted", codeUsage, []string{"get-message", "-"}},
		{"unknown flag", codeUsage, []string{"send-reply", "--file", good}},
		{"no number", codeUsage, []string{"memory-search", "--query-file", good, "--limit", "many"}},
		{"both", codeUsage, []string{"memory-patch", "-m", "a", "--enabled", "--disabled"}},
		{"no id", codeUsage, []string{"memory-patch", "--enabled"}},
		{"no emoji", codeUsage, []string{"react-message"}},
		{"unknown skill", codeUsage, []string{"sing"}},
		{"no skill", codeUsage, nil},
		{"another machine", codeUsage, []string{"get-message", "-a", "http://example.org"}},
		{"a name that begins well", codeUsage, []string{"get-message", "-a", "http://127.0.0.1.example.org"}},
		{"a user that looks well", codeUsage, []string{"get-message", "-a", "http://localhost@example.org"}},
		{"another scheme", codeUsage, []string{"get-message", "--api-url", "https://127.0.0.1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, out, errs := r.run("", c.args...)
			var said struct {
				Success              bool
				Code, Error, Example string
			}
			if err := json.Unmarshal([]byte(errs), &said); err != nil || code != 1 || out != "" {
				t.Fatalf("exit %d, %q, %q", code, out, errs)
			}
			if said.Code != c.code || said.Error == "" || !strings.HasPrefix(said.Example, "familiar skill ") {
				t.Errorf("%+v", said)
			}
			if strings.Contains(errs, "secret\"") || r.calls != 0 {
				t.Errorf("%d calls, %s", r.calls, errs)
			}
		})
	}
	for _, kept := range []string{outside, good, blank, long} {
		if _, err := os.Stat(kept); err != nil {
			t.Errorf("a file that was not used is gone: %v", err)
		}
	}
}

func TestSkillEnvironment(t *testing.T) {
	r := newSkillRig(t)
	t.Setenv("SESSION_ID", "")
	if code, _, errs := r.run("", "get-message"); code != 1 || !strings.Contains(errs, "SESSION_ID") {
		t.Fatal(errs)
	}
	if code, _, errs := r.run("", "get-message", "-s", "sess_2_b"); code != 0 || r.body["sessionId"] != "sess_2_b" {
		t.Fatal(errs)
	}
	t.Setenv("SKILL_API_URL", "http://10.0.0.1:3001")
	if code, _, errs := r.run("", "get-message", "-s", "sess_2_b"); code != 1 || !strings.Contains(errs, "loopback") {
		t.Fatal(errs)
	}
	t.Setenv("TMPDIR", "")
	if code, _, errs := r.run("", "send-reply", "-s", "x", "-a", "http://[::1]:9/", "--message-file", "/etc/hostname"); code != 1 || !strings.Contains(errs, codeOutOfBounds) {
		t.Fatal(errs)
	}
}

func TestSkillRefusalOfTheAPI(t *testing.T) {
	r := newSkillRig(t)
	r.status, r.answer = 429, `{"success":false,"error":"the reply was sent already","statusCode":429}`
	path := r.file("t", "x")
	code, out, errs := r.run("", "send-reply", "--message-file", path)
	if _, err := os.Stat(path); err != nil {
		t.Fatal("the text is gone although it was refused")
	}
	if code != 1 || strings.TrimSpace(out) != r.answer || errs != "" {
		t.Fatalf("exit %d, %q, %q", code, out, errs)
	}
	r.answer = "<html>"
	if code, out, _ := r.run("", "get-message"); code != 1 || !strings.Contains(out, `"success":false`) {
		t.Fatalf("exit %d, %q", code, out)
	}
	r.status, r.answer = 302, `{"success":true}` // a success that does not come as one
	if code, _, _ := r.run("", "get-message"); code != 1 {
		t.Fatal("taken for a success")
	}
}

// Nothing listens: the answer is still JSON, and the text is kept for another try.
func TestSkillWithoutAPI(t *testing.T) {
	r := newSkillRig(t)
	path := r.file("t", "x")
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	code, out, errs := r.run("", "send-reply", "--message-file", path, "-a", gone.URL)
	var a skillAnswer
	if err := json.Unmarshal([]byte(out), &a); err != nil || code != 1 || errs != "" || a.Success || a.Error == "" {
		t.Fatalf("exit %d, %q, %q", code, out, errs)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatal("the text is gone")
	}
}

func TestSkillTimeout(t *testing.T) {
	r := newSkillRig(t)
	hangs := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hangs }))
	defer server.Close()
	defer close(hangs)
	cmd := skillCommandWith(50 * time.Millisecond)
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetArgs([]string{"get-message", "-a", server.URL})
	if err := cmd.ExecuteContext(r.t.Context()); !errors.As(err, new(exitError)) || !strings.Contains(out.String(), "no answer") {
		t.Fatalf("%v, %q", err, out.String())
	}
}
