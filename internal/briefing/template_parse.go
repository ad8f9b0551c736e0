package briefing

import (
	"fmt"
	"log/slog"
)

// The bounds of one prompt with everything that it takes in: far above any sensible prompt, and low enough that
// files which take each other in come to an end.
const (
	deepestFile = 8
	deepestIf   = 32
	mostFiles   = 64
	mostBytes   = 1 << 20
)

// reader returns the text of a prompt file and the path to name in errors; found is false where there is none.
type reader func(file string) (text, path string, found bool, err error)

// parser turns prompt files into nodes. It reads every file that they take in, also those of a branch that
// is not taken, so that a missing one is found at the first use.
type parser struct {
	read  reader
	entry string // the file that the parse began with: it is no source of names
	log   *slog.Logger
	files int
	bytes int

	doubtful bool // there was something to warn of
}

// source is a file that is being parsed.
type source struct {
	path   string
	depth  int
	tokens []token
	next   int
}

// parse parses one file and everything that it takes in.
func (p *parser) parse(text, path string, depth int) (file, error) {
	p.files++
	p.bytes += len(text)
	switch {
	case depth > deepestFile:
		return nil, PromptError{Path: path, Say: fmt.Sprintf("prompts take each other in more than %d deep", deepestFile)}
	case p.files > mostFiles || p.bytes > mostBytes:
		return nil, PromptError{Path: path, Say: fmt.Sprintf("the prompt takes in more than %d files or %d bytes", mostFiles, mostBytes)}
	}
	src := &source{path: path, depth: depth, tokens: scan(text)}
	nodes, stop, err := p.until(src, 0)
	if err != nil {
		return nil, err
	}
	if stop != nil {
		return nil, src.wrong(*stop, "%s without an if", stop.raw)
	}
	return file(nodes), nil
}

// until parses up to the else or end that belongs to an if around it, which it returns, or to the end.
func (p *parser) until(src *source, ifs int) (sequence, *token, error) {
	var nodes sequence
	for src.next < len(src.tokens) {
		t := src.tokens[src.next]
		src.next++
		var n node
		var err error
		switch t.kind {
		case tagText:
			n = words(t.arg)
		case tagName:
			n, err = p.named(src, t)
		case tagInclude:
			n, err = p.include(src, t)
		case tagIf:
			n, err = p.choice(src, t, ifs+1)
		case tagElse, tagEnd:
			return nodes, &t, nil
		default:
			err = src.wrong(t, "%s: write {{ if NAME }}, {{ else }}, {{ end }} or {{ include \"FILE.md\" }}", t.raw)
		}
		if err != nil {
			return nil, nil, err
		}
		nodes = append(nodes, n)
	}
	return nodes, nil, nil
}

// named resolves a bare name: a variable, else the file of that name, else it stays as it was written.
func (p *parser) named(src *source, t token) (node, error) {
	if _, known := (Vars{}).find(t.arg); known {
		return variable(t.arg), nil
	}
	if t.arg+".md" != p.entry {
		text, path, found, err := p.read(t.arg + ".md")
		if err != nil {
			return nil, err
		}
		if found {
			return p.parse(text, path, src.depth+1)
		}
	}
	p.doubtful = true
	p.log.Warn("a prompt has a name that is neither a variable nor a file", "file", src.path, "line", t.line, "name", t.arg)
	return words(t.raw), nil
}

// include puts a file in.
func (p *parser) include(src *source, t token) (node, error) {
	if !siblingForm.MatchString(t.arg) {
		return nil, src.wrong(t, "include %q: name a .md file in the same directory", t.arg)
	}
	text, path, found, err := p.read(t.arg)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, src.wrong(t, "include %q: there is no file %s", t.arg, path)
	}
	return p.parse(text, path, src.depth+1)
}

// choice parses an if up to its end.
func (p *parser) choice(src *source, t token, ifs int) (node, error) {
	if _, known := (Vars{}).find(t.arg); !known {
		return nil, src.wrong(t, "if %s: there is no such variable", t.arg)
	}
	if ifs > deepestIf {
		return nil, src.wrong(t, "more than %d ifs within each other", deepestIf)
	}
	c := choice{name: t.arg}
	var stop *token
	var err error
	if c.yes, stop, err = p.until(src, ifs); err == nil && stop != nil && stop.kind == tagElse {
		c.no, stop, err = p.until(src, ifs)
	}
	switch {
	case err != nil:
		return nil, err
	case stop == nil:
		return nil, src.wrong(t, "if %s has no {{ end }}", t.arg)
	case stop.kind == tagElse:
		return nil, src.wrong(*stop, "a second {{ else }}")
	}
	return c, nil
}

func (s *source) wrong(t token, format string, args ...any) error {
	return PromptError{Path: s.path, Line: t.line, Say: fmt.Sprintf(format, args...)}
}
