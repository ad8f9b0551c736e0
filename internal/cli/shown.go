package cli

import (
	"io"
	"os"

	"familiar/internal/terminal"
)

// shown is what somebody else wrote, as it may be written to w: nothing in it steers a terminal. A file or a program
// gets it as it is.
func shown(w io.Writer, text string) string {
	if f, ok := w.(*os.File); ok && terminal.IsTerminal(f) {
		return terminal.Clean(text)
	}
	return text
}
