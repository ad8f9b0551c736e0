package misskey

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"familiar/internal/chat"
	"familiar/internal/kv"
	"familiar/internal/platform/misskey/misskeytest"
	"familiar/internal/platform/platformtest"
	"familiar/internal/secret"
)

// TestContract runs the contract of all platforms, in a chat and in direct notes.
func TestContract(t *testing.T) {
	for name, deliver := range map[string]func(in *misskeytest.Instance, ann misskeytest.User, seen map[string]string, source, text string){
		"chat": func(in *misskeytest.Instance, ann misskeytest.User, seen map[string]string, source, text string) {
			if id := seen[source]; id != "" {
				in.AgainChat(id)
				return
			}
			seen[source] = in.Chat(ann, text).ID
		},
		"notes": func(in *misskeytest.Instance, ann misskeytest.User, seen map[string]string, source, text string) {
			if id := seen[source]; id != "" {
				in.Again(id)
				return
			}
			seen[source] = in.Write(ann, misskeytest.Draft{Text: "@familiar " + text, Visibility: "specified"}).ID
		},
	} {
		t.Run(name, func(t *testing.T) {
			platformtest.Run(t, platformtest.Rig{New: func(t *testing.T) platformtest.Network {
				in := misskeytest.Start()
				ann := in.User("ann", "Ann", false)
				cfg := Defaults()
				cfg.Host, cfg.Secure, cfg.Token = in.Host(), false, secret.New(misskeytest.Token)
				file := filepath.Join(t.TempDir(), "a.txt")
				if err := os.WriteFile(file, []byte("hello"), 0o600); err != nil {
					t.Fatal(err)
				}
				seen := map[string]string{}
				return platformtest.Network{
					Platform: New(cfg, Deps{Log: slog.New(slog.DiscardHandler), Store: kv.NewMemory(time.Now)}),
					Deliver:  func(_ *testing.T, source, text string) { deliver(in, ann, seen, source, text) },
					Posted:   func(*testing.T) []string { return posted(in) },
					File:     chat.File{Path: file, Name: "a.txt", MIME: "text/plain"},
					Close: func() {
						in.Close()
						for _, fault := range in.Faults() {
							t.Errorf("the instance complains: %s", fault)
						}
					},
				}
			}})
		})
	}
}

// posted are the texts of the bot that can be read, without files.
func posted(in *misskeytest.Instance) (texts []string) {
	for _, n := range in.Notes() {
		if n.UserID == in.Me().ID && n.Text != nil {
			texts = append(texts, *n.Text)
		}
	}
	for _, c := range in.Chats() {
		if c.FromUserID == in.Me().ID && c.Text != nil {
			texts = append(texts, *c.Text)
		}
	}
	return texts
}
