package host

import (
	"errors"
	"strings"
	"unicode"

	"familiar/internal/agent"
	"familiar/internal/agent/acp"
	"familiar/internal/chat"
	"familiar/internal/desk/companion"
	"familiar/internal/jsonrpc"
	"familiar/internal/llm"
	"familiar/internal/logging"
	"familiar/internal/phrase"
)

// maxReason is the longest reason that is shown, in runes.
const maxReason = 300

// reason is why a turn failed and what can be done about it, for the owner alone: where somebody else could read it,
// where the platform shows no progress, and where the person was told already, it is "".
func (h *Host) reason(t chat.Turn, err error) (say, next string) {
	var told chat.UserError
	ev, ok := t.Trigger()
	p := h.platforms[t.Place.Platform]
	if !ok || p == nil || !p.Abilities().Progress || !t.Place.Private() || h.gate.Trust(ev) != chat.Owner ||
		errors.As(err, &told) || errors.Is(err, chat.ErrShutdown) {
		return "", ""
	}
	var problem llm.Problem
	if errors.As(err, &problem) {
		return short(logging.Mask(problem.Say, h.Vault)), h.phrases.Say(nextOf(problem.Kind))
	}
	next = h.phrases.Say(phrase.NextLog)
	if errors.Is(err, agent.ErrRefused) {
		next = h.phrases.Say(phrase.NextDeclined)
	}
	if errors.Is(err, companion.ErrSilent) {
		next = h.phrases.Say(phrase.NextSilent)
	}
	var answer *jsonrpc.Error
	if errors.As(err, &answer) && answer.Code == signInFirst {
		next = h.phrases.Say(phrase.NextSignIn, h.agent.Name())
	}
	if errors.Is(err, acp.ErrStart) && h.couldThink() {
		next = h.phrases.Say(phrase.NextBuiltin, h.agent.Name())
	}
	return short(logging.Mask(err.Error(), h.Vault)), next
}

// couldThink reports whether our own agent could take the place of one that nobody asked for by name.
func (h *Host) couldThink() bool {
	cfg := h.cfg.Agent
	found := cfg.Kind == "auto" && cfg.ID == "" && cfg.Command == ""
	return found && (h.cfg.LLM.Provider != "" || len(llm.Discover(h.modelKeys())) > 0)
}

// signInFirst is how an agent says over ACP that nobody is signed in.
const signInFirst = -32000

// nextOf is what the owner can do about a problem with the model.
func nextOf(kind llm.ProblemKind) phrase.Key {
	switch kind {
	case llm.BadKey:
		return phrase.NextKey
	case llm.NoModel:
		return phrase.NextModel
	case llm.NoCredit:
		return phrase.NextCredit
	case llm.Overfull:
		return phrase.NextContext
	case llm.Declined:
		return phrase.NextDeclined
	case llm.Overloaded, llm.Silent, llm.Broken:
		return phrase.NextLater
	case llm.Unreached:
		return phrase.NextUnreached
	case llm.BadImage, llm.Rejected: // nothing but the log says more
	}
	return phrase.NextLog
}

// short makes one line of a text, of at most maxReason runes, without anything that steers a terminal.
func short(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsGraphic(r) || unicode.IsSpace(r) {
			return r
		}
		return -1
	}, strings.ToValidUTF8(text, ""))
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) > maxReason {
		runes = append(runes[:maxReason-1], '…')
	}
	return string(runes)
}
