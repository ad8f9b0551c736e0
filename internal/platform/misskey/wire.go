package misskey

import (
	"encoding/json"
	"time"

	"familiar/internal/chat"
	"familiar/internal/platform/misskey/api"
)

// What we read of the instance's objects, and no more: whatever else is in them may be of any shape.
type (
	user struct {
		ID       string              `json:"id"`
		Username string              `json:"username"`
		Name     api.Lenient[string] `json:"name"`
		IsBot    api.Lenient[bool]   `json:"isBot"`
	}
	note struct {
		content
		CreatedAt  api.Lenient[moment]   `json:"createdAt"`
		UserID     string                `json:"userId"`
		ReplyID    api.Lenient[string]   `json:"replyId"`
		RenoteID   api.Lenient[string]   `json:"renoteId"`
		Renote     api.Lenient[content]  `json:"renote"` // what it quotes
		Visible    api.Lenient[[]string] `json:"visibleUserIds"`
		MyReaction api.Lenient[string]   `json:"myReaction"`
	}
	content struct { // what a note says, by whom and to whom
		ID         string              `json:"id"`
		Text       api.Lenient[string] `json:"text"`
		CW         api.Lenient[string] `json:"cw"`
		Poll       api.Lenient[poll]   `json:"poll"`
		Hidden     api.Lenient[bool]   `json:"isHidden"`
		User       api.Lenient[user]   `json:"user"`
		Visibility string              `json:"visibility"`
		Files      api.Lenient[[]file] `json:"files"`
	}
	poll struct {
		Choices []struct {
			Text string `json:"text"`
		} `json:"choices"`
	}
	chatMessage struct {
		ID        string                  `json:"id"`
		CreatedAt api.Lenient[moment]     `json:"createdAt"`
		From      string                  `json:"fromUserId"`
		FromUser  api.Lenient[user]       `json:"fromUser"`
		To        api.Lenient[string]     `json:"toUserId"`
		Room      api.Lenient[string]     `json:"toRoomId"`
		Text      api.Lenient[string]     `json:"text"`
		File      api.Lenient[file]       `json:"file"`
		Reactions api.Lenient[[]reaction] `json:"reactions"`
	}
	reaction struct {
		User api.Lenient[user] `json:"user"`
	}
	file struct {
		ID         string                 `json:"id"`
		Name       api.Lenient[string]    `json:"name"`
		Type       api.Lenient[string]    `json:"type"`
		Size       api.Lenient[int64]     `json:"size"`
		URL        api.Lenient[string]    `json:"url"`
		Properties api.Lenient[dimension] `json:"properties"`
	}
	dimension struct {
		Width  int `json:"width"`
		Height int `json:"height"`
	}
)

// moment is a time as the instance writes it.
type moment struct{ time.Time }

func (m *moment) UnmarshalJSON(data []byte) error { return m.Time.UnmarshalJSON(data) }

func decode[T any](raw json.RawMessage) (v T, err error) {
	err = json.Unmarshal(raw, &v)
	return v, err
}

// person makes a person of a user; the id alone is an identity.
func (u user) person(me account) chat.Person {
	p := chat.Person{Platform: Name, ID: u.ID, Name: u.Name.V, Bot: u.IsBot.V, Us: u.ID != "" && u.ID == me.ID}
	if p.Name == "" {
		p.Name = u.Username
	}
	return p
}

// attachments makes attachments of files; what has no address is left out.
func attachments(files ...file) (all []chat.Attachment) {
	for _, f := range files {
		if f.URL.V == "" {
			continue
		}
		a := chat.Attachment{ID: f.ID, URL: f.URL.V, MIME: f.Type.V, Name: f.Name.V, Size: max(f.Size.V, 0),
			Width: max(f.Properties.V.Width, 0), Height: max(f.Properties.V.Height, 0)}
		if a.MIME == "" {
			a.MIME = "application/octet-stream"
		}
		if a.Name == "" {
			a.Name = "unknown"
		}
		all = append(all, a)
	}
	return all
}
