// Package cli is the command line: flags in, a call, words out. It decides nothing about a bot.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

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
		Version:       versionOf() + " " + builtFor(),
		Short:         "AI agents that live in your chats",
		Example:       "  familiar up\n  familiar say \"What did I ask you to remember?\"",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.SetFlagErrorFunc(wrongFlag)
	root.SetHelpCommand(helpCommand())
	return group(root, upCommand(), openCommand(), sayCommand(), chatCommand(), agentCommand(), configCommand(), auditCommand(),
		memoryCommand(), notesCommand(), clockCommand(), doctorCommand(), explainCommand(), skillCommand(), skillsCommand(),
		completionCommand(), versionCommand())
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
