package cli

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"
)

// A program that is asked to leave while it starts was not wrong.
func TestLeavingBeforeReadyIsNoFailure(t *testing.T) {
	ctx, leave := context.WithCancel(t.Context())
	leave()
	root := rootCommand()
	var out bytes.Buffer
	root.SetOut(&out)
	root.SetErr(&out)
	root.SetArgs([]string{"up", "--dir", filepath.Join(t.TempDir(), "bot"), "--port", "0", "--no-open"})
	if code := exitCode(root.ExecuteContext(ctx), &out); code != 0 || strings.Contains(out.String(), "familiar: start") {
		t.Errorf("exit code %d\n%s", code, &out)
	}
}
