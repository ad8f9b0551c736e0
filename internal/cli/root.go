// Package cli is the command line: flags in, a call, words out. It decides nothing about a bot.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// The exit codes. 0 is done.
const (
	exitFailed  = 1
	exitUsage   = 2
	exitSilence = 3   // say: the bot answered with silence
	exitTimeout = 4   // say: no answer in time
	exitAtOnce  = 130 // up: a second interrupt
)

// Main runs the program with the arguments that follow its name, and returns the exit code.
func Main(args []string, in io.Reader, out, errs io.Writer) int {
	root := rootCommand()
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errs)
	return exitCode(root.ExecuteContext(context.Background()), errs)
}

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "familiar",
		Version:       versionOf(),
		Short:         "AI agents that live in your chats",
		Example:       "  familiar up\n  familiar say \"What did I ask you to remember?\"",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return misuse{fmt.Errorf("there is no command %q%s\nsee: familiar --help", args[0], didYouMean(cmd.SuggestionsFor(args[0])))}
		},
	}
	root.SuggestionsMinimumDistance = 2
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return misuse{fmt.Errorf("%w\nsee: %s --help", err, cmd.CommandPath())}
	})
	root.AddCommand(upCommand(), openCommand(), sayCommand(), chatCommand(), agentCommand(), configCommand(), auditCommand(), memoryCommand(), notesCommand(), clockCommand(), doctorCommand(), explainCommand(), skillCommand(), skillsCommand(), versionCommand())
	for _, cmd := range root.Commands() {
		usage(cmd)
	}
	return root
}

// misuse is a mistake in how the program was called.
type misuse struct{ error }

func (m misuse) Unwrap() error { return m.error }

func didYouMean(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(names, " or ") + "?"
}

// usage makes wrong arguments a misuse.
func usage(cmd *cobra.Command) {
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if err := check(cmd, args); err != nil {
				return misuse{fmt.Errorf("%w\nsee: %s --help", err, cmd.CommandPath())}
			}
			return nil
		}
	}
}

// exitCode says what went wrong, unless that was said, and returns the code.
func exitCode(err error, errs io.Writer) int {
	var told exitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &told):
		return told.code
	}
	_, _ = fmt.Fprintf(errs, "familiar: %s\n", shown(errs, err.Error()))
	var wrong misuse
	if errors.As(err, &wrong) {
		return exitUsage
	}
	return exitFailed
}
