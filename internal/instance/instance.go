// Package instance is one bot's directory: where everything lies, that only one process uses it, the token of its
// owner, and how the command line finds a bot that runs. Directories are 0700 and files 0600.
package instance

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
)

// DefaultID is the instance that is meant when none is named.
const DefaultID = "familiar"

// Instance is a bot's directory. Dir is absolute and free of links.
type Instance struct{ Dir string }

// State is where the machine keeps what it needs.
func (i Instance) State() string { return filepath.Join(i.Dir, "state") }

// Logs is where the log files are.
func (i Instance) Logs() string { return filepath.Join(i.Dir, "logs") }

// Database is the one database file.
func (i Instance) Database() string { return filepath.Join(i.State(), "familiar.db") }

func (i Instance) tokenFile() string { return filepath.Join(i.State(), "token") }
func (i Instance) pidFile() string   { return filepath.Join(i.State(), "familiar.pid") }

// Root is where instances are when they are found by id: $FAMILIAR_ROOT, else ~/.familiar.
func Root() (string, error) {
	if root := os.Getenv("FAMILIAR_ROOT"); root != "" {
		return filepath.Abs(root)
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("find the root of instances: %w (set FAMILIAR_ROOT, or name a directory with --dir)", err)
	}
	return filepath.Join(home, ".familiar"), nil
}

// idForm is what an id looks like (contracts: instances are folders of that name).
var idForm = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$`)

// Find returns the instance of a directory, or when dir is "" of an id under the root. Nothing is made.
func Find(dir, id string) (Instance, error) {
	if dir == "" {
		if !idForm.MatchString(id) {
			return Instance{}, fmt.Errorf("instance %q: an id is 1 to 64 small letters, digits and hyphens; name a directory with --dir", id)
		}
		root, err := Root()
		if err != nil {
			return Instance{}, err
		}
		dir = filepath.Join(root, "instances", id)
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return Instance{}, fmt.Errorf("find instance: %w", err)
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		abs = real
	}
	return Instance{abs}, nil
}

// Create makes what is missing of the directory, and closes to others what is ours. A directory that was there
// keeps its own mode: it may hold a repository of somebody; state and logs are always ours.
func (i Instance) Create() error {
	if err := os.MkdirAll(i.Dir, 0o700); err != nil {
		return fmt.Errorf("make the bot's directory: %w", err)
	}
	for _, dir := range []string{i.State(), i.Logs()} {
		if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("make the bot's directory: %w", err)
		}
		if err := os.Chmod(dir, 0o700); err != nil { //nolint:gosec // a directory needs the x
			return fmt.Errorf("close %s to others: %w", dir, err)
		}
	}
	return nil
}
