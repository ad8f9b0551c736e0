package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"familiar/internal/audit"
	"familiar/internal/terminal"
)

// auditCommand reads what a bot recorded, running or not. It changes nothing.
func auditCommand() *cobra.Command {
	var f auditFlags
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Read the record of what a bot heard, judged and did",
		Long: "Read the record that a bot keeps while audit.enabled is on. What people said is not in it,\n" +
			"unless audit.hashContent is off.",
		Example: "  familiar audit ls --since 24h\n  familiar audit show sess_m3x0a1b2_00112233445566778899aabbccddeeff\n  familiar audit show refused",
	}
	flags := cmd.PersistentFlags()
	dirFlag(flags, &f.at.dir)
	flags.StringVar(&f.person, "person", "", "only of this person: platform/ID, or the ID alone")
	flags.StringVar(&f.since, "since", "", "only from then on: 90m, 24h, 7d, or a day such as 2026-01-31")
	flags.BoolVar(&f.json, "json", false, "as JSON")
	return group(cmd, auditLsCommand(&f), auditShowCommand(&f))
}

// auditFlags say which records are meant.
type auditFlags struct {
	at            place
	person, since string
	json          bool
}

// records is where they lie, and which of them are meant.
func (f *auditFlags) records(cmd *cobra.Command, now time.Time) (dir string, kept bool, want audit.Wanted, err error) {
	want.Person = f.person
	if want.Since, err = since(f.since, now); err != nil {
		return "", false, want, misuse{err}
	}
	loaded, err := f.at.look(cmd)
	if err != nil {
		return "", false, want, err
	}
	cfg := loaded.Config
	return filepath.Join(loaded.Path(cfg.Workspace.RepoPath), audit.Folder), cfg.Audit.Enabled, want, nil
}

var days = regexp.MustCompile(`^(\d{1,5})d$`)

// since reads how long ago, or which day.
func since(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if m := days.FindStringSubmatch(text); m != nil {
		n, err := strconv.Atoi(m[1])
		return now.AddDate(0, 0, -n), err
	}
	if ago, err := time.ParseDuration(text); err == nil && ago >= 0 {
		return now.Add(-ago), nil
	}
	if day, err := time.ParseInLocation("2006-01-02", text, time.Local); err == nil {
		return day, nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	return time.Time{}, fmt.Errorf("--since %q: write 90m, 24h, 7d, or a day such as 2026-01-31", text)
}

// notRecorded says why there is nothing to read.
const notRecorded = "nothing is recorded: audit.enabled is off; set it to true and start the bot again"

func auditLsCommand(f *auditFlags) *cobra.Command {
	return &cobra.Command{
		Use:     "ls",
		Short:   "List the sessions that are recorded, the newest last",
		Example: "  familiar audit ls --person discord/12345678901234567 --since 7d",
		Args:    takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, kept, want, err := f.records(cmd, time.Now())
			if err != nil {
				return err
			}
			found, err := audit.List(dir, want)
			refused, other := audit.Refusals(dir, want)
			if err = errors.Join(err, other); err != nil {
				err = fmt.Errorf("read the audit: %w", err)
			}
			if f.json {
				return errors.Join(err, asJSON(cmd.OutOrStdout(), present(found)))
			}
			if len(found)+len(refused) == 0 && !kept {
				_, _ = fmt.Fprintln(cmd.ErrOrStderr(), notRecorded)
			}
			return errors.Join(err, auditTable(cmd.OutOrStdout(), found, len(refused)))
		},
	}
}

// present is never null in JSON.
func present[T any](all []T) []T {
	if all == nil {
		return []T{}
	}
	return all
}

func asJSON[T any](out io.Writer, value T) error {
	enc := json.NewEncoder(out)
	enc.SetIndent("", "  ")
	return enc.Encode(value)
}

func auditTable(out io.Writer, found []audit.Record, refused int) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	if len(found) > 0 {
		_, _ = fmt.Fprintln(table, "BEGAN\tTOOK\tPERSON\tCALLS\tREPLIES\tOUTCOME\tSESSION")
	}
	for _, r := range found {
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%d\t%s\t%s\n", r.Began.Local().Format("2006-01-02 15:04:05"),
			time.Duration(r.Took)*time.Millisecond, shown(out, r.Person), r.Calls, r.Replies, outcome(r), shown(out, r.Session))
	}
	err := table.Flush()
	if refused > 0 && err == nil {
		_, err = fmt.Fprintf(out, "turned away: %d (familiar audit show refused)\n", refused)
	}
	return err
}

// outcome is one word for what a session came to.
func outcome(r audit.Record) string {
	switch {
	case !r.Ended:
		return "open"
	case !r.Success:
		return "failed"
	}
	return "done"
}

func auditShowCommand(f *auditFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "show SESSION|refused",
		Short: "Tell what happened in a session, or who was turned away",
		Long: "Tell in order what happened in a session. The beginning or the end of its name is enough.\n" +
			"«refused» tells which events were turned away, and by which rule.",
		Example: "  familiar audit show sess_m3x0a1b2_00112233445566778899aabbccddeeff\n  familiar audit show refused --since 24h",
		Args:    takes("SESSION"),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, kept, want, err := f.records(cmd, time.Now())
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			if args[0] == "refused" {
				return showRefused(cmd, dir, kept, want, f.json)
			}
			record, err := audit.Find(dir, args[0])
			if errors.Is(err, audit.ErrNoRecord) && !kept {
				return fmt.Errorf("%w; audit.enabled is off, so nothing is recorded", err)
			}
			if err != nil {
				return fmt.Errorf("%w\nsee: familiar audit ls", err)
			}
			if f.json {
				return asJSON(out, present(record.Lines))
			}
			return showSentences(out, record.Retell(), record.Began)
		},
	}
}

func showRefused(cmd *cobra.Command, dir string, kept bool, want audit.Wanted, json bool) error {
	out := cmd.OutOrStdout()
	all, err := audit.Refusals(dir, want)
	if err != nil {
		return fmt.Errorf("read the refusals: %w", err)
	}
	if json {
		return asJSON(out, present(all))
	}
	if len(all) == 0 && !kept {
		_, err = fmt.Fprintln(cmd.ErrOrStderr(), notRecorded)
		return err
	}
	if len(all) == 0 {
		_, err = fmt.Fprintln(out, "nobody was turned away")
		return err
	}
	told := make([]audit.Sentence, len(all))
	for i, r := range all {
		told[i] = r.Retell()
	}
	return showSentences(out, told, time.Time{})
}

// showSentences writes each sentence on a line, with the day where it changes and, for a session, the time since it
// began.
func showSentences(out io.Writer, told []audit.Sentence, began time.Time) error {
	paint := painter(out)
	day := ""
	for _, s := range told {
		at := s.At.Local()
		if today := at.Format("2006-01-02"); today != day {
			day = today
			if _, err := fmt.Fprintln(out, paint(terminal.Bold, day)); err != nil {
				return err
			}
		}
		stamp := at.Format("15:04:05.000")
		if !began.IsZero() {
			stamp += fmt.Sprintf(" %+8.3f s", max(0, s.At.Sub(began)).Seconds())
		}
		if _, err := fmt.Fprintf(out, "%s  %s\n", paint(terminal.Faint, stamp), paint(styles[s.Mood], shown(out, s.Text))); err != nil {
			return err
		}
	}
	return nil
}

var styles = map[audit.Mood]terminal.Style{audit.Good: terminal.Green, audit.Bad: terminal.Red, audit.Quiet: terminal.Faint}

// painter paints on a terminal whose owner wants colours.
func painter(out io.Writer) func(terminal.Style, string) string {
	f, ok := out.(*os.File)
	if !ok || !terminal.IsTerminal(f) || os.Getenv("NO_COLOR") != "" {
		return func(_ terminal.Style, text string) string { return text }
	}
	return terminal.Style.Paint
}
