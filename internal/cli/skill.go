package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// exitError ends the program with a code; whatever there was to say has been said.
type exitError struct{ code int }

func (e exitError) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// skillCommand is what an agent calls from a shell: one sub-command for each skill. The answer is JSON on
// standard output; a mistake in the arguments is JSON on standard error. Every failure is exit code 1. It reads
// nothing but the temporary folder, standard input and its environment, so that it works inside the walls
// around an agent.
func skillCommand() *cobra.Command { return skillCommandWith(skillTimeout) }

func skillCommandWith(timeout time.Duration) *cobra.Command {
	cmd := &cobra.Command{
		Use:           "skill NAME [flags]",
		Short:         "Call a tool of the running session, from an agent's shell",
		Example:       `  familiar skill send-reply --message-file "$TMPDIR/reply.txt"`,
		Args:          cobra.ArbitraryArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, args []string) error {
			var names []string
			for _, s := range skillTable() {
				names = append(names, s.name)
			}
			say := fmt.Sprintf("no skill %q", strings.Join(args, " "))
			if len(args) == 0 {
				say = "the name of the skill is missing"
			}
			return refuse(cmd, usageError{codeUsage, say + "; there are " + strings.Join(names, ", "),
				"familiar skill send-reply --help"})
		},
	}
	for _, spec := range skillTable() {
		cmd.AddCommand(oneSkill(spec, timeout))
	}
	return cmd
}

// refuse says what is wrong with the arguments.
func refuse(cmd *cobra.Command, err usageError) error {
	printJSON(cmd.ErrOrStderr(), struct {
		Success bool `json:"success"`
		usageError
	}{false, err})
	return exitError{1}
}

func printJSON(w io.Writer, value any) {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(value) // nobody reads it: the exit code is left
}

// oneSkill makes the command of a skill out of its row in the table.
func oneSkill(spec skillSpec, timeout time.Duration) *cobra.Command {
	example := "familiar skill " + spec.example
	cmd := &cobra.Command{Use: spec.name + " [flags]", Short: spec.doc, Example: "  " + example,
		Args: cobra.ArbitraryArgs, SilenceErrors: true, SilenceUsage: true, DisableFlagsInUseLine: true}
	session := cmd.Flags().StringP("session-id", "s", "", "the session; $SESSION_ID when left out")
	api := cmd.Flags().StringP("api-url", "a", "", "address of the skill API; $SKILL_API_URL, or "+defaultSkillAPI+", when left out")
	declare(cmd, spec)
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return refuse(cmd, usageError{codeUsage, err.Error(), example})
	})
	cmd.RunE = func(cmd *cobra.Command, given []string) error {
		call := skillCall{name: spec.name, timeout: timeout}
		err := call.address(*api, *session)
		var args skillArgs
		if err == nil {
			args, err = readArgs(cmd, spec, given)
		}
		if usage := (usageError{}); errors.As(err, &usage) {
			usage.Example = example
			return refuse(cmd, usage)
		}
		call.params = args.params
		return call.report(cmd, args.texts)
	}
	return cmd
}

// report makes the call and prints the answer. A text that went through is used up; one that was refused is kept,
// so that the agent can mend the call and try again.
func (c skillCall) report(cmd *cobra.Command, texts []text) error {
	answer := c.do(cmd.Context())
	for _, t := range texts {
		if answer.Success {
			t.used()
		}
	}
	printJSON(cmd.OutOrStdout(), answer)
	if !answer.Success {
		return exitError{1}
	}
	return nil
}
