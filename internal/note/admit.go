package note

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"familiar/internal/sheet"
)

// Admit puts a draft among the notes, from where on every session may read it. vouched says that the owner looked at
// it. A note whose name was taken meanwhile, or that changed, gets another name; lines are added to what is there now.
// When it is interrupted the draft still waits, and what has been put already is not put twice.
func (n *Notes) Admit(session string, vouched bool) (Draft, error) {
	release, err := n.hold()
	if err != nil {
		return Draft{}, err
	}
	defer release()
	if err := n.known(session); err != nil {
		return Draft{}, err
	}
	d, err := n.load(session)
	if err != nil {
		return d, fmt.Errorf("let a draft in: %w", err)
	}
	var at time.Time
	if vouched {
		at = n.now()
	}
	names := map[string]string{} // those that had to be changed
	for i, f := range d.Files {
		r := d.record(f)
		r.Base, r.Admitted = "", at
		if f.Adds {
			err = n.add(f, r, names)
		} else if d.Files[i].Path, err = n.put(f, r); d.Files[i].Path != f.Path {
			names[filepath.Base(f.Path)] = filepath.Base(d.Files[i].Path)
		}
		if err != nil {
			return d, fmt.Errorf("let a draft in: %w", err)
		}
	}
	if err := n.remove(session); err != nil {
		return d, fmt.Errorf("let a draft in: %w", err)
	}
	return d, nil
}

// put writes a note under its name, or the first one like it that is free, and returns which.
func (n *Notes) put(f File, r record) (string, error) {
	if err := os.MkdirAll(filepath.Join(n.dir, "notes"), dirMode); err != nil {
		return f.Path, err
	}
	for i := 1; ; i++ {
		name := f.Path
		if i > 1 {
			name = strings.TrimSuffix(f.Path, ".md") + "-" + strconv.Itoa(i) + ".md"
		}
		old, err := n.present(name)
		there := !errors.Is(err, fs.ErrNotExist)
		if there && err != nil && !errors.Is(err, errPlain) && !errors.Is(err, errLong) {
			return f.Path, err
		}
		was, rest, ours := read(old)
		switch {
		case ours && was.Session == r.Session && rest == f.Text: // it was put before the crash
			return name, nil
		case there && (err != nil || f.base == "" || i > 1 || sum(old) != f.base):
			continue
		}
		if ours {
			r = r.after(was)
		}
		return name, sheet.Write(filepath.Join(n.dir, filepath.FromSlash(name)), []byte(r.head()+f.Text+"\n"))
	}
}

// add puts lines at the end of a list.
func (n *Notes) add(f File, r record, names map[string]string) error {
	old, err := n.present(f.Path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", f.Path, err)
	}
	if strings.Contains(old, r.marked()+" ") {
		return nil // it was added before the crash
	}
	text := named.ReplaceAllStringFunc(f.Text, func(name string) string { return cmp.Or(names[name], name) })
	if old != "" {
		old = strings.TrimRight(old, "\n") + "\n"
	}
	path := filepath.Join(n.dir, filepath.FromSlash(f.Path))
	if err := os.MkdirAll(filepath.Dir(path), dirMode); err != nil {
		return err
	}
	return sheet.Write(path, []byte(old+r.mark()+"\n"+text+"\n"))
}

// present reads a note that is there.
func (n *Notes) present(name string) (string, error) {
	root, err := os.OpenRoot(n.dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	return readFile(root, name, copiedFile)
}
