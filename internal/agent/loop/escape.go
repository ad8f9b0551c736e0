package loop

import "strconv"

// wholeEscapes returns JSON in which every \u escape of half a character is one of U+FFFD instead. It returns data
// itself when there is none.
func wholeEscapes(data []byte) []byte {
	var out []byte
	for i := 0; i < len(data); i++ {
		if data[i] != '\\' {
			continue
		}
		unit, ok := escaped(data[i:])
		if !ok { // another escape, of two characters
			i++
			continue
		}
		switch low, pair := escaped(data[min(i+6, len(data)):]); {
		case unit >= 0xD800 && unit < 0xDC00 && pair && low >= 0xDC00 && low < 0xE000:
			i += 11
			continue
		case unit >= 0xD800 && unit < 0xE000:
			if out == nil {
				out = append(out, data...)
			}
			copy(out[i:], `\ufffd`)
		}
		i += 5
	}
	if out == nil {
		return data
	}
	return out
}

// escaped reads the \uXXXX that data begins with.
func escaped(data []byte) (unit uint64, ok bool) {
	if len(data) < 6 || data[0] != '\\' || data[1] != 'u' {
		return 0, false
	}
	unit, err := strconv.ParseUint(string(data[2:6]), 16, 16)
	return unit, err == nil
}
