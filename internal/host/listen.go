package host

import (
	"context"
	"fmt"
	"runtime/debug"

	"familiar/internal/chat"
)

// listen is hear as sources call it: an event on which we stumble is its own problem, and neither ends the program nor
// the connection that others come over. It may be sent again.
func (h *Host) listen(ctx context.Context, ev chat.Event) (outcome chat.Outcome) {
	defer func() {
		if r := recover(); r != nil {
			h.log.Error("hearing an event panicked", chat.KeyEvent, ev.ID, chat.KeyPlatform, ev.Place.Platform,
				chat.KeyErr, fmt.Sprint(r), "stack", string(debug.Stack()))
			outcome = chat.Busy
		}
	}()
	return h.hear(ctx, ev)
}
