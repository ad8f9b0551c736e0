package workspace

import (
	"path/filepath"

	"familiar/internal/setting"
)

// Config is the section workspace.
type Config struct {
	RepoPath      string `yaml:"repoPath" env:"WORKSPACE_REPO_PATH" doc:"where memories, workspaces and audit live; relative to the instance's directory"`
	WorkspacesDir string `yaml:"workspacesDir" env:"WORKSPACE_WORKSPACES_DIR" doc:"the folder of people's workspaces, inside repoPath"`
}

// Defaults are the names that an instance's directory has.
func Defaults() Config { return Config{RepoPath: "./data", WorkspacesDir: "workspaces"} }

// Check reports what is missing or leads elsewhere.
func (c *Config) Check(r *setting.Report) {
	if c.RepoPath == "" {
		r.Missing("repoPath")
	}
	dir := filepath.Clean(c.WorkspacesDir)
	switch {
	case c.WorkspacesDir == "":
		r.Missing("workspacesDir")
	case !filepath.IsLocal(dir) || dir == ".":
		r.Wrong("workspacesDir", "%q must name a folder inside repoPath, such as \"workspaces\"", c.WorkspacesDir)
	case dir == notesDir:
		r.Wrong("workspacesDir", "%q is the agents' own folder; name another", c.WorkspacesDir)
	}
}
