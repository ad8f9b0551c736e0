package profile

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

//go:embed codex.toml
var codexConfig string

// codexKeys are what is taken over from the operator's own configuration, besides the tables of providers.
var codexKeys = []string{"model", "model_provider", "model_reasoning_effort", "openai_base_url", "preferred_auth_method"}

// codex is the profile of codex-acp, tried with 0.16. Its own sandbox is off, since it would need name spaces that our
// walls do not let it make; ours are around it instead. It has no mode in which it asks nobody.
func codex(o Operator) (Profile, error) {
	top, tables, err := codexOwn(o.Home)
	if err != nil {
		return Profile{}, fmt.Errorf("read the configuration of Codex: %w", err)
	}
	if o.Model != "" {
		top = append(without(top, "model"), "model = "+strconv.Quote(o.Model))
	}
	signIn := ""
	if o.has("OPENAI_API_KEY") && tables == nil {
		signIn = "openai-api-key"
	}
	config := strings.Join(top, "\n") + "\n" + codexConfig + strings.Join(tables, "\n") + "\n"
	return Profile{
		Files:  map[string][]byte{".codex/config.toml": []byte(config), ".codex/AGENTS.md": words},
		Logins: []string{".codex/auth.json"},
		Skills: ".codex/skills",
		Rights: []string{".codex"},
		SignIn: signIn,

		Restricted: true,
		Oddities: Oddities{IgnoresEOF: true, OurTool: "Tool: familiar/{tool}", ErrorIn: []string{"message", "error"},
			Warnings: []string{"Warning:", "**Warning", "Model metadata for "}},
	}, nil
}

// codexOwn takes the providers and the choice of model out of the operator's own configuration: the lines before
// the first table that set one of codexKeys, and the tables of providers. There may be none.
func codexOwn(home string) (top, tables []string, err error) {
	if home == "" {
		return nil, nil, nil
	}
	text, err := os.ReadFile(filepath.Join(home, ".codex", "config.toml"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	first, keep := true, false
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\r\n")
		if head := strings.TrimSpace(line); strings.HasPrefix(head, "[") && strings.HasSuffix(head, "]") {
			first, keep = false, strings.HasPrefix(head, "[model_providers.")
		}
		switch {
		case first && setsOne(line, codexKeys):
			top = append(top, line)
		case keep:
			tables = append(tables, line)
		}
	}
	return top, tables, nil
}

// setsOne reports whether a line of TOML sets one of the keys.
func setsOne(line string, keys []string) bool {
	name, _, ok := strings.Cut(line, "=")
	for _, key := range keys {
		if ok && strings.TrimSpace(name) == key {
			return true
		}
	}
	return false
}

// without leaves out the lines that set a key.
func without(lines []string, key string) []string {
	var rest []string
	for _, line := range lines {
		if !setsOne(line, []string{key}) {
			rest = append(rest, line)
		}
	}
	return rest
}
