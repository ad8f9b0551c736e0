package memory

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// manyMemories writes a person's file with n memories, one in a hundred of high importance.
func manyMemories(b *testing.B, n int) func(platform, user string) (string, error) {
	b.Helper()
	dir := b.TempDir()
	var text strings.Builder
	for i := range n {
		importance := Normal
		if i%100 == 0 {
			importance = High
		}
		text.WriteString(memoryLine(fmt.Sprintf("mem_m3x%05d_0a1b2c", i), "2025-01-01T00:00:00.000Z", "public", string(importance),
			fmt.Sprintf("On day %d we talked about tea from 阿里山, about trains, and about the weather of the week.", i)) + "\n")
	}
	if err := os.WriteFile(filepath.Join(dir, publicFile.name()), []byte(text.String()), 0o600); err != nil {
		b.Fatal(err)
	}
	return func(string, string) (string, error) { return dir, nil }
}

func BenchmarkImportant(b *testing.B) {
	folder := manyMemories(b, 10_000)
	b.Run("cold", func(b *testing.B) {
		for b.Loop() {
			s := Open(Defaults(), folder, nil, slog.New(slog.DiscardHandler))
			if found, err := s.Important(b.Context(), ann, true); err != nil || len(found) != 100 {
				b.Fatal(len(found), err)
			}
		}
	})
	b.Run("warm", func(b *testing.B) {
		s := Open(Defaults(), folder, nil, slog.New(slog.DiscardHandler))
		for b.Loop() {
			if found, err := s.Important(b.Context(), ann, true); err != nil || len(found) != 100 {
				b.Fatal(len(found), err)
			}
		}
	})
	b.Run("after a save", func(b *testing.B) {
		s := Open(Defaults(), manyMemories(b, 10_000), nil, slog.New(slog.DiscardHandler))
		for b.Loop() {
			b.StopTimer()
			if _, err := s.Save(b.Context(), ann, false, Draft{Content: "x"}); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
			if found, err := s.Important(b.Context(), ann, true); err != nil || len(found) != 100 {
				b.Fatal(len(found), err)
			}
		}
	})
}

func BenchmarkSearch(b *testing.B) {
	s := Open(Defaults(), manyMemories(b, 10_000), nil, slog.New(slog.DiscardHandler))
	for _, query := range []string{"阿里山", "trains weather", "nothing"} {
		b.Run(query, func(b *testing.B) {
			for b.Loop() {
				if _, err := s.Search(b.Context(), ann, true, query, 10); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkSave(b *testing.B) {
	s := Open(Defaults(), manyMemories(b, 10_000), nil, slog.New(slog.DiscardHandler))
	for b.Loop() {
		if _, err := s.Save(b.Context(), ann, false, Draft{Content: "x"}); err != nil {
			b.Fatal(err)
		}
	}
}
