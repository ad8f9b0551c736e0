package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
)

// fileFlag is the name of a payload's flag.
func (f skillFlag) fileFlag() string { return f.name + "-file" }

// declare gives the command the flags of its skill.
func declare(cmd *cobra.Command, spec skillSpec) {
	for _, f := range spec.flags {
		switch f.kind {
		case word:
			cmd.Flags().StringP(f.name, f.short, "", f.doc)
		case number:
			cmd.Flags().IntP(f.name, f.short, 0, f.doc)
		case list, each:
			cmd.Flags().StringArrayP(f.name, f.short, nil, f.doc)
		case yes, no:
			cmd.Flags().BoolP(f.name, f.short, false, f.doc)
		case payload:
			cmd.Flags().StringArray(f.fileFlag(), nil, f.doc+": a file inside $TMPDIR, or - for standard input")
			cmd.Flags().StringArrayP(f.name, f.short, nil, "")
			cmd.Flag(f.name).Hidden = true
		}
	}
}

// skillArgs turns what was given into parameters.
type skillArgs struct {
	cmd    *cobra.Command
	spec   skillSpec
	stdin  bool // a lone - stood among the arguments: the payload comes from standard input
	params map[string]json.RawMessage
	texts  []text
}

// readArgs returns the parameters, and the texts that were read for them. Every error is a usageError.
func readArgs(cmd *cobra.Command, spec skillSpec, args []string) (skillArgs, error) {
	a := skillArgs{cmd: cmd, spec: spec, params: map[string]json.RawMessage{}}
	for _, arg := range args {
		if arg != "-" || a.stdin {
			return a, usageError{Code: codeUsage, Say: fmt.Sprintf("%q is not expected here; free text comes from a file or from standard input", clip(arg))}
		}
		a.stdin = true
	}
	for _, f := range spec.flags {
		if err := a.take(f); err != nil {
			return a, err
		}
	}
	if a.stdin {
		return a, usageError{Code: codeUsage, Say: spec.name + " takes no text from standard input"}
	}
	return a, nil
}

// take reads one flag.
func (a *skillArgs) take(f skillFlag) error {
	if f.kind == payload {
		return a.takePayload(f)
	}
	flags := a.cmd.Flags()
	if !flags.Changed(f.name) {
		if f.required {
			return usageError{Code: codeUsage, Say: fmt.Sprintf("--%s is missing: %s", f.name, f.doc)}
		}
		return nil
	}
	if _, twice := a.params[f.param]; twice {
		return usageError{Code: codeUsage, Say: fmt.Sprintf("--%s contradicts another flag; give one of them", f.name)}
	}
	switch f.kind {
	case number:
		value, err := flags.GetInt(f.name)
		return a.set(f, value, err)
	case each:
		values, err := flags.GetStringArray(f.name)
		return a.set(f, values, err)
	case list:
		values, err := flags.GetStringArray(f.name)
		return a.set(f, words(values), err)
	case yes, no:
		value, err := flags.GetBool(f.name)
		return a.set(f, value == (f.kind == yes), err)
	default:
		value, err := flags.GetString(f.name)
		return a.set(f, value, err)
	}
}

// set keeps a parameter, written as JSON.
func (a *skillArgs) set(f skillFlag, value any, err error) error {
	raw, encodeErr := json.Marshal(value)
	if err := cmp.Or(err, encodeErr); err != nil {
		return usageError{Code: codeUsage, Say: fmt.Sprintf("--%s: %v", f.name, err)}
	}
	a.params[f.param] = raw
	return nil
}

// takePayload reads the text of a payload from the one place that was named for it.
func (a *skillArgs) takePayload(f skillFlag) error {
	from, err := a.source(f)
	if err != nil {
		return err
	}
	if from == "" {
		if f.required {
			return usageError{Code: codeMissing, Say: fmt.Sprintf("the text is missing: write it to a file inside $TMPDIR and give --%s FILE, or - for standard input", f.fileFlag())}
		}
		return nil
	}
	t, err := readPayload(from, a.cmd.InOrStdin())
	if err != nil {
		return err
	}
	a.texts = append(a.texts, t)
	return a.set(f, t.value, nil)
}

// source returns where the text is: a path, "-", or "" when nothing was named.
func (a *skillArgs) source(f skillFlag) (string, error) {
	old, _ := a.cmd.Flags().GetStringArray(f.name) // declared as such
	from, _ := a.cmd.Flags().GetStringArray(f.fileFlag())
	for _, value := range old {
		if value != "-" {
			return "", usageError{Code: codeLegacy, Say: fmt.Sprintf("--%s is refused, because a shell changes text that stands on a command line; write the text to a file inside $TMPDIR and give --%s FILE", f.name, f.fileFlag())}
		}
		from = append(from, value)
	}
	if a.stdin {
		a.stdin = false
		from = append(from, "-")
	}
	switch {
	case len(from) == 0:
		return "", nil
	case len(from) > 1:
		return "", usageError{Code: codeSingle, Say: fmt.Sprintf("--%s is given %d times; put the whole text into one file", f.fileFlag(), len(from))}
	case from[0] == "":
		return "", usageError{Code: codeMissing, Say: fmt.Sprintf("--%s names no file", f.fileFlag())}
	}
	return from[0], nil
}

// words splits lists at their commas.
func words(lists []string) []string {
	out := []string{}
	for _, l := range lists {
		for w := range strings.SplitSeq(l, ",") {
			if w = strings.TrimSpace(w); w != "" {
				out = append(out, w)
			}
		}
	}
	return out
}

// clip keeps what was typed by mistake from filling an error.
func clip(s string) string {
	const most = 40
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// address fills in who calls, and where.
func (c *skillCall) address(api, session string) error {
	c.session = cmp.Or(session, os.Getenv("SESSION_ID"))
	if c.session == "" {
		return usageError{Code: codeUsage, Say: "the session is missing: SESSION_ID is not set, and --session-id was not given"}
	}
	var err error
	c.api, err = skillAPI(cmp.Or(api, os.Getenv("SKILL_API_URL"), defaultSkillAPI))
	return err
}
