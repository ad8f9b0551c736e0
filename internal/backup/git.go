package backup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"familiar/internal/process"
)

// How long Git may take: for what it does here, and for what it does with the remote repository.
const (
	hereTime = 5 * time.Minute
	farTime  = 10 * time.Minute
	mostOut  = 256 << 20 // bytes of its output, a file among them
)

// helper answers Git's question for a login out of the environment, so that no file, no address and no list of
// processes holds it.
const helper = `!f() { test "$1" = get && printf 'username=%s\npassword=%s\n' "$FAMILIAR_GIT_USER" "$FAMILIAR_GIT_PASSWORD"; }; f`

// git runs the git program on one repository whose work tree it never looks at: no hook, filter or setting that an
// agent may have left there has any say.
type git struct {
	dir  string   // the folder of the repository itself, .git
	env  []string // the environment of every command
	far  []string // what those that speak with the remote repository get besides
	seen func(string) string
}

// newGit prepares the commands. user and password are for the remote repository, and for no other host that it may send
// us to; seen masks what is told of it.
func newGit(dir, remote, user, password string, seen func(string) string) *git {
	g := &git{dir: dir, seen: seen}
	settings := []string{"safe.directory", filepath.Dir(dir), "core.hooksPath", os.DevNull, "core.fsmonitor", "false",
		"credential.helper", "", "gc.auto", "0", "gc.writeCommitGraph", "false", "advice.detachedHead", "false",
		"protocol.ext.allow", "never", "core.protectHFS", "true",
		"core.bigFileThreshold", "8m", "pack.threads", "1", "pack.windowMemory", "64m"} // it shares a small machine with the bot
	if password != "" {
		for _, origin := range origins(remote) {
			settings = append(settings, "credential."+origin+".helper", helper)
		}
		g.far = []string{"FAMILIAR_GIT_USER=" + user, "FAMILIAR_GIT_PASSWORD=" + password}
	}
	g.env = []string{"GIT_DIR=" + dir, "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=true", "SSH_ASKPASS=true", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL=" + filepath.Join(dir, ownConfig), "GIT_SSH_COMMAND=ssh -oBatchMode=yes -oConnectTimeout=20", "LC_ALL=C",
		"GIT_HTTP_LOW_SPEED_LIMIT=100", "GIT_HTTP_LOW_SPEED_TIME=60"}
	for i := 0; i < len(settings); i += 2 {
		g.env = append(g.env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i/2, settings[i]), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i/2, settings[i+1]))
	}
	g.env = append(g.env, fmt.Sprintf("GIT_CONFIG_COUNT=%d", len(settings)/2))
	for _, name := range []string{"PATH", "HOME", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
		"SSL_CERT_FILE", "SSL_CERT_DIR", "SSH_AUTH_SOCK"} {
		if value, ok := os.LookupEnv(name); ok {
			g.env = append(g.env, name+"="+value)
		}
	}
	return g
}

// ownConfig is the file, in our repository, that takes the place of a user's settings for every git that we start, and for
// the one that serves a remote repository on this machine.
const ownConfig = "familiar-config"

// settingsFor are its text: a remote repository that is a folder here may belong to somebody else, such as the owner of a
// volume. It was named in the configuration, and git has no other way to be told.
func settingsFor(remote string) string {
	path := strings.TrimPrefix(remote, "file://")
	if !filepath.IsAbs(path) {
		return ""
	}
	return "[safe]\n\tdirectory = \"" + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(filepath.Clean(path)) + "\"\n"
}

// origins are the beginnings of addresses that a remote repository's login is for: those of its host. One that is reached
// without TLS may send us to where it has it.
func origins(remote string) []string {
	at, err := url.Parse(strings.TrimSpace(remote))
	switch {
	case err != nil || at.Host == "":
		return nil
	case at.Scheme == "https":
		return []string{"https://" + at.Host}
	case at.Scheme == "http":
		return []string{"http://" + at.Host, "https://" + at.Host}
	}
	return nil
}

// call is one run of git.
type call struct {
	args  []string
	input io.Reader
	env   []string // besides the usual ones
	far   bool     // it speaks with the remote repository
}

// run runs git and returns what it wrote, without white space at the ends.
func (g *git) run(ctx context.Context, c call) (string, error) {
	out, err := g.output(ctx, c)
	return strings.TrimSpace(string(out)), err
}

// output runs git and returns what it wrote. What git complained of is in the error, masked; it may name files.
func (g *git) output(ctx context.Context, c call) ([]byte, error) {
	limit := hereTime
	env := append(append([]string{}, g.env...), c.env...)
	if c.far {
		limit = farTime
		env = append(env, g.far...)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var complaint bytes.Buffer
	out, err := process.Output(ctx, process.Spec{Path: "git", Args: c.args, Env: env, Dir: filepath.Dir(g.dir),
		Stderr: func(line string) {
			if complaint.Len() < 2000 {
				complaint.WriteString(line + "; ")
			}
		}}, c.input, mostOut)
	if err != nil {
		said := strings.TrimSuffix(strings.TrimSpace(complaint.String()), ";")
		return out, fmt.Errorf("git %s: %w: %s", c.args[0], err, g.seen(said))
	}
	return out, nil
}

// here runs a command that needs nobody.
func (g *git) here(ctx context.Context, args ...string) (string, error) {
	return g.run(ctx, call{args: args})
}

// away runs a command that speaks with the remote repository.
func (g *git) away(ctx context.Context, args ...string) (string, error) {
	return g.run(ctx, call{args: args, far: true})
}

// code is the exit status in an error of run; -1 when the program did not end by itself.
func code(err error) int {
	var exit process.Exit
	if errors.As(err, &exit) && exit.Signal == 0 {
		return exit.Code
	}
	return -1
}
