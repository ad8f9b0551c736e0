package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"familiar/internal/control"
)

// sayFlags are the flags of say.
type sayFlags struct {
	reachFlags
	session string
	json    bool
	timeout time.Duration
}

func sayCommand() *cobra.Command {
	var f sayFlags
	cmd := &cobra.Command{
		Use:   "say TEXT",
		Short: "Say something to a running bot as its owner, and print the reply",
		Long: "Say something to a running bot as its owner, and print the reply.\n" +
			"Exit code 0 after a reply, 1 on an error, 3 when the bot answered with silence, 4 when no answer came in time.",
		Example: "  familiar say \"What do you remember about me?\"\n  familiar say --session s_… --json \"And since when?\"",
		Args: func(cmd *cobra.Command, args []string) error {
			if strings.TrimSpace(strings.Join(args, " ")) == "" {
				return wrongUse(cmd, "there is nothing to say: write the text behind it")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return say(cmd, f, strings.Join(args, " ")) },
	}
	f.declare(cmd)
	cmd.Flags().StringVar(&f.session, "session", "", "go on in this session; a new one when left out")
	cmd.Flags().BoolVar(&f.json, "json", false, "print session, status and text as JSON")
	cmd.Flags().DurationVar(&f.timeout, "timeout", 600*time.Second, "how long to wait for the answer")
	return cmd
}

func say(cmd *cobra.Command, f sayFlags, text string) error {
	if f.timeout <= 0 {
		return wrongUse(cmd, "--timeout %s: it must be more than nothing", f.timeout)
	}
	bot, err := f.reach()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), f.timeout)
	defer cancel()
	reply, err := bot.Say(ctx, f.session, text, asked(cmd.ErrOrStderr()))
	if f.json && reply.Session != "" {
		err = errors.Join(err, json.NewEncoder(cmd.OutOrStdout()).Encode(reply))
	} else if err == nil {
		_, err = fmt.Fprintln(cmd.OutOrStdout(), shown(cmd.OutOrStdout(), reply.Text))
	}
	switch {
	case errors.Is(err, control.ErrSilence):
		return exitError{exitSilence}
	case errors.Is(ctx.Err(), context.DeadlineExceeded) && err != nil:
		_, _ = fmt.Fprintf(cmd.ErrOrStderr(), "familiar: no answer within %s; the bot goes on working on it\n", f.timeout)
		return exitError{exitTimeout}
	}
	return err
}
