package briefing

import (
	_ "embed"
	"strings"

	"familiar/internal/chat"
)

// mostEmojis is how many emojis an agent is shown; more than these it does not use anyway.
const mostEmojis = 50

const uncategorized = "Uncategorized"

//go:embed text/emojis.md
var emojiHeader string

// emojiSection lists as many emojis as fit into room tokens, grouped by category in the order in which the
// categories appear, or returns "" when not even one fits behind the header.
func emojiSection(emojis []chat.Emoji, room int) string {
	header := strings.TrimSpace(emojiHeader)
	room -= Estimate(header)
	if room <= 0 {
		return ""
	}
	text, shown, group := header, 0, ""
	for _, e := range grouped(emojis[:min(len(emojis), mostEmojis)]) {
		entry := "<e><t>" + oneLine(e.Text) + "</t><r>" + oneLine(e.Reaction) + "</r></e>"
		if shown == 0 || e.Category != group {
			entry = "\n### " + e.Category + "\n" + entry
		}
		if room -= Estimate("\n" + entry); room < 0 {
			break
		}
		text, group = text+"\n"+entry, e.Category
		shown++
	}
	if shown == 0 {
		return ""
	}
	return text
}

// grouped returns the emojis with those of one category next to each other.
func grouped(emojis []chat.Emoji) []chat.Emoji {
	var order []string
	byCategory := map[string][]chat.Emoji{}
	for _, e := range emojis {
		if e.Category = name(e.Category); e.Category == "" {
			e.Category = uncategorized
		}
		if byCategory[e.Category] == nil {
			order = append(order, e.Category)
		}
		byCategory[e.Category] = append(byCategory[e.Category], e)
	}
	var out []chat.Emoji
	for _, category := range order {
		out = append(out, byCategory[category]...)
	}
	return out
}
