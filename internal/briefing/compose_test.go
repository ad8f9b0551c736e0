package briefing

import (
	"fmt"
	"strings"
	"testing"

	"familiar/internal/agent"
	"familiar/internal/chat"
)

// plainPage is a prompt that is nothing but the context block.
var plainPage = Page{file{variable("userContextMessage")}}

// talk returns n messages, oldest first, each of about the same length.
func talk(n int, word string) []chat.Message {
	said := make([]chat.Message, n)
	for i := range said {
		said[i] = chat.Message{ID: chat.MessageID(fmt.Sprint(word, i)), From: chat.Person{ID: "7", Name: "Ann"}, Text: fmt.Sprintf("%s number %02d", word, i)}
	}
	return said
}

func composed(t *testing.T, b Briefing) string {
	t.Helper()
	text, ok := b.Blocks[0].(agent.Text)
	if !ok {
		t.Fatalf("the first block is %T", b.Blocks[0])
	}
	return string(text)
}

func TestComposeInOrder(t *testing.T) {
	m := Material{
		Memories: []string{"likes tea", "two\nlines"}, Recent: talk(2, "recent"), Related: talk(1, "related"),
		Emojis: []chat.Emoji{{Text: "<:cat:1>", Reaction: "cat:1"}}, Current: talk(1, "now"),
	}
	want := strings.TrimSpace(`
## Important Memories
1. likes tea
2. two
    lines

## Recent Conversation
[User] Ann: recent number 00
[User] Ann: recent number 01

## Related Messages from this Server
[User] Ann: related number 00

`+strings.TrimSpace(emojiHeader)+`

### Uncategorized
<e><t><:cat:1></t><r>cat:1</r></e>

## Current Message
[User] Ann(7): now number 00`) + "\n"
	b := Compose(m, plainPage, Vars{}, 20000)
	if got := composed(t, b) + "\n"; got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	if b.Memories != 2 || b.Recent != 2 || b.Related != 1 || b.Cut != 0 || b.Tokens != Estimate(composed(t, b)) {
		t.Errorf("counted %+v", b)
	}
}

func TestComposeLeavesEmptySectionsOut(t *testing.T) {
	got := composed(t, Compose(Material{Current: talk(1, "now")}, plainPage, Vars{}, 20000))
	if want := "## Current Message\n[User] Ann(7): now number 00"; got != want {
		t.Errorf("got %q", got)
	}
}

// AF-76
func TestComposeKeepsTheNewestTalkThatFits(t *testing.T) {
	m := Material{Recent: talk(20, "recent"), Related: talk(3, "related"), Current: talk(1, "now")}
	fixed := Estimate(currentHeading+"\n"+currentLine(m.Current[0])) + Estimate(recentHeading+"\n")
	b := Compose(m, plainPage, Vars{}, fixed+7*Estimate(line(m.Recent[0])+"\n"))
	got := composed(t, b)
	var want []string
	for _, said := range m.Recent[13:] {
		want = append(want, line(said))
	}
	if !strings.HasPrefix(got, recentHeading+"\n"+strings.Join(want, "\n")+"\n\n"+currentHeading) {
		t.Errorf("got:\n%s", got)
	}
	if b.Recent != 7 || b.Related != 0 || b.Cut != 16 || strings.Contains(got, relatedHeading) {
		t.Errorf("counted %+v", b)
	}
}

// AF-77: what is never cut stays whole when it is over the limit by itself.
func TestComposeNeverCutsMemoriesAndTheCurrentMessage(t *testing.T) {
	m := Material{Memories: []string{strings.Repeat("memory ", 50)}, Recent: talk(5, "recent"), Current: talk(1, "now"),
		Emojis: []chat.Emoji{{Text: ":a:", Reaction: ":a:"}}}
	b := Compose(m, Page{file{words("system "), variable("userContextMessage")}}, Vars{}, 10)
	got := composed(t, b)
	if !strings.Contains(got, strings.TrimSpace(m.Memories[0])) || !strings.Contains(got, "now number 00") || !strings.HasPrefix(got, "system") {
		t.Errorf("got %q", got)
	}
	if strings.Contains(got, recentHeading) || strings.Contains(got, "Emojis") || b.Cut != 5 {
		t.Errorf("counted %+v: %q", b, got)
	}
}

// AF-74
func TestEmojisAreGroupedAndBounded(t *testing.T) {
	var emojis []chat.Emoji
	for i := range 60 {
		emojis = append(emojis, chat.Emoji{Category: []string{"cats", "dogs"}[i%2], Text: fmt.Sprintf(":e%d:", i), Reaction: fmt.Sprintf("e%d", i)})
	}
	got := emojiSection(emojis, 20000)
	if n := strings.Count(got, "<e><t>:"); n != 50 {
		t.Errorf("%d emojis are shown", n)
	}
	if strings.Count(got, "\n### cats\n") != 1 || strings.Count(got, "\n### dogs\n") != 1 {
		t.Errorf("a category is named twice, or not at all:\n%s", got)
	}
}

// AF-75
func TestEmojisGetWhatTalkLeaves(t *testing.T) {
	m := Material{Recent: talk(20, "recent"), Current: talk(1, "now")}
	for i := range 50 {
		m.Emojis = append(m.Emojis, chat.Emoji{Text: fmt.Sprintf("<:emoji%d:1>", i), Reaction: fmt.Sprintf("emoji%d:1", i)})
	}
	whole := Compose(Material{Recent: m.Recent, Current: m.Current}, plainPage, Vars{}, 20000).Tokens
	for _, spare := range []int{2, 120, 300} {
		b := Compose(m, plainPage, Vars{}, whole+spare)
		got := composed(t, b)
		shown := strings.Count(got, "<e><t><")
		if b.Recent != 20 || b.Tokens > whole+spare {
			t.Errorf("%d spare: %+v", spare, b)
		}
		if (spare == 2) != (shown == 0) || shown == 50 || (shown == 0) == strings.Contains(got, "Emojis") {
			t.Errorf("%d spare: %d emojis are shown", spare, shown)
		}
	}
}

func TestEmojiHeaderAloneIsNoSection(t *testing.T) {
	header := Estimate(strings.TrimSpace(emojiHeader))
	for room := header - 1; room < header+5; room++ {
		if got := emojiSection([]chat.Emoji{{Text: ":abc:", Reaction: ":abc:"}}, room); got != "" {
			t.Errorf("room %d: %q", room, got)
		}
	}
}
