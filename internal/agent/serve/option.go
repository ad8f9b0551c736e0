package serve

import (
	"context"
	"slices"

	sdk "github.com/coder/acp-go-sdk"
)

// The ids of what can be chosen.
const (
	optionModel = "model"
	optionMode  = "mode"
)

// modeList are the modes as people read them.
var modeList = []sdk.SessionMode{
	{Id: modeAsk, Name: "Ask", Description: sdk.Ptr("Asks before anything is changed")},
	{Id: modePlan, Name: "Plan", Description: sdk.Ptr("Reads and plans, changes nothing")},
}

func (s *session) modes() *sdk.SessionModeState {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &sdk.SessionModeState{CurrentModeId: sdk.SessionModeId(s.mode), AvailableModes: modeList}
}

// options returns what can be chosen, with what is chosen.
func (s *session) options() []sdk.SessionConfigOption {
	s.mu.Lock()
	mode := s.mode
	s.mu.Unlock()
	var models, modes sdk.SessionConfigSelectOptionsUngrouped
	for _, name := range s.named {
		models = append(models, sdk.SessionConfigSelectOption{Name: name, Value: sdk.SessionConfigValueId(name)})
	}
	for _, m := range modeList {
		modes = append(modes, sdk.SessionConfigSelectOption{Name: m.Name, Description: m.Description,
			Value: sdk.SessionConfigValueId(m.Id)})
	}
	return []sdk.SessionConfigOption{
		{Select: &sdk.SessionConfigOptionSelect{Id: optionModel, Name: "Model", Type: "select",
			Category: sdk.Ptr(sdk.SessionConfigOptionCategoryModel), CurrentValue: sdk.SessionConfigValueId(s.talk.Model().Name()),
			Options: sdk.SessionConfigSelectOptions{Ungrouped: &models}}},
		{Select: &sdk.SessionConfigOptionSelect{Id: optionMode, Name: "Mode", Type: "select",
			Category: sdk.Ptr(sdk.SessionConfigOptionCategoryMode), CurrentValue: sdk.SessionConfigValueId(mode),
			Options: sdk.SessionConfigSelectOptions{Ungrouped: &modes}}},
	}
}

// setMode changes a session's mode.
func (s *server) setMode(_ context.Context, p sdk.SetSessionModeRequest) (sdk.SetSessionModeResponse, error) {
	open, err := s.session(p.SessionId)
	if err == nil {
		err = open.change(optionMode, string(p.ModeId))
	}
	if err != nil {
		return sdk.SetSessionModeResponse{}, err
	}
	open.update(sdk.SessionUpdate{ConfigOptionUpdate: &sdk.SessionConfigOptionUpdate{ConfigOptions: open.options()}})
	return sdk.SetSessionModeResponse{}, nil
}

// choice is a session/set_config_option; of the values that the protocol knows, ours are all names.
type choice struct {
	Session sdk.SessionId `json:"sessionId"`
	Option  string        `json:"configId"`
	Value   string        `json:"value"`
}

// setOption changes one thing that can be chosen, and answers with all of them.
func (s *server) setOption(_ context.Context, p choice) (sdk.SetSessionConfigOptionResponse, error) {
	open, err := s.session(p.Session)
	if err == nil {
		err = open.change(p.Option, p.Value)
	}
	if err != nil {
		return sdk.SetSessionConfigOptionResponse{}, err
	}
	if p.Option == optionMode {
		open.update(sdk.SessionUpdate{CurrentModeUpdate: &sdk.SessionCurrentModeUpdate{
			CurrentModeId: sdk.SessionModeId(p.Value)}})
	}
	return sdk.SetSessionConfigOptionResponse{ConfigOptions: open.options()}, nil
}

// change makes a choice and keeps it.
func (s *session) change(option, value string) error {
	switch option {
	case optionMode:
		if value != modeAsk && value != modePlan {
			return bad("there is no mode %q; there are %s and %s", value, modeAsk, modePlan)
		}
		s.mu.Lock()
		s.mode = value
		s.mu.Unlock()
		s.keep(s.kept.chose(line{Mode: value}))
		return nil
	case optionModel:
		if !slices.Contains(s.named, value) {
			return bad("there is no model %q here", value)
		}
		model, err := s.server.o.Models.Named(value)
		if err != nil {
			return err
		}
		s.talk.Use(model)
		s.keep(s.kept.chose(line{Model: value}))
		return nil
	}
	return bad("there is nothing called %q to choose", option)
}
