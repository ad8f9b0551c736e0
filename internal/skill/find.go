package skill

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed skills
var ours embed.FS

// Find returns our own skills and those of the directories, by name. A directory is read at depth one only: a
// folder in a skill's folder is no skill, even when it holds a SKILL.md. A later directory takes the place of
// an earlier one, name by name. A directory that is not there holds nothing. When some folders are wrong, the
// good ones are returned together with an error that names every wrong one.
func Find(dirs ...string) ([]Skill, error) {
	embedded, err := fs.Sub(ours, "skills")
	if err != nil {
		return nil, fmt.Errorf("open our skills: %w", err)
	}
	byName := map[string]Skill{}
	errs := []error{collect(embedded, "our own skills", byName)}
	for _, dir := range dirs {
		errs = append(errs, findIn(dir, byName))
	}
	var skills []Skill
	for _, s := range byName {
		skills = append(skills, s)
	}
	slices.SortFunc(skills, func(a, b Skill) int { return strings.Compare(a.Name, b.Name) })
	return skills, errors.Join(errs...)
}

// Ours returns the names of our own skills; each teaches the tool of its name.
func Ours() []string {
	entries, err := fs.ReadDir(ours, "skills")
	if err != nil { // they are embedded
		panic(err)
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names
}

// findIn reads one directory. It is opened as a root, so that no link in it leads elsewhere.
func findIn(dir string, byName map[string]Skill) error {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read skills: %w", err)
	}
	defer func() { _ = root.Close() }()
	return collect(root.FS(), dir, byName)
}

// collect adds the skills of one directory. Files beside the folders, hidden folders, links and folders without
// a SKILL.md are not skills.
func collect(dir fs.FS, name string, byName map[string]Skill) error {
	entries, err := fs.ReadDir(dir, ".")
	if err != nil {
		return fmt.Errorf("read skills in %s: %w", name, err)
	}
	var errs []error
	for _, e := range entries {
		if !e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		s, err := one(dir, e.Name())
		switch {
		case errors.Is(err, errNone):
		case err != nil:
			errs = append(errs, fmt.Errorf("skill %s: %w", filepath.Join(name, e.Name()), err))
		default:
			byName[s.Name] = s
		}
	}
	return errors.Join(errs...)
}

var errNone = errors.New("no skill")

// one reads the folder of one skill.
func one(dir fs.FS, folder string) (Skill, error) {
	info, err := fs.Stat(dir, path.Join(folder, FileName))
	if errors.Is(err, fs.ErrNotExist) {
		return Skill{}, errNone
	}
	if err != nil {
		return Skill{}, fmt.Errorf("%s cannot be read: %w", FileName, err)
	}
	if !info.Mode().IsRegular() {
		return Skill{}, fmt.Errorf("%s is not a file", FileName)
	}
	raw, err := read(dir, path.Join(folder, FileName), maxText)
	if err != nil {
		return Skill{}, err
	}
	s, err := Parse(folder, raw)
	if err != nil {
		return Skill{}, err
	}
	return s, s.addFiles(dir, folder)
}

// addFiles reads what else lies in the folder. A folder within it that holds a SKILL.md is left out: an agent
// that searches deeper than we do must not find skills that we did not offer.
func (s *Skill) addFiles(dir fs.FS, folder string) error {
	total := len(s.Files[0].Data)
	err := fs.WalkDir(dir, folder, func(p string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel := strings.TrimPrefix(strings.TrimPrefix(p, folder), "/")
		switch {
		case rel == "" || rel == FileName:
			return nil
		case strings.HasPrefix(e.Name(), "."):
			return skip(e)
		case e.IsDir():
			if _, err := fs.Lstat(dir, path.Join(p, FileName)); err == nil {
				return fs.SkipDir
			}
			return nil
		case !e.Type().IsRegular():
			return nil
		}
		data, err := read(dir, p, maxFile)
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		s.Files = append(s.Files, File{Path: rel, Data: data, Exec: info.Mode()&0o100 != 0})
		if total += len(data); total > maxTotal || len(s.Files) > maxFiles {
			return fmt.Errorf("the folder holds more than %d files or %d bytes", maxFiles, maxTotal)
		}
		return nil
	})
	s.Files = sorted(s.Files)
	return err
}

func skip(e fs.DirEntry) error {
	if e.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// read reads a file that is no longer than most bytes.
func read(dir fs.FS, name string, most int64) ([]byte, error) {
	file, err := dir.Open(name)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", path.Base(name), err)
	}
	defer func() { _ = file.Close() }()
	data, err := io.ReadAll(io.LimitReader(file, most+1))
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", path.Base(name), err)
	}
	if int64(len(data)) > most {
		return nil, fmt.Errorf("%s is longer than %d bytes", path.Base(name), most)
	}
	return data, nil
}
