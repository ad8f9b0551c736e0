package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"familiar/internal/agent/script"
	"familiar/internal/chat"
	"familiar/internal/config"
	"familiar/internal/control"
	"familiar/internal/host"
	"familiar/internal/instance"
	"familiar/internal/logging"
	"familiar/internal/memory"
	"familiar/internal/secret"
	"familiar/internal/workspace"
)

// What the person's memory holds.
const (
	memories  = 1000
	important = 20
)

// owner is who writes: whoever holds the bot's token.
var owner = chat.Person{Platform: "web", ID: "owner"}

// bot is a bot in this process, as `up` makes one but for its agent.
type bot struct {
	client  *control.Client
	session string // of the page, once there is one
	probe   *probe
	ended   chan error // one for each turn
	leave   closers
}

// closers are what is to be closed, the last first.
type closers []func() error

func (c closers) close() error {
	var errs []error
	for _, one := range slices.Backward(c) {
		errs = append(errs, one())
	}
	return errors.Join(errs...)
}

// open starts a bot in dir.
func open(ctx context.Context, dir string) (_ *bot, err error) {
	b := &bot{ended: make(chan error, 1)}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.leave.close())
		}
	}()
	inst, err := instance.Find(dir, "")
	if err != nil {
		return nil, err
	}
	lock, err := inst.Lock()
	if err != nil {
		return nil, err
	}
	b.leave = append(b.leave, lock.Release)
	o, err := b.options(inst)
	if err != nil {
		return nil, err
	}
	if err := remember(ctx, o.Loaded, inst.Dir); err != nil {
		return nil, fmt.Errorf("write memories: %w", err)
	}
	h, err := host.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	if err := b.run(ctx, h); err != nil {
		return nil, err
	}
	if b.probe.db, err = openCounters(inst.Database()); err != nil {
		return nil, err
	}
	b.leave = append(b.leave, b.probe.db.file.Close)
	b.client = control.New(h.URL(), o.Token)
	return b, nil
}

// run lets the host live until the bot is left, and returns when it is ready.
func (b *bot) run(ctx context.Context, h *host.Host) error {
	ctx, end := context.WithCancel(ctx)
	ran := make(chan error, 1)
	go func() { ran <- h.Run(ctx) }()
	select {
	case <-h.Ready():
		b.leave = append(b.leave, func() error { end(); return <-ran })
		return nil
	case err := <-ran:
		end()
		return errors.Join(errors.New("the bot did not become ready"), err)
	}
}

// options is what the bot is made from: the defaults, on any free port, with a log file.
func (b *bot) options(inst instance.Instance) (o host.Options, err error) {
	o.Instance = inst
	o.Loaded, err = config.Load(config.Where{Dir: inst.Dir, Set: []config.Override{{Name: "bench", Path: "server.port", Value: "0"}}}, nil)
	if err != nil {
		return o, err
	}
	if o.Token, err = inst.Token(); err != nil {
		return o, err
	}
	o.Vault = &secret.Vault{}
	o.Vault.Know(o.Token)
	logs, err := logging.OpenFile(filepath.Join(inst.Logs(), "familiar.log"))
	if err != nil {
		return o, err
	}
	b.leave = append(b.leave, logs.Close)
	log := logging.Also(logging.New(o.Loaded.Config.Logging, io.Discard, os.Stderr, false, o.Vault), logs)
	o.Log = slog.New(turns{log.Handler(), b.ended})
	args, err := json.Marshal(struct {
		Message string `json:"message"`
	}{"The walk is at four, and the tea is in the tin behind the door. 四點出發。"})
	if err != nil {
		return o, err
	}
	play := script.New(script.Script{Turns: []script.Turn{{Steps: []script.Step{{Call: "send-reply", Args: args}}}}})
	b.probe = &probe{Agent: play, prompted: make(chan seen, 1)}
	o.Agent = b.probe
	return o, nil
}

// turns is a log that also tells when a turn has ended, which is the last thing that happens in it.
type turns struct {
	slog.Handler
	ended chan<- error
}

// Handle implements slog.Handler. The handlers that are derived from this one only log.
func (t turns) Handle(ctx context.Context, r slog.Record) error {
	err := t.Handler.Handle(ctx, r)
	switch {
	case r.Message == "turn":
		t.ended <- nil
	case strings.HasPrefix(r.Message, "turn "):
		t.ended <- errors.New("a " + r.Message + "; standard error says why")
	}
	return err
}

// remember gives the owner memories, some of them important.
func remember(ctx context.Context, loaded config.Loaded, dir string) error {
	cfg := loaded.Config
	folders, err := workspace.Open(loaded.Path(cfg.Workspace.RepoPath), cfg.Workspace.WorkspacesDir, dir)
	if err != nil {
		return err
	}
	store := memory.Open(cfg.Memory, folders.Home, nil, slog.New(slog.DiscardHandler))
	for i := range memories {
		d := memory.Draft{Content: fmt.Sprintf("On day %d we talked about tea from 阿里山, about trains, and about the weather of the week.", i),
			Importance: memory.Normal, Standing: chat.Owner}
		if i%(memories/important) == 0 {
			d.Importance = memory.High
		}
		if _, err := store.Save(ctx, owner, i%2 == 0, d); err != nil {
			return err
		}
	}
	return nil
}
