package cli

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"familiar/internal/clock"
	"familiar/internal/host"
)

// clockCommand tells when what comes due by itself is due, whether the bot runs or not. It changes nothing.
func clockCommand() *cobra.Command {
	return group(&cobra.Command{
		Use:     "clock",
		Short:   "See when what a bot does by itself is due",
		Example: "  familiar clock ls",
	}, clockLsCommand())
}

func clockLsCommand() *cobra.Command {
	var dir string
	var inJSON bool
	cmd := &cobra.Command{
		Use:   "ls",
		Short: "List the jobs, the next one first",
		Long: "List the jobs that come due by themselves: posts, research, tidying, reminders, backups. FAILURES counts those\n" +
			"in a row up to now. The bot may run or not; the times are those that it knew last.",
		Example: "  familiar clock ls\n  familiar clock ls --json",
		Args:    takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			inst, err := existing(dir)
			if err != nil {
				return err
			}
			all, err := host.Timetable(cmd.Context(), inst)
			if err != nil {
				return err
			}
			if inJSON {
				return asJSON(cmd.OutOrStdout(), present(all))
			}
			return clockTable(cmd.OutOrStdout(), all, time.Now())
		},
	}
	dirFlag(cmd.Flags(), &dir)
	cmd.Flags().BoolVar(&inJSON, "json", false, "as JSON")
	return cmd
}

// dateTimeZone says of which zone a time is: that of this machine, which need not be that of the bot.
const dateTimeZone = "2006-01-02 15:04:05 -07:00"

func clockTable(out io.Writer, all []clock.State, now time.Time) error {
	if len(all) == 0 {
		_, err := fmt.Fprintln(out, "nothing comes due by itself")
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "JOB\tNEXT\tLAST\tOUTCOME\tFAILURES") // Flush tells
	for _, s := range all {
		next, last, outcome := s.Next.Local().Format(dateTimeZone), "never", string(s.Outcome)
		if !s.Next.After(now) {
			next = "due"
		}
		if !s.Last.IsZero() {
			last = s.Last.Local().Format(dateTimeZone)
		}
		if s.Running {
			outcome = "running"
		}
		if outcome == "" {
			outcome = "-"
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%d\n", shown(out, s.Name), next, last, outcome, s.Misses)
	}
	return table.Flush()
}
