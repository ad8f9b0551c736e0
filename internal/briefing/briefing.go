// Package briefing is what an agent is told: who it is, what was said lately, what is remembered, and how to
// answer. Gather collects (it reads files and asks stores), Compose writes (it is pure); a Briefer does both for
// a turn. What people said is put in as talk, on lines that it cannot forge, and never read as a template.
// Nothing is stored and nothing is sent from here.
package briefing

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	"familiar/internal/agent"
	"familiar/internal/chat"
)

// Bot is what prompts say about the bot itself. Prompts is the directory of its own prompt files, which need
// not exist.
type Bot struct {
	Name     string // "" for the built-in character's
	Persona  string // "" for the prompt files
	Language string // bot.language: en, zh-TW, zh-CN
	Zone     *time.Location
	Prompts  string
}

// Request is a turn that is to be briefed, and the session that it will be thought in.
type Request struct {
	Turn    chat.Turn
	Can     agent.Can
	Session string // the tool session
	Agent   string
	Model   string
	Yolo    bool
	Notes   bool // the session may write the shared agent workspace
}

// Briefing is what to prompt an agent with: one text, then the pictures. The numbers are for the log line.
type Briefing struct {
	Blocks   []agent.Block
	Tokens   int // of the text, estimated
	Memories int
	Recent   int // messages that are in it
	Related  int
	Cut      int // messages that were left out for want of room
}

// Briefer writes briefings for one bot. Safe for concurrent use.
type Briefer struct {
	cfg     Config
	bot     Bot
	entry   string
	prompts Prompts
	log     *slog.Logger
}

// New returns a briefer. A nil zone is UTC.
func New(cfg Config, bot Bot, log *slog.Logger) *Briefer {
	b := &Briefer{cfg: cfg, bot: bot, entry: ReplyPrompt, log: log,
		prompts: Prompts{dir: bot.Prompts, log: log, kept: &pages{}}}
	if bot.Zone == nil {
		b.bot.Zone = time.UTC
	}
	if path := cfg.SystemPromptPath; path != "" {
		b.entry = filepath.Base(path)
		b.prompts.dir, b.prompts.must = filepath.Dir(path), b.entry
	}
	return b
}

// Reply briefs a turn that answers somebody. It blocks on the sources, on prompt files, and on pictures for at
// most 10 s. A broken prompt is a PromptError; recent talk that cannot be read is an error too.
func (b *Briefer) Reply(ctx context.Context, src Sources, r Request) (Briefing, error) {
	page, err := b.prompts.Load(b.entry)
	if err != nil {
		return Briefing{}, err
	}
	vars, err := b.vars(r)
	if err != nil {
		return Briefing{}, err
	}
	vars.ContextMark = rand.Text()[:12]
	material, err := Gather(ctx, src, r, b.log)
	if err != nil {
		return Briefing{}, err
	}
	out := Compose(material, page, vars, b.cfg.TokenLimit)
	if out.Cut > 0 && out.Recent == 0 {
		b.log.Warn("no room for recent talk in a briefing", chat.KeyTurn, string(r.Turn.ID),
			"tokenLimit", b.cfg.TokenLimit, "tokens", out.Tokens, "left_out", out.Cut)
	}
	return out, nil
}

// Retry writes the second prompt of a turn that ended without an answer. rejections are the names of what the
// agent was lately refused to do, oldest first.
func (b *Briefer) Retry(r Request, prompt string, rejections []string) ([]agent.Block, error) {
	page, err := b.prompts.Load(prompt)
	if err != nil {
		return nil, err
	}
	vars, err := b.vars(r)
	if err != nil {
		return nil, err
	}
	vars.Rejections = rejectionList(rejections)
	return []agent.Block{agent.Text(page.Render(vars))}, nil
}

// vars fills in what is known before anything was gathered.
func (b *Briefer) vars(r Request) (Vars, error) {
	t := r.Turn
	v := Vars{
		IsDm: t.Place.Private(), Platform: oneLine(t.Place.Platform), PlaceKind: string(t.Place.Kind),
		UserID: oneLine(t.From.ID), ChannelID: oneLine(t.Place.ID), GuildID: oneLine(t.Place.Guild),
		SessionID: r.Session, AgentType: oneLine(r.Agent), Model: oneLine(r.Model), TmpDir: oneLine(r.Can.Tmp),
		Yolo: r.Yolo, CanWriteAgentWorkspace: r.Notes,
		Now:     t.Began.In(b.bot.Zone).Format("Monday, 2006-01-02 15:04 MST (UTC-07:00)"),
		BotName: oneLine(b.bot.Name), Persona: strings.TrimSpace(b.bot.Persona), Language: languages[b.bot.Language],
	}
	notes := "platform_" + t.Place.Platform + ".md"
	if _, _, found, err := b.prompts.read(notes); err != nil || !found {
		return v, err
	}
	page, err := b.prompts.Load(notes)
	v.PlatformNotes = page.Render(v)
	return v, err
}

// languages says the bot's language as prompts call it.
var languages = map[string]string{"en": "English", "zh-TW": "Traditional Chinese as written in Taiwan", "zh-CN": "Simplified Chinese"}

// mostRejections is how many refusals the second prompt repeats.
const mostRejections = 5

// rejectionList writes refusals as a list. The names come from an agent, so they are kept short and on one line.
func rejectionList(rejections []string) string {
	if n := len(rejections); n > mostRejections {
		rejections = rejections[n-mostRejections:]
	}
	lines := make([]string, len(rejections))
	for i, r := range rejections {
		lines[i] = fmt.Sprintf("- %s", bound(oneLine(r), 2*longestName))
	}
	return strings.Join(lines, "\n")
}
