package llm

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

func readEvents(t testing.TB, r io.Reader) []event {
	t.Helper()
	var all []event
	for in := newEvents(r); ; {
		e, err := in.next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
}

func one(name, data string) event { return event{Name: name, Data: []byte(data)} }

func TestEvents(t *testing.T) {
	for text, want := range map[string][]event{
		"":                               nil,
		"data: a\n\n":                    {one("", "a")},
		"data:a\n\ndata: b\n\n":          {one("", "a"), one("", "b")},
		"data:  a \n\n":                  {one("", " a ")},
		"\uFEFFdata: a\n\n":              {one("", "a")},
		"data: a\r\n\r\ndata: b\r\r":     {one("", "a"), one("", "b")},
		"event: x\ndata: a\ndata: b\n\n": {one("x", "a\nb")},
		"event: x\n\ndata: a\n\n":        {one("", "a")},
		"data\n\n":                       {one("", "")},
		": comment\nid: 3\nretry: 4\nnew: 5\nnothing\ndata: a\n\n": {one("", "a")},
		"data: a\n\ndata: cut":   {one("", "a")},
		"data: a\n\ndata: cut\n": {one("", "a")},
	} {
		if got := readEvents(t, strings.NewReader(text)); !same(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestEventsTellWhyReadingEnded(t *testing.T) {
	broken := errors.New("broken")
	in := newEvents(io.MultiReader(strings.NewReader("data: a\n\ndata: b\n"), iotest.ErrReader(broken)))
	if e, err := in.next(); err != nil || string(e.Data) != "a" {
		t.Errorf("%q, %v", e.Data, err)
	}
	if _, err := in.next(); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}

func same(a, b []event) bool {
	return slices.EqualFunc(a, b, func(a, b event) bool { return a.Name == b.Name && string(a.Data) == string(b.Data) })
}

// plainly reads events by another way, from a whole text.
func plainly(text string) []event {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.TrimPrefix(text, "\uFEFF"))
	lines := strings.Split(text, "\n")
	var all []event
	var e event
	var data []string
	for _, line := range lines[:len(lines)-1] {
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "":
			if data != nil {
				all = append(all, one(e.Name, strings.Join(data, "\n")))
			}
			e, data = event{}, nil
		case field == "event":
			e.Name = value
		case field == "data":
			data = append(data, value)
		}
	}
	return all
}

// However the bytes arrive, the events are the same as when they are read plainly.
func FuzzEvents(f *testing.F) {
	for _, seed := range []string{"", "data: a\n\n", "event: x\r\ndata: a\rdata:b\n\r\n", "\uFEFF\uFEFFdata\n\n", ":\n\rdata: \r\n\r\n", "data: [DONE]\n\n", brokenCall} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		want := plainly(text)
		for _, r := range []io.Reader{strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text)), iotest.DataErrReader(strings.NewReader(text))} {
			if got := readEvents(t, r); !same(got, want) {
				t.Fatalf("%q: %q, want %q", text, got, want)
			}
		}
	})
}
