package misskey

import (
	"encoding/json"
	"time"

	"familiar/internal/chat"
)

// What we read of the instance's objects, and no more: whatever else is in them may be of any shape.
type (
	user struct {
		ID       string          `json:"id"`
		Username string          `json:"username"`
		Name     lenient[string] `json:"name"`
		IsBot    lenient[bool]   `json:"isBot"`
	}
	note struct {
		content
		CreatedAt  lenient[moment]   `json:"createdAt"`
		UserID     string            `json:"userId"`
		ReplyID    lenient[string]   `json:"replyId"`
		RenoteID   lenient[string]   `json:"renoteId"`
		Renote     lenient[content]  `json:"renote"` // what it quotes
		Visible    lenient[[]string] `json:"visibleUserIds"`
		MyReaction lenient[string]   `json:"myReaction"`
	}
	content struct { // what a note says, by whom and to whom
		ID         string          `json:"id"`
		Text       lenient[string] `json:"text"`
		CW         lenient[string] `json:"cw"`
		Poll       lenient[poll]   `json:"poll"`
		Hidden     lenient[bool]   `json:"isHidden"`
		User       lenient[user]   `json:"user"`
		Visibility string          `json:"visibility"`
		Files      lenient[[]file] `json:"files"`
	}
	poll struct {
		Choices []struct {
			Text string `json:"text"`
		} `json:"choices"`
	}
	chatMessage struct {
		ID        string              `json:"id"`
		CreatedAt lenient[moment]     `json:"createdAt"`
		From      string              `json:"fromUserId"`
		FromUser  lenient[user]       `json:"fromUser"`
		To        lenient[string]     `json:"toUserId"`
		Room      lenient[string]     `json:"toRoomId"`
		Text      lenient[string]     `json:"text"`
		File      lenient[file]       `json:"file"`
		Reactions lenient[[]reaction] `json:"reactions"`
	}
	reaction struct {
		User lenient[user] `json:"user"`
	}
	file struct {
		ID         string             `json:"id"`
		Name       lenient[string]    `json:"name"`
		Type       lenient[string]    `json:"type"`
		Size       lenient[int64]     `json:"size"`
		URL        lenient[string]    `json:"url"`
		Properties lenient[dimension] `json:"properties"`
	}
	dimension struct {
		Width  int `json:"width"`
		Height int `json:"height"`
	}
)

// lenient is a value that may be left out, null, or of another shape than it should be; then it is zero. What an event
// cannot be without is not lenient.
type lenient[T any] struct{ V T }

// UnmarshalJSON never fails.
func (l *lenient[T]) UnmarshalJSON(data []byte) error {
	var v T
	if json.Unmarshal(data, &v) == nil {
		l.V = v
	}
	return nil
}

// moment is a time as the instance writes it.
type moment struct{ time.Time }

func (m *moment) UnmarshalJSON(data []byte) error { return m.Time.UnmarshalJSON(data) }

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
