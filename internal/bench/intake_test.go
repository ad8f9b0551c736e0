package main

import (
	"strings"
	"testing"
)

// Events that come again are neither lost nor doubled, and the figures are printed.
func TestIntake(t *testing.T) {
	var tab table
	if err := measureIntake(t.Context(), t.TempDir(), 2000, &tab); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := tab.print(&out, facts{way: way{samples: []sample{{}}}}); err != nil || strings.Count(out.String(), "webhook event") != 3 {
		t.Errorf("%v in\n%s", err, out.String())
	}
}
