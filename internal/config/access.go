package config

import (
	"familiar/internal/gate"
	"familiar/internal/room"
	"familiar/internal/setting"
)

// Access is the section access: who is heard, and how their messages wait.
type Access struct {
	gate.Config `yaml:",inline"`
	Room        room.Config `yaml:",inline"`
}

func defaultAccess() Access { return Access{Config: gate.Defaults(), Room: room.Defaults()} }

// Check corrects what can be corrected.
func (c *Access) Check(r *setting.Report) {
	c.Config.Check(r)
	c.Room.Check(r)
}
