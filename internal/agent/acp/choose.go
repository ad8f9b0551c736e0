package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	sdk "github.com/coder/acp-go-sdk"

	"familiar/internal/agent"
	"familiar/internal/agent/acp/profile"
	"familiar/internal/chat"
)

// opened is the answer to session/new. Options are kept as they came, so that one of an unknown type does not
// spoil the others; models is what agents without options still send.
type opened struct {
	SessionID     string                `json:"sessionId"`
	ConfigOptions []json.RawMessage     `json:"configOptions"`
	Modes         *sdk.SessionModeState `json:"modes"`
	Models        *models               `json:"models"`
}

type models struct {
	AvailableModels []struct {
		ModelID string `json:"modelId"`
	} `json:"availableModels"`
	CurrentModelID string `json:"currentModelId"`
}

// choice is one way to choose something, and what may be chosen.
type choice struct {
	values  []string
	current string
	set     func(ctx context.Context, value string) error
}

// errNoChoice says that the agent does not let something be chosen at all.
var errNoChoice = errors.New("the agent does not let it be chosen")

// pick sets value by the first way that there is. Only what the agent offers is ever set: some agents take a
// mistyped name without a word, and everybody believes that it counts.
func pick(ctx context.Context, value string, ways ...*choice) error {
	for _, way := range ways {
		if way == nil {
			continue
		}
		if way.current == value {
			return nil
		}
		for _, v := range way.values {
			if v == value {
				return way.set(ctx, value)
			}
		}
		return fmt.Errorf("%q is not offered by the agent; it offers %s", value, list(way.values))
	}
	return errNoChoice
}

func list(values []string) string {
	const most = 20
	if len(values) == 0 {
		return "nothing"
	}
	if len(values) > most {
		return strings.Join(values[:most], ", ") + fmt.Sprintf(" and %d more", len(values)-most)
	}
	return strings.Join(values, ", ")
}

// setModel makes the agent use the model; "" leaves the agent's own choice.
func (s *session) setModel(ctx context.Context, o opened, model string) error {
	if model == "" {
		return nil
	}
	err := pick(ctx, model, s.option(o, sdk.SessionConfigOptionCategoryModel), s.models(o.Models))
	if err != nil {
		return fmt.Errorf("choose the model %q: %w", model, err)
	}
	return nil
}

// setMode makes the agent use the mode. "" is the restricted one. A mode that the agent does not have is no
// reason to fail: the session goes on restricted, and says so.
func (s *session) setMode(ctx context.Context, o opened, mode string) error {
	if mode == profile.Yolo && s.agent.unwalled {
		s.log.Warn("an agent without walls is not let do everything; the session goes on restricted")
		mode = ""
	}
	name := s.agent.profile.ModeFor(mode)
	if name == "" {
		return nil
	}
	err := pick(ctx, name, s.option(o, sdk.SessionConfigOptionCategoryMode), s.modes(o.Modes))
	s.yolo.Store(err == nil && mode == profile.Yolo)
	switch {
	case errors.Is(err, agent.ErrGone), ctx.Err() != nil:
		return fmt.Errorf("choose the mode %q: %w", name, err)
	case err != nil && mode == "":
		s.log.Debug("the agent has no mode of the name of the restricted one", "mode", name)
	case err != nil:
		s.log.Warn("the agent cannot be set to the mode that was asked for; the session goes on restricted",
			"mode", name, chat.KeyErr, err)
	}
	return nil
}

// option finds the select of a category.
func (s *session) option(o opened, category sdk.SessionConfigOptionCategory) *choice {
	for _, raw := range o.ConfigOptions {
		var opt sdk.SessionConfigOptionSelect
		if json.Unmarshal(raw, &opt) != nil || opt.Type != "select" || opt.Category == nil || *opt.Category != category {
			continue
		}
		return &choice{values: selectable(opt.Options), current: string(opt.CurrentValue),
			set: func(ctx context.Context, value string) error {
				answer, err := request[sdk.SetSessionConfigOptionValueId, opened](ctx, s.conn,
					sdk.AgentMethodSessionSetConfigOption, sdk.SetSessionConfigOptionValueId{ConfigId: opt.Id,
						SessionId: sdk.SessionId(s.ID()), Value: sdk.SessionConfigValueId(value)})
				if now := s.option(answer, category); err == nil && now != nil && now.current != value {
					return fmt.Errorf("the agent took it, and stays with %q", now.current)
				}
				return err
			}}
	}
	return nil
}

func selectable(o sdk.SessionConfigSelectOptions) []string {
	var values []string
	if o.Ungrouped != nil {
		for _, v := range *o.Ungrouped {
			values = append(values, string(v.Value))
		}
	}
	if o.Grouped != nil {
		for _, group := range *o.Grouped {
			for _, v := range group.Options {
				values = append(values, string(v.Value))
			}
		}
	}
	return values
}

func (s *session) modes(state *sdk.SessionModeState) *choice {
	if state == nil {
		return nil
	}
	c := &choice{current: string(state.CurrentModeId), set: func(ctx context.Context, value string) error {
		_, err := request[sdk.SetSessionModeRequest, json.RawMessage](ctx, s.conn, sdk.AgentMethodSessionSetMode,
			sdk.SetSessionModeRequest{SessionId: sdk.SessionId(s.ID()), ModeId: sdk.SessionModeId(value)})
		return err
	}}
	for _, m := range state.AvailableModes {
		c.values = append(c.values, string(m.Id))
	}
	return c
}

// modelChoice is a session/set_model, which is older than options and which some agents have nothing else for.
type modelChoice struct {
	SessionID string `json:"sessionId"`
	ModelID   string `json:"modelId"`
}

func (s *session) models(state *models) *choice {
	if state == nil {
		return nil
	}
	c := &choice{current: state.CurrentModelID, set: func(ctx context.Context, value string) error {
		_, err := request[modelChoice, json.RawMessage](ctx, s.conn, "session/set_model",
			modelChoice{SessionID: s.ID(), ModelID: value})
		return err
	}}
	for _, m := range state.AvailableModels {
		c.values = append(c.values, m.ModelID)
	}
	return c
}
