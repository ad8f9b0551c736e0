package acp

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Profile says what we know of one kind of agent, as data.
type Profile struct {
	Name    string   // for people
	Command string   // the executable, as a path or a name on PATH
	Args    []string // what makes it speak ACP on its standard streams

	// Env is added to the environment; "{home}" stands for the session's private HOME.
	Env map[string]string
	// Files are laid into the private HOME, by their path below it.
	Files map[string][]byte
	// Logins are files below the operator's own HOME, that are laid read-only at the same place of the private
	// one, so that an agent that is signed in stays signed in. Those that do not exist are skipped.
	Logins []string
	// Skills is the folder below the private HOME where the agent looks for folders with a SKILL.md; "" when it
	// knows none.
	Skills string

	// Restricted says that the agent asks us before it runs, edits or fetches anything. An agent without that is
	// never chosen by itself, and announced as unrestricted.
	Restricted bool
	Mode       string // the restricted mode, "" when that is what the agent starts in
	Yolo       string // the mode in which it asks nobody

	FilesThroughUs bool // it is offered our fs, and reads and writes through us
	GitHub         bool // it signs in with GITHUB_TOKEN
	IgnoresEOF     bool // it does not end when its standard input closes
	RetryEmpty     bool // it answers the prompt after a cancelled one with an empty turn; that prompt is sent again
}

// yolo is our name of the mode in which an agent asks nobody.
const yolo = "yolo"

// mode returns the agent's name of a mode of ours.
func (p Profile) mode(mode string) string {
	switch mode {
	case "":
		return p.Mode
	case yolo:
		if p.Yolo != "" {
			return p.Yolo
		}
	}
	return mode
}

// Custom is the profile of an agent that the operator named. We know nothing of it, so it counts as unrestricted.
func Custom(cfg Config) Profile {
	return Profile{Name: filepath.Base(cfg.Command), Command: cfg.Command, Args: cfg.Args, Skills: agentSkills,
		FilesThroughUs: true, GitHub: true}
}

// agentSkills is where agents of several makers look for skills.
const agentSkills = ".agents/skills"

// environment returns Env with the private HOME filled in.
func (p Profile) environment(home string) map[string]string {
	vars := make(map[string]string, len(p.Env))
	for name, value := range p.Env {
		vars[name] = strings.ReplaceAll(value, "{home}", home)
	}
	return vars
}

// furnish lays the profile's files, the operator's logins and the skills into a private HOME. It returns what
// lies outside and has to be readable: the links lead there, and the walls make it read-only.
func (p Profile) furnish(home, operator, skills string) (readable []string, err error) {
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

// found returns the executable's real path.
func (p Profile) found() (string, error) {
	path, err := exec.LookPath(p.Command)
	if err != nil {
		return "", fmt.Errorf("find %s: %w", p.Command, err)
	}
	if path, err = filepath.Abs(path); err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return "", fmt.Errorf("find %s: %w", p.Command, err)
	}
	return path, nil
}
