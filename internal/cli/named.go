package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"unicode"

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
	switch {
	case word == "":
		return instance.Find("", instance.DefaultID)
	case word == "~" || strings.HasPrefix(word, "~/"): // as in --dir=~/bots, where most shells leave it alone
		return instance.Instance{}, misuse{fmt.Errorf("--dir %s: the shell left the ~ as it is; write --dir %s, without =", word, word)}
	}
	if _, err := os.Stat(word); err != nil && !strings.ContainsRune(word, os.PathSeparator) {
		if inst, err := instance.Find("", word); err == nil && isDir(inst.Dir) {
			return inst, nil
		}
	}
	return instance.Find(word, "")
}

// existing finds a bot for a command that needs one. It is named by dir, or by an id that stood as an argument. Where
// neither is given its directory may be missing: the bot has not run yet.
func existing(dir string, id ...string) (inst instance.Instance, err error) {
	word := dir
	switch {
	case len(id) == 0:
		inst, err = namedInstance(dir)
	case dir != "":
		err = misuse{errors.New("name the bot by its id or by --dir, not by both")}
	default:
		word = id[0]
		inst, err = instance.Find("", word)
	}
	if err != nil {
		return inst, err
	}
	info, err := os.Stat(inst.Dir)
	switch {
	case errors.Is(err, fs.ErrNotExist) && word == "":
		return inst, nil
	case errors.Is(err, fs.ErrNotExist) && !strings.ContainsRune(word, os.PathSeparator):
		return inst, fmt.Errorf("there is no directory %s, and no bot of that id (%s makes one)", inst.Dir, upFor(dir, inst))
	case errors.Is(err, fs.ErrNotExist):
		return inst, fmt.Errorf("there is no directory %s (%s makes a bot)", inst.Dir, upFor(dir, inst))
	case err != nil:
		return inst, fmt.Errorf("look at the bot's directory: %w", err)
	case !info.IsDir():
		return inst, fmt.Errorf("%s is not a directory; for a file use --config, where a command takes one", inst.Dir)
	}
	return inst, nil
}

// upFor is what starts a bot that dir names, or that has been found otherwise.
func upFor(dir string, inst instance.Instance) string {
	if root, err := instance.Find("", instance.DefaultID); err == nil && root == inst {
		return "familiar up"
	}
	if dir == "" {
		dir = inst.Dir
	}
	return "familiar up --dir " + quoted(dir)
}

// quoted is a word as a shell takes it.
func quoted(word string) string {
	odd := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("/._-", r)
	}
	if !strings.ContainsFunc(word, odd) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
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
	inst, err := existing(p.dir)
	return config.Where{Dir: inst.Dir, File: p.file}, err
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
