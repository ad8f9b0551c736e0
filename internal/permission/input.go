package permission

import (
	"encoding/json"
	"slices"
)

// input is what a tool's raw input says about files and commands.
type input struct {
	paths    []string
	commands []command
	keys     []string
}

// command is one thing to run: a line for a shell, or the words themselves.
type command struct {
	line  string
	words []string
}

// Where tools keep their paths and commands. Agents agree on no one name.
var (
	pathKeys = []string{"path", "file_path", "filePath", "filepath", "file", "filename", "paths", "files",
		"directories", "parentDir", "movePath"}
	commandKeys = []string{"command", "cmd", "commands"}
	// With these a command is not what it looks like.
	surroundingKeys = []string{"env", "environment", "shell"}
)

// The inputs of requests to leave the folder where the agent stands, which say nothing else. What is then done
// there has a request of its own, or only reads.
var folderInputs = [][]string{{"filepath", "parentDir"}, {"command", "directories", "patterns"}}

// maxInput bounds what is looked at, in bytes; a patch may be long.
const maxInput = 4 << 20

// parse reads a raw input. It reports false when something in it is not of a form that we know.
func parse(raw []byte) (input, bool) {
	var in input
	if len(raw) == 0 {
		return in, true
	}
	var fields map[string]json.RawMessage
	if len(raw) > maxInput || json.Unmarshal(raw, &fields) != nil {
		return in, false
	}
	for key, value := range fields {
		in.keys = append(in.keys, key)
		ok := true
		switch {
		case slices.Contains(pathKeys, key):
			ok = in.addPaths(value)
		case key == "commands":
			ok = in.addCommands(value)
		case slices.Contains(commandKeys, key):
			ok = in.addCommand(value)
		case slices.Contains(surroundingKeys, key):
			ok = slices.Contains([]string{"null", "{}", `""`}, string(value))
		}
		if !ok {
			return in, false
		}
	}
	slices.Sort(in.keys)
	return in, true
}

// addPaths takes a path, a list of them, or a list of objects with path fields.
func (in *input) addPaths(value json.RawMessage) bool {
	var one string
	if json.Unmarshal(value, &one) == nil {
		in.paths = append(in.paths, one)
		return true
	}
	var list []json.RawMessage
	if json.Unmarshal(value, &list) != nil {
		return false
	}
	for _, entry := range list {
		if json.Unmarshal(entry, &one) == nil {
			in.paths = append(in.paths, one)
			continue
		}
		inner, ok := parse(entry)
		if !ok || len(inner.paths) == 0 {
			return false
		}
		in.paths = append(in.paths, inner.paths...)
	}
	return true
}

// addCommand takes a shell's line, or a list of words.
func (in *input) addCommand(value json.RawMessage) bool {
	var c command
	if json.Unmarshal(value, &c.line) != nil && json.Unmarshal(value, &c.words) != nil {
		return false
	}
	if len(c.words) == 3 && slices.Contains(shells, c.words[0]) && c.words[1] == "-c" {
		c = command{line: c.words[2]}
	}
	in.commands = append(in.commands, c)
	return true
}

// shells are programs that read a line as split does, when they are told to with -c.
var shells = []string{"/bin/bash", "/usr/bin/bash", "/bin/sh", "/usr/bin/sh", "/bin/dash", "/usr/bin/dash"}

// addCommands takes a list of shell's lines.
func (in *input) addCommands(value json.RawMessage) bool {
	var lines []string
	if json.Unmarshal(value, &lines) != nil {
		return false
	}
	for _, line := range lines {
		in.commands = append(in.commands, command{line: line})
	}
	return len(lines) > 0
}

// opensFolder reports whether the request asks for nothing but to reach folders.
func (in input) opensFolder() bool {
	return slices.ContainsFunc(folderInputs, func(keys []string) bool { return slices.Equal(keys, in.keys) })
}
