package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"familiar/internal/memory"
	"familiar/internal/workspace"
)

// shownMemory is a memory as the commands tell it.
type shownMemory struct {
	Person         string            `json:"person"`
	ID             string            `json:"id"`
	Enabled        bool              `json:"enabled"`
	Visibility     memory.Visibility `json:"visibility"`
	Importance     memory.Importance `json:"importance"`
	Content        string            `json:"content"`
	CreatedAt      time.Time         `json:"createdAt"`
	LastModifiedAt time.Time         `json:"lastModifiedAt"`
	RelatedTo      []string          `json:"relatedTo"`
	Supersedes     []string          `json:"supersedes"`
}

func shownMemoryOf(of workspace.Home, m memory.Memory) shownMemory {
	return shownMemory{of.Key(), m.ID, m.Enabled, m.Visibility, m.Importance, m.Content, m.At, m.ModifiedAt,
		present(m.RelatedTo), present(m.Supersedes)}
}

func memoryLsCommand(f *memoryFlags) *cobra.Command {
	return &cobra.Command{
		Use:     "ls",
		Short:   "List the people that something is remembered about",
		Example: "  familiar memory ls --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, err := f.open(cmd)
			if err != nil {
				return err
			}
			return r.list(cmd.Context(), cmd.OutOrStdout(), f.json)
		},
	}
}

// listedPerson is a person with what there is of them.
type listedPerson struct {
	Person string       `json:"person"`
	Stats  memory.Stats `json:"memories"`
	Latest *time.Time   `json:"latest"`
}

func (r remembered) list(ctx context.Context, out io.Writer, inJSON bool) error {
	all := []listedPerson{}
	for _, one := range r.people {
		memories, err := r.store.All(ctx, personOf(one), true)
		if err != nil {
			return err
		}
		if len(memories) == 0 {
			continue
		}
		person := listedPerson{Person: one.Key(), Latest: &memories[len(memories)-1].At}
		if person.Stats, err = r.store.Stats(ctx, personOf(one), true); err != nil {
			return err
		}
		all = append(all, person)
	}
	if inJSON {
		return asJSON(out, all)
	}
	if len(all) == 0 {
		_, err := fmt.Fprintln(out, "nothing is remembered yet")
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "PERSON\tPUBLIC\tPRIVATE\tIMPORTANT\tDISABLED\tLATEST") // Flush tells
	for _, p := range all {
		_, _ = fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\t%s\n", shown(out, p.Person), p.Stats.Public.Enabled, p.Stats.Private.Enabled,
			p.Stats.Summary.TotalHighImportance, p.Stats.Summary.TotalDisabled, p.Latest.Local().Format(time.DateTime))
	}
	return table.Flush()
}

func memoryShowCommand(f *memoryFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show PERSON|ID|NOTE.md",
		Short: "Show the memories of a person, one memory, or a note",
		Example: "  familiar memory show discord/12345678901234567 --importance high\n" +
			"  familiar memory show mem_m3x1k2_0a1b2c\n  familiar memory show notes/tea.md",
		Args: takes("PERSON, ID or NOTE.md"),
		RunE: func(cmd *cobra.Command, args []string) error {
			out := cmd.OutOrStdout()
			if strings.HasSuffix(args[0], ".md") {
				return f.note(cmd, args[0])
			}
			if strings.Contains(args[0], "/") {
				f.person = args[0]
			}
			found, err := f.chosen(cmd, args[0])
			if err != nil {
				return err
			}
			if f.json {
				return asJSON(out, present(found))
			}
			return tellMemories(out, found)
		},
	}
	f.period(cmd)
	cmd.Flags().BoolVar(&f.all, "all", false, "those that are no longer used, too")
	return cmd
}

// chosen returns the memories of a person, the oldest first, or the one of an id.
func (f *memoryFlags) chosen(cmd *cobra.Command, name string) (found []shownMemory, err error) {
	q, err := f.query()
	if err != nil {
		return nil, err
	}
	r, err := f.open(cmd)
	if err != nil {
		return nil, err
	}
	one := f.person != name
	for _, home := range r.people {
		all, err := r.store.All(cmd.Context(), personOf(home), true)
		if err != nil {
			return nil, err
		}
		for _, m := range all {
			if one && m.ID == name || !one && (m.Enabled || f.all) && q.Takes(m) {
				found = append(found, shownMemoryOf(home, m))
			}
		}
	}
	if one && len(found) == 0 {
		return nil, fmt.Errorf("there is no memory %q; name a person as platform/ID, a memory by its id, or a note by its path", name)
	}
	return found, nil
}

// tellMemories writes memories for a person to read.
func tellMemories(out io.Writer, all []shownMemory) error {
	if len(all) == 0 {
		_, err := fmt.Fprintln(out, "there is nothing")
		return err
	}
	for i, m := range all {
		if i == 0 || all[i-1].Person != m.Person {
			if _, err := fmt.Fprintf(out, "%s\n", shown(out, m.Person)); err != nil {
				return err
			}
		}
		words := []string{m.CreatedAt.Local().Format(time.DateTime), string(m.Visibility), string(m.Importance)}
		if !m.Enabled {
			words = append(words, "disabled")
		}
		text := strings.ReplaceAll(strings.TrimSpace(shown(out, m.Content)), "\n", "\n    ")
		if _, err := fmt.Fprintf(out, "  %s  %s\n    %s\n", shown(out, m.ID), strings.Join(words, ", "), text); err != nil {
			return err
		}
	}
	return nil
}

// note writes a note of the agents as it is.
func (f *memoryFlags) note(cmd *cobra.Command, name string) error {
	r, err := f.open(cmd)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(r.dir)
	if err == nil {
		defer root.Close()
		var text []byte
		if text, err = root.ReadFile(name); err == nil {
			out := cmd.OutOrStdout()
			_, err = io.WriteString(out, shown(out, string(text)))
			return err
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no note %s in %s", name, r.dir)
	}
	return fmt.Errorf("read the note: %w", err)
}

func memorySearchCommand(f *memoryFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "search WORDS",
		Short: "Search memories and notes",
		Long: "Search memories and notes. Words are taken literally and one of them is enough; of each person the memories that\n" +
			"hold more of them come first, then newer ones. Put a phrase in double quotes within the words.",
		Example: "  familiar memory search \"green tea\" --person web/owner\n  familiar memory search '\"green tea\"' --since 2026-01-01 --json",
		Args: func(cmd *cobra.Command, args []string) error {
			if strings.TrimSpace(strings.Join(args, " ")) == "" {
				return wrongUse(cmd, "there is nothing to search for: write the words behind it")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.search(cmd, strings.Join(args, " "))
		},
	}
	f.period(cmd)
	cmd.Flags().IntVar(&f.limit, "limit", 10, "the most memories of one person, 1 to 100")
	return cmd
}

// foundAll is the answer of a search.
type foundAll struct {
	Memories []shownMemory `json:"memories"`
	Notes    []memory.Note `json:"agentNotes"`
}

func (f *memoryFlags) search(cmd *cobra.Command, words string) error {
	ctx, out := cmd.Context(), cmd.OutOrStdout()
	q, err := f.query()
	if err != nil {
		return err
	}
	if q.Words = words; q.Limit < 1 {
		return misuse{fmt.Errorf("--limit %d: it must be 1 or more", q.Limit)}
	}
	r, err := f.open(cmd)
	if err != nil {
		return err
	}
	all := foundAll{Memories: []shownMemory{}, Notes: []memory.Note{}}
	for _, one := range r.people {
		found, err := r.store.Find(ctx, personOf(one), true, q)
		if err != nil {
			return err
		}
		for _, m := range found {
			all.Memories = append(all.Memories, shownMemoryOf(one, m))
		}
	}
	if f.person == "" && f.importance == "" && q.Since.IsZero() && q.Until.IsZero() {
		notes, err := r.notes.Search(ctx, words, q.Limit)
		if err != nil {
			return err
		}
		all.Notes = slices.Concat(all.Notes, notes)
	}
	if f.json {
		return asJSON(out, all)
	}
	return all.tell(out)
}

func (a foundAll) tell(out io.Writer) error {
	if len(a.Memories) > 0 || len(a.Notes) == 0 {
		if err := tellMemories(out, a.Memories); err != nil {
			return err
		}
	}
	for _, n := range a.Notes {
		if _, err := fmt.Fprintln(out, shown(out, n.Path)); err != nil {
			return err
		}
		for _, l := range n.Lines {
			if _, err := fmt.Fprintf(out, "  %d: %s\n", l.Number, shown(out, l.Text)); err != nil {
				return err
			}
		}
	}
	return nil
}
