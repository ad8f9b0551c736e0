package host

import (
	"context"

	"familiar/internal/chat"
	"familiar/internal/process"
)

// globalFlag is what the audit names as the source of --yolo.
const globalFlag = "global_flag"

// openYolo says at the start what --yolo means here.
func (h *Host) openYolo(context.Context) error {
	_, err := process.Confinable()
	h.walled = err == nil
	switch {
	case h.Yolo && h.walled:
		h.log.Warn("agents are asked nothing (--yolo): whoever is heard can have them do whatever their walls allow")
	case h.Yolo:
		h.log.Warn("--yolo does nothing here: agents cannot be confined, and without walls none may do everything unasked", chat.KeyErr, err)
	}
	return nil
}

// yolo reports whether the agent of a session may do everything unasked, and what decides on that. The flag beats every
// entry; the entries are about people, so they do not decide on what the bot does for itself. Without walls nobody may.
func (h *Host) yolo(ev chat.Event) (yolo bool, source string) {
	switch {
	case h.Yolo:
		yolo, source = true, globalFlag
	case forItself(ev):
		source = "none"
	default:
		yolo, source = h.gate.Yolo(ev)
	}
	return yolo && h.walled, source
}

// forItself reports whether a session is for the bot, and not for somebody.
func forItself(ev chat.Event) bool {
	woke, ok := ev.Body.(chat.Woke)
	return ok && forBot(woke.Job)
}

// forBot reports whether sessions of a type are for the bot itself.
func forBot(t chat.SessionType) bool { return t == chat.ResearchSession || t == chat.UpkeepSession }
