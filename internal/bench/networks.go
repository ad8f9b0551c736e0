package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"familiar/internal/platform/discord/discordtest"
	"familiar/internal/platform/misskey/misskeytest"
)

// onNetworks is the configuration of a bot on a Discord and a Misskey of our own.
const onNetworks = `version: 1
platforms:
  discord: {apiUrl: %q, token: %q}
  misskey: {host: %q, secure: false, token: %q}
`

// measureConnected adds what the program holds when it is connected to both networks and nobody speaks to it.
func measureConnected(ctx context.Context, dir, product string, t *table) error {
	chat, err := discordtest.Open(ctx, "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer chat.Close()
	notes, err := misskeytest.Open(ctx, "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer notes.Close()
	chat.AddChannel(chat.AddGuild("guild", nil), "talk", discordtest.Text)

	at := filepath.Join(dir, "networks")
	if err := os.MkdirAll(at, 0o700); err != nil {
		return err
	}
	text := fmt.Sprintf(onNetworks, chat.URL(), chat.Token(), notes.Host(), misskeytest.Token)
	if err := os.WriteFile(filepath.Join(at, "config.yaml"), []byte(text), 0o600); err != nil {
		return err
	}
	connected := func(ctx context.Context) error {
		return until(ctx, func() bool { return chat.Connected() > 0 && notes.Streams() > 0 })
	}
	_, holds, err := once(ctx, []string{product, "up", "--dir", at, "--port", "0", "--no-open"}, connected)
	if err != nil {
		return err
	}
	if wrong := append(chat.Problems(), notes.Faults()...); len(wrong) > 0 {
		return errors.New(strings.Join(wrong, "; "))
	}
	t.add(row{what: "idle memory on both networks", unit: "MiB", got: holds.rss, spread: fmt.Sprintf("(%.1f of it its own)", holds.anon), budget: 25})
	return nil
}

// until waits for something that nobody announces.
func until(ctx context.Context, holds func() bool) error {
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for !holds() {
		select {
		case <-look.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
