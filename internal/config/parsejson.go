package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// parseJSON reads one JSON value. JSON is not read as YAML, because YAML knows neither tabs before a key nor
// surrogate pairs.
func parseJSON(name string, data []byte) (*node, Problems) {
	p := jsonParser{builder: builder{name: name}, data: data, dec: json.NewDecoder(bytes.NewReader(data))}
	p.dec.UseNumber()
	n, err := p.value(0)
	if err == nil {
		if _, err = p.dec.Token(); errors.Is(err, io.EOF) {
			if p.endless {
				n = nil
			}
			return n, p.problems
		}
		if err == nil {
			err = errors.New("something follows the end of the value")
		}
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("the value ends too early")
	}
	return nil, Problems{{At: p.origin(), Say: "not JSON: " + err.Error()}}
}

type jsonParser struct {
	builder
	data []byte
	dec  *json.Decoder

	counted int // bytes of data that line and start are for
	line    int // newlines among them
	start   int // where the present line begins
}

// origin is where the decoder stands: the start of the next token, once white space and commas are behind it.
func (p *jsonParser) origin() Origin {
	at := int(p.dec.InputOffset())
	for at < len(p.data) && strings.IndexByte(" \t\r\n,:", p.data[at]) >= 0 {
		at++
	}
	for ; p.counted < at; p.counted++ {
		if p.data[p.counted] == '\n' {
			p.line, p.start = p.line+1, p.counted+1
		}
	}
	return Origin{p.name, p.line + 1, at - p.start + 1}
}

func (p *jsonParser) value(depth int) (*node, error) {
	n := &node{at: p.origin()}
	if depth > deepest {
		return nil, errors.New("it is nested too deep")
	}
	token, err := p.dec.Token()
	if err != nil {
		return nil, err
	}
	switch t := token.(type) {
	case string:
		n.kind, n.value = text, t
	case bool:
		n.kind, n.value = boolean, map[bool]string{true: "true", false: "false"}[t]
	case json.Number:
		n.kind, n.value = integer, t.String()
		if strings.ContainsAny(n.value, ".eE") {
			n.kind = float
		}
	case json.Delim:
		return n, p.inside(n, t, depth)
	}
	return n, nil
}

// inside reads the rest of a list or mapping, up to its end.
func (p *jsonParser) inside(n *node, open json.Delim, depth int) error {
	n.kind = map[json.Delim]kind{'[': list, '{': mapping}[open]
	for p.dec.More() {
		if n.kind == list {
			item, err := p.value(depth + 1)
			if err != nil {
				return err
			}
			n.items = append(n.items, item)
			continue
		}
		at := p.origin()
		name, err := p.dec.Token()
		if err != nil {
			return err
		}
		value, err := p.value(depth + 1)
		if err != nil {
			return err
		}
		p.add(n, &entry{name.(string), at, value}) // the decoder lets no other key through
	}
	_, err := p.dec.Token()
	return err
}
