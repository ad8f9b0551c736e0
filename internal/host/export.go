package host

import (
	"context"

	"familiar/internal/chat"
	"familiar/internal/command"
	"familiar/internal/memory"
	"familiar/internal/outbox"
	"familiar/internal/phrase"
)

// handOver sends what is remembered about a person to that person alone.
func (h *Host) handOver(ctx context.Context, t chat.Turn, file memory.Export) (chat.MessageID, error) {
	receipt, err := h.outbox.Alone(ctx, t, outbox.Document{Name: file.Name, MIME: file.MIME, Text: file.Text})
	return receipt.Message, err
}

// exportCommand sends the owner the file that memory-export would.
func (h *Host) exportCommand() command.Command {
	say := func(key phrase.Key) string { return h.phrases.Say(key) }
	return command.Command{Name: "/export", Needs: chat.Owner, Help: say(phrase.HelpExport), Run: h.export}
}

func (h *Host) export(ctx context.Context, t chat.Turn, _ string) (string, error) {
	type sent struct {
		Count    int    `json:"count"`
		FileName string `json:"fileName"`
	}
	file, err := call[struct{}, sent](ctx, h, t, "memory-export", struct{}{})
	return h.phrases.Say(phrase.Exported, file.Count, file.FileName), err
}
