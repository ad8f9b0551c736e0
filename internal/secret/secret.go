// Package secret is the one place where secrets are held and masked. A Value never prints; a Vault knows every
// secret of this process and takes them out of any text that leaves it.
package secret

import (
	"crypto/subtle"
	"log/slog"
	"slices"
	"strings"
	"sync"
)

// Value is a secret. Every way of printing, marshalling or logging it gives "…" (or "" when it is unset).
type Value struct{ text string }

// New makes a secret of text; surrounding white space, as files have it, is dropped.
func New(text string) Value { return Value{strings.TrimSpace(text)} }

// Reveal returns the secret itself, for the one call that needs it.
func (v Value) Reveal() string { return v.text }

// Set reports whether there is a secret at all.
func (v Value) Set() bool { return v.text != "" }

// Is compares with what somebody offered, in constant time. An unset secret equals nothing.
func (v Value) Is(offered string) bool {
	return v.Set() && subtle.ConstantTimeCompare([]byte(v.text), []byte(offered)) == 1
}

func (v Value) String() string {
	if v.Set() {
		return "…"
	}
	return ""
}

// GoString hides the secret from %#v.
func (v Value) GoString() string { return v.String() }

// MarshalText hides the secret from every encoder.
func (v Value) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText takes the secret as it is written.
func (v *Value) UnmarshalText(text []byte) error { *v = New(string(text)); return nil }

// LogValue hides the secret from slog.
func (v Value) LogValue() slog.Value { return slog.StringValue(v.String()) }

// leastKnown is the shortest secret that a Vault takes out of texts, in bytes: a shorter one would be found
// inside innocent words.
const leastKnown = 8

// Vault knows secrets and masks them. The zero Vault is ready; safe for concurrent use.
type Vault struct {
	mu    sync.RWMutex
	known []string // longest first, so that a secret inside another does not spoil it
}

// Know adds secrets. Unset ones, and ones shorter than 8 bytes, are left out.
func (v *Vault) Know(values ...Value) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, value := range values {
		if len(value.text) >= leastKnown && !slices.Contains(v.known, value.text) {
			v.known = append(v.known, value.text)
		}
	}
	slices.SortFunc(v.known, func(a, b string) int { return len(b) - len(a) })
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
