package skill

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"os"

	"go.yaml.in/yaml/v4"
)

// Home is where the program that fetches skills puts them, below its HOME.
const Home = ".agents/skills"

// Read returns the skill in the folder of that name below dir, as Find would.
func Read(dir, name string) (Skill, error) {
	if len(name) > maxName || !kebab.MatchString(name) {
		return Skill{}, fmt.Errorf("%q is not the name of a skill", clip(name))
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Skill{}, fmt.Errorf("read skill %s: %w", name, err)
	}
	defer func() { _ = root.Close() }()
	s, err := one(root.FS(), name)
	if errors.Is(err, errNone) {
		err = errors.New("there is no such folder with a " + FileName)
	}
	if err != nil {
		return Skill{}, fmt.Errorf("read skill %s: %w", name, err)
	}
	return s, nil
}

// Hash names what a skill holds: its name and every file with path, content and whether it can be run.
func (s Skill) Hash() string {
	sum := sha256.New()
	add(sum, []byte(s.Name))
	for _, f := range s.Files {
		add(sum, []byte(f.Path))
		add(sum, f.Data)
		if f.Exec {
			add(sum, []byte("x"))
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// add hashes a piece with its length, so that no two lists of pieces give the same sum.
func add(sum hash.Hash, piece []byte) {
	var length [8]byte
	binary.BigEndian.PutUint64(length[:], uint64(len(piece)))
	sum.Write(length[:])
	sum.Write(piece)
}

// Disarmed is the skill as text alone: of its front matter only name and description are left, since some agents take
// rights and commands from the rest, and no file can be run.
func (s Skill) Disarmed() (Skill, error) {
	raw := s.Files[0].Data
	head, err := cut(raw)
	if err != nil {
		return Skill{}, err
	}
	front, err := yaml.Marshal(struct {
		Name        string `yaml:"name"`
		Description string `yaml:"description"`
	}{s.Name, s.Description})
	if err != nil {
		return Skill{}, fmt.Errorf("write the front matter: %w", err)
	}
	_, rest, _ := bytes.Cut(raw, []byte("\n"))
	rest = rest[len(head):] // the fence that ends it, and the text
	text, err := Parse(s.Name, append(append([]byte("---\n"), front...), rest...))
	if err != nil {
		return Skill{}, err
	}
	for _, f := range s.Files[1:] {
		text.Files = append(text.Files, File{Path: f.Path, Data: f.Data})
	}
	return text, nil
}
