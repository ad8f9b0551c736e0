package misskey

import (
	"regexp"
	"slices"
	"strings"

	"familiar/internal/platform"
)

// words are the text of a note without its mentions of us, and in their place beside it what else was said: a content
// warning, a poll, what is quoted. mentioned says whether we were named, in the text or in the warning. Our own words are
// told as we wrote them.
func (a account) words(n note) (text string, mentioned bool) {
	if n.UserID == a.ID {
		return n.Text.V, false
	}
	if n.Hidden.V {
		return platform.Unreadable, false
	}
	text, inText := a.unmention(n.Text.V)
	warning, inWarning := a.unmention(n.CW.V)
	quote := ""
	if n.RenoteID.V != "" {
		quote = n.quote()
	}
	return platform.Words(n.worded(warning, text), quote), inText || inWarning
}

// worded is what was said, in words: text, behind its warning, and the poll.
func (c content) worded(warning, text string) string {
	if warning != "" {
		warning = "[Content warning: " + warning + "]"
	}
	return platform.Words(warning, text, c.Poll.V.words())
}

func (p poll) words() string {
	if len(p.Choices) == 0 {
		return ""
	}
	all := make([]string, len(p.Choices))
	for i, c := range p.Choices {
		all[i] = c.Text
	}
	return platform.Poll(all...)
}

var username = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,128}$`)

// quote is what a note quotes.
func (n note) quote() string {
	q := n.Renote.V
	if !n.shows(q) {
		return platform.Unreadable
	}
	author := ""
	if username.MatchString(q.User.V.Username) {
		author = " @" + q.User.V.Username
	}
	return "[Quoted" + author + ": " + q.worded(q.CW.V, strings.TrimSpace(q.Text.V)) + "]"
}

// shows reports whether whoever reads a note may read what it quotes.
func (n note) shows(q content) bool {
	return q.ID != "" && !q.Hidden.V && (n.readers() < everybody || q.readers() == everybody)
}

// files are those of a note, and of what it quotes.
func (n note) files() []file {
	if !n.shows(n.Renote.V) {
		return n.Files.V
	}
	return slices.Concat(n.Files.V, n.Renote.V.Files.V)
}
