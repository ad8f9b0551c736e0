package host

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"familiar/internal/briefing"
	"familiar/internal/chat"
	"familiar/internal/desk/companion"
	"familiar/internal/note"
	"familiar/internal/phrase"
	"familiar/internal/platform"
	"familiar/internal/remind"
	"familiar/internal/research"
	"familiar/internal/spontaneity"
	"familiar/internal/upkeep"
)

// spontaneous is the section spontaneousPost of a platform.
type spontaneous = spontaneity.Config

// errand is what a session is told that nobody's message began.
func (h *Host) errand(ctx context.Context, t chat.Turn) (briefing.Errand, error) {
	ev, _ := t.Trigger()
	woke, _ := ev.Body.(chat.Woke)
	switch woke.Job {
	case chat.MessageSession, chat.LurkSession: // a message says what they are for
	case chat.SpontaneousSession:
		return briefing.Errand{Prompt: briefing.SpontaneousPrompt, Surroundings: true, Talk: woke.Note == withTalk}, nil
	case chat.ReminderSession:
		r, err := h.reminders.Find(ctx, t.From, woke.Note)
		return briefing.Errand{Prompt: briefing.ReminderPrompt, Surroundings: true, ReminderMessage: r.Message,
			ReminderCreatedAt: r.Created.UTC().Format(time.RFC3339), ReminderScheduledAt: r.At.UTC().Format(time.RFC3339)}, err
	case chat.ResearchSession:
		return h.readFeeds(ctx, t)
	case chat.UpkeepSession:
		dump, err := h.dump(ctx, t.From)
		return briefing.Errand{Prompt: briefing.UpkeepPrompt, WorkspaceKey: t.From.Platform + "/" + t.From.ID,
			MemoriesDump: dump, MinMemoryCount: h.cfg.Companion.MemoryMaintenance.MinMemoryCount}, err
	}
	return briefing.Errand{}, fmt.Errorf("nobody knows what a session of the type %q is told", woke.Job)
}

// woke makes an event of the clock. what tells it from others of its job, place and person; a run that was cut off makes
// the same one again.
func woke(place chat.Place, from chat.Person, body chat.Woke, what string) chat.Event {
	return chat.Event{ID: chat.NewEventID("clock:"+string(body.Job), place, chat.KindWoke, from.ID, what), At: time.Now(), Place: place,
		From: from, Addressed: true, Body: body}
}

// at is a time as part of an event's identity.
func at(due time.Time) string { return strconv.FormatInt(due.UnixMilli(), 10) }

// direct is where a person is spoken to alone. known is the id of such a place, for platforms that cannot tell.
func (h *Host) direct(ctx context.Context, person chat.Person, known string) (chat.Place, error) {
	p, on := h.platforms[person.Platform]
	if !on || !h.connected(person.Platform) {
		return chat.Place{}, fmt.Errorf("%s is not connected", person.Platform)
	}
	if guide, ok := p.(platform.Guide); ok {
		return guide.Direct(ctx, person)
	}
	if known == "" {
		return chat.Place{}, platform.ErrUnreachable
	}
	return chat.Place{Platform: person.Platform, ID: known, Kind: chat.Direct}, nil
}

// withTalk is the note of a post before which the talk of the place is read.
const withTalk = "talk"

// postIn lets the bot say something unasked, in one of the places that the operator opened to it.
func (h *Host) postIn(name string) func(context.Context, time.Time) error {
	return func(ctx context.Context, due time.Time) error {
		target, ok := spontaneity.Choose(h.targets(name), due)
		if !ok {
			h.log.Warn("no entry of access.channels lets the bot post unasked", chat.KeyPlatform, name)
			return nil
		}
		guide, ok := h.platforms[name].(platform.Guide)
		if !ok || guide.Self().ID == "" || !h.connected(name) {
			h.log.Warn("no post: the platform is not connected", chat.KeyPlatform, name)
			return nil
		}
		place := target.Place
		if place.ID == "" {
			var err error
			if place, err = guide.Direct(ctx, target.Person); err != nil {
				return fmt.Errorf("find a direct place: %w", err)
			}
		}
		body := chat.Woke{Job: chat.SpontaneousSession}
		if h.postsOf(name).Fetch() {
			body.Note = withTalk
		}
		_, err := h.wake(ctx, woke(place, guide.Self(), body, at(due)))
		return err
	}
}

// connected tells whether a platform can be spoken on now: no agent is asked for words that nobody would read.
func (h *Host) connected(name string) bool {
	return slices.ContainsFunc(h.links, func(l *platform.Link) bool {
		s := l.State()
		return s.Name == name && s.Status == platform.Connected
	})
}

func (h *Host) postsOf(name string) spontaneous {
	if name == "misskey" {
		return h.cfg.Platforms.Misskey.SpontaneousPost
	}
	return h.cfg.Platforms.Discord.SpontaneousPost
}

// targets are the places where the operator lets the bot post unasked.
func (h *Host) targets(name string) (all []spontaneity.Target) {
	people, places := h.gate.Unasked(name)
	for _, p := range people {
		all = append(all, spontaneity.Target{Person: p})
	}
	for _, p := range places {
		all = append(all, spontaneity.Target{Place: p})
	}
	return all
}

// lurkIn joins in on talk that nobody addressed to the bot, in the channels that the operator opened to it. What goes
// wrong in one concerns no other.
func (h *Host) lurkIn(name string) func(context.Context, time.Time) error {
	return func(ctx context.Context, _ time.Time) error {
		var errs []error
		for _, place := range h.gate.Lurking(name) {
			if err := h.lurk(ctx, place); err != nil {
				errs = append(errs, fmt.Errorf("channel %s: %w", place.ID, err))
			}
		}
		return errors.Join(errs...)
	}
}

func (h *Host) lurk(ctx context.Context, place chat.Place) error {
	last, err := h.history.Before(ctx, place, "", 1)
	if err != nil || len(last) == 0 {
		return err
	}
	m := last[len(last)-1]
	if worth, err := h.lurker.Worth(ctx, place, m); !worth {
		return err
	}
	ev := woke(place, m.From, chat.Woke{Job: chat.LurkSession, About: &m}, string(m.ID))
	ev.Message = m.ID
	_, err = h.wake(ctx, ev)
	return err
}

// researcher is whom the sessions are of in which the bot learns something; it is nobody's account.
var researcher = chat.Person{Platform: "discord", ID: "self-research"}

// nowhere is a place of our own that nobody hears.
func nowhere(job chat.SessionType) chat.Place {
	return chat.Place{Platform: "internal", ID: string(job), Kind: chat.Self}
}

func (h *Host) researchOnce(ctx context.Context, due time.Time) error {
	if h.cfg.Companion.SelfResearch.Review == research.ReviewAsk && h.drafts.Count() >= note.MostDrafts {
		h.log.Warn("no research: as many notes wait for the owner as may")
		return nil
	}
	_, err := h.wake(ctx, woke(nowhere(chat.ResearchSession), researcher, chat.Woke{Job: chat.ResearchSession}, at(due)))
	return err
}

// readFeeds is what a research session begins with. From here on the turn has read what anybody may have written.
func (h *Host) readFeeds(ctx context.Context, t chat.Turn) (briefing.Errand, error) {
	items, err := h.feeds.Items(ctx)
	if errors.Is(err, research.ErrNothing) {
		h.log.Info("no research: the feeds have nothing to read")
		return briefing.Errand{}, companion.ErrNothing
	}
	t.Standing.Fall(chat.Foreign)
	h.drafts.Read(t.ID, research.Sources(items)...)
	return briefing.Errand{Prompt: briefing.ResearchPrompt, RSSItems: research.Block(items)}, err
}

// tidyAll lets the memories of everybody be tidied who has many. What goes wrong with one concerns no other.
func (h *Host) tidyAll(ctx context.Context, due time.Time) error {
	all, err := h.folders.All()
	if err != nil {
		return err
	}
	var errs []error
	for _, ref := range all {
		if _, on := h.platforms[ref.Platform]; !on {
			continue
		}
		if err := h.tidy(ctx, chat.Person{Platform: ref.Platform, ID: ref.User}, due); err != nil {
			errs = append(errs, fmt.Errorf("somebody on %s: %w", ref.Platform, err))
		}
		if ctx.Err() != nil {
			break
		}
	}
	return errors.Join(errs...)
}

func (h *Host) tidy(ctx context.Context, person chat.Person, due time.Time) error {
	all, err := h.inForce(ctx, person)
	if err != nil || !h.cfg.Companion.MemoryMaintenance.Needs(len(all)) {
		return err
	}
	place := chat.Place{Platform: person.Platform, ID: string(chat.UpkeepSession), Kind: chat.Direct}
	_, err = h.wake(ctx, woke(place, person, chat.Woke{Job: chat.UpkeepSession}, at(due)))
	return err
}

// inForce lists a person's enabled memories, both kinds, the oldest first.
func (h *Host) inForce(ctx context.Context, person chat.Person) ([]upkeep.Memory, error) {
	all, err := h.memory.All(ctx, person, true)
	var found []upkeep.Memory
	for _, m := range all {
		if m.Enabled {
			found = append(found, upkeep.Memory{ID: m.ID, Visibility: string(m.Visibility), Importance: string(m.Importance),
				Content: m.Content, CreatedAt: m.At})
		}
	}
	return found, err
}

func (h *Host) dump(ctx context.Context, person chat.Person) (string, error) {
	all, err := h.inForce(ctx, person)
	if err != nil {
		return "", err
	}
	return upkeep.Dump(all)
}

// remindAll reminds everybody whose time has come, one after another.
func (h *Host) remindAll(ctx context.Context, _ time.Time) error {
	due, err := h.reminders.Due(ctx)
	errs := []error{err}
	for _, r := range due {
		errs = append(errs, h.remind(ctx, r))
		if ctx.Err() != nil {
			break
		}
	}
	return errors.Join(slices.DeleteFunc(errs, func(err error) bool { return err == nil })...)
}

// remind delivers a reminder, or notes that it could not be. Its person may have taken it back while others were
// delivered.
func (h *Host) remind(ctx context.Context, r remind.Reminder) error {
	if still, err := h.reminders.Find(ctx, r.Person, r.ID); err != nil || !still.Enabled {
		return err
	}
	place, err := h.direct(ctx, r.Person, r.Place)
	if errors.Is(err, platform.ErrUnreachable) {
		h.log.Warn("a reminder is given up: there is no way to its person", chat.KeyPlatform, r.Person.Platform, chat.KeyPerson, r.Person.ID)
		h.count.ReminderCancelled(r.Person.Platform)
		return h.reminders.Close(r)
	}
	if err != nil {
		h.log.Info("a reminder waits: its platform cannot be reached", chat.KeyPlatform, r.Person.Platform, chat.KeyErr, err)
		return nil
	}
	ev := woke(place, r.Person, chat.Woke{Job: chat.ReminderSession, Note: r.ID}, r.ID+"/"+strconv.Itoa(r.Attempts))
	replied, err := h.wake(ctx, ev)
	if ctx.Err() != nil {
		return ctx.Err() // it is due again at the next start
	}
	if !replied {
		again, noted := h.reminders.Failed(r)
		if again {
			return errors.Join(err, noted)
		}
		// No agent would say it, so the host does: what somebody counts on is not lost for the want of style.
		replied = h.tell(ctx, ev, "reminder", h.phrases.Say(phrase.Reminder, r.Message))
	}
	h.count.ReminderDelivered(r.Person.Platform, replied)
	return h.reminders.Close(r)
}
