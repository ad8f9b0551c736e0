package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

func openCommand() *cobra.Command {
	var f reachFlags
	var printed bool
	cmd := &cobra.Command{
		Use:   "open [ID]",
		Short: "Open the page of a running bot in a browser",
		Long: "Make a link that lets one browser in, once, within five minutes, and open it.\n" +
			"Whoever has the link is the owner: give it to nobody. ID names a bot below the root of instances.",
		Example: "  familiar open\n  familiar open --print",
		Args:    takes("[ID]"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.id = args
			bot, err := f.reach()
			if err != nil {
				return err
			}
			link, err := bot.Link(cmd.Context())
			if err != nil {
				return err
			}
			if !printed {
				if err := browse(cmd.Context(), link); err == nil {
					return nil
				}
				_, _ = fmt.Fprintln(cmd.ErrOrStderr(), "no browser could be opened here; open this link yourself:")
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), link)
			return err
		},
	}
	f.declare(cmd)
	cmd.Flags().BoolVar(&printed, "print", false, "print the link instead of opening it")
	return cmd
}
