package cli

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"familiar/internal/note"
	"familiar/internal/terminal"
	"familiar/internal/workspace"
)

// notesCommand looks at the notes that wait for their owner, and lets them in or throws them away, whether the bot runs
// or not.
func notesCommand() *cobra.Command {
	var f notesFlags
	cmd := &cobra.Command{
		Use:   "notes",
		Short: "Look at notes that wait to be let in",
		Long: "A bot that reads the internet by itself (companion.selfResearch) writes notes about it. What it read there\n" +
			"may have been written by anybody, so the notes wait here until you let them in: before that, no conversation\n" +
			"can see them. A note is named by its file or by its session; a beginning of the session is enough.",
		Example: "  familiar notes ls\n  familiar notes show tea-in-japan\n  familiar notes admit tea-in-japan\n  familiar notes reject tea-in-japan",
	}
	flags := cmd.PersistentFlags()
	dirFlag(flags, &f.dir)
	flags.BoolVar(&f.json, "json", false, "as JSON")
	return group(cmd, notesLsCommand(&f), notesShowCommand(&f), notesAdmitCommand(&f), notesRejectCommand(&f))
}

type notesFlags struct {
	dir  string
	json bool
}

// open finds the notes of a bot.
func (f *notesFlags) open(cmd *cobra.Command) (*note.Notes, error) {
	loaded, err := place{dir: f.dir}.look(cmd)
	if err != nil {
		return nil, err
	}
	data := loaded.Path(loaded.Config.Workspace.RepoPath)
	_, notes, err := workspace.Look(data, loaded.Config.Workspace.WorkspacesDir)
	if err != nil {
		return nil, err
	}
	return note.Open(notes, data, time.Now, slog.New(slog.DiscardHandler)), nil
}

// find returns the draft that somebody named.
func (f *notesFlags) find(cmd *cobra.Command, word string) (*note.Notes, note.Draft, error) {
	notes, err := f.open(cmd)
	if err != nil {
		return nil, note.Draft{}, err
	}
	d, err := notes.Find(word)
	if errors.Is(err, note.ErrUnknown) || errors.Is(err, note.ErrMany) {
		err = fmt.Errorf("%w\nsee: familiar notes ls", err)
	}
	return notes, d, err
}

func notesLsCommand(f *notesFlags) *cobra.Command {
	return &cobra.Command{
		Use:     "ls",
		Short:   "List the notes that wait, the oldest first",
		Example: "  familiar notes ls --json",
		Args:    takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			notes, err := f.open(cmd)
			if err != nil {
				return err
			}
			all, err := notes.Waiting()
			out := cmd.OutOrStdout()
			if f.json {
				return errors.Join(err, asJSON(out, present(all)))
			}
			if len(all) == 0 && err == nil {
				_, err = fmt.Fprintln(out, "no note waits")
				return err
			}
			return errors.Join(err, notesTable(out, all))
		},
	}
}

func notesTable(out io.Writer, all []note.Draft) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "NOTE\tWRITTEN\tFILES\tSOURCES\tSESSION") // Flush tells
	for _, d := range all {
		_, _ = fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%s\n", shown(out, d.Name()), d.At.Local().Format(time.DateTime), len(d.Files), len(d.Sources),
			shown(out, d.Session))
	}
	return table.Flush()
}

func notesShowCommand(f *notesFlags) *cobra.Command {
	return &cobra.Command{
		Use:     "show NOTE",
		Short:   "Show a note that waits, and what its session had read",
		Example: "  familiar notes show tea-in-japan",
		Args:    takes("NOTE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, d, err := f.find(cmd, args[0])
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			if f.json {
				return asJSON(out, d)
			}
			return showDraft(out, d)
		},
	}
}

func showDraft(out io.Writer, d note.Draft) error {
	paint := painter(out)
	var b strings.Builder
	fmt.Fprintf(&b, "session  %s\nwritten  %s\n", d.Session, d.At.Local().Format(time.DateTime))
	for i, source := range d.Sources {
		head := "read     "
		if i > 0 {
			head = "         "
		}
		b.WriteString(head + source + "\n")
	}
	if len(d.Sources) == 0 {
		b.WriteString("read     nothing that was recorded\n")
	}
	if _, err := io.WriteString(out, shown(out, b.String())); err != nil {
		return err
	}
	for _, file := range d.Files {
		what := ""
		if file.Adds {
			what = " (these lines are added)"
		}
		_, err := fmt.Fprintf(out, "\n%s%s\n\n%s\n", paint(terminal.Bold, shown(out, file.Path)), what, shown(out, file.Text))
		if err != nil {
			return err
		}
	}
	return nil
}

func notesAdmitCommand(f *notesFlags) *cobra.Command {
	return &cobra.Command{
		Use:     "admit NOTE",
		Short:   "Let a note in: from then on every conversation may read it",
		Example: "  familiar notes admit tea-in-japan",
		Args:    takes("NOTE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			notes, d, err := f.find(cmd, args[0])
			if err != nil {
				return err
			}
			if d, err = notes.Admit(d.Session, true); err != nil {
				return err
			}
			if f.json {
				return asJSON(cmd.OutOrStdout(), d)
			}
			for _, file := range d.Files {
				if _, err := fmt.Fprintf(cmd.OutOrStdout(), "let in: %s\n", shown(cmd.OutOrStdout(), file.Path)); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func notesRejectCommand(f *notesFlags) *cobra.Command {
	return &cobra.Command{
		Use:     "reject NOTE",
		Short:   "Throw a note away for good",
		Example: "  familiar notes reject tea-in-japan",
		Args:    takes("NOTE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			notes, d, err := f.find(cmd, args[0])
			if err != nil {
				return err
			}
			if err := notes.Reject(d.Session); err != nil {
				return err
			}
			if f.json {
				return asJSON(cmd.OutOrStdout(), d)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "thrown away: %s\n", shown(cmd.OutOrStdout(), d.Name()))
			return err
		},
	}
}
