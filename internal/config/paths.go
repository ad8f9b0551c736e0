package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"familiar/internal/setting"
)

// checkPaths finds a mistyped path now and not at the first message. The default ones are not looked at: they need
// not be there, or are made when they are needed.
func (l *Loaded) checkPaths(r *setting.Report) {
	c, standard := &l.Config, Defaults()
	l.checkPath(r, "bot.prompts", c.Bot.Prompts, standard.Bot.Prompts, true)
	l.checkPath(r, "agent.skillsDir", c.Agent.SkillsDir, standard.Agent.SkillsDir, true)
	l.checkPath(r, "agent.systemPromptPath", c.Agent.Briefing.SystemPromptPath, "", false)
	// The data folder itself is made at the first start, so only its parent can be wrong.
	if repo := c.Workspace.RepoPath; repo != "" && repo != standard.Workspace.RepoPath {
		if parent := filepath.Dir(l.Path(repo)); !isFolder(parent) {
			r.Wrong("workspace.repoPath", "%s does not exist; make it, or correct the path", parent)
		}
	}
}

// checkPath reports a path that leads to nothing, or to a file where a folder is meant.
func (l *Loaded) checkPath(r *setting.Report, key, path, standard string, folder bool) {
	if path == "" || path == standard {
		return
	}
	path = l.Path(path)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		r.Wrong(key, "%s does not exist", path)
	case err != nil:
		r.Wrong(key, "look at it: %v", err)
	case folder && !info.IsDir():
		r.Wrong(key, "%s is not a folder", path)
	case !folder && info.IsDir():
		r.Wrong(key, "%s is a folder; name a file", path)
	}
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// checkModes warns of files that hold a secret and that others on this machine can read.
func (l *Loaded) checkModes(literals map[string]string) {
	for _, file := range l.Files {
		path, holds := literals[file]
		if info, err := os.Stat(file); holds && err == nil && info.Mode().Perm()&0o077 != 0 {
			l.Warnings = append(l.Warnings, Problem{At: Origin{Name: file}, Path: path,
				Say: fmt.Sprintf("the file holds a secret and others can read it (mode %04o); run: chmod 600 %s", info.Mode().Perm(), file)})
		}
	}
}
