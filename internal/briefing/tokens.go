package briefing

import (
	"math"
	"unicode/utf8"
)

// Estimate returns about how many tokens a model counts for text. It is a rule of thumb that needs no model's
// tables: 1 for a character of Chinese, Japanese or Korean, 0.25 for ASCII, 0.5 for any other, a tenth on top,
// rounded up.
func Estimate(text string) int {
	quarters := 0 // whole numbers, so that the order of adding up cannot change the answer
	for _, r := range text {
		switch {
		case r < utf8.RuneSelf:
			quarters++
		case scriptOfItsOwn(r):
			quarters += 4
		default:
			quarters += 2
		}
	}
	return int(math.Ceil(float64(quarters) / 4 * 1.1))
}

// scriptOfItsOwn reports whether r is a CJK ideograph, a kana or a hangul syllable.
func scriptOfItsOwn(r rune) bool {
	return r >= 0x4E00 && r <= 0x9FFF || r >= 0x3040 && r <= 0x30FF || r >= 0xAC00 && r <= 0xD7AF
}
