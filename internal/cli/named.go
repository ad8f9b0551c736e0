package cli

import (
	"os"
	"strings"

	"familiar/internal/config"
	"familiar/internal/instance"
)

// namedInstance finds a bot by its directory, or by its id; the instance «familiar» where neither is given.
func namedInstance(word string) (instance.Instance, error) {
	if word == "" {
		return instance.Find("", instance.DefaultID)
	}
	if _, err := os.Stat(word); err != nil && !strings.ContainsRune(word, os.PathSeparator) {
		if inst, err := instance.Find("", word); err == nil {
			return inst, nil
		}
	}
	return instance.Find(word, "")
}

// loadNamed reads the configuration of a bot that is named so.
func loadNamed(word string) (config.Loaded, error) {
	if word != "" {
		inst, err := namedInstance(word)
		if err != nil {
			return config.Loaded{}, err
		}
		word = inst.Dir
	}
	return place{dir: word}.load()
}
