package llm

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"familiar/internal/llm/llmtest"
	"familiar/internal/secret"
	"familiar/internal/setting"
)

// BUG-J13: keys travel in headers only, and no error, however it is printed or logged, shows one: not when the
// provider says it back, and not when the transport says the address.
func TestKeysShowNowhere(t *testing.T) {
	echo := "Incorrect API key provided: " + canary + " (sk-can****cdef); see https://example.org/?key=" + canary + "&x=1"
	each(t, func(t *testing.T, provider string) {
		for name, reply := range map[string]llmtest.Reply{
			"refused": {Status: 401, Error: echo}, "in the stream": {Text: "abc", ChunkSize: 1, FailAfter: 1, Error: echo},
			"overloaded": {Status: 500, Error: echo}, "in base64": {Status: 401, Error: "got " + base64.StdEncoding.EncodeToString([]byte(canary))}, "redirect": {Redirect: "http://127.0.0.1:9/?key=" + canary},
			"page": {Raw: canary, RawType: "text/" + canary}, "garbage": {Raw: "data: " + canary + "\n\n", RawType: "text/event-stream"},
		} {
			r := newRig(t, provider, answers(reply))
			_, err := r.Ask(t.Context(), say("hello"), nil)
			shows(t, provider+", "+name, err)
			for _, q := range r.server.Requests() {
				if !q.Keyed || q.Query != "" || bytes.Contains(q.Body, []byte("canary")) {
					t.Errorf("%s: asked %+v", name, q)
				}
			}
		}
		r := newRig(t, provider, llmtest.Script{})
		r.base = "http://127.0.0.1:9/" + canary + "?key=" + canary
		_, err := r.Ask(t.Context(), say("hello"), nil)
		shows(t, provider+", unreached", err)
		_, err = r.models(t.Context())
		shows(t, provider+", list", err)
	})
}

// shows fails when an error shows the key.
func shows(t *testing.T, name string, err error) {
	t.Helper()
	if err == nil {
		t.Errorf("%s: no error", name)
		return
	}
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Error("ask", "err", err)
	texts := []string{err.Error(), fmt.Sprintf("%+v %#v", err, err), log.String()}
	for e := err; e != nil; e = errors.Unwrap(e) {
		texts = append(texts, e.Error())
	}
	for _, text := range texts {
		if strings.Contains(text, "canary") || strings.Contains(text, "sk-can") || strings.Contains(text, base64.RawStdEncoding.EncodeToString([]byte(canary))) {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// A redirect is not followed: the key of one host is not for another.
func TestNoKeyForAnotherHost(t *testing.T) {
	each(t, func(t *testing.T, provider string) {
		other := llmtest.Start(t, answers(llmtest.Reply{Text: "x"}))
		path := map[string]string{"anthropic": "/messages", "openai": "/chat/completions"}[provider]
		r := newRig(t, provider, answers(llmtest.Reply{Redirect: other.URL() + path}))
		r.fails(t, say("hello"), Rejected)
		if n := len(other.Requests()); n != 0 {
			t.Errorf("the other host was asked %d times", n)
		}
	})
}

// What people said stays out of errors, also when the provider says it back.
func TestErrorsHoldNoWordsOfTheConversation(t *testing.T) {
	words := "my sister's birthday is on the\n ninth of March"
	each(t, func(t *testing.T, provider string) {
		r := newRig(t, provider, answers(llmtest.Reply{Status: 400, Error: `wrong input "my sister's birthday is on the ninth of March", at messages.0`}))
		p := r.fails(t, say(words), Rejected)
		if text := p.Err.Error(); strings.Contains(text, "sister") || strings.Contains(text, "March") || !strings.Contains(text, "at messages.0") {
			t.Errorf("error %s", text)
		}
		r = newRig(t, provider, answers(llmtest.Reply{Raw: "data: {\"choices\": \"my sister's birthday\", \"index\": \"my sister's birthday\"}\n\n", RawType: "text/event-stream"}))
		if p := r.fails(t, say(words), Broken); strings.Contains(p.Err.Error(), "sister") {
			t.Errorf("error %v", p.Err)
		}
	})
}

func TestCheck(t *testing.T) {
	for want, c := range map[string]Config{
		"":                      {Provider: "ollama", FirstByteMs: 1000, SilenceMs: 1000},
		"llm.provider":          {Provider: "anthropc"},
		"llm.baseUrl":           {Provider: compatible},
		"llm.baseUrl ":          {Provider: compatible, BaseURL: "localhost:80"},
		"llm.baseUrl  ":         {Provider: "openai", BaseURL: "https://h/v1?key=" + canary},
		"llm.baseUrl   ":        {Provider: "openai", BaseURL: "https://me:" + canary + "@h/v1"},
		"llm.baseUrl    ":       {Provider: "openai", BaseURL: "http://example.org/v1", APIKey: secret.New(canary)},
		"llm.provider ":         {BaseURL: "http://127.0.0.1:1/v1"},
		"llm.firstByteMs":       {FirstByteMs: 1, SilenceMs: 1000},
		"llm.fallback.model":    {Fallback: FallbackConfig{Provider: "ollama"}},
		"llm.fallback.baseUrl":  {Fallback: FallbackConfig{Provider: compatible, Model: "x"}},
		"llm.fallback.provider": {Fallback: FallbackConfig{Model: "x"}},
	} {
		if c.FirstByteMs == 0 {
			c.FirstByteMs, c.SilenceMs = 1000, 1000
		}
		var r setting.Report
		c.Check(r.At("llm"))
		problems := r.Problems()
		want = strings.TrimSpace(want)
		if want == "" && len(problems) == 0 {
			continue
		}
		if len(problems) != 1 || problems[0].Path != want || strings.Contains(problems[0].Say, canary) {
			t.Errorf("%+v: %v, want one of %q", c, problems, want)
		}
	}
	d := Defaults()
	var r setting.Report
	d.Check(r.At("llm"))
	if len(r.Problems()) > 0 || d.firstByte() <= d.silence() {
		t.Errorf("the defaults: %v", r.Problems())
	}
}

func TestProblemsSpeakEveryLanguage(t *testing.T) {
	var texts map[ProblemKind]map[string][2]string
	if err := json.Unmarshal(problemTexts, &texts); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []ProblemKind{BadKey, NoModel, NoCredit, Overfull, Declined, Overloaded, Silent, Broken, Unreached, BadImage, Rejected, unchosen} {
		for _, language := range []string{"en", "zh-TW", "zh-CN"} {
			p := Problem{Kind: kind, Provider: "Prov", Model: "mod", Setting: "set"}
			if texts[kind][language][0] == "" || texts[kind][language][1] == "" || strings.ContainsAny(p.In(language), "{}") {
				t.Errorf("%s in %s: %q", kind, language, p.In(language))
			}
		}
	}
	if p := (Problem{Kind: BadKey, Say: "own words"}); p.In("zh-TW") != "own words" {
		t.Errorf("says %q", p.In("zh-TW"))
	}
	if len(texts) != 12 {
		t.Errorf("%d kinds have texts", len(texts))
	}
}

func TestOpenWantsAKeyAndAModel(t *testing.T) {
	d := Deps{HTTP: carrier(t)}
	c := Defaults()
	if _, err := Open(c, d); !errors.Is(err, ErrNone) {
		t.Errorf("error %v", err)
	}
	c.Provider, c.Model = "gemini", "x"
	_, err := Open(c, d)
	if !Is(err, BadKey) || !strings.Contains(err.Error(), "GEMINI_API_KEY") {
		t.Errorf("error %v", err)
	}
	d.Environ = []string{"GEMINI_API_KEY=" + canary}
	c.Model = " "
	if _, err = Open(c, d); !Is(err, NoModel) {
		t.Errorf("error %v", err)
	}
	c.Provider, c.Model = "nobody", "x"
	if _, err = Open(c, d); !Is(err, NoModel) || !strings.Contains(err.Error(), "nobody") {
		t.Errorf("error %v", err)
	}
	c.Provider, c.Fallback = "ollama", FallbackConfig{Provider: "anthropic", Model: "y"}
	if _, err = Open(c, d); !Is(err, BadKey) {
		t.Errorf("error %v", err)
	}
	if d.HTTP.CheckRedirect != nil {
		t.Error("the client of the caller was changed")
	}
}
