package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"familiar/internal/agent/serve"
	"familiar/internal/llm"
	"familiar/internal/logging"
	"familiar/internal/secret"
	"familiar/internal/setting"
	"familiar/internal/terminal"
)

// agentFlags are the flags of agent.
type agentFlags struct {
	model    string
	sessions string
	trust    []string
}

func agentCommand() *cobra.Command {
	var f agentFlags
	cmd := &cobra.Command{
		Use:   "agent",
		Short: "Serve the built-in agent to an editor, over the Agent Client Protocol",
		Long: "Serve the built-in agent to whoever speaks the Agent Client Protocol on standard input and output, until\n" +
			"the input ends. It has the client's files and the MCP servers that the client names, and nothing else.\n" +
			"The model's provider is the one of LLM_PROVIDER, LLM_BASE_URL, LLM_API_KEY and LLM_MODEL, else the first\n" +
			"whose key is in the environment (ANTHROPIC_API_KEY, OPENAI_API_KEY, OPENROUTER_API_KEY, GEMINI_API_KEY),\n" +
			"else an Ollama on this machine.",
		Example: "  familiar agent\n  familiar agent --model claude-sonnet-4-5",
		Args:    takes(),
		RunE:    func(cmd *cobra.Command, _ []string) error { return serveAgent(cmd, f) },
	}
	cmd.Flags().StringVar(&f.model, "model", "", "model, as the provider names it, instead of LLM_MODEL")
	cmd.Flags().StringVar(&f.sessions, "sessions", "", "folder that sessions are kept in, instead of one in the state of this user")
	cmd.Flags().StringArrayVar(&f.trust, "trust", nil, "name of an MCP server of the client whose tools run unasked; may be given more than once")
	return cmd
}

// serveAgent serves one client.
func serveAgent(cmd *cobra.Command, f agentFlags) error {
	dir, err := f.dir()
	if err != nil {
		return err
	}
	section, err := modelSection(f.model)
	if err != nil {
		return err
	}
	vault := &secret.Vault{}
	vault.Know(section.APIKey)
	for _, found := range llm.Discover(os.Environ()) {
		vault.Know(found.Key)
	}
	errs := cmd.ErrOrStderr() // the output is the protocol's alone
	if in, ok := cmd.InOrStdin().(*os.File); ok && terminal.IsTerminal(in) {
		_, _ = fmt.Fprintln(errs, "familiar agent waits for a program that speaks JSON-RPC, such as an editor; Ctrl-D leaves, and familiar chat talks with a bot")
	}
	log := logging.New(logging.Defaults(), errs, errs, isTerminal(errs), vault)
	ctx, leave := heed(cmd.Context(), log, nil)
	defer leave()
	deps := llm.Deps{Environ: os.Environ()}
	section = withLocal(ctx, section, deps)
	return serve.Serve(ctx, cmd.InOrStdin(), cmd.OutOrStdout(), serve.Options{Log: log,
		Models: serve.NewProviders(section, deps), Dir: dir, Trust: f.trust,
		Environ: os.Environ(), Version: versionOf()})
}

// dir returns the folder of the sessions.
func (f agentFlags) dir() (string, error) {
	switch root, state := os.Getenv("FAMILIAR_ROOT"), os.Getenv("XDG_STATE_HOME"); {
	case f.sessions != "":
		return filepath.Abs(f.sessions)
	case root != "":
		return filepath.Join(root, "agent", "sessions"), nil
	case filepath.IsAbs(state):
		return filepath.Join(state, "familiar", "agent", "sessions"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("find the folder of sessions: %w (name one with --sessions)", err)
	}
	return filepath.Join(home, ".local", "state", "familiar", "agent", "sessions"), nil
}

// modelSection reads which provider the environment names. It needs no bot and reads no file.
func modelSection(model string) (llm.Config, error) {
	section := llm.Defaults()
	section.Provider, section.BaseURL = os.Getenv("LLM_PROVIDER"), os.Getenv("LLM_BASE_URL")
	section.APIKey, section.Model = secret.New(os.Getenv("LLM_API_KEY")), os.Getenv("LLM_MODEL")
	if model != "" {
		section.Model = model
	}
	var report setting.Report
	section.Check(&report)
	var wrong []error
	for _, p := range report.Problems() {
		if p.Severity != setting.Warning {
			wrong = append(wrong, fmt.Errorf("llm.%s %s", p.Path, p.Say))
		}
	}
	if err := errors.Join(wrong...); err != nil {
		return section, misuse{err}
	}
	return section, nil
}

// withLocal takes an Ollama of this machine when there is nothing else.
func withLocal(ctx context.Context, section llm.Config, deps llm.Deps) llm.Config {
	if section.Provider != "" || len(llm.Discover(deps.Environ)) > 0 {
		return section
	}
	if found, ok := llm.Probe(ctx, "", deps); ok {
		return found.Fill(section)
	}
	return section
}
