package logging

import (
	"errors"
	"log/slog"
	"strings"
	"testing"

	"familiar/internal/secret"
)

// AF-188
func TestSecretsAreInNoLine(t *testing.T) {
	for _, terminal := range []bool{false, true} {
		r := newRig("DEBUG", terminal)
		r.Info("connecting with {token} and Bearer abc", "token", "abc")
		r.Info("see {why}", "why", "Bearer abc")
		r.Error("refused", "err", errors.New("got Bearer abc"), slog.Group("deep", "api_key", "abc"))
		if all := r.out.String() + r.err.String(); strings.Contains(all, "abc") || strings.Count(all, secret.Masked) < 5 {
			t.Errorf("terminal %v: %s", terminal, all)
		}
	}
}

// BUG-J13: canaries of every sort, through every way into a line.
func TestCanaries(t *testing.T) {
	const canary = "c4n4ry-swordfish" // known to the vault
	const look = "Zx9canaryQ"         // known by its looks only
	texts := []string{
		"a start-up banner with " + canary,
		"GET https://api.example.org/v1?model=m&key=" + look + " failed",
		"GET https://api.example.org/v1?api_key=" + look + "#top",
		"dial https://bot:" + look + "@example.org/path",
		"Authorization: Basic " + look, `{"Authorization":"Bearer ` + look + `"}`, "authorization=" + look,
		"token=" + look, "access_token: " + look, `"apiKey": "` + look + `"`, "API-KEY=" + look, "client_secret='" + look + "'",
		"password : " + look, "bearer   " + look, strings.Repeat("a1B2", 10) + look,
		"Incorrect API key provided: sk-proj-" + look + "_0123-abc.", "key sk-ant-api03-" + look + "AA is wrong",
		"push with ghp_0123456789" + look + " refused", "github_pat_0123456789_" + look, "(xoxb-123456-" + look + ")",
		"AIzaSy0123456789-0123456789" + look,
	}
	for _, text := range texts {
		for _, terminal := range []bool{false, true} {
			r := newRig("DEBUG", terminal)
			r.vault.Know(secret.New(canary))
			log := r.With("derived", text).WithGroup("g")
			log.Info(text, "a", text)
			log.Error("x {a}", "err", errors.New(text))
			log.Warn("y", "list", []string{text}, "struct", struct{ A string }{text}, "valuer", valuer{slog.StringValue(text)})
			if all := r.out.String() + r.err.String(); strings.Contains(all, canary) || strings.Contains(all, look) {
				t.Errorf("%q, terminal %v: %s", text, terminal, all)
			}
		}
	}
}

func TestInnocentTextStays(t *testing.T) {
	var m masker
	for _, text := range []string{
		"authorName: Ann", "the keys: a, b", "tokens: 120 of 4096", "/home/ann/projects/familiar/internal/logging/mask",
		"sess_m3x1k2aa_0123456789abcdef0123456789abcdef", "turn_0123456789abcdef01234567 took 3s", "http://127.0.0.1:8420/?login=x",
		"", "a", "no secret here", "a desk-lamp-and-a-very-long-shelf", "sk-short", "ghost_0123456789012345678901",
	} {
		if got := m.text(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestNamesOfSecrets(t *testing.T) {
	for name, want := range map[string]bool{
		"token": true, "TOKEN": true, "apiKey": true, "api_key": true, "APIKey": true, "X-Api-Key": true, "key": true,
		"botToken": true, "client_secret": true, "password": true, "auth": true, "authHeader": true, "SKILL_API_TOKEN": true,
		"secretValue": true, "signingKey": true, "apikey": true,
		"workspaceKey": false, "authorName": false, "roomKey": false, "keyboard": false, "tokens": false, "estimatedTokens": false,
		"monkey": false, "author": false, "passwordless": false, "": false, "session": false,
	} {
		if got := isSecret(name); got != want {
			t.Errorf("isSecret(%q) = %v", name, got)
		}
	}
}

// AF-190: even a careless line tells how long the words are, and not the words.
func TestNoWordsOfPeople(t *testing.T) {
	const words = "the quick brown prompt"
	for _, terminal := range []bool{false, true} {
		r := newRig("DEBUG", terminal)
		r.Debug("prompt assembled", "prompt", words, "Content", words, "blocks", []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		}{{"text", words}}, slog.Group("call", "message", words, "query", words))
		r.Debug("assembled {prompt}", "prompt", words)
		all := r.out.String() + r.err.String()
		if strings.Contains(all, "brown") || !strings.Contains(all, "[22 characters]") {
			t.Errorf("terminal %v: %s", terminal, all)
		}
	}
}

func TestLongTextIsCut(t *testing.T) {
	r := newRig("INFO", false)
	r.Info("x", "a", strings.Repeat("茶 ", maxText))
	if got := len(r.out.String()); got < maxText || got > maxText+300 {
		t.Errorf("the line is %d bytes long", got)
	}
}

func FuzzMask(f *testing.F) {
	for _, seed := range []string{"token=", "Bearer ", "://:@", `"key":"`, "\xff=\xff", "auth : 'x"} {
		f.Add(seed, "swordfish-canary")
	}
	f.Fuzz(func(t *testing.T, text, known string) {
		var vault secret.Vault
		value := secret.New(known)
		vault.Know(value)
		got := masker{&vault}.text(text + known)
		own := value.Reveal()
		if len(own) < 8 || strings.ContainsAny(own, "[]…") || strings.Contains(secret.Masked, own) {
			return // too short to be known, or made of what stands in its place
		}
		if strings.Contains(got, own) {
			t.Fatalf("%q is left in %q", known, got)
		}
	})
}
