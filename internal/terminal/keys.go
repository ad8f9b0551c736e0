package terminal

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Code is what a key is for.
type Code int

// The keys, by what they are for.
const (
	Typed      Code = iota // Text is what was typed
	Pasted                 // Text is what was pasted, in one piece
	Enter                  // Return, also one that was pressed before the terminal was taken over
	NewLine                // Alt-Return, Shift-Return where the terminal tells it
	Tab                    //
	BackTab                // Shift-Tab
	Backspace              //
	BackWord               // Ctrl-W, Alt-Backspace
	Delete                 //
	DeleteWord             // Alt-D
	KillStart              // Ctrl-U
	KillEnd                // Ctrl-K
	Yank                   // Ctrl-Y
	Left                   // also Ctrl-B
	Right                  // also Ctrl-F
	WordLeft               // Alt-B, Ctrl-Left, Alt-Left
	WordRight              // Alt-F, Ctrl-Right, Alt-Right
	Start                  // Home, Ctrl-A
	End                    // End, Ctrl-E
	Up                     // also Ctrl-P
	Down                   // also Ctrl-N
	Interrupt              // Ctrl-C
	EndOfInput             // Ctrl-D
	Clear                  // Ctrl-L
	Suspend                // Ctrl-Z
	Escape                 //
	noKey                  // understood, and for nothing
)

// Key is one key that was pressed, or one piece that was pasted.
type Key struct {
	Code Code
	Text string
}

// controls are the keys of one byte.
var controls = map[byte]Code{
	'A' - 64: Start, 'B' - 64: Left, 'C' - 64: Interrupt, 'D' - 64: EndOfInput, 'E' - 64: End, 'F' - 64: Right,
	'H' - 64: Backspace, '\t': Tab, '\n': Enter, 'K' - 64: KillEnd, 'L' - 64: Clear, '\r': Enter, 'N' - 64: Down,
	'P' - 64: Up, 'U' - 64: KillStart, 'W' - 64: BackWord, 'Y' - 64: Yank, 'Z' - 64: Suspend, 0x7F: Backspace,
}

// alts are the keys that follow an escape.
var alts = map[byte]Code{'b': WordLeft, 'f': WordRight, 'd': DeleteWord, 'B': WordLeft, 'F': WordRight, 'D': DeleteWord,
	0x7F: BackWord, 'H' - 64: BackWord, '\r': NewLine, '\n': NewLine}

// sequences are the keys of several bytes, behind ESC [ or ESC O, by their parameters and last byte.
var sequences = map[string]Code{
	"A": Up, "B": Down, "C": Right, "D": Left, "H": Start, "F": End, "Z": BackTab,
	"1~": Start, "7~": Start, "4~": End, "8~": End, "3~": Delete, "3;5~": DeleteWord, "3;3~": DeleteWord,
	"1;5C": WordRight, "1;3C": WordRight, "1;5D": WordLeft, "1;3D": WordLeft, "5C": WordRight, "5D": WordLeft,
	"13;2u": NewLine, "13;3u": NewLine, "13;5u": NewLine, "27;2;13~": NewLine, "27;3;13~": NewLine, "27;5;13~": NewLine,
}

const (
	escape     = 0x1B
	pasteBegin = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
	maxPaste   = 256 << 10 // bytes of one paste; what is longer comes in pieces
)

// decoder turns bytes into keys. What is not whole yet waits in rest.
type decoder struct {
	rest    []byte
	pasting bool
}

// feed takes what was read and returns the keys that are whole.
func (d *decoder) feed(data []byte) []Key {
	d.rest = append(d.rest, data...)
	var keys []Key
	for len(d.rest) > 0 {
		key, n := d.next()
		if n == 0 {
			break
		}
		d.rest = d.rest[n:]
		if key.Code != noKey {
			keys = append(keys, key)
		}
	}
	return keys
}

// settle is called when nothing more comes for a moment: what waits was no beginning.
func (d *decoder) settle() []Key {
	if d.pasting || len(d.rest) == 0 {
		return nil
	}
	alone := len(d.rest) == 1 && d.rest[0] == escape
	d.rest = nil
	if alone {
		return []Key{{Code: Escape}}
	}
	return nil
}

// next returns the first key and how many bytes it takes; 0 when it is not whole.
func (d *decoder) next() (Key, int) {
	if d.pasting {
		return d.pasted()
	}
	first := d.rest[0]
	switch code, control := controls[first]; {
	case first == escape:
		return d.escaped()
	case control:
		return Key{Code: code}, 1
	case first < ' ':
		return Key{Code: noKey}, 1
	}
	return d.typed()
}

// typed takes all the letters that have come.
func (d *decoder) typed() (Key, int) {
	n := 0
	for n < len(d.rest) && d.rest[n] >= ' ' && d.rest[n] != 0x7F {
		if !utf8.FullRune(d.rest[n:]) {
			break
		}
		_, size := utf8.DecodeRune(d.rest[n:])
		n += size
	}
	if n == 0 {
		return Key{}, 0
	}
	text := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(string(d.rest[:n]), ""))
	if text == "" {
		return Key{Code: noKey}, n
	}
	return Key{Typed, text}, n
}

// pasted takes what stands before the end of a paste.
func (d *decoder) pasted() (Key, int) {
	if at := bytes.Index(d.rest, []byte(pasteEnd)); at >= 0 {
		d.pasting = false
		return paste(d.rest[:at]), at + len(pasteEnd)
	}
	if len(d.rest) > maxPaste {
		n := maxPaste
		for n > 0 && !utf8.RuneStart(d.rest[n]) {
			n--
		}
		return paste(d.rest[:n]), n
	}
	return Key{}, 0
}

func paste(data []byte) Key {
	text := strings.ReplaceAll(string(data), "\r\n", "\n")
	text = Clean(strings.ReplaceAll(text, "\r", "\n"))
	if text == "" {
		return Key{Code: noKey}
	}
	return Key{Pasted, text}
}

// escaped takes a key that begins with ESC.
func (d *decoder) escaped() (Key, int) {
	if len(d.rest) == 1 {
		return Key{}, 0
	}
	second := d.rest[1]
	if second != '[' && second != 'O' {
		if code, ok := alts[second]; ok {
			return Key{Code: code}, 2
		}
		if second == escape {
			return Key{Code: Escape}, 1
		}
		return Key{Code: noKey}, 2
	}
	for n := 2; n < len(d.rest); n++ {
		if b := d.rest[n]; b >= 0x40 && b <= 0x7E {
			return d.sequence(n + 1)
		}
		if d.rest[n] < ' ' || n > 32 { // no sequence after all
			return Key{Code: noKey}, n
		}
	}
	return Key{}, 0
}

func (d *decoder) sequence(n int) (Key, int) {
	if string(d.rest[:n]) == pasteBegin {
		d.pasting = true
		return Key{Code: noKey}, n
	}
	if code, ok := sequences[string(d.rest[2:n])]; ok {
		return Key{Code: code}, n
	}
	return Key{Code: noKey}, n
}
