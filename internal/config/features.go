package config

import (
	"familiar/internal/attachment"
	"familiar/internal/remind"
	"familiar/internal/research"
	"familiar/internal/setting"
	"familiar/internal/upkeep"
)

// Companion is the section companion: what a companion does besides answering.
type Companion struct {
	SelfResearch      research.Config `yaml:"selfResearch" doc:"reading feeds and writing notes of its own"`
	MemoryMaintenance upkeep.Config   `yaml:"memoryMaintenance" doc:"tidying the memories of people who have many"`
	Reminders         remind.Config   `yaml:"reminders" doc:"what people asked to be reminded of"`
}

// Skill is the section skill: what tools may do that is not safe everywhere.
type Skill struct {
	SendFile attachment.Config `yaml:"sendFile" doc:"sending files of an agent's workspace"`
}

func defaultCompanion() Companion {
	return Companion{SelfResearch: research.Defaults(), MemoryMaintenance: upkeep.Defaults(), Reminders: remind.Defaults()}
}

func defaultSkill() Skill { return Skill{SendFile: attachment.Defaults()} }

// Check asks the parts of the section.
func (c *Companion) Check(r *setting.Report) {
	c.SelfResearch.Check(r.At("selfResearch"))
	c.MemoryMaintenance.Check(r.At("memoryMaintenance"))
	c.Reminders.Check(r.At("reminders"))
}

// Check asks the parts of the section.
func (s *Skill) Check(r *setting.Report) { s.SendFile.Check(r.At("sendFile")) }
