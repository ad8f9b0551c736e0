package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"familiar/internal/chat"
	"familiar/internal/instance"
	"familiar/internal/process"
	"familiar/internal/skill"
	"familiar/internal/skillstore"
)

// fetchTime bounds how long one skill of somebody else may take to fetch; a bot that starts waits for it.
const fetchTime = 90 * time.Second

// mostTold bounds what is read of what the fetching program says, in bytes.
const mostTold = 1 << 20

// forFetching are the variables that the fetching program gets of ours, besides a HOME of its own.
var forFetching = []string{"PATH", "LANG", "LC_ALL", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "npm_config_registry", "NPM_CONFIG_REGISTRY", "npm_config_cafile", "NPM_CONFIG_CAFILE"}

// ExternalSkills is where a bot keeps the skills of other people.
func ExternalSkills(i instance.Instance) string { return filepath.Join(i.State(), "external-skills") }

// updateExternal fetches the skills of other people, before anything else runs. Whatever goes wrong, the bot starts.
func (h *Host) updateExternal(ctx context.Context) {
	list := h.cfg.Agent.Skills.ExternalSkills
	h.fetched = skillstore.Open(ExternalSkills(h.Instance), h.now)
	if len(list) > 0 {
		h.fetched.Update(ctx, list, h.fetchSkill, h.log.With("module", "Skills"))
	}
}

// fetchSkill fetches one skill into a HOME that is made for it. The program that does so is somebody else's, and so is
// what it runs: it stands behind walls, and reaches nothing of ours.
func (h *Host) fetchSkill(ctx context.Context, e skill.External) (_ string, _ func(), err error) {
	npx, err := exec.LookPath("npx")
	if err != nil {
		return "", nil, errors.New("npx, which fetches skills, is not on PATH; it comes with Node.js")
	}
	state := ExternalSkills(h.Instance)
	if err := os.MkdirAll(state, 0o700); err != nil {
		return "", nil, err
	}
	home, err := os.MkdirTemp(state, ".fetch-")
	if err != nil {
		return "", nil, err
	}
	clean := func() {
		if err := os.RemoveAll(home); err != nil {
			h.log.Warn("a folder of a fetched skill stays", chat.KeyErr, err)
		}
	}
	defer func() {
		if err != nil {
			clean()
		}
	}()
	cache := filepath.Join(state, "npm-cache")
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return "", nil, err
	}
	spec := process.Spec{Path: npx, Dir: home, Env: fetchEnv(home, cache),
		Args: []string{"--yes", "--package=skills", "skills", "add", e.Repo, "-a", "universal", "-s", e.Skill, "-g", "-y"}}
	if spec.Walls, err = h.fetchWalls(npx, home, cache); err != nil {
		return "", nil, err
	}
	var said lastLine
	spec.Stderr = said.take
	ctx, cancel := context.WithTimeoutCause(ctx, fetchTime, fmt.Errorf("npx took longer than %s", fetchTime))
	defer cancel()
	out, err := process.Output(ctx, spec, nil, mostTold)
	if err != nil {
		for line := range strings.Lines(string(out)) { // it complains there, too
			if strings.Contains(line, "fatal:") || strings.Contains(line, "rror") {
				said.take(line)
			}
		}
		return "", nil, fmt.Errorf("npx: %w%s", err, said.told(h.Vault.Mask))
	}
	return filepath.Join(home, skill.Home), clean, nil
}

// fetchWalls are what exists for npx: its own programs, and the folders that it writes.
func (h *Host) fetchWalls(npx, home, cache string) (*process.Walls, error) {
	if _, err := process.Confinable(); err != nil {
		if h.cfg.Agent.Sandbox.Unconfined {
			return nil, nil //nolint:nilnil // nothing to stand behind, as the operator wants it
		}
		return nil, fmt.Errorf("npx cannot be confined here: %w; set agent.sandbox.unconfined to run it without walls", err)
	}
	var read []string
	for _, program := range []string{npx, "node", "git"} {
		path, err := exec.LookPath(program)
		if err != nil {
			continue
		}
		read = append(read, filepath.Dir(path))
		if real, err := filepath.EvalSymlinks(path); err == nil {
			if top, _, packaged := strings.Cut(real, "/node_modules/"); packaged {
				real = top + "/node_modules/x"
			}
			read = append(read, filepath.Dir(real))
		}
	}
	return h.folders.Fence([]string{home, cache}, read...), nil
}

func fetchEnv(home, cache string) []string {
	env := []string{"HOME=" + home, "TMPDIR=" + home, "npm_config_cache=" + cache, "npm_config_update_notifier=false",
		"npm_config_ignore_scripts=true", "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=true", "CI=1", "DISABLE_TELEMETRY=1", "DO_NOT_TRACK=1"}
	for _, name := range forFetching {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// lastLine keeps the last that a program complained of.
type lastLine struct{ text string }

func (l *lastLine) take(line string) {
	if line = strings.TrimSpace(line); line != "" {
		l.text = line
	}
}

func (l *lastLine) told(mask func(string) string) string {
	if l.text == "" {
		return ""
	}
	return "; it said: " + shown(mask(l.text))
}

// foreignSkills are those of other people that agents may read, as text alone.
func (h *Host) foreignSkills() (found []skill.Skill) {
	if h.fetched == nil {
		return nil
	}
	all, err := h.fetched.Admitted(h.cfg.Agent.Skills.ExternalSkills)
	if err != nil {
		h.log.Warn("some skills of other people are left out", chat.KeyErr, err)
	}
	for _, s := range all {
		text, err := s.Disarmed()
		if err != nil {
			h.log.Warn("a skill of somebody else is left out", "skill", s.Name, chat.KeyErr, err)
			continue
		}
		found = append(found, text)
	}
	return found
}
