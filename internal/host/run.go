package host

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"familiar/internal/chat"
	"familiar/internal/logging"
	"familiar/internal/platform"
)

// Run lets the bot live until ctx ends, or until something that it cannot live without fails; then it takes it
// down in order and returns when nothing of it is left: no more is heard, turns end or are cut off after
// server.shutdownMs, what they say goes out, the listeners and stores close. It may be called once.
func (h *Host) Run(ctx context.Context) error {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	outer, leave := context.WithCancel(context.WithoutCancel(ctx)) // the listeners outlive the last turn
	defer leave()
	var doors, sources sync.WaitGroup
	left := h.left(ctx)
	h.serve(outer, &doors, fail)
	sources.Go(h.sweep)
	sources.Go(func() { h.memory.Keep(ctx) })
	sources.Go(func() { h.watch(ctx) })
	if err := h.recover(ctx, left); err != nil {
		fail(err)
	}
	sources.Go(func() { h.outbox.Keep(ctx) }) // after what is pending was settled
	for _, link := range h.links {
		sources.Go(func() {
			if err := link.Keep(ctx, h.listen); err != nil {
				h.givenUp(ctx, link, err, fail)
			}
		})
	}
	sources.Go(func() {
		if err := h.clock.Run(ctx); err != nil {
			fail(err)
		}
	})
	close(h.hearing)
	h.meet(ctx)
	<-ctx.Done()
	h.takeDown(outer, &sources)
	leave()
	doors.Wait()
	err := h.release()
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		err = errors.Join(cause, err)
	}
	return err
}

// givenUp goes on without a platform that no further attempt would bring back. It ends the bot where the operator set a
// limit to attempts, or when no platform is left.
func (h *Host) givenUp(ctx context.Context, link *platform.Link, err error, fail context.CancelCauseFunc) {
	left := slices.ContainsFunc(h.links, func(l *platform.Link) bool { return l.State().Status != platform.Failed })
	if left && !errors.Is(err, platform.ErrGaveUp) {
		h.log.Error("a platform is given up", chat.KeyPlatform, link.State().Name, chat.KeyErr, err)
		return
	}
	h.log.Log(ctx, logging.Fatal, "a platform is given up, and the bot ends", chat.KeyPlatform, link.State().Name, chat.KeyErr, err)
	fail(err)
}

// takeDown lets what runs end: no more is heard, turns end within server.shutdownMs or are cut off, and whoever
// follows a stream reads the last of it.
func (h *Host) takeDown(ctx context.Context, sources *sync.WaitGroup) {
	h.rooms.Leave()
	close(h.leaving)
	h.log.Info("leaving", "running", h.rooms.Load().Running)
	sources.Wait()
	grace, cancel := context.WithTimeout(ctx, time.Duration(h.cfg.Server.ShutdownMs)*time.Millisecond)
	defer cancel()
	h.rooms.Close(grace)
	h.deeds.Close(grace)
	h.lastBackup(ctx)
	close(h.closing)
}

// serve starts the listeners. One that fails ends the bot.
func (h *Host) serve(ctx context.Context, doors *sync.WaitGroup, fail context.CancelCauseFunc) {
	open := map[string]func(context.Context) error{"the page": h.pages.serve, "the tools": h.doors.Serve}
	if h.probes != nil {
		open["the probes"] = h.probes.serve
	}
	if h.webhook != nil {
		open["the webhook's replies"] = h.webhook.Deliver
	}
	for name, serve := range open {
		doors.Go(func() {
			if err := serve(ctx); err != nil {
				fail(fmt.Errorf("%s: %w", name, err))
			}
		})
	}
}

// release closes what Open opened, as far as it came.
func (h *Host) release() error {
	var errs []error
	if h.rooms != nil {
		closed, cancel := context.WithCancel(context.Background())
		cancel()
		h.rooms.Close(closed)
	}
	if h.agent != nil {
		errs = append(errs, h.agent.Close())
	}
	for _, s := range []*server{h.pages, h.probes} {
		if s != nil {
			_ = s.Close() // it may be closed already, and there is nothing more to do about it
		}
	}
	if h.doors != nil {
		h.doors.Close()
	}
	if h.audit != nil {
		errs = append(errs, h.audit.Shut())
	}
	if h.db != nil {
		errs = append(errs, h.db.Close())
	}
	if h.data != nil {
		errs = append(errs, h.data.Close())
	}
	return errors.Join(errs...)
}
