package host

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"familiar/internal/backup"
	"familiar/internal/chat"
	"familiar/internal/clock"
	"familiar/internal/kv"
	"familiar/internal/remind"
	"familiar/internal/research"
	"familiar/internal/spontaneity"
)

// jobs is the table of what comes due by itself.
func (h *Host) jobs() []clock.Job {
	every := func(ms int) clock.Rhythm { return clock.Every(time.Duration(ms) * time.Millisecond) }
	between := func(least, most int) clock.Rhythm {
		return clock.Rhythm{Least: time.Duration(least) * time.Millisecond, Most: time.Duration(most) * time.Millisecond}
	}
	var all []clock.Job
	on := func(is bool, j clock.Job) {
		if is {
			all = append(all, j)
		}
	}
	cfg, own, platforms := h.cfg, h.cfg.Companion, h.cfg.Platforms
	post := func(name string, section spontaneous) clock.Job {
		return clock.Job{Name: "spontaneous." + name, Rhythm: between(section.MinIntervalMs, section.MaxIntervalMs), Run: h.postIn(name)}
	}
	on(cfg.Audit.Enabled && cfg.Audit.RetentionDays > 0, clock.Job{Name: "auditRetention", Rhythm: clock.Every(24 * time.Hour), AtStart: true,
		Run: func(context.Context, time.Time) error { return h.audit.Expire() }})
	on(cfg.GitBackup.Enabled, clock.Job{Name: "gitBackup", Rhythm: every(cfg.GitBackup.IntervalMs), AtStart: true, Run: h.backUp()})
	on(own.Reminders.Enabled, clock.Job{Name: "reminders", Rhythm: every(own.Reminders.CheckIntervalMs), Run: h.remindAll})
	on(own.SelfResearch.Enabled, clock.Job{Name: "selfResearch",
		Rhythm: between(own.SelfResearch.MinIntervalMs, own.SelfResearch.MaxIntervalMs), Run: h.researchOnce})
	on(own.MemoryMaintenance.Enabled, clock.Job{Name: "memoryMaintenance", Rhythm: every(own.MemoryMaintenance.IntervalMs), Run: h.tidyAll})
	on(platforms.Discord.Enabled && platforms.Discord.SpontaneousPost.Enabled, post("discord", platforms.Discord.SpontaneousPost))
	on(platforms.Misskey.Enabled && platforms.Misskey.SpontaneousPost.Enabled, post("misskey", platforms.Misskey.SpontaneousPost))
	on(platforms.Discord.Enabled && platforms.Discord.ChannelLurk.Enabled,
		clock.Job{Name: "channelLurk", Rhythm: every(platforms.Discord.ChannelLurk.IntervalMs), Run: h.lurkIn("discord")})
	return all
}

// openJobs opens the timetable and what its jobs work with.
func (h *Host) openJobs(ctx context.Context) (err error) {
	own := h.cfg.Companion
	if own.Reminders.Enabled {
		h.reminders = remind.Open(own.Reminders, remind.Deps{Folder: h.folders.Home, People: h.known, Now: h.now})
		h.reminding = remind.NewKit(h.reminders, h.cfg.Bot.Zone(), remind.Hooks{
			Set:       func(t chat.Turn) { h.count.ReminderSet(t.From.Platform) },
			Cancelled: func(t chat.Turn) { h.count.ReminderCancelled(t.From.Platform) }})
	}
	h.feeds = research.NewReader(own.SelfResearch, h.log.With("module", "Research"))
	store, err := kv.NewSQLite(ctx, h.db, h.now)
	if err != nil {
		return err
	}
	h.lurker = spontaneity.NewLurker(store)
	h.clock, err = clock.Open(ctx, h.db, h.jobs(), h.now, h.log.With("module", "Clock"))
	return err
}

// known lists everybody who has a folder.
func (h *Host) known() ([]chat.Person, error) {
	all, err := h.folders.All()
	people := make([]chat.Person, len(all))
	for i, ref := range all {
		people[i] = chat.Person{Platform: ref.Platform, ID: ref.User}
	}
	return people, err
}

// restore brings back what a bot had on another machine, where there is nothing yet. A bot that began without it would
// know nobody, and what it learned could not be brought together with the copy afterwards: it does not start.
func (h *Host) restore(ctx context.Context, data string) error {
	if !h.cfg.GitBackup.Enabled {
		return nil
	}
	h.backup = backup.New(h.cfg.GitBackup, backup.Deps{Dir: data, Token: h.cfg.Agent.GitHubToken, Before: h.keepState, Now: h.now,
		Log: h.log.With("module", "Backup")})
	restored, err := h.backup.Restore(ctx)
	if err != nil {
		return fmt.Errorf("gitBackup: what belongs in %s is not there yet, and its copy cannot be fetched: %w; "+
			"start again when the repository can be reached, or set gitBackup.enabled: false to begin without it", data, err)
	}
	if restored {
		h.log.Info("brought back the newest backup")
	}
	return nil
}

// backUp makes the first copy of a process, and later ones.
func (h *Host) backUp() func(context.Context, time.Time) error {
	var later atomic.Bool
	return func(ctx context.Context, _ time.Time) error {
		run := h.backup.Copy
		if !later.Swap(true) {
			run = h.backup.Begin
		}
		return run(ctx)
	}
}

// leastCopy is how long the last backup may take where turns may take no time at all.
const leastCopy = 5 * time.Second

// lastBackup keeps the state, and makes a copy of what the bot leaves behind. A remote repository that hangs keeps it from
// ending no longer than turns may, or a few seconds; what did not go out by then goes at the next start.
func (h *Host) lastBackup(ctx context.Context) {
	h.leaveState(context.WithoutCancel(ctx))
	if h.backup == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, max(time.Duration(h.cfg.Server.ShutdownMs)*time.Millisecond, leastCopy))
	defer cancel()
	if err := h.backup.Begin(ctx); err != nil && !errors.Is(err, backup.ErrBusy) {
		h.log.Error("the last backup failed", chat.KeyErr, err)
	}
}
