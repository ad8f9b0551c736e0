package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Home is a person's folder as it lies on the disk.
type Home struct {
	Ref
	Dir string
}

// Look lists the folders of everybody below the folder of workspaces in dataDir, and the agent workspace. It makes
// nothing: it is for whoever looks at a bot that may be running. Folders that are not there are none.
func Look(dataDir, workspacesDir string) (people []Home, notes string, err error) {
	root, notes := filepath.Join(dataDir, workspacesDir), filepath.Join(dataDir, notesDir)
	if !filepath.IsLocal(workspacesDir) {
		return nil, "", fmt.Errorf("list workspaces: %q is not a folder inside %s", workspacesDir, dataDir)
	}
	platforms, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, notes, nil
	}
	if err != nil {
		return nil, "", fmt.Errorf("list workspaces: %w", err)
	}
	for _, platform := range platforms {
		if !isPlace(platform) {
			continue
		}
		homes, err := homesOf(filepath.Join(root, platform.Name()), platform.Name())
		if err != nil {
			return nil, "", fmt.Errorf("list workspaces: %w", err)
		}
		people = append(people, homes...)
	}
	return people, notes, nil
}

// homesOf lists the people of one platform.
func homesOf(dir, platform string) (homes []Home, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if !isPlace(e) {
			continue
		}
		id, err := os.ReadFile(filepath.Join(dir, e.Name(), idFile))
		if errors.Is(err, fs.ErrNotExist) { // an earlier program made it, whose folders had the ids for names
			id, err = []byte(e.Name()), nil
		}
		if err != nil {
			return nil, err
		}
		homes = append(homes, Home{Ref{Platform: platform, User: string(id)}, filepath.Join(dir, e.Name())})
	}
	return homes, nil
}
