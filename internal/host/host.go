// Package host puts the parts together, and is the place to begin reading. Open builds a bot from its
// configuration; Run lets it live until its context ends, and takes it down in order. hear.go is the way of one
// message, turns.go what surrounds a turn, recover.go what a crash left; jobs.go is what comes due by itself, wake.go
// how that is heard, initiative.go what a companion does then. platforms.go, agents.go, desks.go, tools.go and
// commands.go are the tables of what there is; every other file is one part, put into its place.
package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"familiar/internal/agent"
	"familiar/internal/agent/acp"
	"familiar/internal/approval"
	"familiar/internal/attachment"
	"familiar/internal/audit"
	"familiar/internal/backup"
	"familiar/internal/chat"
	"familiar/internal/clock"
	"familiar/internal/command"
	"familiar/internal/config"
	"familiar/internal/desk"
	"familiar/internal/gate"
	"familiar/internal/history"
	"familiar/internal/inbox"
	"familiar/internal/instance"
	"familiar/internal/login"
	"familiar/internal/memory"
	"familiar/internal/memory/index"
	"familiar/internal/metrics"
	"familiar/internal/note"
	"familiar/internal/outbox"
	"familiar/internal/pairing"
	"familiar/internal/phrase"
	"familiar/internal/platform"
	"familiar/internal/platform/webhook"
	"familiar/internal/remind"
	"familiar/internal/research"
	"familiar/internal/room"
	"familiar/internal/secret"
	"familiar/internal/skillstore"
	"familiar/internal/spontaneity"
	"familiar/internal/sqlite"
	"familiar/internal/thread"
	"familiar/internal/tool"
	"familiar/internal/toolserver"
	"familiar/internal/workspace"
)

// Host is one bot. Open makes it; nothing of it runs before Run.
type Host struct {
	Options
	cfg   config.Config
	log   *slog.Logger
	now   func() time.Time
	since time.Time
	self  string           // our own executable, resolved
	count *metrics.Metrics // nil when metrics are off

	phrases   phrase.Book
	data      io.Closer // the hold on what people's files lie in
	db        *sqlite.DB
	folders   *workspace.Folders
	memory    *memory.Store
	notes     *memory.Notes
	audit     *audit.Book
	people    *pairing.Pairing
	gate      *gate.Gate
	reload    reloading
	inbox     *inbox.Inbox
	platforms map[string]platform.Platform
	webhook   *webhook.Webhook // nil when it is off
	links     []*platform.Link
	history   *history.History
	outbox    *outbox.Outbox
	box       *tool.Box
	doors     *toolserver.Server
	agent     agent.Agent
	external  *acp.Agent        // the same, when it is one in a process of its own
	own       *builtin          // the same, when it is our own
	laid      []string          // the skills that lie there for it
	fetched   *skillstore.Store // skills of other people
	programs  []string          // names of those that are not ours, and whose program may be run unasked
	walled    bool              // agents can be confined
	threads   *thread.Threads
	reminders *remind.Store   // nil where nobody can set one
	reminding *remind.Kit     // its tools
	files     *attachment.Kit // nil where agents send none
	feeds     *research.Reader
	web       *research.Pages
	drafts    *note.Notes
	lurker    *spontaneity.Lurker
	backup    *backup.Backup // nil when it is off
	clock     *clock.Clock
	wakes     wakes
	continues bool // the desk goes on with conversations
	rooms     *room.Rooms
	typist    typist
	commands  *command.Commands
	approvals *approval.Approvals
	deeds     *approval.Deeds
	login     *login.Login

	pages   *server // the one listener
	probes  *server // the second one, nil when it is off
	closing chan struct{}
	leaving chan struct{} // closed when the host hears no more
	hearing chan struct{} // closed when the host has come as far as to hear
}

// Options is what a host is made from. Instance is locked and Loaded checked by whoever calls Open.
type Options struct {
	Instance instance.Instance
	Loaded   config.Loaded
	Vault    *secret.Vault
	Log      *slog.Logger
	Token    secret.Value
	Version  string // of the build, as metrics tell it; may be empty
	Yolo     bool   // agents are asked nothing

	// Load reads the configuration anew, from where Loaded came; nil: it is never reloaded.
	Load func() (config.Loaded, error)

	// For tests and benches: who thinks in place of the configured agent, a network beside the configured ones, what
	// stands between the host and each of its networks, and a desk in place of the configured one.
	Agent   agent.Agent
	Network platform.Platform
	Between func(platform.Platform) platform.Platform
	Desk    func(*thread.Threads) desk.Desk
	Tools   []tool.Tool // beside our own
}

// Open builds a bot and takes its ports. When it fails, nothing is left open.
func Open(ctx context.Context, o Options) (_ *Host, err error) {
	h := &Host{Options: o, cfg: o.Loaded.Config, log: o.Log, now: time.Now, since: time.Now(),
		wakes:   wakes{at: map[chat.EventID]chan<- woken{}},
		closing: make(chan struct{}), leaving: make(chan struct{}), hearing: make(chan struct{})}
	defer func() {
		if err != nil {
			err = errors.Join(err, h.release())
		}
	}()
	for _, build := range []func(context.Context) error{h.openMetrics, h.openYolo, h.openStores, h.openSpine, h.openJobs, h.openMind, h.openDoors} {
		if err := build(ctx); err != nil {
			return nil, err
		}
	}
	return h, nil
}

// openStores opens what keeps things.
func (h *Host) openStores(ctx context.Context) (err error) {
	if h.self, err = os.Executable(); err != nil {
		return err
	}
	if h.self, err = filepath.EvalSymlinks(h.self); err != nil {
		return err
	}
	if h.phrases, err = phrase.In(h.cfg.Bot.Language); err != nil {
		return err
	}
	data := h.Loaded.Path(h.cfg.Workspace.RepoPath)
	if err := h.restore(ctx, data); err != nil {
		return err
	}
	h.revive(ctx, data)
	if h.folders, err = workspace.Open(data, h.cfg.Workspace.WorkspacesDir, h.Instance.Dir); err != nil {
		return err
	}
	if h.data, err = instance.Hold(data); err != nil {
		return err
	}
	if h.db, err = sqlite.Open(ctx, h.Instance.Database()); err != nil {
		return err
	}
	found, err := index.Open(ctx, h.db)
	if err != nil {
		return err
	}
	h.memory = memory.Open(h.cfg.Memory, h.folders.Home, found, h.log.With("module", "Memory"))
	h.notes = memory.OpenNotes(h.cfg.Memory, h.folders.Notes())
	h.audit = audit.New(h.cfg.Audit, audit.Options{Dir: filepath.Join(data, "audit"), Folder: h.folders.Name,
		Counted: h.count.AuditEntry, Log: h.log.With("module", "Audit")})
	h.inbox, err = inbox.Open(ctx, h.db, h.now)
	return err
}

// openSpine opens the way in and the way out.
func (h *Host) openSpine(ctx context.Context) (err error) {
	if err := h.openPeople(ctx); err != nil {
		return err
	}
	h.gate = gate.New(h.cfg.Access.Config, h.cfg.Owners(), h.people.Admitted)
	h.openReload()
	if h.platforms, err = h.openPlatforms(ctx); err != nil {
		return err
	}
	for name, p := range h.platforms {
		if h.Between != nil {
			p = h.Between(p)
			h.platforms[name] = p
		}
		h.links = append(h.links, platform.NewLink(p, h.cfg.Server.MaxReconnects, h.log.With("module", "Platform")))
	}
	if h.history, err = history.Open(ctx, h.db, h.platforms, h.now); err != nil {
		return err
	}
	h.outbox, err = outbox.Open(ctx, h.cfg.Outbox, outbox.Deps{DB: h.db, Platforms: h.platforms, Vault: h.Vault,
		Us: h.cfg.Bot.Name, Now: h.now, Log: h.log.With("module", "Outbox"), Noting: h.noting, Seen: h.delivered, Lost: h.lost})
	return err
}

// openMind opens whoever thinks, and what they think with.
func (h *Host) openMind(ctx context.Context) (err error) {
	if err := h.openApprovals(ctx); err != nil {
		return err
	}
	h.openNotes()
	if err := h.openFiles(); err != nil {
		return err
	}
	h.box = h.openBox()
	h.doors = toolserver.New(h.cfg.SkillAPI, h.log.With("module", "Tools"))
	if err := h.doors.Listen(ctx); err != nil {
		return err
	}
	h.updateExternal(ctx)
	h.agent = h.Agent
	switch {
	case h.cfg.Agent.DryRun.Enabled:
		h.agent = h.rehearse()
	case h.agent == nil:
		if err := h.openAgent(ctx); err != nil {
			return fmt.Errorf("open the agent: %w", err)
		}
	}
	h.typist.show = h.typing
	d := h.openDesk()
	h.continues = continues(d)
	h.rooms = room.New(context.WithoutCancel(ctx), h.cfg.Access.Room, d, room.Hooks{Began: h.beginSession, Ended: h.ended,
		Handing: h.handing, Handed: h.handed, Returned: h.returned}, h.now)
	h.commands = h.openCommands()
	return nil
}

// openDoors takes the ports that people and probes come to.
func (h *Host) openDoors(ctx context.Context) (err error) {
	cfg := h.cfg.Server
	h.login, err = login.Open(ctx, h.db, login.Options{Instance: h.cfg.Bot.ID, Token: h.Token, Log: h.log.With("module", "Login"),
		Host: cfg.Host, PublicBaseURL: cfg.PublicBaseURL, AllowedHosts: cfg.AllowedHosts, TrustedProxies: cfg.TrustedProxies})
	if err != nil {
		return err
	}
	health := h.health()
	if h.pages, err = listen(ctx, "server.port (--port)", cfg.Host, cfg.Port, h.routes(health)); err != nil {
		return err
	}
	if h.cfg.Health.Enabled {
		h.probes, err = listen(ctx, "health.port", "", h.cfg.Health.Port, h.probeRoutes(health))
	}
	return err
}

// Close gives back what Open took, when Run is not to be called.
func (h *Host) Close() error { return h.release() }

// URL is the base address of the page.
func (h *Host) URL() string { return h.pages.url() }

// LoginLink mints a one-use link that lets a browser in.
func (h *Host) LoginLink() string { return h.URL() + h.login.Link() }

// Ready is closed when everything answers.
func (h *Host) Ready() <-chan struct{} { return h.hearing }
