package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// build makes the program as it is shipped, and one that does nothing in the same way. It is to be called
// anywhere in the repository.
func build(ctx context.Context, dir string) (product, trivial string, err error) {
	product, trivial = filepath.Join(dir, "familiar"), filepath.Join(dir, "trivial")
	for into, from := range map[string]string{product: "familiar/cmd/familiar", trivial: "familiar/internal/bench/testdata/trivial"} {
		//nolint:gosec // the packages are ours
		cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", into, from)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
		if err := cmd.Run(); err != nil {
			return "", "", fmt.Errorf("%s: %w", from, err)
		}
	}
	return product, trivial, nil
}

// sizes adds the row of the binary.
func sizes(product, trivial string, t *table) error {
	ours, err := os.Stat(product)
	if err != nil {
		return err
	}
	least, err := os.Stat(trivial)
	if err != nil {
		return err
	}
	got, base := float64(ours.Size())/1e6, float64(least.Size())/1e6
	t.add(row{what: "binary, stripped, static", unit: "MB", got: got, budget: 45,
		base: against("a program that does nothing", base, got, "MB")})
	return nil
}
