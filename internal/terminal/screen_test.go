package terminal

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rivo/uniseg"
	"pgregory.net/rapid"
)

// glass is a terminal, as far as Screen uses one: what is written ends up in rows of cells, and wraps as terminals do.
type glass struct {
	t        *rapid.T
	columns  int
	rows     [][]string
	row, col int
}

var steering = regexp.MustCompile(`^\x1b\[(\??\d*)([A-Za-z])`)

func (g *glass) Write(p []byte) (int, error) {
	for text := string(p); text != ""; {
		if s := steering.FindStringSubmatch(text); s != nil {
			g.steer(s[1], s[2])
			text = text[len(s[0]):]
			continue
		}
		var cluster string
		var width int
		cluster, text, width, _ = uniseg.FirstGraphemeClusterInString(text, -1)
		switch cluster {
		case "\r":
			g.col = 0
		case "\r\n":
			g.col = 0
			g.row++
		default:
			g.put(cluster, width)
		}
	}
	return len(p), nil
}

func (g *glass) steer(number, verb string) {
	n, _ := strconv.Atoi(number)
	switch verb {
	case "A":
		if g.row -= n; g.row < 0 {
			g.t.Fatal("the cursor leaves the top")
		}
	case "C":
		g.col += n
	case "J":
		g.rows = g.rows[:min(len(g.rows), g.row+1)]
		if g.row < len(g.rows) {
			g.rows[g.row] = g.rows[g.row][:min(len(g.rows[g.row]), g.col)]
		}
	case "m", "l", "h":
	default:
		g.t.Fatalf("unknown: %s%s", number, verb)
	}
}

func (g *glass) put(cluster string, width int) {
	if g.col+width > g.columns {
		g.row++
		g.col = 0
	}
	for len(g.rows) <= g.row {
		g.rows = append(g.rows, nil)
	}
	for len(g.rows[g.row]) < g.col+width {
		g.rows[g.row] = append(g.rows[g.row], " ")
	}
	g.rows[g.row][g.col] = cluster
	for extra := 1; extra < width; extra++ {
		g.rows[g.row][g.col+extra] = ""
	}
	g.col += width
}

func (g *glass) String() string {
	var lines []string
	for _, row := range g.rows {
		lines = append(lines, strings.TrimRight(strings.Join(row, ""), " "))
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// Whatever is drawn, the terminal shows all that was printed, once, and below it the last view with its cursor.
func TestDrawing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := &glass{t: t, columns: rapid.IntRange(20, 40).Draw(t, "columns")}
		s := NewScreen(g, func() (int, int) { return g.columns, 100 })
		var printed []string
		l := &Line{}
		for range rapid.IntRange(1, 8).Draw(t, "drawings") {
			l.Press(rapid.SampledFrom([]Key{typed("word "), typed("烏龍茶"), typed("👩‍👩‍👧"), {Code: NewLine}, {Code: Left}, {Code: Up},
				{Code: KillStart}, {Code: BackWord}, {Pasted, "a\n\nlong one, that goes over the end of the row"}}).Draw(t, "key"))
			more := rapid.SliceOfN(rapid.SampledFrom([]string{"", "said", "烏龍茶烏龍茶", "a row"}), 0, 2).Draw(t, "more")
			v := l.Rows("> ", s.Columns())
			if err := s.Draw(more, v); err != nil {
				t.Fatal(err)
			}
			printed = append(printed, more...)
			want := strings.Split(strings.Join(append(append([]string(nil), printed...), v.Rows...), "\n"), "\n")
			for i, row := range want {
				want[i] = strings.TrimRight(row, " ")
			}
			if got := g.String(); got != strings.TrimRight(strings.Join(want, "\n"), "\n") {
				t.Fatalf("shown:\n%s\nwant:\n%s", got, strings.Join(want, "\n"))
			}
			if g.row != len(printed)+v.Row || g.col != v.Col {
				t.Fatalf("the cursor is at %d,%d, want %d,%d", g.row, g.col, len(printed)+v.Row, v.Col)
			}
		}
	})
}

func TestAHighViewIsCroppedAtItsCursor(t *testing.T) {
	rows := strings.Fields("a b c d e f g h")
	for at, want := range map[int]string{0: "a b c", 1: "a b c", 4: "d e f", 7: "f g h"} {
		v := cropped(View{Rows: rows, Row: at}, 3)
		if got := strings.Join(v.Rows, " "); got != want || v.Rows[v.Row] != rows[at] {
			t.Errorf("%d: %s, the cursor in %s", at, got, v.Rows[v.Row])
		}
	}
}

// A terminal that was made narrower has broken rows: they are counted as what they have become.
func TestNarrower(t *testing.T) {
	s := &Screen{shown: View{[]string{"0123456789", Red.Paint(strings.Repeat("x", 25)), "01234"}, 2, 5}}
	for columns, want := range map[int]int{80: 2, 10: 4, 5: 8} {
		if got := s.above(columns); got != want {
			t.Errorf("%d columns: %d rows, want %d", columns, got, want)
		}
	}
}
