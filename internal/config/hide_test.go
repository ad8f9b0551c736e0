package config

import (
	"slices"
	"strings"
	"testing"
)

// What is written into arguments, addresses, variables and headers is not shown, however it is shown.
func TestShowHidesSecretsOfServers(t *testing.T) {
	l := good(t, `version: 1
agent:
  command: /bin/agent
  args: [--verbose, --api-key, hush-one, --token=hush-two]
  mcpServers:
    - {name: a, transport: http, url: "https://me:hush-three@example.org/mcp?key=hush-four&x=hush-five#hush-six", headers: {X-Key: hush-seven}}
    - {name: b, transport: stdio, command: /bin/b, args: [-H, "X-Auth: hush-eight", --port, "80"], env: {B_KEY: hush-nine}}
`)
	var shown strings.Builder
	if err := l.Show(&shown); err != nil {
		t.Fatal(err)
	}
	for _, s := range l.Settings() {
		shown.WriteString(s.Path + " " + string(s.Value) + "\n")
	}
	if strings.Contains(shown.String(), "hush") {
		t.Errorf("a secret is shown:\n%s", shown.String())
	}
	for _, want := range []string{"--verbose", "--api-key", "--token=…", "https://…@example.org/mcp?key=…\\u0026x=…", "X-Auth:…", `"--port", "80"`} {
		if !strings.Contains(shown.String(), want) {
			t.Errorf("%s is not shown:\n%s", want, shown.String())
		}
	}
	if l.Config.Agent.Args[2] != "hush-one" {
		t.Error("the configuration itself was masked")
	}
}

func TestArgumentsAreHidden(t *testing.T) {
	for given, want := range map[string]string{
		"--key --secret x y":              "--key … … y",
		"PASSWORD=x --port=80":            "PASSWORD=… --port=80",
		"--url=https://h/?x --dir /a/b":   "--url=https://h/?… --dir /a/b",
		"https://u:p@h/token?a=b":         "https://…@h/token?a=…",
		"sk-abcdefghijklmnopqrstuv -y":    "[REDACTED] -y",
		"my-secret-value https://h/a?b=c": "… https://h/a?b=…",
	} {
		if got := strings.Join(hideArgs(slices.Collect(strings.FieldsSeq(given))), " "); got != want {
			t.Errorf("%s: shown %q, want %q", given, got, want)
		}
	}
}
