package briefing

import (
	"fmt"
	"strings"

	"familiar/internal/agent"
	"familiar/internal/chat"
)

// The headings of the context block.
const (
	memoriesHeading = "## Important Memories"
	recentHeading   = "## Recent Conversation"
	relatedHeading  = "## Related Messages from this Server"
	currentHeading  = "## Current Message"
	furtherHeading  = "## Further Message"
)

// Compose writes the briefing. Pure. The prompt, the memories and the current message are never cut; what limit
// leaves goes to the talk first, newest messages before older ones and always whole, and then to the emojis.
func Compose(m Material, page Page, v Vars, limit int) Briefing {
	v.UserContextMessage = ""
	memories := memorySection(m.Memories)
	asked := lines(m.Current, currentLine)
	now := section(currentHeading, asked)
	room := limit - Estimate(page.Render(v)) - Estimate(memories) - Estimate(now)

	recent, related := lines(m.Recent, line), lines(m.Related, line)
	recent, related, room = fitTalk(recent, related, room)
	emojis := emojiSection(m.Emojis, room)

	var sections []string
	for _, s := range []string{memories, section(recentHeading, recent), section(relatedHeading, related), emojis, now} {
		if s != "" {
			sections = append(sections, s)
		}
	}
	v.UserContextMessage = strings.Join(sections, "\n\n")
	text := page.Render(v)
	out := Briefing{Blocks: []agent.Block{agent.Text(text)}, Tokens: Estimate(text),
		Memories: len(m.Memories), Recent: len(recent), Related: len(related),
		Cut: len(m.Recent) + len(m.Related) - len(recent) - len(related)}
	for _, image := range m.Images {
		out.Blocks = append(out.Blocks, image)
	}
	return out
}

// fitTalk returns as much of the talk as fits into room, and the room that is left. All of it, if it fits;
// else the newest recent messages, then the newest related ones with what remains.
func fitTalk(recent, related []string, room int) (keptRecent, keptRelated []string, left int) {
	all := Estimate(section(recentHeading, recent)) + Estimate(section(relatedHeading, related))
	if all <= room {
		return recent, related, room - all
	}
	keptRecent, room = newest(recentHeading, recent, room)
	keptRelated, room = newest(relatedHeading, related, room)
	return keptRecent, keptRelated, room
}

// newest returns the last of the lines that fit below their heading into room, and the room that is left.
func newest(heading string, lines []string, room int) ([]string, int) {
	first, left := len(lines), room-Estimate(heading+"\n")
	for first > 0 && left >= Estimate(lines[first-1]+"\n") {
		first--
		left -= Estimate(lines[first] + "\n")
	}
	if first == len(lines) {
		return nil, room
	}
	return lines[first:], left
}

func memorySection(memories []string) string {
	items := make([]string, len(memories))
	for i, memory := range memories {
		items[i] = fmt.Sprintf("%d. %s", i+1, block(memory))
	}
	return section(memoriesHeading, items)
}

// section returns a heading with lines below it, or "" without any.
func section(heading string, lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return heading + "\n" + strings.Join(lines, "\n")
}

func lines(messages []chat.Message, write func(chat.Message) string) []string {
	out := make([]string, len(messages))
	for i, m := range messages {
		out[i] = write(m)
	}
	return out
}
