package cli

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"familiar/internal/host"
	"familiar/internal/skillstore"
	"familiar/internal/terminal"
)

// skillsCommand decides on the skills of other people that a bot keeps, running or not.
func skillsCommand() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "skills",
		Short: "Decide on the skills of other people",
		Long: "Decide on the skills that a bot takes from other people (agent.externalSkills). What was first fetched is pinned;\n" +
			"when it changes, agents read the older one until you let the new one in. The bot may run or not; it reads\n" +
			"what you decided when it starts.",
		Example: "  familiar skills ls\n  familiar skills show agent-browser\n  familiar skills admit agent-browser 1f6c0a77d2b1",
	}
	dirFlag(cmd.PersistentFlags(), &dir)
	store := func() (*skillstore.Store, error) { return openSkills(dir) }
	return group(cmd, skillsLs(store), skillsShow(store),
		skillsDecide(store, "admit", "Let what waits in", "agents read it from the next start of the bot on", (*skillstore.Store).Admit),
		skillsDecide(store, "reject", "Drop what waits", "it is not offered again", (*skillstore.Store).Reject))
}

// openSkills finds the skills of a bot, by its directory or id.
func openSkills(dir string) (*skillstore.Store, error) {
	inst, err := existing(dir)
	if err != nil {
		return nil, err
	}
	return skillstore.Open(host.ExternalSkills(inst), time.Now), nil
}

type openStore func() (*skillstore.Store, error)

// shortHash is how much of a hash names what somebody has seen.
const shortHash = 12

func skillsLs(open openStore) *cobra.Command {
	var json bool
	cmd := &cobra.Command{
		Use: "ls", Short: "List what is kept, and what waits", Example: "  familiar skills ls", Args: takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			store, err := open()
			if err != nil {
				return err
			}
			list, err := store.List()
			if err != nil {
				return err
			}
			if json {
				return asJSON(cmd.OutOrStdout(), list)
			}
			return writeKept(cmd.OutOrStdout(), list)
		},
	}
	cmd.Flags().BoolVar(&json, "json", false, "as JSON")
	return cmd
}

func writeKept(out io.Writer, list []skillstore.Kept) error {
	var b strings.Builder
	for _, k := range list {
		fmt.Fprintf(&b, "%s  %s  pinned %s as %s\n", terminal.Flat(k.Name), terminal.Flat(k.Repo), k.At.Local().Format(time.DateTime), abbreviated(k.Hash))
		if k.Waiting != "" {
			fmt.Fprintf(&b, "  waits since %s: %s of %s; see: familiar skills show %s\n", k.Since.Local().Format(time.DateTime),
				abbreviated(k.Waiting), terminal.Flat(k.From), terminal.Flat(k.Name))
		}
	}
	if len(list) == 0 {
		b.WriteString("no skills of other people are kept\n")
	}
	_, err := io.WriteString(out, b.String())
	return err
}

func abbreviated(hash string) string { return terminal.Flat(hash[:min(shortHash, len(hash))]) }

func skillsShow(open openStore) *cobra.Command {
	return &cobra.Command{
		Use: "show NAME", Short: "Show what the one that waits would change", Example: "  familiar skills show agent-browser", Args: takes("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			store, err := open()
			if err != nil {
				return err
			}
			changes, hash, err := store.Changes(args[0])
			if err != nil {
				return err
			}
			var b strings.Builder
			for _, c := range changes {
				writeChange(&b, c)
			}
			fmt.Fprintf(&b, "\nto let it in:  familiar skills admit %s %s\nto drop it:    familiar skills reject %s %s\n",
				args[0], abbreviated(hash), args[0], abbreviated(hash))
			_, err = io.WriteString(cmd.OutOrStdout(), b.String())
			return err
		},
	}
}

// writeChange writes the lines that go and those that come; what both have at their ends is left out.
func writeChange(b *strings.Builder, c skillstore.Change) {
	what := "changes"
	switch {
	case c.Old == nil:
		what = "is new"
	case c.New == nil:
		what = "goes"
	}
	if c.Runs {
		what += ", and can be run"
	}
	fmt.Fprintf(b, "%s %s\n", terminal.Flat(filepath.ToSlash(c.Path)), what)
	if !c.Text() {
		fmt.Fprintf(b, "  it is no text: %d bytes, before it was %d\n", len(c.New), len(c.Old))
		return
	}
	old, fresh := bytes.Split(c.Old, []byte("\n")), bytes.Split(c.New, []byte("\n"))
	for len(old) > 0 && len(fresh) > 0 && bytes.Equal(old[0], fresh[0]) {
		old, fresh = old[1:], fresh[1:]
	}
	for len(old) > 0 && len(fresh) > 0 && bytes.Equal(old[len(old)-1], fresh[len(fresh)-1]) {
		old, fresh = old[:len(old)-1], fresh[:len(fresh)-1]
	}
	for _, line := range old {
		b.WriteString("- " + terminal.Clean(string(line)) + "\n")
	}
	for _, line := range fresh {
		b.WriteString("+ " + terminal.Clean(string(line)) + "\n")
	}
}

func skillsDecide(open openStore, word, short, done string, decide func(*skillstore.Store, string, string) error) *cobra.Command {
	return &cobra.Command{
		Use: word + " NAME HASH", Short: short, Example: "  familiar skills " + word + " agent-browser 1f6c0a77d2b1",
		Long: short + ". HASH is what «familiar skills show NAME» names, so that you decide on what you have seen.", Args: takes("NAME", "HASH"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args[1]) < shortHash {
				return misuse{fmt.Errorf("%q is too short for a hash; see: familiar skills show %s", args[1], args[0])}
			}
			store, err := open()
			if err == nil {
				err = decide(store, args[0], args[1])
			}
			if err == nil {
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", args[0], done)
			}
			return err
		},
	}
}
