package permission

import (
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

// ourName is the name by which PATH finds our executable.
const ourName = "familiar"

const (
	// forbidden are characters with which a shell's line is more than one plain command, quoted or not, since
	// not every shell reads quotes alike.
	forbidden = ";|&`()><#\n\r\\"
	// expanding are characters that, outside of quotes, make other words of a word.
	expanding = "*?[]{}~^!"
	// variable stands in a word for the dollar of a variable, so that it is not taken for a written one.
	variable = '\x00'
)

// harmless are the variables that a line may use. Others hold keys, which would leave as an argument.
var harmless = []string{"TMPDIR", "HOME", "AGENT_WORKSPACE", "SESSION_ID", "PWD", "USER", "LANG", "LC_ALL"}

// skillCommand reports whether every command is `familiar skill NAME …`, by the name or the path of our own
// executable and with a name that is ours, or the program of another skill that may be run.
func (p Policy) skillCommand(in input) bool {
	for _, c := range in.commands {
		words := c.words
		if words == nil {
			var ok bool
			if words, ok = split(c.line); !ok {
				return false
			}
		} else if slices.ContainsFunc(words, unprintable) {
			return false
		}
		if !p.skillWords(words) && !p.otherSkill(words) {
			return false
		}
	}
	return len(in.commands) > 0
}

func (p Policy) skillWords(words []string) bool {
	if len(words) < 3 || !p.isOurs(words[0]) || words[1] != "skill" || !slices.Contains(p.Skills, words[2]) {
		return false
	}
	for i, word := range words[3:] {
		flag, value, joined := strings.Cut(word, "=")
		if strings.ContainsAny(word, forbidden) || hidesFlag(flag) {
			return false
		}
		if !namesFile(flag) {
			continue
		}
		if !joined {
			if value = ""; 3+i+1 < len(words) {
				value = words[3+i+1]
			}
		}
		if value != "-" && !p.mayHandOver(value) {
			return false
		}
	}
	return true
}

// otherSkill reports whether words are the program of a skill that may be run, by its bare name, with arguments that
// name nothing outside of the folder in which the agent stands.
func (p Policy) otherSkill(words []string) bool {
	if len(words) == 0 || words[0] == ourName || !slices.Contains(p.Commands, words[0]) {
		return false
	}
	for _, word := range words[1:] {
		if strings.ContainsAny(word, forbidden) || strings.ContainsRune(word, variable) || leadsAway(strings.ToLower(word)) {
			return false
		}
	}
	return true
}

// leadsAway reports whether an argument in small letters may hold a path out of the folder, or the address of a file;
// addresses of pages are none.
func leadsAway(word string) bool {
	if strings.Contains(word, "file:") || word[:min(2, len(word))] != "--" && strings.HasPrefix(word, "-") && strings.Contains(word, "/") {
		return true
	}
	word = strings.NewReplacer("https://", "=", "http://", "=").Replace(word)
	apart := func(r rune) bool { return strings.ContainsRune("=,:@ \t", r) }
	return slices.ContainsFunc(strings.FieldsFunc(word, apart), func(piece string) bool {
		return strings.HasPrefix(piece, "/") || strings.HasPrefix(piece, "~") || slices.Contains(strings.Split(piece, "/"), "..")
	})
}

// unprintable reports whether a word has what no word of a command needs.
func unprintable(word string) bool { return strings.ContainsFunc(word, unicode.IsControl) }

// isOurs reports whether a word is our own executable.
func (p Policy) isOurs(word string) bool {
	if p.Binary == "" {
		return false
	}
	if word == ourName {
		return filepath.Base(p.Binary) == ourName
	}
	return word == p.Binary
}

// namesFile reports whether a flag's value is a file whose content goes out.
func namesFile(flag string) bool {
	name := strings.TrimLeft(flag, "-")
	return name != flag && (name == "file" || name == "path" || strings.HasSuffix(name, "-file") || strings.HasSuffix(name, "-path"))
}

// hidesFlag reports whether a word might become a flag, or another one, when its variables are filled in.
func hidesFlag(word string) bool {
	at := strings.IndexByte(word, variable)
	if at < 0 {
		return false
	}
	name, _, _ := strings.Cut(word, "/")
	return word[0] == '-' || at == 0 && strings.Contains(name, "-")
}

// mayHandOver reports whether a skill may be given a file: one from where the agent may read. Else a file that a
// shell can read and no reading tool may, such as the environment in /proc, would leave in a message.
func (p Policy) mayHandOver(path string) bool {
	for name, dir := range map[string]string{"TMPDIR": p.Tmp, "AGENT_WORKSPACE": p.Notes, "PWD": p.Dir} {
		for _, spelt := range []string{name + "/", "{" + name + "}/"} {
			if rest, ok := strings.CutPrefix(path, string(variable)+spelt); ok && dir != "" {
				path = dir + "/" + rest
			}
		}
	}
	return !strings.ContainsAny(path, "$\x00") && p.judgeRead([]string{path}).Allow
}

// split takes a line apart as every POSIX shell would. It reports false for whatever is not one plain command: a
// quote without end, a character of another construct, a variable that is not harmless.
func split(line string) (words []string, ok bool) {
	if strings.ContainsAny(line, forbidden) {
		return nil, false
	}
	var word []byte
	open, quote := false, byte(0)
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case quote == 0 && (c == ' ' || c == '\t'):
			if open {
				words = append(words, string(word))
			}
			word, open = nil, false
		case c < ' ' || c == 0x7f || quote == 0 && strings.IndexByte(expanding, c) >= 0:
			return nil, false
		case c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			open, quote = true, c
		case c == '$' && quote != '\'':
			name, fine := dollar(line[i+1:])
			if !fine {
				return nil, false
			}
			if name != "" {
				c = variable
			}
			if strings.HasPrefix(name, "{") { // its braces expand nothing
				word = append(append(word, c), name...)
				i += len(name)
				open = true
				continue
			}
			fallthrough
		default:
			open = true
			word = append(word, c)
		}
	}
	if open {
		words = append(words, string(word))
	}
	return words, quote == 0
}

// dollar reads what follows a dollar outside of single quotes: the name of a harmless variable, with its braces,
// or "" where the dollar is only written. Everything else is not fine: prices too, of which a shell would make
// something else.
func dollar(rest string) (name string, fine bool) {
	bare, braced := strings.CutPrefix(rest, "{")
	end := strings.IndexFunc(bare, func(r rune) bool {
		return r != '_' && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	if end < 0 {
		end = len(bare)
	}
	name = bare[:end]
	switch {
	case braced:
		return "{" + name + "}", slices.Contains(harmless, name) && strings.HasPrefix(bare[end:], "}")
	case name == "":
		return "", rest == "" || strings.IndexByte(" ,.:/%+", rest[0]) >= 0
	}
	return name, slices.Contains(harmless, name)
}
