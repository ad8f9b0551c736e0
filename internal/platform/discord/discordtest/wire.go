package discordtest

import (
	"encoding/json"
	"time"
)

// What Discord answers and dispatches. Only what the schemas demand, and what we read, is there.
type (
	// User is an account.
	User struct {
		ID            string    `json:"id"`
		Username      string    `json:"username"`
		GlobalName    *string   `json:"global_name"`
		Discriminator string    `json:"discriminator"`
		Avatar        *string   `json:"avatar"`
		PublicFlags   int       `json:"public_flags"`
		Flags         int       `json:"flags"`
		PrimaryGuild  *struct{} `json:"primary_guild"`
		Bot           bool      `json:"bot,omitempty"`

		nick   string // in every server
		silent bool   // takes no direct messages
	}
	// Sticker is a sticker of a server.
	Sticker struct {
		ID        string `json:"id"`
		Name      string `json:"name"`
		Tags      string `json:"tags"`
		Type      int    `json:"type"`
		Format    int    `json:"format_type"`
		Words     string `json:"description"`
		Available bool   `json:"available"`
		GuildID   string `json:"guild_id"`
	}
	// Emoji is a custom emoji.
	Emoji struct {
		ID        string   `json:"id"`
		Name      string   `json:"name"`
		Roles     []string `json:"roles"`
		Colons    bool     `json:"require_colons"`
		Managed   bool     `json:"managed"`
		Animated  bool     `json:"animated"`
		Available bool     `json:"available"`
	}
	// Role is a role of a server.
	Role struct {
		ID          string                     `json:"id"`
		Name        string                     `json:"name"`
		Permissions string                     `json:"permissions"`
		Managed     bool                       `json:"managed"`
		Tags        map[string]json.RawMessage `json:"tags,omitempty"`
	}
	// Attachment is a file of a message.
	Attachment struct {
		ID     string `json:"id"`
		Name   string `json:"filename"`
		Type   string `json:"content_type,omitempty"`
		Size   int    `json:"size"`
		URL    string `json:"url"`
		Proxy  string `json:"proxy_url"`
		Width  int    `json:"width,omitempty"`
		Height int    `json:"height,omitempty"`
	}
	// Message is what was said.
	Message struct {
		ID           string        `json:"id"`
		ChannelID    string        `json:"channel_id"`
		Type         int           `json:"type"`
		Author       User          `json:"author"`
		Content      string        `json:"content"`
		At           time.Time     `json:"timestamp"`
		EditedAt     *time.Time    `json:"edited_timestamp"`
		Mentions     []User        `json:"mentions"`
		MentionRoles []string      `json:"mention_roles"`
		Everyone     bool          `json:"mention_everyone"`
		Attachments  []Attachment  `json:"attachments"`
		Embeds       []struct{}    `json:"embeds"`
		Components   []struct{}    `json:"components"`
		Stickers     []StickerItem `json:"sticker_items,omitempty"`
		Reactions    []Reaction    `json:"reactions,omitempty"`
		Flags        int           `json:"flags"`
		Pinned       bool          `json:"pinned"`
		TTS          bool          `json:"tts"`
		Nonce        string        `json:"nonce,omitempty"`
		Webhook      string        `json:"webhook_id,omitempty"`
		Reference    *Reference    `json:"message_reference,omitempty"`
		Snapshots    []Snapshot    `json:"message_snapshots,omitempty"`
		Poll         *Poll         `json:"poll,omitempty"`

		mentions mentionRules
	}
	// StickerItem is a sticker as a message names it.
	StickerItem struct {
		ID     string `json:"id"`
		Name   string `json:"name"`
		Format int    `json:"format_type"`
	}
	// Reaction is an emoji on a message, and who put it there.
	Reaction struct {
		Emoji   ReactionEmoji `json:"emoji"`
		Count   int           `json:"count"`
		Details struct {
			Burst  int `json:"burst"`
			Normal int `json:"normal"`
		} `json:"count_details"`
		Colors  []string `json:"burst_colors"`
		MeBurst bool     `json:"me_burst"`
		Me      bool     `json:"me"`
	}
	// ReactionEmoji is an emoji of a reaction; ID is nil for one of Unicode.
	ReactionEmoji struct {
		ID   *string `json:"id"`
		Name string  `json:"name"`
	}
	// Reference is the message that another one answers.
	Reference struct {
		Type      int    `json:"type"`
		MessageID string `json:"message_id"`
		ChannelID string `json:"channel_id"`
		GuildID   string `json:"guild_id,omitempty"`
	}
	// Snapshot is a message that was forwarded, as it was then.
	Snapshot struct {
		Message struct {
			Type         int           `json:"type"`
			Content      string        `json:"content"`
			At           time.Time     `json:"timestamp"`
			EditedAt     *time.Time    `json:"edited_timestamp"`
			Flags        int           `json:"flags"`
			Mentions     []User        `json:"mentions"`
			MentionRoles []string      `json:"mention_roles"`
			Attachments  []Attachment  `json:"attachments"`
			Embeds       []struct{}    `json:"embeds"`
			Components   []struct{}    `json:"components"`
			Stickers     []StickerItem `json:"sticker_items,omitempty"`
		} `json:"message"`
	}
	// Poll is a question with answers to choose from.
	Poll struct {
		Question PollMedia    `json:"question"`
		Answers  []PollAnswer `json:"answers"`
		Expiry   *time.Time   `json:"expiry"`
		Many     bool         `json:"allow_multiselect"`
		Layout   int          `json:"layout_type"`
	}
	// PollAnswer is one of them.
	PollAnswer struct {
		ID    int       `json:"answer_id"`
		Media PollMedia `json:"poll_media"`
	}
	// PollMedia is what stands there.
	PollMedia struct {
		Text string `json:"text,omitempty"`
	}
	direct struct {
		ID         string `json:"id"`
		Type       int    `json:"type"`
		Flags      int    `json:"flags"`
		Recipients []User `json:"recipients"`
	}
	dispatched struct { // a message as the gateway tells it
		*Message
		GuildID string  `json:"guild_id,omitempty"`
		Member  *member `json:"member,omitempty"`
	}
	member struct {
		Nick     *string   `json:"nick"`
		Roles    []string  `json:"roles"`
		JoinedAt time.Time `json:"joined_at"`
		Deaf     bool      `json:"deaf"`
		Mute     bool      `json:"mute"`
		Flags    int       `json:"flags"`
	}
)

// What is asked of Discord.
type (
	createMessage struct {
		Content   string       `json:"content"`
		Nonce     string       `json:"nonce"`
		Enforce   bool         `json:"enforce_nonce"`
		Mentions  mentionRules `json:"allowed_mentions"`
		Reference *struct {
			Message string `json:"message_id"`
			Must    *bool  `json:"fail_if_not_exists"`
		} `json:"message_reference"`
	}
	mentionRules struct {
		Parse   *[]string `json:"parse"`
		Users   []string  `json:"users"`
		Roles   []string  `json:"roles"`
		Replied bool      `json:"replied_user"`
	}
)

// fault is an answer that says no.
type fault struct {
	status int
	Code   int             `json:"code"`
	Say    string          `json:"message"`
	Errors json.RawMessage `json:"errors,omitempty"`
	After  *float64        `json:"retry_after,omitempty"`
	Global *bool           `json:"global,omitempty"`
	header map[string]string
}

func no(status, code int, say string) *fault { return &fault{status: status, Code: code, Say: say} }

// invalid is how Discord says which field is wrong.
func invalid(field, code, say string) *fault {
	type leaf struct {
		Code string `json:"code"`
		Say  string `json:"message"`
	}
	told, err := json.Marshal(map[string]map[string][]leaf{field: {"_errors": {{code, say}}}})
	if err != nil {
		told = nil
	}
	return &fault{status: 400, Code: 50035, Say: "Invalid Form Body", Errors: told}
}
