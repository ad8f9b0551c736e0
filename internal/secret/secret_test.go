package secret

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
)

const password = "correct horse battery"

// A Value prints in no way that Go knows.
func TestAValueNeverPrints(t *testing.T) {
	v := New(password)
	holder := struct {
		V Value
		P *Value
		M map[string]Value
		L []Value
		v Value // fmt does not ask it how it wants to be printed
	}{v, &v, map[string]Value{"k": v}, []Value{v}, v}
	var logged strings.Builder
	log := slog.New(slog.NewTextHandler(&logged, nil))
	log.Info("x", "v", v, "p", &v, "holder", holder)
	logJSON := slog.New(slog.NewJSONHandler(&logged, nil))
	logJSON.Info("x", "v", v, "p", &v, "holder", holder)
	encoded, err := json.Marshal(holder)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		fmt.Sprint(v, &v, holder), fmt.Sprintf("%s %q %v %+v %#v", v, v, v, v, v), fmt.Sprintf("%v %+v %#v", holder, holder, holder),
		fmt.Sprintf("%x %X %d %t", v, v, v, v), fmt.Errorf("no: %v", v).Error(), string(encoded), logged.String(),
	} {
		if strings.Contains(text, "horse") || strings.Contains(text, fmt.Sprintf("%x", password)) {
			t.Errorf("the secret is in %s", text)
		}
	}
	if !strings.Contains(string(encoded), `"V":"…"`) {
		t.Errorf("encoded as %s", encoded)
	}
}

func TestValue(t *testing.T) {
	var unset Value
	if unset.Set() || unset.String() != "" || unset.Is("") || New(" \n").Set() {
		t.Error("an unset secret is something, or equals something")
	}
	v := New("  " + password + "\n")
	if !v.Set() || v.Reveal() != password || !v.Is(password) || v.Is(password+" ") || v.Is("") || v.Is("…") {
		t.Error("a secret is not what it was made of")
	}
	if v != New(password) || v == New("another") {
		t.Error("equal secrets are not equal")
	}
	var read Value
	if err := json.Unmarshal([]byte(`"`+password+`"`), &read); err != nil || !read.Is(password) {
		t.Errorf("read as %q, %v", read.Reveal(), err)
	}
}

func TestVault(t *testing.T) {
	var v Vault
	v.Know(New("swordfish"), New("swordfish-and-more"), New("short"), Value{}, New("swordfish"))
	for text, want := range map[string]string{
		"": "", "nothing here": "nothing here", "a short word": "a short word",
		"swordfish, swordfish":        "[REDACTED], [REDACTED]",
		"xswordfishx":                 "x[REDACTED]x",
		"is swordfish-and-more there": "is [REDACTED] there", // the longer first, or its end would be left
	} {
		if got := v.Mask(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
	var none *Vault
	if none.Mask("swordfish") != "swordfish" {
		t.Error("a nil vault masks")
	}
}

// A secret is found in the arguments of a tool and in the body of an answer, too, where JSON writes it otherwise.
func TestAVaultKnowsWhatJSONMakesOfASecret(t *testing.T) {
	const odd = "q\"uo\\te<d>&\nline"
	var v Vault
	v.Know(New(odd))
	for _, html := range []bool{false, true} {
		var b strings.Builder
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(html)
		if err := enc.Encode(map[string]string{"to": odd}); err != nil {
			t.Fatal(err)
		}
		if got := v.Mask(b.String()); got != "{\"to\":\"[REDACTED]\"}\n" {
			t.Errorf("%s became %s", b.String(), got)
		}
	}
}

func TestAVaultLearnsWhileItMasks(t *testing.T) {
	var v Vault
	var wait sync.WaitGroup
	for n := range 8 {
		wait.Go(func() {
			text := fmt.Sprint("secret-number-", n)
			v.Know(New(text))
			if got := v.Mask(text); got != Masked {
				t.Errorf("%s became %s", text, got)
			}
		})
	}
	wait.Wait()
}
