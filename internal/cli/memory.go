package cli

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"familiar/internal/chat"
	"familiar/internal/config"
	"familiar/internal/memory"
	"familiar/internal/workspace"
)

// memoryCommand looks at what a bot remembers, running or not. It reads the files and changes nothing.
func memoryCommand() *cobra.Command {
	var f memoryFlags
	cmd := &cobra.Command{
		Use:   "memory",
		Short: "Look at what a bot remembers about people",
		Long: "Look at what a bot remembers about people, and at the notes of its agents. The bot may run or not.\n" +
			"What was said in private is among it: whoever can read the bot's directory can read all of it.",
		Example: "  familiar memory ls\n  familiar memory show web/owner\n  familiar memory search --since 2026-01-01 \"green tea\"",
	}
	flags := cmd.PersistentFlags()
	dirFlag(flags, &f.dir)
	flags.StringVar(&f.person, "person", "", "only of this person: platform/ID")
	flags.BoolVar(&f.json, "json", false, "as JSON")
	return group(cmd, memoryLsCommand(&f), memoryShowCommand(&f), memorySearchCommand(&f))
}

// memoryFlags say whose memories are meant, and which.
type memoryFlags struct {
	dir, person              string
	since, until, importance string
	limit                    int
	all, json                bool
}

// period declares the flags that choose among memories.
func (f *memoryFlags) period(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.since, "since", "", "only what was saved on that day or later, as in 2026-01-31")
	cmd.Flags().StringVar(&f.until, "until", "", "only what was saved on that day or earlier")
	cmd.Flags().StringVar(&f.importance, "importance", "", "only of this importance: high or normal")
}

// query is what the flags choose.
func (f *memoryFlags) query() (q memory.Query, err error) {
	if q.Since, q.Until, err = memory.Period(f.since, f.until, time.Local); err != nil {
		return q, misuse{fmt.Errorf("--%s", strings.TrimPrefix(err.Error(), memory.ErrInvalid.Error()+": "))}
	}
	q.Importance, q.Limit = memory.Importance(f.importance), f.limit
	if i := q.Importance; i != "" && i != memory.High && i != memory.Normal {
		return q, misuse{fmt.Errorf("--importance %q: it is high or normal", f.importance)}
	}
	return q, nil
}

// remembered is what a bot remembers.
type remembered struct {
	people []workspace.Home // those that are meant
	store  *memory.Store
	notes  *memory.Notes
	dir    string // of the notes
}

// open finds the files of a bot.
func (f *memoryFlags) open(cmd *cobra.Command) (remembered, error) {
	loaded, err := place{dir: f.dir}.look(cmd)
	if err != nil {
		return remembered{}, err
	}
	return f.files(loaded)
}

func (f *memoryFlags) files(loaded config.Loaded) (r remembered, err error) {
	cfg := loaded.Config
	people, notes, err := workspace.Look(loaded.Path(cfg.Workspace.RepoPath), cfg.Workspace.WorkspacesDir)
	if err != nil {
		return r, err
	}
	for _, one := range people {
		if f.person == "" || one.Key() == f.person {
			r.people = append(r.people, one)
		}
	}
	if f.person != "" && len(r.people) == 0 {
		return r, fmt.Errorf("nothing is remembered about %s; see: familiar memory ls", f.person)
	}
	at := make(map[chat.Person]string, len(people))
	for _, one := range people {
		at[personOf(one)] = one.Dir
	}
	r.dir, r.notes = notes, memory.OpenNotes(cfg.Memory, notes)
	look := cfg.Memory
	look.MaxChars = 1 << 20 // nobody pays for what a person reads
	r.store = memory.Look(look, func(platform, user string) (string, error) {
		if dir, ok := at[chat.Person{Platform: platform, ID: user}]; ok {
			return dir, nil
		}
		return "", errors.New("there is no such person")
	}, slog.New(slog.DiscardHandler))
	return r, nil
}

func personOf(home workspace.Home) chat.Person {
	return chat.Person{Platform: home.Platform, ID: home.User}
}
