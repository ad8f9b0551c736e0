package config

import (
	"strings"
	"testing"
)

// The rules of the model router come from a variable as they do from a file: one that cannot count is left out, and
// the others count.
func TestRoutingFromTheEnvironment(t *testing.T) {
	l, err := Load(Where{Dir: t.TempDir()}, []string{"MODEL_ROUTING_ENABLED=true", `MODEL_ROUTING_RULES=[
		{"match":{"contentKeywords":["code"]},"model":"coder"},
		{"match":{"contentKeywords":"code"},"model":"m"},
		{"match":{"channel":"discord/nobody/1"},"model":"m"},
		{"match":{"channel":"discord/channel/12345678901234567","sessionType":"message"},"model":"small"}]`})
	if err != nil {
		t.Fatal(err)
	}
	routing := l.Config.Agent.ModelRouting
	if !routing.Enabled || len(routing.Rules) != 2 || routing.Rules[0].Model != "coder" || routing.Rules[1].Model != "small" {
		t.Errorf("%+v", routing)
	}
	var warnings []string
	for _, w := range l.Warnings {
		warnings = append(warnings, w.String())
	}
	all := strings.Join(warnings, "\n")
	if strings.Count(all, "the rule is left out") != 2 || !strings.Contains(all, "rules[1]") || !strings.Contains(all, "MODEL_ROUTING_RULES") {
		t.Errorf("warnings:\n%s", all)
	}
}

func TestDryRunFromTheEnvironment(t *testing.T) {
	l, err := Load(Where{Dir: t.TempDir()}, []string{"DRY_RUN_ENABLED=1", "DRY_RUN_OUTPUT_PATH=/tmp/prompts", "DRY_RUN_MOCK_REPLY=just a test"})
	if err != nil {
		t.Fatal(err)
	}
	if dry := l.Config.Agent.DryRun; !dry.Enabled || dry.OutputPath != "/tmp/prompts" || dry.MockReply != "just a test" {
		t.Errorf("%+v", dry)
	}
	silent := lay(t, map[string]string{"config.yaml": "version: 1\nagent: {dryRun: {mockReply: \"\"}}\n"})
	if l, err = Load(Where{Dir: silent}, nil); err != nil || l.Config.Agent.DryRun.MockReply != "" {
		t.Errorf("an empty answer is %q, %v", l.Config.Agent.DryRun.MockReply, err)
	}
}
