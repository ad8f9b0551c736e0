package briefing

import (
	"context"
	"log/slog"
	"testing"

	"familiar/internal/chat"
)

func BenchmarkReply(b *testing.B) {
	src := Sources{
		Important: func(context.Context, chat.Turn) ([]string, error) { return []string{"likes tea"}, nil },
		Recent:    recentOf(talk(20, "recent")...),
	}
	briefer := New(Defaults(), Bot{}, slog.New(slog.DiscardHandler))
	r := request(guild, "When is the walk?")
	for b.Loop() {
		if _, err := briefer.Reply(b.Context(), src, r); err != nil {
			b.Fatal(err)
		}
	}
}
