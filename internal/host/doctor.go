package host

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"familiar/internal/agent"
	"familiar/internal/config"
	"familiar/internal/doctor"
	"familiar/internal/inbox"
	"familiar/internal/instance"
	"familiar/internal/logging"
	"familiar/internal/memory/index"
	"familiar/internal/outbox"
	"familiar/internal/phrase"
	"familiar/internal/platform/webhook"
	"familiar/internal/process"
	"familiar/internal/secret"
	"familiar/internal/skill"
	"familiar/internal/skillstore"
	"familiar/internal/sqlite"
	"familiar/internal/workspace"
)

// Patient is a bot that the doctor looks at.
type Patient struct {
	Instance instance.Instance
	Loaded   config.Loaded
	Fault    error // why Loaded is nothing; then only what needs no configuration is looked at
	Vault    *secret.Vault
}

// Examine looks at a bot, running or not, and changes nothing about it.
func Examine(ctx context.Context, p Patient) doctor.Report {
	running, err := p.Instance.Running()
	r := doctor.Report{Dir: p.Instance.Dir, Running: err == nil}
	checks := []doctor.Check{p.files(), p.process(running, err), p.configuration(running)}
	if p.Fault == nil {
		cfg := p.Loaded.Config
		data := p.Loaded.Path(cfg.Workspace.RepoPath)
		checks = append(checks, doctor.Address("server.host", cfg.Server.Host), doctor.Ports(running.PID, p.ports(running)...),
			p.walls(), p.mind(), doctor.Programs(programs...), p.skills(), p.database(data),
			doctor.Space(p.Instance.Dir, data, os.TempDir()), doctor.Clock(data, time.Now))
	}
	r.Lines = doctor.Run(ctx, checks)
	for i, l := range r.Lines { // an error may name what it was about
		r.Lines[i].Say, r.Lines[i].Next = logging.Mask(l.Say, p.Vault), logging.Mask(l.Next, p.Vault)
	}
	return r
}

// programs are what skills and agents use beside what we bring.
var programs = []doctor.Program{
	{Name: "git", For: "agents that work with repositories, and the backup", Next: "install it, as in: apt-get install git"},
	{Name: "rg", For: "agents that search in files; some try to download it", Next: "install it, as in: apt-get install ripgrep"},
}

// files are the bot's own, and who else may see them.
func (p Patient) files() doctor.Check {
	i := p.Instance
	all := []doctor.Private{{Path: i.Dir, Loose: true}, {Path: i.State(), Optional: true}, {Path: i.Logs(), Optional: true}}
	for _, name := range []string{"token", "familiar.db", "familiar.db-wal", "familiar.pid", "chat.history"} {
		all = append(all, doctor.Private{Path: filepath.Join(i.State(), name), Optional: true})
	}
	for _, name := range []string{"config.yaml", "config.json"} {
		all = append(all, doctor.Private{Path: filepath.Join(i.Dir, name), Optional: true, Loose: true})
	}
	if p.Fault == nil {
		all = append(all, doctor.Private{Path: p.Loaded.Path(p.Loaded.Config.Workspace.RepoPath), Optional: true, Loose: true})
	}
	return doctor.Closed(all...)
}

func (p Patient) process(running instance.Running, err error) doctor.Check {
	return doctor.Check{Name: "process", Look: func(context.Context) []doctor.Line {
		switch {
		case errors.Is(err, instance.ErrNotRunning):
			return []doctor.Line{doctor.Well("the bot is not running")}
		case err != nil:
			return []doctor.Line{doctor.Doubtful(err.Error(), "ask again in a moment")}
		case running.URL == "":
			return []doctor.Line{doctor.Well("the bot is starting, as process %d", running.PID)}
		}
		return []doctor.Line{doctor.Well("the bot runs as process %d on %s", running.PID, running.URL)}
	}}
}

// configuration tells what is wrong with it, and what changed since the bot started.
func (p Patient) configuration(running instance.Running) doctor.Check {
	return doctor.Check{Name: "configuration", Look: func(context.Context) []doctor.Line {
		var lines []doctor.Line
		var problems config.Problems
		switch {
		case errors.As(p.Fault, &problems):
			for _, one := range problems {
				lines = append(lines, doctor.Bad(wording(one), "correct it; see: familiar config check"))
			}
			return lines
		case p.Fault != nil:
			return append(lines, doctor.Bad(p.Fault.Error(), "correct it; see: familiar config check"))
		}
		for _, w := range p.Loaded.Warnings {
			lines = append(lines, doctor.Doubtful(wording(w), "see docs/configuration.md"))
		}
		if started, err := os.Stat(filepath.Join(p.Instance.State(), "familiar.pid")); err == nil && running.PID > 0 {
			for _, name := range p.Loaded.Files {
				if info, err := os.Stat(name); err == nil && info.ModTime().After(started.ModTime()) {
					lines = append(lines, doctor.Doubtful(name+" was changed since the bot started",
						"the log says what was taken over; for the rest, restart the bot"))
				}
			}
		}
		return append(lines, doctor.Well("the configuration can be used"))
	}}
}

// ports are where the bot listens, or would. One that runs may have been told otherwise by a flag.
func (p Patient) ports(running instance.Running) []doctor.Listener {
	cfg := p.Loaded.Config
	known := false
	if at, err := url.Parse(running.URL); err == nil {
		if port, err := strconv.Atoi(at.Port()); err == nil {
			cfg.Server.Port, known = port, true
		}
	}
	all := []doctor.Listener{{Key: "server.port", Host: cfg.Server.Host, Port: cfg.Server.Port, Next: "end that program, or choose another server.port", Ours: known}}
	if cfg.SkillAPI.Enabled {
		l := doctor.Listener{Key: "skillApi.port", Host: cfg.SkillAPI.Host, Port: cfg.SkillAPI.Port}
		if cfg.SkillAPI.Port != config.Defaults().SkillAPI.Port {
			l.Next = "end that program, or choose another skillApi.port, or 0 for any"
		}
		all = append(all, l)
	}
	if cfg.Health.Enabled {
		all = append(all, doctor.Listener{Key: "health.port", Port: cfg.Health.Port, Next: "end that program, or choose another health.port"})
	}
	return all
}

// walls say what keeps an agent from what is not its own.
func (p Patient) walls() doctor.Check {
	return doctor.Check{Name: "walls", Look: func(context.Context) []doctor.Line {
		sandbox := p.Loaded.Config.Agent.Sandbox
		abi, err := process.Confinable()
		switch {
		case err != nil && sandbox.Unconfined:
			return []doctor.Line{doctor.Doubtful("agents run without walls: "+err.Error(), "use a kernel with Landlock")}
		case err != nil:
			return []doctor.Line{doctor.Bad("agents cannot be confined: "+err.Error(), "use a kernel with Landlock, or set agent.sandbox.unconfined and trust the agent with everything that you have")}
		}
		lines := []doctor.Line{doctor.Well("agents are confined by Landlock, version %d", abi)}
		if !sandbox.NetworkIsolation {
			return lines
		}
		if _, err := process.Isolable(); err != nil {
			return append(lines, doctor.Doubtful("agents are not kept from the network: "+err.Error(), "allow user namespaces, or switch agent.sandbox.networkIsolation off"))
		}
		return append(lines, doctor.Well("agents have no network"))
	}}
}

// skills are those of the operator's own.
func (p Patient) skills() doctor.Check {
	return doctor.Check{Name: "skills", Look: func(context.Context) []doctor.Line {
		found, err := skill.Find(p.Loaded.Path(p.Loaded.Config.Agent.SkillsDir))
		if err != nil {
			return []doctor.Line{doctor.Doubtful("some skills are left out: "+err.Error(), "mend or remove them in agent.skillsDir")}
		}
		lines := []doctor.Line{doctor.Well("skills that can be read: %d", len(found))}
		kept, err := skillstore.Open(ExternalSkills(p.Instance), time.Now).List()
		if err != nil {
			return append(lines, doctor.Doubtful(err.Error(), "agents have no skills of other people until then"))
		}
		for _, k := range kept {
			if k.Waiting != "" {
				lines = append(lines, doctor.Doubtful(fmt.Sprintf("the skill %s of %s has changed; agents read the older one", k.Name, k.From),
					"look at it, and let it in or drop it: familiar skills show "+k.Name))
			}
		}
		return lines
	}}
}

// database looks at what waits and what is lost.
func (p Patient) database(data string) doctor.Check {
	return doctor.Check{Name: "database", Limit: time.Minute, Look: func(ctx context.Context) []doctor.Line {
		file, err := sqlite.Peek(ctx, p.Instance.Database())
		if errors.Is(err, fs.ErrNotExist) {
			return []doctor.Line{doctor.Well("there is none yet; the first start makes it")}
		}
		if err != nil {
			return []doctor.Line{doctor.Bad(err.Error(), "put a backup in its place, or move it away to begin anew")}
		}
		defer file.Close() //nolint:errcheck // it was only read
		db := file.Read()
		lines := []doctor.Line{doctor.Sound(ctx, db)}
		if lines[0].Status == doctor.Fail {
			return lines
		}
		for _, b := range backlogs(db) {
			if there, err := file.Has(ctx, b.table); err == nil && there {
				lines = append(lines, b.Look(ctx))
			}
		}
		return append(lines, p.index(ctx, db, data))
	}}
}

// backlogs are what a bot that is well has none of, or little.
func backlogs(db *sql.DB) []backlog {
	return []backlog{
		{"inbox", doctor.Backlog{What: "events that wait to be finished", Most: 50, Next: "if the bot is not running, start it: it takes them up",
			Count: func(ctx context.Context) (int64, error) { return inbox.WaitingIn(ctx, db) }}},
		{"outbox", doctor.Backlog{What: "messages that may not have arrived", Next: "look in those conversations; nothing is sent twice by itself",
			Count: func(ctx context.Context) (int64, error) { return outbox.UnknownIn(ctx, db) }}},
		{"webhook_out", doctor.Backlog{What: "webhook letters that are given up", Next: "say /deadletters to the bot to see why, and /redeliver all once the other side is there",
			Count: func(ctx context.Context) (int64, error) {
				s, err := webhook.StandOf(ctx, db)
				return int64(s.Dead), err
			}}},
	}
}

// backlog is one of them, and the table that a database has it in, or not yet.
type backlog struct {
	table string
	doctor.Backlog
}

// index compares the index of memories with the files.
func (p Patient) index(ctx context.Context, db *sql.DB, data string) doctor.Line {
	people := filepath.Join(data, p.Loaded.Config.Workspace.WorkspacesDir)
	fit, err := index.FitOf(ctx, db, func(f index.File) string {
		return filepath.Join(people, (&workspace.Folders{}).Name(f.Platform, f.Person), "memory."+f.Name+".jsonl")
	})
	switch {
	case err != nil:
		return doctor.Bad("the index of memories cannot be read: "+err.Error(), "restart the bot: it builds the index anew")
	case fit.Stale > 0:
		return doctor.Doubtful(fmt.Sprintf("files of memories that the index does not fit: %d of %d", fit.Stale, fit.Files),
			"nothing needs to be done: it is built anew when somebody searches")
	}
	return doctor.Well("the index fits the files of memories, %d in all; with new lines: %d", fit.Files, fit.Behind)
}

// mind tries whoever thinks: an agent is started and opens a session in folders of its own, a model's provider is
// asked for its models. No model is made to answer.
func (p Patient) mind() doctor.Check {
	cfg := p.Loaded.Config.Agent
	limit := 2*time.Duration(cfg.ConnectTimeoutMs)*time.Millisecond + 10*time.Second
	return doctor.Check{Name: "agent", Limit: limit, Look: func(ctx context.Context) []doctor.Line {
		dir, err := os.MkdirTemp("", "familiar-doctor-")
		if err != nil {
			return []doctor.Line{doctor.Bad(err.Error(), "make room for temporary files")}
		}
		defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
		line, err := p.try(ctx, dir)
		if err != nil {
			return []doctor.Line{doctor.Bad(err.Error(), "install or sign in the agent, or name another with agent.id; a key such as ANTHROPIC_API_KEY makes the built-in one work; see docs/agents.md")}
		}
		return []doctor.Line{line}
	}}
}

func (p Patient) try(ctx context.Context, dir string) (line doctor.Line, err error) {
	h := &Host{Options: Options{Instance: instance.Instance{Dir: dir}, Loaded: p.Loaded, Vault: p.Vault}, cfg: p.Loaded.Config,
		log: slog.New(slog.DiscardHandler), now: time.Now}
	h.cfg.Agent.WarmSpare = 0
	if h.phrases, err = phrase.In(h.cfg.Bot.Language); err != nil {
		return line, err
	}
	if h.folders, err = workspace.Open(filepath.Join(dir, "data"), "workspaces", dir); err != nil {
		return line, err
	}
	if err := h.openAgent(ctx); err != nil {
		return line, err
	}
	defer func() { err = errors.Join(err, h.agent.Close()) }()
	if h.own != nil {
		return h.own.reached(ctx)
	}
	began := time.Now()
	session, err := h.agent.Open(ctx, agent.Opening{Model: h.cfg.Agent.Model,
		Workspace: workspace.Ref{Platform: "web", User: "owner", Session: "doctor"}})
	if err != nil {
		return line, fmt.Errorf("%s: %w", h.agent.Name(), err)
	}
	took := time.Since(began).Round(10 * time.Millisecond)
	return doctor.Well("%s opened a session in %s", h.agent.Name(), took), session.Close()
}

// wording is a problem of the configuration without a colon behind its key: what stands behind one looks like the value of a
// secret to whoever masks the line.
func wording(p config.Problem) string { return strings.Replace(p.String(), p.Path+": ", p.Path+" ", 1) }
