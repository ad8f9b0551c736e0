package host

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"familiar/internal/chat"
	"familiar/internal/config"
	"familiar/internal/gate"
	"familiar/internal/logging"
	"familiar/internal/memory"
	"familiar/internal/phrase"
	"familiar/internal/router"
	"familiar/internal/watch"
)

// swap is a part of the configuration that a running bot takes over as it is, from one message to the next.
type swap struct {
	keys string // as the reference has them, each in full: a new key is not swapped by chance
	take func(*Host, config.Config)
}

// swaps is the table of what a reload changes at once.
var swaps = []swap{
	{"access.replyPolicy access.channels access.rateLimit.enabled access.rateLimit.maxRequestsPerWindow " +
		"access.rateLimit.windowMs access.rateLimit.cooldownMs bot.owner",
		func(h *Host, c config.Config) { h.gate.Reload(c.Access.Config, c.Owners()) }},
	{"agent.modelRouting.enabled agent.modelRouting.rules", (*Host).route},
	{"memory.searchLimit memory.maxChars memory.recentMessageLimit memory.relatedMessageLimit", (*Host).limit},
	{"outbox.maxParts outbox.overflow", func(h *Host, c config.Config) { h.outbox.Reload(c.Outbox) }},
	{"logging.level", func(h *Host, c config.Config) { logging.Reload(h.log, c.Logging) }},
}

// restarts are the keys that only a restart applies; a section stands for everything in it.
const restarts = "version bot.id bot.name bot.desk bot.language bot.timezone bot.prompts " +
	"agent.kind agent.id agent.command agent.args agent.env agent.model agent.sandbox agent.idleTimeout " +
	"agent.connectTimeoutMs agent.promptTimeoutMs agent.cancelGraceMs agent.eofGraceMs agent.termGraceMs " +
	"agent.maxProcesses agent.warmSpare agent.geminiApiKey agent.opencodeApiKey agent.openRouterApiKey " +
	"agent.anthropicApiKey agent.openaiApiKey agent.githubToken agent.mcpServers agent.tokenLimit " +
	"agent.systemPromptPath agent.skillsDir agent.externalSkills agent.autoApproveSkills agent.gitCredential " +
	"agent.dryRun llm platforms access.pairing access.joinMs access.whileBusy server skillApi health " +
	"metrics logging.gelf skill companion gitBackup audit workspace"

// reloading is what a bot knows of the configurations after the one that it was opened with.
type reloading struct {
	mu      sync.Mutex    // one reload at a time
	last    config.Config // the one that was taken over last
	files   []string      // that it was read from, lowest layer first
	pending atomic.Pointer[[]string]
	router  atomic.Pointer[router.Router]
	recent  atomic.Pointer[memory.Config] // how much of the talk an agent is told
}

// openReload takes over what the bot was opened with.
func (h *Host) openReload() {
	h.reload.last, h.reload.files = h.cfg, h.Loaded.Files
	h.route(h.cfg)
	h.limit(h.cfg)
}

func (h *Host) route(c config.Config) {
	h.reload.router.Store(router.New(c.Agent.ModelRouting, h.cfg.Agent.Model, gate.Target))
}

func (h *Host) limit(c config.Config) {
	h.reload.recent.Store(&c.Memory)
	h.memory.Reload(c.Memory)
	h.notes.Reload(c.Memory)
}

// Reload reads the configuration anew. When it is bad, or gone, nothing changes and the log says what is wrong and where;
// otherwise what can be swapped is, no message is lost meanwhile, and one line names the keys that need a restart.
// It blocks on the disk. Safe for concurrent use.
func (h *Host) Reload() {
	if h.Options.Load == nil {
		return
	}
	h.reload.mu.Lock()
	defer h.reload.mu.Unlock()
	loaded, err := h.Options.Load()
	if err != nil {
		h.refuse(err)
		return
	}
	if file := gone(h.reload.files, loaded.Files); file != "" {
		h.log.Error("the configuration is gone; the present one stays", "at", file)
		return
	}
	h.Vault.Know(loaded.Secrets...)
	for _, w := range loaded.Warnings {
		h.log.Warn("the configuration deserves a look", w.Attrs()...)
	}
	changed := config.Changed(h.reload.last, loaded.Config)
	var taken []string
	for _, s := range swaps {
		keys := strings.Fields(s.keys)
		if of := slices.DeleteFunc(slices.Clone(changed), func(key string) bool { return !slices.Contains(keys, key) }); len(of) > 0 {
			s.take(h, loaded.Config)
			taken = append(taken, of...)
		}
	}
	h.reload.last, h.reload.files = loaded.Config, loaded.Files
	pending := slices.DeleteFunc(config.Changed(h.cfg, loaded.Config), swappable)
	h.reload.pending.Store(&pending)
	h.log.Info("the configuration was read anew", "applied", strings.Join(taken, ", "))
	if len(pending) > 0 {
		h.log.Warn("restart to apply: " + strings.Join(pending, ", "))
	}
}

// gone returns the file that the others were laid over, where nothing has taken its place; else "". Somebody may be about
// to write another, and until then the defaults would turn everybody away whom it lets in.
func gone(before, now []string) string {
	if len(now) < len(before) && !slices.Contains(now, before[0]) {
		return before[0]
	}
	return ""
}

// refuse says what keeps a configuration from being taken over.
func (h *Host) refuse(err error) {
	var problems config.Problems
	if !errors.As(err, &problems) {
		h.log.Error("the configuration cannot be read; the present one stays", chat.KeyErr, err)
		return
	}
	for _, p := range problems {
		h.log.Error("the configuration is wrong; the present one stays", p.Attrs()...)
	}
}

func swappable(key string) bool {
	return slices.ContainsFunc(swaps, func(s swap) bool { return slices.Contains(strings.Fields(s.keys), key) })
}

// awaited is the line of /status that names what a restart would apply, none when nothing waits.
func (h *Host) awaited() []string {
	pending := h.reload.pending.Load()
	if pending == nil || len(*pending) == 0 {
		return nil
	}
	return []string{h.phrases.Say(phrase.StatusRestart, "`"+strings.Join(*pending, "`, `")+"`")}
}

// watch reloads the configuration when its files change, until ctx ends.
func (h *Host) watch(ctx context.Context) {
	if h.Options.Load == nil {
		return
	}
	if err := watch.Files(ctx, h.Loaded.Watched, h.Reload); err != nil {
		h.log.Warn("changes of the configuration are not noticed; send SIGHUP to reload it", chat.KeyErr, err)
	}
}
