package misskeytest

// The objects of the instance, as the API shows them.
type (
	// User is an account, as others see it.
	User struct {
		ID                string     `json:"id"`
		Name              *string    `json:"name"`
		Username          string     `json:"username"`
		Host              *string    `json:"host"`
		AvatarURL         string     `json:"avatarUrl"`
		AvatarBlurhash    *string    `json:"avatarBlurhash"`
		AvatarDecorations []struct{} `json:"avatarDecorations"`
		Emojis            struct{}   `json:"emojis"`
		OnlineStatus      string     `json:"onlineStatus"`
		IsBot             bool       `json:"isBot,omitempty"`
	}
	// Note is a note.
	Note struct {
		ID                 string            `json:"id"`
		CreatedAt          string            `json:"createdAt"`
		Text               *string           `json:"text"`
		CW                 *string           `json:"cw"`
		UserID             string            `json:"userId"`
		User               *User             `json:"user"`
		ReplyID            *string           `json:"replyId"`
		RenoteID           *string           `json:"renoteId"`
		Renote             *Note             `json:"renote,omitempty"`
		Poll               *Poll             `json:"poll,omitempty"`
		IsHidden           bool              `json:"isHidden,omitempty"`
		Reply              *Note             `json:"reply,omitempty"`
		Visibility         string            `json:"visibility"`
		Mentions           []string          `json:"mentions,omitempty"`
		Visible            []string          `json:"visibleUserIds,omitempty"`
		FileIDs            []string          `json:"fileIds,omitempty"`
		Files              []*DriveFile      `json:"files,omitempty"`
		LocalOnly          bool              `json:"localOnly,omitempty"`
		ReactionAcceptance *string           `json:"reactionAcceptance"`
		ReactionEmojis     map[string]string `json:"reactionEmojis"`
		Reactions          map[string]int    `json:"reactions"`
		ReactionCount      int               `json:"reactionCount"`
		RenoteCount        int               `json:"renoteCount"`
		RepliesCount       int               `json:"repliesCount"`
		MyReaction         *string           `json:"myReaction,omitempty"`
	}
	// Poll is what may be voted for.
	Poll struct {
		Multiple  bool     `json:"multiple"`
		ExpiresAt *string  `json:"expiresAt"`
		Choices   []Choice `json:"choices"`
	}
	// Choice is one answer of a poll.
	Choice struct {
		Text    string `json:"text"`
		Votes   int    `json:"votes"`
		IsVoted bool   `json:"isVoted"`
	}
	// ChatMessage is a message of a chat of two.
	ChatMessage struct {
		ID         string     `json:"id"`
		CreatedAt  string     `json:"createdAt"`
		FromUserID string     `json:"fromUserId"`
		FromUser   *User      `json:"fromUser,omitempty"`
		ToUserID   string     `json:"toUserId"`
		ToUser     *User      `json:"toUser,omitempty"`
		Text       *string    `json:"text"`
		FileID     *string    `json:"fileId"`
		File       *DriveFile `json:"file,omitempty"`
		Reactions  []Reaction `json:"reactions"`
	}
	// Reaction is one reaction to a chat message.
	Reaction struct {
		Reaction string `json:"reaction"`
		User     *User  `json:"user,omitempty"`
	}
	// DriveFile is a file.
	DriveFile struct {
		ID           string     `json:"id"`
		CreatedAt    string     `json:"createdAt"`
		Name         string     `json:"name"`
		Type         string     `json:"type"`
		MD5          string     `json:"md5"`
		Size         int        `json:"size"`
		IsSensitive  bool       `json:"isSensitive"`
		Blurhash     *string    `json:"blurhash"`
		Properties   Dimensions `json:"properties"`
		URL          string     `json:"url"`
		ThumbnailURL *string    `json:"thumbnailUrl"`
		Comment      *string    `json:"comment"`
		FolderID     *string    `json:"folderId"`
		UserID       *string    `json:"userId"`

		Content []byte `json:"-"`
	}
	// Dimensions are of a picture.
	Dimensions struct {
		Width  int `json:"width,omitempty"`
		Height int `json:"height,omitempty"`
	}
	// Emoji is a custom emoji.
	Emoji struct {
		Aliases  []string `json:"aliases"`
		Name     string   `json:"name"`
		Category *string  `json:"category"`
		URL      string   `json:"url"`
		Roles    []string `json:"roleIdsThatCanBeUsedThisEmojiAsReaction,omitempty"`
	}
)

// pack is a note as an account sees it.
func (in *Instance) pack(n *Note, by *User) Note {
	packed := *n
	packed.Reactions = map[string]int{}
	packed.ReactionEmojis = map[string]string{}
	if n.MyReaction != nil {
		packed.Reactions[*n.MyReaction], packed.ReactionCount = 1, 1
	}
	if parent := in.note(n.ReplyID); parent != nil && in.sees(by, parent) {
		reply := *parent
		reply.Reactions, reply.ReactionEmojis = map[string]int{}, map[string]string{}
		packed.Reply = &reply
	}
	if quoted := in.note(n.RenoteID); quoted != nil {
		renote := *quoted
		renote.Reactions, renote.ReactionEmojis = map[string]int{}, map[string]string{}
		if !in.sees(by, quoted) {
			renote.Text, renote.IsHidden = nil, true
		}
		packed.Renote = &renote
	}
	packed.RepliesCount = in.replies[n.ID]
	return packed
}

// packChat is a chat message as the one who gets it sees it.
func (in *Instance) packChat(c *ChatMessage) ChatMessage {
	packed := *c
	packed.FromUser, packed.ToUser = in.users[c.FromUserID], in.users[c.ToUserID]
	packed.Reactions = append([]Reaction{}, c.Reactions...)
	return packed
}

// lite is a chat message as lists of a chat of two show it.
func lite(c *ChatMessage) ChatMessage {
	packed := *c
	packed.Reactions = []Reaction{}
	for _, r := range c.Reactions {
		packed.Reactions = append(packed.Reactions, Reaction{Reaction: r.Reaction})
	}
	return packed
}
