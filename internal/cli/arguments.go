package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// misuse is a mistake in how the program was called.
type misuse struct{ error }

func (m misuse) Unwrap() error { return m.error }

// wrongUse is a misuse of a command that points to its help.
func wrongUse(cmd *cobra.Command, format string, args ...any) error {
	return misuse{fmt.Errorf(format+"\nsee: %s --help", append(args, cmd.CommandPath())...)}
}

// takes makes a command take these arguments and no others, each named as in its line of use. One in square brackets, the
// last, may be left out.
func takes(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names) && !strings.HasPrefix(names[len(args)], "["):
			return wrongUse(cmd, "%s is missing: %s", names[len(args)], cmd.UseLine())
		case len(args) <= len(names):
			return nil
		case len(names) == 0 && cmd.Flag("dir") != nil:
			return wrongUse(cmd, "%q is one word too many; a bot is named by --dir", args[0])
		}
		return wrongUse(cmd, "%q is one word too many", args[len(names)])
	}
}

// group makes a command one that only holds others.
func group(cmd *cobra.Command, subs ...*cobra.Command) *cobra.Command {
	cmd.Args = cobra.ArbitraryArgs
	cmd.SuggestionsMinimumDistance = 2
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		return wrongUse(cmd, "there is no command %q%s", cmd.CommandPath()+" "+args[0], didYouMean(cmd.SuggestionsFor(args[0])))
	}
	cmd.AddCommand(subs...)
	return cmd
}

func didYouMean(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(names, " or ") + "?"
}

// wrongFlag says in plain words what is wrong with a flag.
func wrongFlag(cmd *cobra.Command, err error) error {
	var value interface {
		error
		GetValue() string
	}
	if !errors.As(err, &value) {
		return wrongUse(cmd, "%w", err)
	}
	_, name, _ := strings.Cut(strings.TrimPrefix(value.Error(), fmt.Sprintf("invalid argument %q for ", value.GetValue())), "--")
	name, _, _ = strings.Cut(name, `"`)
	flag := cmd.Flag(name)
	if flag == nil || flagKinds[flag.Value.Type()] == "" {
		return wrongUse(cmd, "%w", err)
	}
	return wrongUse(cmd, "--%s %q: it must be %s", name, value.GetValue(), flagKinds[flag.Value.Type()])
}

var flagKinds = map[string]string{"int": "a whole number", "bool": "true or false", "duration": "a time such as 90s or 10m"}

// helpCommand explains a command, as --help behind it does.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		Short:   "Explain a command",
		Example: "  familiar help config check",
		RunE: func(cmd *cobra.Command, args []string) error {
			found, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return wrongUse(cmd.Root(), "there is no command %q", strings.Join(append([]string{"familiar"}, args...), " "))
			}
			found.InitDefaultHelpFlag()
			return found.Help()
		},
	}
}

// shells are those that can complete our commands, and who writes what they read for it.
var shells = map[string]func(*cobra.Command) error{
	"bash":       func(cmd *cobra.Command) error { return cmd.Root().GenBashCompletionV2(cmd.OutOrStdout(), true) },
	"fish":       func(cmd *cobra.Command) error { return cmd.Root().GenFishCompletion(cmd.OutOrStdout(), true) },
	"powershell": func(cmd *cobra.Command) error { return cmd.Root().GenPowerShellCompletionWithDesc(cmd.OutOrStdout()) },
	"zsh":        func(cmd *cobra.Command) error { return cmd.Root().GenZshCompletion(cmd.OutOrStdout()) },
}

func completionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|fish|powershell|zsh",
		Short: "Print what lets a shell complete commands and flags",
		Long: "Print what lets a shell complete commands and flags. Load it once, as in the first example, or put it where the\n" +
			"shell looks by itself, as in the others; the folder must be there. Bash needs its package bash-completion.",
		Example: "  source <(familiar completion bash)\n" +
			"  familiar completion bash > ~/.local/share/bash-completion/completions/familiar\n" +
			"  familiar completion zsh > \"${fpath[1]}/_familiar\"\n" +
			"  familiar completion fish > ~/.config/fish/completions/familiar.fish",
		Args:                  takes("the shell"),
		ValidArgs:             []string{"bash", "fish", "powershell", "zsh"},
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			write, ok := shells[args[0]]
			if !ok {
				return wrongUse(cmd, "%q is none of %s", args[0], strings.Join(cmd.ValidArgs, ", "))
			}
			return write(cmd)
		},
	}
}
