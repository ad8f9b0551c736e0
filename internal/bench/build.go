package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// programs are what is built for a run.
type programs struct {
	product  string // as it is shipped
	trivial  string // does nothing
	scripted string // the small agent
}

// build makes the programs, all in the same way. It is to be called anywhere in the repository.
func build(ctx context.Context, dir string) (programs, error) {
	p := programs{filepath.Join(dir, "familiar"), filepath.Join(dir, "trivial"), filepath.Join(dir, "scripted")}
	for into, from := range map[string]string{p.product: "familiar/cmd/familiar",
		p.trivial: "familiar/internal/bench/testdata/trivial", p.scripted: "familiar/internal/bench/testdata/scripted"} {
		//nolint:gosec // the packages are ours
		cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", into, from)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
		if err := cmd.Run(); err != nil {
			return p, fmt.Errorf("%s: %w", from, err)
		}
	}
	return p, nil
}

// sizes adds the row of the binary.
func sizes(p programs, t *table) error {
	ours, err := os.Stat(p.product)
	if err != nil {
		return err
	}
	least, err := os.Stat(p.trivial)
	if err != nil {
		return err
	}
	got, base := float64(ours.Size())/1e6, float64(least.Size())/1e6
	t.add(row{what: "binary, stripped, static", unit: "MB", got: got, budget: 45,
		base: against("a program that does nothing", base, got, "MB")})
	return nil
}
