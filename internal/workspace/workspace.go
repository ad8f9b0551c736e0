// Package workspace owns the directories that an agent may touch, and the walls around them. A person has one
// folder for each platform; an agent that works for them stands in work/ inside it, with a temporary folder and
// a HOME of its own. The files beside work/ (memories, reminders) are out of its reach.
//
// Folder names are made from ids that others chose, so nothing in an id can lead out of the root, and two ids
// never share a folder.
package workspace

// Ref names a workspace without saying where it is, so that an agent may run on another machine.
type Ref struct {
	Platform string
	User     string // the raw id, as the platform spells it
	Session  string // the session that stands there; its temporary folder and HOME go with it
	Notes    bool   // this session may write notes: in a copy of the agent workspace that is its own
}

// Key is the workspace's name in logs and audit.
func (r Ref) Key() string { return r.Platform + "/" + r.User }
