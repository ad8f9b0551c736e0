package host

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"familiar/internal/chat"
	"familiar/internal/clock"
	"familiar/internal/command"
	"familiar/internal/note"
	"familiar/internal/phrase"
)

// noteCommands are what the owner does about notes that wait.
func (h *Host) noteCommands() []command.Command {
	say := func(key phrase.Key) string { return h.phrases.Say(key) }
	return []command.Command{{Name: "/notes", Needs: chat.Owner, Args: say(phrase.ArgNotes), Help: say(phrase.HelpNotes), Run: h.reviewNotes}}
}

// notesPage is the same for the page.
func (h *Host) notesPage() note.Page {
	return note.Page{Notes: h.drafts, Done: func(d note.Draft, what string) {
		h.log.Info("the owner looked at a note", "session", d.Session, "what", what)
	}}
}

// reviews reports whether there is anything to look at, or may be.
func (h *Host) reviews() bool {
	if h.cfg.Companion.SelfResearch.Enabled {
		return true
	}
	return h.drafts.Count() > 0
}

func (h *Host) reviewNotes(_ context.Context, _ chat.Turn, rest string) (string, error) {
	what, name, _ := strings.Cut(rest, " ")
	if name = strings.TrimSpace(name); what != "" && name == "" {
		return h.phrases.Say(phrase.NotesUsage), nil
	}
	if what == "" {
		return h.listNotes()
	}
	d, err := h.drafts.Find(name)
	if errors.Is(err, note.ErrUnknown) || errors.Is(err, note.ErrMany) {
		return "", chat.UserError{Say: h.phrases.Say(phrase.NoteUnknown, plainName(name)), Err: err}
	}
	if err != nil {
		return "", err
	}
	switch what {
	case "show":
		return h.showNote(d), nil
	case "admit":
		if d, err = h.drafts.Admit(d.Session, true); err != nil {
			return "", err
		}
		h.log.Info("the owner let a note in", "session", d.Session)
		return h.phrases.Say(phrase.NoteAdmitted, strings.Join(paths(d), ", ")), nil
	case "reject":
		if err := h.drafts.Reject(d.Session); err != nil {
			return "", err
		}
		h.log.Info("the owner threw a note away", "session", d.Session)
		return h.phrases.Say(phrase.NoteRejected, "`"+d.Name()+"`"), nil
	}
	return h.phrases.Say(phrase.NotesUsage), nil
}

// plainName is a name as somebody wrote it, fit to be told again.
func plainName(name string) string { return shown(strings.ReplaceAll(name, "`", "")) }

func (h *Host) listNotes() (string, error) {
	all, err := h.drafts.Waiting()
	if len(all) == 0 {
		return h.phrases.Say(phrase.NotesNone), err
	}
	var lines []string
	for _, d := range all {
		lines = append(lines, "- "+h.phrases.Say(phrase.NotesLine, d.Name(), h.noteTime(d), strconv.Itoa(len(d.Sources))))
	}
	return strings.Join(append(lines, "", h.phrases.Say(phrase.NotesNext)), "\n"), nil
}

func (h *Host) noteTime(d note.Draft) string {
	return d.At.In(h.cfg.Bot.Zone()).Format("2006-01-02 15:04")
}

// showNote says where a note comes from. Its text stays away from a place whose talk agents are told.
func (h *Host) showNote(d note.Draft) string {
	lines := []string{h.phrases.Say(phrase.NoteFrom, d.Name(), h.noteTime(d), d.Session)}
	for _, path := range paths(d) {
		lines = append(lines, "- "+path)
	}
	for _, source := range d.Sources[:min(len(d.Sources), mostToldSources)] {
		lines = append(lines, "- "+source)
	}
	if more := len(d.Sources) - mostToldSources; more > 0 {
		lines = append(lines, "- … +"+strconv.Itoa(more))
	}
	return strings.Join(append(lines, "", h.phrases.Say(phrase.NoteText, d.Name())), "\n")
}

// mostToldSources bounds what a person is told in a chat.
const mostToldSources = 20

func paths(d note.Draft) (all []string) {
	for _, f := range d.Files {
		all = append(all, "`"+f.Path+"`")
	}
	return all
}

// dueLines are the lines of /status about what comes due by itself, and what waits for the owner because of it.
func (h *Host) dueLines() (lines []string) {
	var next clock.State
	for _, s := range h.worthKeeping() { // of what comes due all the time nobody wants to be told
		if next.Name == "" || s.Next.Before(next.Next) {
			next = s
		}
	}
	for _, s := range h.clock.States() {
		if s.Misses > 1 {
			lines = append(lines, h.phrases.Say(phrase.StatusFailing, s.Misses, s.Name))
		}
	}
	if next.Name != "" {
		at := next.Next.In(h.cfg.Bot.Zone()).Format("2006-01-02 15:04:05")
		lines = append([]string{h.phrases.Say(phrase.StatusDue, next.Name, at)}, lines...)
	}
	if n := h.drafts.Count(); n > 0 {
		lines = append(lines, h.phrases.Say(phrase.StatusNotes, n))
	}
	return lines
}
