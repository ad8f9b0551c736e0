package process_test

import (
	"testing"
	"time"

	"familiar/internal/process"
)

// What a program costs from Start to running, and to its end.
func BenchmarkStart(b *testing.B) {
	for name, walls := range map[string]*process.Walls{
		"free":     nil,
		"confined": {Read: []string{"/usr", "/bin", "/lib", "/lib64"}, Write: []string{b.TempDir(), "/dev/null"}},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				p, err := process.Start(b.Context(), process.Spec{Path: "/bin/cat", Dir: "/", Walls: walls})
				if err != nil {
					b.Fatal(err)
				}
				if err := p.Stop(process.Grace{EOF: time.Minute}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
