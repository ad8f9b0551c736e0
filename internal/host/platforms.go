package host

import (
	"context"
	"net/http"

	"familiar/internal/chat"
	"familiar/internal/kv"
	"familiar/internal/login"
	"familiar/internal/platform"
	"familiar/internal/platform/discord"
	"familiar/internal/platform/misskey"
	"familiar/internal/platform/web"
)

// openPlatforms is the table of networks: one entry for each that the configuration has on.
func (h *Host) openPlatforms(ctx context.Context) (map[string]platform.Platform, error) {
	on := map[string]platform.Platform{}
	if h.Network != nil {
		on[h.Network.Name()] = h.Network
	}
	if cfg := h.cfg.Platforms.Web; cfg.Enabled {
		page, err := web.New(ctx, h.db, cfg, web.Deps{
			Log:     h.log.With("module", "Web"),
			Stop:    h.stopIn,
			ViaPage: func(r *http.Request) bool { return login.Via(r.Context()) == login.PageSession },
			Closing: h.closing,
		})
		if err != nil {
			return nil, err
		}
		on[page.Name()] = page
	}
	store, err := kv.NewSQLite(ctx, h.db, h.now)
	if err != nil {
		return nil, err
	}
	if cfg := h.cfg.Platforms.Discord; cfg.Enabled {
		bot := discord.New(cfg.Config, discord.Deps{Log: h.log.With("module", "Discord"), Version: h.Version, Store: store})
		on[bot.Name()] = bot
	}
	if cfg := h.cfg.Platforms.Misskey; cfg.Enabled {
		bot := misskey.New(cfg.Config, misskey.Deps{Log: h.log.With("module", "Misskey"), Store: store})
		on[bot.Name()] = bot
	}
	if h.cfg.Platforms.Webhook.Enabled {
		if err := h.openWebhook(ctx); err != nil {
			return nil, err
		}
		on[h.webhook.Name()] = h.webhook
	}
	return on, nil
}

// stopIn ends the turn that runs in a place of one person.
func (h *Host) stopIn(_ context.Context, place chat.Place) bool {
	return h.rooms.Stop(chat.Event{Place: place, From: webOwner})
}

// webOwner is the holder of the token, the only person of the web platform.
var webOwner = chat.Person{Platform: web.Name, ID: "owner"}
