package setting

import (
	"slices"
	"testing"
)

func TestPathsOfProblems(t *testing.T) {
	var r Report
	r.Missing("version")
	access := r.At("access")
	access.Wrong("replyPolicy", "%q is not allowed", "x")
	channel := access.At("channels").At("[2]")
	channel.Missing("id")
	channel.Warn("", "is there twice")
	r.At("[0]").Wrong("[1]", "no")
	want := []Problem{
		{"version", Fatal, true, "is required"},
		{"access.replyPolicy", Fatal, false, `"x" is not allowed`},
		{"access.channels[2].id", Fatal, true, "is required"},
		{"access.channels[2]", Warning, false, "is there twice"},
		{"[0][1]", Fatal, false, "no"},
	}
	if got := r.Problems(); !slices.Equal(got, want) {
		t.Errorf("got %+v", got)
	}
	if got := channel.Problems(); !slices.Equal(got, want) {
		t.Errorf("a part of a report tells %+v, not the whole", got)
	}
}

func TestAtLeast(t *testing.T) {
	for value, want := range map[int]int{-5: 3, 2: 3, 3: 3, 4: 4} {
		var r Report
		got := value
		r.AtLeast("n", &got, 3)
		corrected := len(r.Problems()) == 1 && r.Problems()[0].Severity == Warning
		if got != want || corrected != (value != want) {
			t.Errorf("%d became %d with %+v", value, got, r.Problems())
		}
	}
}

func TestOneOf(t *testing.T) {
	var r Report
	r.OneOf("level", "b", "a", "b")
	if len(r.Problems()) != 0 {
		t.Errorf("an allowed word is a problem: %+v", r.Problems())
	}
	r.OneOf("level", "c", "a", "b")
	want := []Problem{{"level", Fatal, false, `"c" is not one of a, b`}}
	if got := r.Problems(); !slices.Equal(got, want) {
		t.Errorf("got %+v", got)
	}
}
