package cli

import (
	"fmt"
	"io"
	"time"

	"familiar/internal/control"
)

// asked tells whoever waits for a reply that the bot waits for them: a program cannot answer for its owner.
func asked(errs io.Writer) func(control.Event) {
	began := time.Now()
	return func(ev control.Event) {
		if ev.Type == "input.requested" && ev.At.After(began) { // earlier ones are of earlier messages
			_, _ = fmt.Fprintf(errs, "%s\n\nfamiliar: the bot waits for your answer on its page; familiar open opens it\n", shown(errs, ev.Data.Text))
		}
	}
}
