package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"time"
)

// corpus is the text of many memories: half of them words of a made-up language with spaces, half Chinese without.
// How often a word comes follows Zipf, as in any language.
type corpus struct {
	words []string // Latin
	pairs []string // two Han characters each
	dice  *rand.Rand
	zipf  *rand.Zipf

	texts []string
}

// The vocabulary.
const (
	latinWords = 40_000
	hanPairs   = 12_000
)

func newCorpus(n int) *corpus {
	dice := rand.New(rand.NewPCG(4, 2)) //nolint:gosec // the same corpus every time
	c := &corpus{dice: dice, zipf: rand.NewZipf(dice, 1.1, 8, hanPairs-1), texts: make([]string, n)}
	for range latinWords {
		word := make([]byte, 2+int(math.Abs(dice.NormFloat64()*2.5)+dice.Float64()*4))
		for i := range word {
			letters := "etaoinshrdlucmfwypvbgkjqxz"
			word[i] = letters[min(int(dice.ExpFloat64()*6), len(letters)-1)]
		}
		c.words = append(c.words, string(word))
	}
	for range hanPairs {
		han := func() rune { return '\u4e00' + rune(min(int(dice.ExpFloat64()*500), 5000)) } //nolint:gosec // small
		c.pairs = append(c.pairs, string([]rune{han(), han()}))
	}
	for i := range c.texts {
		c.texts[i] = c.text(i)
	}
	return c
}

func (c *corpus) word() string { return c.words[(c.zipf.Uint64()*7)%latinWords] }
func (c *corpus) pair() string { return c.pairs[c.zipf.Uint64()] }

func (c *corpus) text(i int) string {
	var out strings.Builder
	if i%2 == 0 {
		for range 10 + c.dice.IntN(14) {
			out.WriteString(c.word() + " ")
		}
		return strings.TrimSpace(out.String()) + "."
	}
	for range 10 + c.dice.IntN(14) {
		out.WriteString(c.pair())
	}
	return out.String() + "。"
}

// write makes the memories a person's file, a minute apart from each other; one in every is important.
func (c *corpus) write(path string, every int) (err error) {
	file, err := os.Create(path) //nolint:gosec // in a directory that we made
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	out := bufio.NewWriterSize(file, 1<<20)
	at := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	for i, text := range c.texts {
		content, err := json.Marshal(text)
		if err != nil {
			return err
		}
		importance := "normal"
		if i%every == 0 {
			importance = "high"
		}
		_, _ = fmt.Fprintf(out, `{"type":"memory","id":"mem_%08d_0a1b2c","ts":%q,"enabled":true,"visibility":"private","importance":%q,"content":%s}`+"\n",
			i, at.Add(time.Duration(i)*time.Minute).Format("2006-01-02T15:04:05.000Z"), importance, content) // Flush tells
	}
	return out.Flush()
}

// kinds are the kinds of questions, each with a maker of one.
func (c *corpus) kinds() []kind {
	return []kind{
		{"a word", func() string { return c.word() }},
		{"two words", func() string { return c.word() + " " + c.word() }},
		{"two Han", func() string { return c.pair() }},
		{"four Han", func() string { return c.pair() + c.pair() }},
		{"four words, mixed", func() string { return c.word() + " " + c.pair() + " " + c.word() + " " + c.pair() }},
		{"one Han", func() string { return string([]rune(c.pair())[:1]) }},
	}
}

type kind struct {
	name string
	ask  func() string
}

// best is the oracle: it looks at every text for every word, and knows nothing of how the product does it. It
// returns the numbers of the n that hold most of the words, the newest first among equals.
func (c *corpus) best(question string, n int) []int {
	words := strings.Fields(question)
	found := make([][]int, len(words)+1)
	for i := len(c.texts) - 1; i >= 0; i-- {
		score := 0
		for _, w := range words {
			if strings.Contains(c.texts[i], w) {
				score++
			}
		}
		if score > 0 && len(found[score]) < n {
			found[score] = append(found[score], i)
		}
	}
	var all []int
	for score := len(words); score > 0; score-- {
		all = append(all, found[score]...)
	}
	return all[:min(n, len(all))]
}
