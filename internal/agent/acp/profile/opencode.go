package profile

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// The restricted configuration: whatever runs, edits or fetches asks us; our own tools do not, since the box
// decides about them; what would wait for somebody at a terminal is off.
//
//go:embed opencode.json
var openCodeConfig []byte

// openCodeFile is where the configuration lies in the private HOME.
const openCodeFile = ".config/familiar/opencode.json"

// operatorKeys are what is taken over from the operator's own configuration, so that a model that works for them
// works for the agent. Permissions, plugins and servers of theirs are not.
var operatorKeys = []string{"provider", "model", "small_model", "enabled_providers", "disabled_providers"}

// openCode is the profile of OpenCode, tried with 1.18. The operator's environment counts for the {env:NAME} in
// their configuration of providers.
//
// It looks for skills in .agents/skills, .claude/skills and .config/opencode/skills below its HOME; the first is
// what other agents read too. Configuration in the workspace is ignored: an agent could write itself rights there
// for its next session. Nothing is installed when it starts: a provider whose package does not come with OpenCode
// needs agent.env npm_config_offline set to "false".
func openCode(o Operator) (Profile, error) {
	config, err := openCodeFor(o.Home, o.Parent)
	if err != nil {
		return Profile{}, fmt.Errorf("read the configuration of OpenCode: %w", err)
	}
	return Profile{
		Args: []string{"acp"},
		Env: map[string]string{
			"OPENCODE_CONFIG":                 "{home}/" + openCodeFile,
			"OPENCODE_DISABLE_AUTOUPDATE":     "1",
			"OPENCODE_DISABLE_CLAUDE_CODE":    "1",
			"OPENCODE_DISABLE_LSP_DOWNLOAD":   "1",
			"OPENCODE_DISABLE_PROJECT_CONFIG": "1",
			"OPENCODE_DISABLE_SHARE":          "1",
			"OPENCODE_PURE":                   "1",
			// Each session would install the library for plugins, which are off, into its fresh HOME.
			"npm_config_offline": "true",
		},
		Files: map[string][]byte{openCodeFile: config, path.Dir(openCodeFile) + "/agent.md": words},
		// Its database of sessions lies beside auth.json and stays behind.
		Logins: []string{".local/share/opencode/auth.json"},
		Skills: Skills, Restricted: true, Mode: "build", Yolo: "yolo",
	}, nil
}

// openCodeFor adds the operator's providers to our configuration.
func openCodeFor(home string, parent []string) ([]byte, error) {
	config := map[string]json.RawMessage{}
	if err := json.Unmarshal(openCodeConfig, &config); err != nil {
		return nil, err
	}
	own, err := operatorConfig(home)
	if err != nil {
		return nil, err
	}
	for _, key := range operatorKeys {
		if value, ok := own[key]; ok {
			config[key] = fillEnv(value, parent)
		}
	}
	return json.MarshalIndent(config, "", "  ")
}

// operatorConfig reads the operator's own configuration; there may be none.
func operatorConfig(home string) (map[string]json.RawMessage, error) {
	if home == "" {
		return nil, nil
	}
	for _, name := range []string{"opencode.json", "opencode.jsonc", "config.json"} {
		file := filepath.Join(home, ".config", "opencode", name)
		text, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		var own map[string]json.RawMessage
		if err := json.Unmarshal(plainJSON(text), &own); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		return own, nil
	}
	return nil, nil
}

// fillEnv puts our environment in place of {env:NAME}: the agent's own environment has only what it may have.
func fillEnv(value json.RawMessage, parent []string) json.RawMessage {
	for _, pair := range parent {
		name, text, _ := strings.Cut(pair, "=")
		mark := []byte("{env:" + name + "}")
		if !bytes.Contains(value, mark) {
			continue
		}
		quoted, err := json.Marshal(text)
		if err != nil {
			continue
		}
		value = bytes.ReplaceAll(value, mark, quoted[1:len(quoted)-1])
	}
	return value
}

// plainJSON takes comments and trailing commas out of JSON as people write it.
func plainJSON(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); {
		switch rest := text[i:]; {
		case text[i] == '"':
			n := stringEnd(rest)
			out = append(out, rest[:n]...)
			i += n
		case bytes.HasPrefix(rest, []byte("//")):
			n := bytes.IndexByte(rest, '\n')
			if n < 0 {
				n = len(rest)
			}
			i += n
		case bytes.HasPrefix(rest, []byte("/*")):
			n := bytes.Index(rest, []byte("*/"))
			if n < 0 {
				return out
			}
			i += n + 2
		case text[i] == '}' || text[i] == ']':
			if trimmed := bytes.TrimRight(out, " \t\r\n"); bytes.HasSuffix(trimmed, []byte(",")) {
				out = trimmed[:len(trimmed)-1]
			}
			out = append(out, text[i])
			i++
		default:
			out = append(out, text[i])
			i++
		}
	}
	return out
}

// stringEnd returns the length of the JSON string that text begins with.
func stringEnd(text []byte) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}
