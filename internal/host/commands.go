package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"familiar/internal/chat"
	"familiar/internal/command"
	"familiar/internal/phrase"
	"familiar/internal/tool"
)

// openCommands is the table of slash commands. Those that remember and recall call the very tools that an agent
// would.
func (h *Host) openCommands() *command.Commands {
	hooks := command.Hooks{Now: h.now, Began: h.begin, Ended: h.commanded}
	owner, say := chat.Owner, func(key phrase.Key) string { return h.phrases.Say(key) }
	table := []command.Command{
		{Name: "/help", Needs: owner, Help: say(phrase.HelpHelp), Run: h.help},
		{Name: "/remember", Needs: owner, Args: say(phrase.ArgText), Help: say(phrase.HelpRemember), Run: h.remember},
		{Name: "/recall", Needs: owner, Args: say(phrase.ArgWords), Help: say(phrase.HelpRecall), Run: h.recall},
		{Name: "/memories", Needs: owner, Help: say(phrase.HelpMemories), Run: h.memories},
		{Name: "/forget", Needs: owner, Args: say(phrase.ArgID), Help: say(phrase.HelpForget), Run: h.forget},
		h.exportCommand(),
		{Name: "/clear", Needs: chat.Public, Help: say(phrase.HelpClear), Run: h.clear},
		{Name: "/stop", Needs: chat.Public, Help: say(phrase.HelpStop), Run: h.stop},
		{Name: "/status", Needs: owner, Help: say(phrase.HelpStatus), Run: h.status},
	}
	return command.New(hooks, slices.Concat(table, h.peopleCommands(), h.approvalCommands(), h.letterCommands(), h.noteCommands(), h.threadCommands())...)
}

// commanded says what a command came to, and finishes its event.
func (h *Host) commanded(ctx context.Context, t chat.Turn, name, say string, err error) {
	ev, _ := t.Trigger()
	stage := chat.TurnCompleted
	if err != nil {
		stage = chat.TurnFailed
		say = h.phrases.Say(phrase.CommandFailed, name)
		var fault tool.Fault
		var told chat.UserError
		switch {
		case errors.Is(err, errNotHeard):
			say = ""
		case errors.As(err, &told):
			say = told.Say
		case errors.As(err, &fault):
			say = fault.Say
		}
	}
	told := h.concluding(ctx, ev, say)
	h.show(ctx, t, chat.Progress{Stage: stage})
	if told {
		h.close(ctx, ev)
	}
	h.outbox.Forget(t)
	line := []any{chat.KeyEvent, ev.ID, "command", name, chat.KeyPlatform, ev.Place.Platform,
		chat.KeyPerson, ev.From.ID, chat.KeyTook, h.now().Sub(t.Began)}
	if err != nil {
		h.log.Warn("command failed", append(line, chat.KeyErr, err)...)
		return
	}
	h.log.Info("command", line...)
}

func (h *Host) help(_ context.Context, t chat.Turn, _ string) (string, error) {
	lines := []string{h.phrases.Say(phrase.HelpHeader)}
	for _, c := range h.commands.For(t.Standing.Now()) {
		lines = append(lines, fmt.Sprintf("- `%s`: %s", strings.TrimSpace(c.Name+" "+c.Args), c.Help))
	}
	return strings.Join(lines, "\n"), nil
}

// clear does nothing: that it was said is what cuts the conversation that agents are told of, and it has no
// answer (air-friends spec §3.2).
func (h *Host) clear(context.Context, chat.Turn, string) (string, error) { return "", nil }

func (h *Host) stop(_ context.Context, t chat.Turn, _ string) (string, error) {
	ev, _ := t.Trigger()
	if h.rooms.Stop(ev) {
		return h.phrases.Say(phrase.Stopped), nil
	}
	return h.phrases.Say(phrase.NothingToStop), nil
}

func (h *Host) status(ctx context.Context, _ chat.Turn, _ string) (string, error) {
	load, say := h.rooms.Load(), h.phrases.Say
	lines := append(h.thinks(), say(phrase.StatusUptime, h.now().Sub(h.since).Round(time.Second)),
		say(phrase.StatusRooms, load.Running), say(phrase.StatusWaiting, load.Waiting))
	return "- " + strings.Join(slices.Concat(lines, h.letterLines(ctx), h.dueLines(), h.awaited()), "\n- "), nil
}

// remembered is what the commands read of a memory.
type remembered struct {
	ID         string `json:"id"`
	Content    string `json:"content"`
	Importance string `json:"importance"`
}

// call runs a tool for a command and reads its answer.
func call[A, R any](ctx context.Context, h *Host, t chat.Turn, name string, args A) (answer R, err error) {
	raw, err := json.Marshal(args)
	if err != nil {
		return answer, err
	}
	res, err := h.box.Call(ctx, t, name, raw)
	if err != nil {
		return answer, err
	}
	return answer, json.Unmarshal(res.Data, &answer)
}

func (h *Host) remember(ctx context.Context, t chat.Turn, text string) (string, error) {
	if text == "" {
		return h.phrases.Say(phrase.RememberUsage), nil
	}
	type args struct {
		Content    string `json:"content"`
		Importance string `json:"importance"`
	}
	// What a person asks for in so many words is important: it is told to the agent every time.
	saved, err := call[args, remembered](ctx, h, t, "memory-save", args{text, "high"})
	return h.phrases.Say(phrase.Remembered, saved.ID), err
}

func (h *Host) recall(ctx context.Context, t chat.Turn, words string) (string, error) {
	if words == "" {
		return h.phrases.Say(phrase.RecallUsage), nil
	}
	type args struct {
		Query string `json:"query"`
	}
	type found struct {
		UserMemories []remembered `json:"userMemories"`
	}
	hits, err := call[args, found](ctx, h, t, "memory-search", args{words})
	return h.list(hits.UserMemories), err
}

func (h *Host) memories(ctx context.Context, t chat.Turn, _ string) (string, error) {
	type found struct {
		Memories []remembered `json:"memories"`
	}
	all, err := call[struct{}, found](ctx, h, t, "memory-list", struct{}{})
	return h.list(all.Memories), err
}

func (h *Host) forget(ctx context.Context, t chat.Turn, id string) (string, error) {
	if id == "" {
		return h.phrases.Say(phrase.ForgetUsage), nil
	}
	type args struct {
		ID      string `json:"memory_id"`
		Enabled bool   `json:"enabled"`
	}
	_, err := call[args, struct{}](ctx, h, t, "memory-patch", args{id, false})
	var fault tool.Fault
	if errors.As(err, &fault) { // the only thing that can be wrong with the call is the id
		return "", chat.UserError{Say: h.phrases.Say(phrase.MemoryUnknown, id), Err: err}
	}
	return h.phrases.Say(phrase.Forgot, id), err
}

// list writes memories one a line, each with the id that /forget takes.
func (h *Host) list(all []remembered) string {
	if len(all) == 0 {
		return h.phrases.Say(phrase.NothingFound)
	}
	lines := make([]string, len(all))
	for i, m := range all {
		lines[i] = fmt.Sprintf("- %s `%s`", strings.Join(strings.Fields(m.Content), " "), m.ID)
	}
	return strings.Join(lines, "\n")
}
