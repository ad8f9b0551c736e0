package discord

import (
	"encoding/json"
	"time"
)

// What we read of Discord's objects, and no more: whatever else is in them may be of any shape. A null is as if it were
// not there.
type (
	frame struct {
		Op   int             `json:"op"`
		Data json.RawMessage `json:"d"`
		Seq  *int64          `json:"s"`
		Type string          `json:"t"`
	}
	hello struct {
		Interval int `json:"heartbeat_interval"` // ms
	}
	ready struct {
		User        user   `json:"user"`
		SessionID   string `json:"session_id"`
		ResumeURL   string `json:"resume_gateway_url"`
		Application struct {
			ID string `json:"id"`
		} `json:"application"`
		Guilds []struct {
			ID string `json:"id"`
		} `json:"guilds"`
	}
	user struct {
		ID         string `json:"id"`
		Username   string `json:"username"`
		GlobalName string `json:"global_name"`
		Bot        bool   `json:"bot"`
	}
	message struct {
		ID          string       `json:"id"`
		ChannelID   string       `json:"channel_id"`
		GuildID     string       `json:"guild_id"`
		Type        int          `json:"type"`
		Author      user         `json:"author"`
		Member      nick         `json:"member"`
		Webhook     string       `json:"webhook_id"`
		Content     string       `json:"content"`
		At          time.Time    `json:"timestamp"`
		EditedAt    *time.Time   `json:"edited_timestamp"`
		Mentions    []user       `json:"mentions"`
		Attachments []attachment `json:"attachments"`
		Stickers    []sticker    `json:"sticker_items"`
		Reference   struct {
			Message string `json:"message_id"`
		} `json:"message_reference"`
		Reactions []struct {
			Me bool `json:"me"`
		} `json:"reactions"`
		Snapshots []struct {
			Message forwarded `json:"message"`
		} `json:"message_snapshots"`
		Poll poll `json:"poll"`
	}
	forwarded struct {
		Content     string       `json:"content"`
		Attachments []attachment `json:"attachments"`
		Stickers    []sticker    `json:"sticker_items"`
	}
	poll struct {
		Question pollMedia `json:"question"`
		Answers  []struct {
			Media pollMedia `json:"poll_media"`
		} `json:"answers"`
	}
	pollMedia struct {
		Text string `json:"text"`
	}
	nick struct {
		Nick string `json:"nick"`
	}
	attachment struct {
		ID     string `json:"id"`
		Name   string `json:"filename"`
		Type   string `json:"content_type"`
		Size   int64  `json:"size"`
		URL    string `json:"url"`
		Width  int    `json:"width"`
		Height int    `json:"height"`
	}
	sticker struct {
		ID   string `json:"id"`
		Name string `json:"name"`
		Tags string `json:"tags"`
	}
	deletion struct {
		ID        string   `json:"id"`
		IDs       []string `json:"ids"`
		ChannelID string   `json:"channel_id"`
		GuildID   string   `json:"guild_id"`
	}
	guild struct {
		ID     string  `json:"id"`
		Roles  []role  `json:"roles"`
		Emojis []emoji `json:"emojis"`
	}
	role struct {
		ID      string                     `json:"id"`
		Managed bool                       `json:"managed"`
		Tags    map[string]json.RawMessage `json:"tags"`
	}
	emoji struct {
		ID        string   `json:"id"`
		Name      string   `json:"name"`
		Animated  bool     `json:"animated"`
		Managed   bool     `json:"managed"`
		Available *bool    `json:"available"`
		Roles     []string `json:"roles"`
	}
)

// The types of messages that people write. Others tell that somebody joined, pinned or boosted.
const (
	typeDefault = 0
	typeReply   = 19
	typeCommand = 20 // the answer of a program to a slash command
	typeMenu    = 23
)

// spoken says whether somebody wrote it.
func (m message) spoken() bool {
	switch m.Type {
	case typeDefault, typeReply, typeCommand, typeMenu:
		return m.ID != "" && m.ChannelID != "" && m.Author.ID != ""
	}
	return false
}

// What we send.
type (
	createMessage struct {
		Content   string      `json:"content,omitempty"`
		Nonce     string      `json:"nonce,omitempty"`
		Enforce   bool        `json:"enforce_nonce,omitempty"`
		Mentions  mentionless `json:"allowed_mentions"`
		Reference *reference  `json:"message_reference,omitempty"`
	}
	editMessage struct {
		Content  string      `json:"content"`
		Mentions mentionless `json:"allowed_mentions"`
	}
	// reference names the message that is answered. It is our own, for that of the library cannot say false.
	reference struct {
		Message string `json:"message_id"`
		Must    bool   `json:"fail_if_not_exists"`
	}
	// mentionless lets a text ring nobody's bell, whatever an agent or a person put into it.
	mentionless struct {
		Parse   []string `json:"parse"`
		Replied bool     `json:"replied_user"`
	}
	createDirect struct {
		Recipient string `json:"recipient_id"`
	}
	identify struct {
		Token      string     `json:"token"`
		Intents    int        `json:"intents"`
		Properties properties `json:"properties"`
	}
	properties struct {
		OS      string `json:"os"`
		Browser string `json:"browser"`
		Device  string `json:"device"`
	}
	resume struct {
		Token   string `json:"token"`
		Session string `json:"session_id"`
		Seq     int64  `json:"seq"`
	}
)

// What the REST API answers.
type (
	created struct {
		ID string `json:"id"`
	}
	gatewayBot struct {
		URL   string `json:"url"`
		Limit *struct {
			Remaining  int `json:"remaining"`
			ResetAfter int `json:"reset_after"` // ms
		} `json:"session_start_limit"`
	}
	emojiList struct {
		Items []emoji `json:"items"`
	}
	nothing struct{}
)
