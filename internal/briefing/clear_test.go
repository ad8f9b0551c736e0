package briefing

import (
	"testing"

	"familiar/internal/chat"
)

func TestIsClear(t *testing.T) {
	for text, want := range map[string]bool{
		"/clear": true, "  /clear": true, "/clear please": true, "/clear\nnow": true, "\t/clear\t": true,
		"please /clear": false,
		"/clearance":    false, "/Clear": false, "clear": false, "": false, "/clear，": false,
	} {
		if got := IsClear(text); got != want {
			t.Errorf("IsClear(%q) = %v", text, got)
		}
	}
}

func TestSinceClear(t *testing.T) {
	for name, c := range map[string]struct{ said, want []string }{
		"AF-69 only what came after the last one": {[]string{"a", "/clear", "b", "/clear now", "c"}, []string{"c"}},
		"nothing is left":                         {[]string{"a", "/clear"}, nil},
		"none":                                    {[]string{"a", "not /clear"}, []string{"a", "not /clear"}},
	} {
		t.Run(name, func(t *testing.T) {
			var said []chat.Message
			for _, text := range c.said {
				said = append(said, chat.Message{Text: text})
			}
			got := sinceClear(said)
			if len(got) != len(c.want) {
				t.Fatalf("%d messages are left, want %d", len(got), len(c.want))
			}
			for i, m := range got {
				if m.Text != c.want[i] {
					t.Errorf("message %d is %q, want %q", i, m.Text, c.want[i])
				}
			}
		})
	}
}
