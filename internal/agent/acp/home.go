package acp

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"familiar/internal/agent/acp/profile"
)

// Custom is the profile of an agent that the operator named. We know nothing of it, so it counts as unrestricted.
func Custom(cfg Config) profile.Profile {
	p := profile.Profile{Name: filepath.Base(cfg.Command), Command: cfg.Command, Args: cfg.Args, Skills: profile.Skills}
	p.FilesThroughUs, p.GitHub = true, true
	return p
}

// Operator says of whoever runs the bot what a profile may depend on.
func Operator(cfg Config, deps Deps) profile.Operator {
	o := profile.Operator{Home: deps.Home, Parent: deps.Parent, Model: cfg.Model}
	for _, pair := range environment(cfg, profile.Profile{}, surroundings{parent: deps.Parent}) {
		name, _, _ := strings.Cut(pair, "=")
		o.Keys = append(o.Keys, name)
	}
	return o
}

// furnish lays the profile's files, the operator's logins and the skills into a private HOME. It returns what
// lies outside and has to be readable: the links lead there, and the walls make it read-only.
func furnish(p profile.Profile, home, operator, skills string) (readable []string, err error) {
	for name, content := range p.Files {
		path := filepath.Join(home, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, fmt.Errorf("furnish the agent's home: %w", err)
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			return nil, fmt.Errorf("furnish the agent's home: %w", err)
		}
	}
	links := map[string]string{}
	for _, name := range p.Logins {
		if operator != "" {
			links[name] = filepath.Join(operator, filepath.FromSlash(name))
		}
	}
	if skills != "" && p.Skills != "" {
		links[p.Skills] = skills
	}
	for name, target := range links {
		real, err := filepath.EvalSymlinks(target)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = link(real, filepath.Join(home, filepath.FromSlash(name)))
		}
		if err != nil {
			return nil, fmt.Errorf("furnish the agent's home: %w", err)
		}
		readable = append(readable, real)
	}
	return readable, nil
}

func link(target, path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.Symlink(target, path)
}

// disarm removes from a working directory what would give the agent rights. A link there is removed, and not what it
// leads to.
func disarm(p profile.Profile, work string) error {
	if len(p.Rights) == 0 {
		return nil
	}
	root, err := os.OpenRoot(work)
	if err != nil {
		return fmt.Errorf("look for settings of the agent: %w", err)
	}
	defer root.Close()
	for _, name := range p.Rights {
		if err := root.RemoveAll(name); err != nil {
			return fmt.Errorf("remove settings of the agent: %w", err)
		}
	}
	return nil
}

// found returns the real path of a program.
func found(command string) (string, error) {
	path, err := exec.LookPath(command)
	if err != nil {
		return "", fmt.Errorf("find %s: %w", command, err)
	}
	if path, err = filepath.Abs(path); err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return "", fmt.Errorf("find %s: %w", command, err)
	}
	return path, nil
}

// versionTime bounds how long a program may take to say its version.
const versionTime = 10 * time.Second

// Fit sees that what an agent runs on is there and new enough: an old one fails in the middle of a conversation, with
// words that nobody understands. It starts that program once, to ask for its version.
func Fit(ctx context.Context, p profile.Profile) error {
	if p.Node == 0 {
		return nil
	}
	path, err := found("node")
	if err != nil {
		return fmt.Errorf("%s runs on Node.js %d or newer: %w", p.Name, p.Node, err)
	}
	ctx, cancel := context.WithTimeout(ctx, versionTime)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return fmt.Errorf("ask %s for its version: %w", path, err)
	}
	version := strings.TrimSpace(string(out))
	major, _, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	if n, err := strconv.Atoi(major); err != nil || n < p.Node {
		return fmt.Errorf("%s runs on Node.js %d or newer, and %s is %.20q; put a newer one first on PATH", p.Name, p.Node, path, version)
	}
	return nil
}
