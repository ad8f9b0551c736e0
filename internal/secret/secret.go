// Package secret is the one place where secrets are held and masked. A Value never prints; a Vault knows every
// secret of this process and takes them out of any text that leaves it.
package secret

import (
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"unique"
)

// Value is a secret. Every way of printing, marshalling or logging it gives "…" (or "" when it is unset). Equal
// secrets are equal Values.
type Value struct {
	// A handle, since fmt prints what is in a field that is not exported without asking its type.
	text unique.Handle[string]
}

// New makes a secret of text; surrounding white space, as files have it, is dropped.
func New(text string) Value {
	if text = strings.TrimSpace(text); text != "" {
		return Value{unique.Make(text)}
	}
	return Value{}
}

// Reveal returns the secret itself, for the one call that needs it.
func (v Value) Reveal() string {
	if v.Set() {
		return v.text.Value()
	}
	return ""
}

// Set reports whether there is a secret at all.
func (v Value) Set() bool { return v != Value{} }

// Is compares with what somebody offered, in constant time. An unset secret equals nothing.
func (v Value) Is(offered string) bool {
	return v.Set() && subtle.ConstantTimeCompare([]byte(v.Reveal()), []byte(offered)) == 1
}

func (v Value) String() string {
	if v.Set() {
		return "…"
	}
	return ""
}

// Format hides the secret from fmt, whatever the verb.
func (v Value) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, v.String()) }

// MarshalText hides the secret from every encoder.
func (v Value) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText takes the secret as it is written.
func (v *Value) UnmarshalText(text []byte) error { *v = New(string(text)); return nil }

// LogValue hides the secret from slog.
func (v Value) LogValue() slog.Value { return slog.StringValue(v.String()) }

// leastKnown is the shortest secret that a Vault takes out of texts, in bytes: a shorter one would be found
// inside innocent words.
const leastKnown = 8

// Vault knows secrets and masks them, also as JSON writes them. The zero Vault is ready; safe for concurrent use.
type Vault struct {
	mu    sync.RWMutex
	known []string // longest first, so that a secret inside another does not spoil it
}

// Know adds secrets. Unset ones, and ones shorter than 8 bytes, are left out.
func (v *Vault) Know(values ...Value) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, value := range values {
		if len(value.Reveal()) < leastKnown {
			continue
		}
		for _, text := range forms(value.Reveal()) {
			if !slices.Contains(v.known, text) {
				v.known = append(v.known, text)
			}
		}
	}
	slices.SortFunc(v.known, func(a, b string) int { return len(b) - len(a) })
}

// forms are the ways in which a secret may stand in a text: as it is, and inside a JSON string, with or without what
// HTML could take for markup written out.
func forms(text string) []string {
	all := []string{text}
	for _, html := range []bool{false, true} {
		var b strings.Builder
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(html)
		if enc.Encode(text) == nil {
			all = append(all, strings.TrimSuffix(b.String(), "\"\n")[1:])
		}
	}
	return all
}

// Masked is what stands where a secret was.
const Masked = "[REDACTED]"

// Mask returns text without any secret that the vault knows. A nil vault masks nothing.
func (v *Vault) Mask(text string) string {
	if v == nil {
		return text
	}
	v.mu.RLock()
	defer v.mu.RUnlock()
	for _, s := range v.known {
		text = strings.ReplaceAll(text, s, Masked)
	}
	return text
}
