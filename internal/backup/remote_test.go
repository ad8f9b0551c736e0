package backup

import (
	"context"
	"errors"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"familiar/internal/secret"
)

// AF-178: the login reaches the server, and stands in no file, log or error.
func TestTheLoginStaysSecret(t *testing.T) {
	const word = "S3cret-Word-of-the-bot"
	r := open(t)
	refuse := false
	backend := &cgi.Handler{Path: run(t, "", "git", "--exec-path") + "/git-http-backend",
		Env: []string{"GIT_PROJECT_ROOT=" + filepath.Dir(r.remote), "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=bot"}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if user, pass, _ := q.BasicAuth(); user != "bot" || pass != word || refuse {
			w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		backend.ServeHTTP(w, q)
	}))
	defer server.Close()
	r.Backup = r.on(r.dir, func(c *Config) {
		c.RemoteURL, c.AuthUser, c.AuthPassword = server.URL+"/remote.git", "bot", secret.New(word)
	})
	r.put("a", "a\n")
	r.copy()
	if r.there("a") != "a" {
		t.Fatal("it did not arrive")
	}
	refuse = true
	r.put("a", "b\n")
	err := r.Copy(t.Context())
	if err == nil || strings.Contains(err.Error(), word) || strings.Contains(r.log.String(), word) {
		t.Error(err, r.log.String())
	}
	if found, _ := exec.Command("grep", "-rl", word, r.git.dir, os.Getenv("HOME")).Output(); len(found) > 0 {
		t.Errorf("it stands in %s", found)
	}
	for text, want := range map[string]string{
		"fatal: https://bot:" + word + "@host/x":     "fatal: https://[REDACTED]@host/x",
		"https://other:pass@host and //u@h":          "https://[REDACTED]@host and //[REDACTED]@h",
		"remote: the password " + word + " is wrong": "remote: the password [REDACTED] is wrong",
		"https://host/a@b":                           "https://host/a@b",
	} {
		if got := masked(text, secret.New(word)); got != want {
			t.Errorf("%q", got)
		}
	}
}

// A server that takes the connection and says nothing holds nobody for longer than the caller wants.
func TestARemoteThatHangs(t *testing.T) {
	hold := make(chan struct{})
	asked := make(chan struct{}, 16)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		asked <- struct{}{}
		select {
		case <-hold:
		case <-q.Context().Done():
		}
	}))
	defer server.Close()
	defer close(hold)
	r := open(t)
	r.Backup = r.on(r.dir, func(c *Config) { c.RemoteURL = server.URL + "/x.git" })
	r.put("a", "a\n")
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-asked; cancel() }()
	if err := r.Copy(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// Whoever may push may not write where no copy of ours comes from: settings in our own repository would be programs that
// git runs.
func TestATreeThatReachesForOurRepository(t *testing.T) {
	r := open(t)
	r.put("a", "a\n")
	r.copy()
	feed := func(text string, args ...string) string {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Stdin = r.remote, strings.NewReader(text)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(args, err)
		}
		return strings.TrimSpace(string(out))
	}
	evil := feed("[core]\n\tsshCommand = evil\n", "hash-object", "-w", "--stdin")
	folder := feed("100644 blob "+evil+"\tplanted\n", "mktree")
	tree := feed(feed("", "ls-tree", "main")+"\n100644 blob "+evil+"\twelcome\n"+
		"040000 tree "+folder+"\t.git\n040000 tree "+folder+"\t.GIT\n040000 tree "+folder+"\ttmp\n", "mktree")
	run(t, r.remote, "git", "update-ref", "refs/heads/main", run(t, r.remote, "git", "commit-tree", tree, "-p", "main", "-m", "evil"))
	r.put("b", "b\n")
	r.copy()
	other := r.on(filepath.Join(t.TempDir(), "new"))
	if _, err := other.Restore(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{r.dir, other.dir} {
		if out := run(t, dir, "find", ".", "-name", "planted"); out != "" {
			t.Errorf("it was brought to %s", out)
		}
		if _, err := os.Stat(filepath.Join(dir, "welcome")); err != nil {
			t.Error(err)
		}
	}
}

// A server that sends us on to another host does not get that host our login.
func TestTheLoginIsForOneHost(t *testing.T) {
	const word = "S3cret-Word-of-the-bot"
	asked, given := 0, 0
	stranger := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		asked++
		if _, _, any := q.BasicAuth(); any {
			given++
		}
		w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer stranger.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		http.Redirect(w, q, stranger.URL+q.URL.String(), http.StatusFound)
	}))
	defer server.Close()
	r := open(t)
	r.Backup = r.on(r.dir, func(c *Config) {
		c.RemoteURL, c.AuthUser, c.AuthPassword = server.URL+"/x.git", "bot", secret.New(word)
	})
	r.put("a", "a\n")
	if err := r.Copy(t.Context()); err == nil {
		t.Error("it went somewhere")
	}
	if asked == 0 || given > 0 {
		t.Errorf("the other host was asked %d times, and given a login %d times", asked, given)
	}
}

// A repository on a volume that belongs to somebody else takes copies, and gives them back. Only root can make one.
func TestARemoteOfSomebodyElse(t *testing.T) {
	r := open(t)
	if os.Geteuid() == 0 {
		run(t, "", "chown", "-R", "12345", r.remote)
	}
	r.put("a", "a\n")
	r.copy()
	r.Backup = r.on(r.dir, func(c *Config) { c.RemoteURL = "file://" + r.remote })
	r.put("a", "b\n")
	r.copy()
	other := r.on(filepath.Join(t.TempDir(), "new"))
	if there, err := other.Restore(t.Context()); !there || err != nil {
		t.Error(there, err)
	}
	run(t, "", "chown", "-R", "--reference="+t.TempDir(), r.remote)
	if got := r.there("a"); got != "b" {
		t.Error(got)
	}
}
