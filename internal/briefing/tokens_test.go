package briefing

import (
	"strings"
	"testing"
)

// AF-80, AF-81
func TestEstimate(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "abcd": 2, "Hello World": 4, "你好": 3, "你好世界": 5, "こんにちは": 6, "안녕": 3, "é": 1, "😀": 1,
		strings.Repeat("a", 40): 11,
	} {
		if got := Estimate(text); got != want {
			t.Errorf("Estimate(%.20q) = %d, want %d", text, got, want)
		}
	}
	for _, text := range []string{strings.Repeat("a", 400), strings.Repeat("你", 100)} {
		if got := Estimate(text); got != 110 && got != 111 {
			t.Errorf("Estimate(%.20q) = %d, want 110 or 111", text, got)
		}
	}
}
