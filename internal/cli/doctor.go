package cli

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"familiar/internal/config"
	"familiar/internal/doctor"
	"familiar/internal/host"
	"familiar/internal/instance"
	"familiar/internal/secret"
)

func doctorCommand() *cobra.Command {
	var dir string
	var json bool
	cmd := &cobra.Command{
		Use:   "doctor [ID]",
		Short: "Look whether a bot is well, and say what to do where it is not",
		Long: "Look at a bot, running or not: its files, its configuration, its ports, its agent, what waits and what is lost.\n" +
			"Nothing is changed, and no model is asked to answer. The exit code is 0 when nothing failed, and else 1.",
		Example: "  familiar doctor\n  familiar doctor --dir ./my-bot --json",
		Args:    takes("[ID]"),
		RunE: func(cmd *cobra.Command, args []string) error {
			inst, err := existing(dir, args...)
			if err != nil {
				return err
			}
			return examine(cmd, inst, json)
		},
	}
	dirFlag(cmd.Flags(), &dir)
	cmd.Flags().BoolVar(&json, "json", false, "as JSON")
	return cmd
}

func examine(cmd *cobra.Command, inst instance.Instance, json bool) (err error) {
	p := host.Patient{Instance: inst, Vault: &secret.Vault{}}
	p.Loaded, p.Fault = config.Load(config.Where{Dir: inst.Dir, Look: true}, os.Environ())
	p.Vault.Know(p.Loaded.Secrets...)
	if token, err := inst.ReadToken(); err == nil {
		p.Vault.Know(token)
	}
	report := host.Examine(cmd.Context(), p)
	if json {
		err = asJSON(cmd.OutOrStdout(), report)
	} else {
		err = tellHealth(cmd.OutOrStdout(), report)
	}
	if err == nil && !report.Healthy() {
		err = exitError{exitFailed}
	}
	return err
}

// tellHealth writes a report for a person: a line for each thing, and below it what to do.
func tellHealth(to io.Writer, r doctor.Report) error {
	count := map[doctor.Status]int{}
	for _, l := range r.Lines {
		count[l.Status]++
		if _, err := fmt.Fprintf(to, "%-4s  %-13s  %s\n", l.Status, l.Check, shown(to, l.Say)); err != nil {
			return err
		}
		if l.Next == "" {
			continue
		}
		if _, err := fmt.Fprintf(to, "%21s→ %s\n", "", shown(to, l.Next)); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(to, "\n%d ok, %d to look at, %d failed\n", count[doctor.OK], count[doctor.Warn], count[doctor.Fail])
	return err
}
