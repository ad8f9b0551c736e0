package process

import (
	"errors"
	"testing"
)

// A program that does not know what it was started as must not start itself.
func TestUnarmed(t *testing.T) {
	armed.Store(false)
	defer armed.Store(true)
	if _, err := Start(t.Context(), Spec{Path: "true", Dir: "/"}); !errors.Is(err, errUnarmed) {
		t.Error("Start:", err)
	}
	if _, err := Isolable(); !errors.Is(err, errUnarmed) {
		t.Error("Isolable:", err)
	}
}
