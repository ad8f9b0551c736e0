package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"familiar/internal/chat"
	"familiar/internal/gate"
	"familiar/internal/history"
	"familiar/internal/inbox"
	"familiar/internal/platform"
	"familiar/internal/platform/webhook"
	"familiar/internal/secret"
	"familiar/internal/sqlite"
)

// How the webhook is measured.
const (
	posted  = 20_000 // requests of one run of the bench
	posters = 128    // connections that post at once
	chats   = 500
)

// hookSecret is what the posters sign with.
const hookSecret = "the secret of the posters"

// measureIntake posts requests to a webhook that makes their events durable, with shares of them that come again, and
// adds what one takes. An event that was lost or heard twice is an error.
func measureIntake(ctx context.Context, dir string, requests int, t *table) error {
	bare, err := intake{name: "bare", dir: dir, requests: requests,
		keep: func(*spine, context.Context, chat.Event) chat.Outcome { return chat.Accepted }}.run(ctx)
	if err != nil {
		return err
	}
	for _, share := range []int{0, 10, 50} {
		c, err := intake{name: fmt.Sprint(share), dir: dir, requests: requests, share: share, keep: (*spine).hear, count: true}.run(ctx)
		if err != nil {
			return err
		}
		t.add(row{what: fmt.Sprintf("webhook event, %d %% duplicates", share), unit: "µs", got: c.each, budget: 200,
			spread: fmt.Sprintf("(%.0f/s, %.0f µs of processor)", 1e6/c.each, c.processor),
			base:   against(fmt.Sprintf("verified and not kept (%.0f µs of processor)", bare.processor), bare.each, c.each, "µs")})
	}
	return nil
}

// intake is one run.
type intake struct {
	name     string
	dir      string
	requests int
	share    int // of a hundred requests, those that were sent before
	keep     func(*spine, context.Context, chat.Event) chat.Outcome
	count    bool // what was kept
}

// spine is the way of an event until it is durable, as the host has it.
type spine struct {
	gate    *gate.Gate
	inbox   *inbox.Inbox
	history *history.History
	fresh   atomic.Int64
}

// hear is the spine of the host, as far as the event is durable.
func (s *spine) hear(ctx context.Context, ev chat.Event) chat.Outcome {
	if v := s.gate.Early(ev); v.Decided {
		return v.Outcome
	}
	m, _ := ev.AsMessage()
	fresh, err := s.inbox.Accept(ctx, ev, s.history.Noting(ev.Place, m))
	switch {
	case err != nil:
		return chat.Busy
	case !fresh:
		return chat.Repeat
	}
	s.fresh.Add(1)
	if v := s.gate.Judge(ev); v.Decided {
		return v.Outcome
	}
	return chat.Accepted
}

func openSpine(ctx context.Context, db *sqlite.DB) (s *spine, err error) {
	cfg := gate.Defaults()
	cfg.ReplyPolicy = gate.ReplyAll
	s = &spine{gate: gate.New(cfg, nil, func(chat.Person) bool { return false })}
	if s.inbox, err = inbox.Open(ctx, db, time.Now); err != nil {
		return nil, err
	}
	s.history, err = history.Open(ctx, db, map[string]platform.Platform{}, time.Now)
	return s, err
}

// cost is what one request of a run took, in microseconds, the sender's part with it.
type cost struct{ each, processor float64 }

// run posts to a webhook of its own.
func (in intake) run(ctx context.Context) (c cost, err error) {
	db, err := sqlite.Open(ctx, filepath.Join(in.dir, "intake-"+in.name+".db"))
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	s, err := openSpine(ctx, db)
	if err != nil {
		return c, err
	}
	address, leave, err := in.serve(ctx, db, s)
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, leave()) }()
	c, accepted, err := in.post(ctx, address)
	if err == nil && in.count {
		err = in.check(ctx, db, accepted, s.fresh.Load())
	}
	return c, err
}

// serve lets a webhook listen, without the rest of a bot.
func (in intake) serve(ctx context.Context, db *sqlite.DB, s *spine) (address string, leave func() error, err error) {
	cfg := webhook.Defaults()
	cfg.Enabled, cfg.Secret = true, secret.New(hookSecret)
	hook, err := webhook.New(ctx, db, cfg, webhook.Deps{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return "", nil, err
	}
	mux := http.NewServeMux()
	hook.Routes(mux)
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	server := &http.Server{Handler: mux, ReadHeaderTimeout: patience}
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { _ = server.Serve(listener) }) // it ends when it is closed
	running.Go(func() {
		_ = hook.Run(ctx, func(ctx context.Context, ev chat.Event) chat.Outcome { return in.keep(s, ctx, ev) }, func() {})
	})
	return listener.Addr().String(), func() error {
		cancel()
		defer running.Wait()
		return server.Close()
	}, nil
}

// check finds what was lost or doubled.
func (in intake) check(ctx context.Context, db *sqlite.DB, accepted, fresh int64) error {
	var kept, distinct int64
	err := db.Read().QueryRowContext(ctx, `SELECT count(*), count(DISTINCT json_extract(event, '$.message')) FROM inbox`).Scan(&kept, &distinct)
	var sent int64
	for n := range int64(in.requests) {
		if in.numberOf(n) == n {
			sent++
		}
	}
	if err == nil && (kept != sent || distinct != sent || accepted != sent || fresh != sent) {
		err = fmt.Errorf("of %d events %d were kept, %d different ones; %d were answered as new, %d heard", sent, kept, distinct, accepted, fresh)
	}
	return err
}

// numberOf is the number of the event that request n carries: its own, or that of an earlier one.
func (in intake) numberOf(n int64) int64 {
	if n >= 100 && n%100 < int64(in.share) {
		return n - 100 + int64(in.share)
	}
	return n
}
