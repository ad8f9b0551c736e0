package cli

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"familiar/internal/config"
)

// configCommand looks at the configuration of a bot. It starts nothing and changes nothing.
func configCommand() *cobra.Command {
	var at place
	cmd := &cobra.Command{
		Use:     "config",
		Short:   "Check and show the configuration of a bot",
		Example: "  familiar config check --dir ~/.familiar/instances/familiar\n  familiar config show --config conf/prod.yaml",
	}
	flags := cmd.PersistentFlags()
	at.declare(flags)
	return group(cmd, configCheckCommand(&at), configShowCommand(&at), configSchemaCommand())
}

func configCheckCommand(at *place) *cobra.Command {
	return &cobra.Command{
		Use:     "check",
		Short:   "Say what is wrong, with file, line and column",
		Example: "  familiar config check --dir ~/.familiar/instances/familiar",
		Args:    takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			loaded, err := at.load()
			if err != nil {
				return tell(cmd, err)
			}
			for _, w := range loaded.Warnings {
				if _, err := fmt.Fprintf(cmd.ErrOrStderr(), "warning: %s\n", w); err != nil {
					return err
				}
			}
			verdict := "the configuration is good"
			if n := len(loaded.Warnings); n > 0 {
				verdict = fmt.Sprintf("the configuration can be used; warnings above: %d", n)
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), verdict)
			return err
		},
	}
}

func configShowCommand(at *place) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "show",
		Short:   "Show what is in effect and where each value came from, secrets masked",
		Example: "  familiar config show --dir ~/.familiar/instances/familiar",
		Args:    takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			loaded, err := at.look(cmd)
			if err != nil {
				return tell(cmd, err)
			}
			if !asJSON {
				return loaded.Show(cmd.OutOrStdout())
			}
			out := json.NewEncoder(cmd.OutOrStdout())
			out.SetIndent("", "  ")
			return out.Encode(loaded.Settings())
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as a JSON list of path, value and origin")
	return cmd
}

func configSchemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "schema",
		Short:   "Print the JSON Schema of a configuration file, for editors",
		Example: "  familiar config schema > familiar.schema.json",
		Args:    takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			schema, err := config.Schema()
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\n", schema)
			return err
		},
	}
}

// tell writes each problem of a configuration on a line of its own, ready for an editor to jump to. Any other error
// goes to the root, which tells it.
func tell(cmd *cobra.Command, err error) error {
	var problems config.Problems
	if !errors.As(err, &problems) {
		return err
	}
	if _, err := fmt.Fprintln(cmd.ErrOrStderr(), problems.Error()); err != nil {
		return err
	}
	return exitError{exitFailed}
}
