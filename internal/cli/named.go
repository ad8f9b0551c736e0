package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"familiar/internal/config"
	"familiar/internal/instance"
)

// flagSet is where flags are declared: those of a command, or of its subcommands too.
type flagSet interface {
	StringVar(to *string, name, value, usage string)
	StringVarP(to *string, name, short, value, usage string)
}

// dirFlag declares the flag by which every command takes a bot.
func dirFlag(flags flagSet, dir *string) {
	flags.StringVar(dir, "dir", "", "the bot's directory, or its id; the instance «familiar» when left out")
}

// namedInstance finds a bot by its directory, or by its id; the instance «familiar» where neither is given. A word that is
// both is the directory, and so is one that is neither: a start makes it.
func namedInstance(word string) (instance.Instance, error) {
	if word == "" {
		return instance.Find("", instance.DefaultID)
	}
	if _, err := os.Stat(word); err != nil && !strings.ContainsRune(word, os.PathSeparator) {
		if inst, err := instance.Find("", word); err == nil && isDir(inst.Dir) {
			return inst, nil
		}
	}
	return instance.Find(word, "")
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// place is which configuration is meant.
type place struct{ dir, file string }

func (p *place) declare(flags flagSet) {
	dirFlag(flags, &p.dir)
	flags.StringVarP(&p.file, "config", "c", "", "configuration file to read instead of the one in the directory")
}

// where finds the configuration. Unlike a start, which makes what is missing, looking at a directory that is not there
// is a mistake.
func (p place) where() (config.Where, error) {
	if p.dir == "" && p.file != "" {
		return config.Where{File: p.file}, nil
	}
	inst, err := namedInstance(p.dir)
	if err != nil {
		return config.Where{}, err
	}
	return config.Where{Dir: inst.Dir, File: p.file}, there(inst, p.dir)
}

// there makes sure that a bot's directory exists. word is how it was named; the directory that is meant when nothing was
// said may be missing: its bot has not run yet.
func there(inst instance.Instance, word string) error {
	info, err := os.Stat(inst.Dir)
	switch {
	case errors.Is(err, fs.ErrNotExist) && word == "":
		return nil
	case errors.Is(err, fs.ErrNotExist) && !strings.ContainsRune(word, os.PathSeparator):
		return fmt.Errorf("there is no directory %s, and no bot of that id (familiar up --dir %s makes one)", inst.Dir, word)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no directory %s (familiar up --dir %s makes a bot)", inst.Dir, word)
	case err != nil:
		return fmt.Errorf("look at the bot's directory: %w", err)
	case !info.IsDir():
		return fmt.Errorf("%s is not a directory; for a file use --config, where a command takes one", inst.Dir)
	}
	return nil
}

// load reads the configuration as a start would.
func (p place) load() (config.Loaded, error) {
	where, err := p.where()
	if err != nil {
		return config.Loaded{}, err
	}
	return config.Load(where, os.Environ())
}

// look reads the configuration for a command that starts nothing: keys and tokens that are in the environment of the bot
// and not of this shell count as unset.
func (p place) look(cmd *cobra.Command) (config.Loaded, error) {
	where, err := p.where()
	if err != nil {
		return config.Loaded{}, err
	}
	where.Look = true
	loaded, err := config.Load(where, os.Environ())
	if err == nil && len(loaded.Absent) > 0 {
		_, err = fmt.Fprintf(cmd.ErrOrStderr(), "warning: not set in this shell: %s; what the configuration takes from there counts as empty here\n",
			strings.Join(loaded.Absent, ", "))
	}
	return loaded, err
}
