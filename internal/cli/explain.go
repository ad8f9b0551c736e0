package cli

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"familiar/internal/explanation"
	"familiar/internal/host"
)

func explainCommand() *cobra.Command {
	var at place
	var json bool
	cmd := &cobra.Command{
		Use:   "explain EVENT.json",
		Short: "Say which rule would decide about an event, and what would come of it",
		Long: "Say what the gate of a bot thinks of an event, rule by rule up to the one that decides, and what would\n" +
			"come of it: trust, room, command, session and model. The event is JSON in a file, or - for standard input:\n" +
			"kind (said, edited, recalled, …), platform, channel_id, user_id, username, message_id, is_dm, guild_id,\n" +
			"content, timestamp and attachments, and addressed, is_bot and is_self where they matter. Nothing is changed,\n" +
			"and the bot need not run.",
		Example: `  echo '{"kind":"said","platform":"discord","channel_id":"9","user_id":"7","is_dm":true,"content":"hi"}' | familiar explain -`,
		Args:    takes("EVENT.json"),
		RunE: func(cmd *cobra.Command, args []string) error {
			e, err := explain(cmd, at, args[0])
			if err != nil {
				return err
			}
			if json {
				return asJSON(cmd.OutOrStdout(), e)
			}
			return e.Write(cmd.OutOrStdout())
		},
	}
	at.declare(cmd.Flags())
	cmd.Flags().BoolVar(&json, "json", false, "as JSON")
	return cmd
}

func explain(cmd *cobra.Command, at place, name string) (e explanation.Explanation, err error) {
	from := cmd.InOrStdin()
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return e, fmt.Errorf("read the event: %w", err)
		}
		defer file.Close()
		from = io.Reader(file)
	}
	ev, err := explanation.Read(from)
	if err != nil {
		if name == "-" {
			name = "standard input"
		}
		return e, fmt.Errorf("%s: %w\nsee: %s --help", name, err, cmd.CommandPath())
	}
	loaded, err := at.look(cmd)
	if err != nil {
		return e, err
	}
	inst, err := namedInstance(at.dir)
	if err != nil {
		return e, err
	}
	return host.Explain(cmd.Context(), inst, loaded, ev)
}
