package pairing

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"familiar/internal/chat"
)

// alphabet has no 0, 1, I or O: a code is read out, copied by hand and typed on a phone. Its 32 letters are five bits
// each.
const alphabet = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"

// codeLetters is the length of a code: 40 bits, of which somebody may guess ten in ten minutes for an hour.
const codeLetters = 8

// mint makes a code, in two halves: ABCD-EFGH.
func mint() string {
	var raw [codeLetters]byte
	_, _ = rand.Read(raw[:]) // never fails: crypto/rand ends the program instead
	var code strings.Builder
	for i, b := range raw {
		if i == codeLetters/2 {
			code.WriteByte('-')
		}
		code.WriteByte(alphabet[int(b)%len(alphabet)])
	}
	return code.String()
}

// tidy takes a code as people write it: in small letters, with spaces, without the hyphen. What is too long to be one
// is none.
func tidy(code string) string {
	if len(code) > 64 {
		return ""
	}
	letters := strings.Map(func(r rune) rune {
		if r == '-' || r == '`' || unicode.IsSpace(r) {
			return -1
		}
		return unicode.ToUpper(r)
	}, code)
	if len(letters) != codeLetters {
		return ""
	}
	return letters[:codeLetters/2] + "-" + letters[codeLetters/2:]
}

// digest is what is kept of a code, so that whoever reads the database or a backup cannot write one down.
type digest [sha256.Size]byte

func hash(code string) digest { return sha256.Sum256([]byte("pairing " + code)) }

// is compares in a time that tells nothing.
func (d digest) is(other digest) bool { return subtle.ConstantTimeCompare(d[:], other[:]) == 1 }

// MarshalText writes the digest in hex.
func (d digest) MarshalText() ([]byte, error) { return []byte(hex.EncodeToString(d[:])), nil }

// UnmarshalText reads what MarshalText wrote.
func (d *digest) UnmarshalText(text []byte) error {
	raw, err := hex.DecodeString(string(text))
	if err != nil || len(raw) != len(d) {
		return fmt.Errorf("a hash is %d bytes in hex", len(d))
	}
	*d = digest(raw)
	return nil
}

// key names a person in the store; neither part can run into the other.
func (w who) key() string {
	sum := sha256.Sum256([]byte(strconv.Itoa(len(w.platform)) + ":" + w.platform + w.id))
	return hex.EncodeToString(sum[:16])
}

// known is what is kept of a person. A name is what somebody typed: it becomes one short line without signs that a
// list could be forged with.
func known(p chat.Person) chat.Person {
	kept := 0
	name := strings.Map(func(r rune) rune {
		if kept++; kept > longestName || !unicode.IsPrint(r) || strings.ContainsRune("`*_[]()<>|\\#~@", r) {
			return -1
		}
		return r
	}, strings.Join(strings.Fields(p.Name), " "))
	return chat.Person{Platform: p.Platform, ID: p.ID, Name: strings.TrimSpace(name)}
}
