package misskey

import (
	"regexp"
	"slices"
	"strings"
)

// nothingToRead stands for what is hidden from us or gone: agents see that something is there.
const nothingToRead = "[Something that cannot be read here]"

// words are the text of a note without its mentions of us, and in their place beside it what else was said: a content
// warning, a poll, what is quoted. mentioned says whether we were named, in the text or in the warning. Our own words are
// told as we wrote them.
func (a account) words(n note) (text string, mentioned bool) {
	if n.UserID == a.ID {
		return n.Text.V, false
	}
	if n.Hidden.V {
		return nothingToRead, false
	}
	text, inText := a.unmention(n.Text.V)
	warning, inWarning := a.unmention(n.CW.V)
	all := []string{text, n.Poll.V.words()}
	if warning != "" {
		all = slices.Insert(all, 0, "[Content warning: "+warning+"]")
	}
	if n.RenoteID.V != "" {
		all = append(all, n.quote())
	}
	return join(all), inText || inWarning
}

// join puts what is there of several pieces into one text.
func join(pieces []string) string {
	return strings.Join(slices.DeleteFunc(pieces, func(s string) bool { return s == "" }), " ")
}

func (p poll) words() string {
	if len(p.Choices) == 0 {
		return ""
	}
	all := make([]string, len(p.Choices))
	for i, c := range p.Choices {
		all[i] = c.Text
	}
	return "[Poll: " + strings.Join(all, " | ") + "]"
}

var username = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,128}$`)

// quote is what a note quotes.
func (n note) quote() string {
	q := n.Renote.V
	if !n.shows(q) {
		return nothingToRead
	}
	all := []string{strings.TrimSpace(q.Text.V), q.Poll.V.words()}
	if q.CW.V != "" {
		all = slices.Insert(all, 0, "[Content warning: "+q.CW.V+"]")
	}
	author := ""
	if username.MatchString(q.User.V.Username) {
		author = " @" + q.User.V.Username
	}
	return "[Quoted" + author + ": " + join(all) + "]"
}

// shows reports whether whoever reads a note may read what it quotes.
func (n note) shows(q quoted) bool {
	return q.ID != "" && !q.Hidden.V && (n.readers() < everybody || note{Visibility: q.Visibility}.readers() == everybody)
}

// files are those of a note, and of what it quotes.
func (n note) files() []file {
	if !n.shows(n.Renote.V) {
		return n.Files.V
	}
	return slices.Concat(n.Files.V, n.Renote.V.Files.V)
}
