package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"
)

// Entry is one thing that happened in a session. The set is closed: the types of this file.
type Entry interface{ Phase() string }

type (
	// TriggerReceived is the message that began the session.
	TriggerReceived struct {
		Platform        string `json:"platform"`
		ChannelID       string `json:"channelId"`
		UserID          string `json:"userId"`
		MessageID       string `json:"messageId"`
		IsDM            bool   `json:"isDm"`
		ContentLength   int    `json:"contentLength"` // characters
		AttachmentCount int    `json:"attachmentCount"`
	}
	// SessionStart is the session's beginning.
	SessionStart struct {
		SessionID    string `json:"sessionId"`
		SessionType  string `json:"sessionType"`
		WorkspaceKey string `json:"workspaceKey"`
		AgentType    string `json:"agentType"`
		Model        string `json:"model"`
		Yolo         bool   `json:"yolo"`
	}
	// RateLimitChecked is the verdict of the rate limiter.
	RateLimitChecked struct {
		Allowed bool `json:"allowed"`
	}
	// ContextAssembly is what the agent was told, in numbers.
	ContextAssembly struct {
		MemoriesCount        int `json:"memoriesCount"`
		RecentMessagesCount  int `json:"recentMessagesCount"`
		RelatedMessagesCount int `json:"relatedMessagesCount"`
		EstimatedTokens      int `json:"estimatedTokens"`
	}
	// YoloResolution says whether permission questions are all answered yes, and who said so.
	YoloResolution struct {
		Yolo   bool   `json:"yolo"`
		Source string `json:"source"`
	}
	// AgentConnect is the attempt to reach the agent.
	AgentConnect struct {
		AgentType  string `json:"agentType"`
		Success    bool   `json:"success"`
		DurationMs int64  `json:"durationMs"`
		Error      string `json:"error,omitempty"`
	}
	// PromptSent is a prompt that went to the agent.
	PromptSent struct {
		PromptLength int    `json:"promptLength"` // characters
		ImageCount   int    `json:"imageCount"`
		ModelID      string `json:"modelId"`
	}
	// AgentMessage is a piece of what the agent wrote.
	AgentMessage struct {
		Content string `json:"content"`
		Length  int    `json:"length"` // characters
	}
	// SkillCall is a tool that the agent called. Make one with NewSkillCall.
	SkillCall struct {
		SkillName       string          `json:"skillName"`
		SkillParams     json.RawMessage `json:"skillParams"`
		SkillResult     SkillResult     `json:"skillResult"`
		SkillDurationMs int64           `json:"skillDurationMs"`
	}
	// SkillResult says how a SkillCall ended.
	SkillResult struct {
		Success bool   `json:"success"`
		Error   string `json:"error,omitempty"`
	}
	// MemoryOperation is a memory that was saved, searched or patched.
	MemoryOperation struct {
		Operation  string `json:"operation"` // save, search, patch, export
		Visibility string `json:"visibility,omitempty"`
		MemoryID   string `json:"memoryId,omitempty"`
		Count      int    `json:"count,omitempty"`
	}
	// AgentResponse is the end of a prompt.
	AgentResponse struct {
		StopReason string `json:"stopReason"`
		IsRetry    bool   `json:"isRetry"`
	}
	// AgentCompleteMessage is all that the agent wrote in one prompt.
	AgentCompleteMessage struct {
		Content string `json:"content"`
		Length  int    `json:"length"` // characters
	}
	// AgentCompleteThought is all that the agent thought in one prompt.
	AgentCompleteThought struct {
		Content string `json:"content"`
		Length  int    `json:"length"` // characters
	}
	// ReplySent is a reply that reached the platform. Make one with NewReplySent.
	ReplySent struct {
		ReplyContentHash string `json:"replyContentHash"`
		ReplyLength      int    `json:"replyLength"` // characters
		Platform         string `json:"platform"`
	}
	// ReplyEdited is a reply that was changed. Make one with NewReplyEdited.
	ReplyEdited struct {
		MessageID        string `json:"messageId"`
		ReplyContentHash string `json:"replyContentHash"`
		ReplyLength      int    `json:"replyLength"` // characters
		Platform         string `json:"platform"`
	}
	// FileSent is files that reached the platform.
	FileSent struct {
		FilesCount int    `json:"filesCount"`
		TotalBytes int64  `json:"totalBytes"`
		Platform   string `json:"platform"`
	}
	// RetryTriggered is a second prompt because the first brought no reply.
	RetryTriggered struct {
		RetryCount int    `json:"retryCount"`
		MaxRetries int    `json:"maxRetries"`
		Reason     string `json:"reason"` // no_reply_sent
	}
	// SessionEnd is the end of a session. The Book fills in the four counts of what was noted.
	SessionEnd struct {
		Success                  bool   `json:"success"`
		ReplySent                bool   `json:"replySent"`
		ReactionSent             bool   `json:"reactionSent"`
		FileSent                 bool   `json:"fileSent"`
		DurationMs               int64  `json:"durationMs"`
		RepliesCount             int    `json:"repliesCount"`
		SkillCallsCount          int    `json:"skillCallsCount"`
		MemoryOpsCount           int    `json:"memoryOpsCount"`
		PermissionDecisionsCount int    `json:"permissionDecisionsCount"`
		Error                    string `json:"error,omitempty"`
	}
	// PermissionApproved is an agent's question that was answered yes.
	PermissionApproved struct {
		Tool   string `json:"tool"`
		Kind   string `json:"kind"`
		Reason string `json:"reason"`
	}
	// PermissionDenied is an agent's question that was answered no.
	PermissionDenied struct {
		Tool   string `json:"tool"`
		Kind   string `json:"kind"`
		Reason string `json:"reason"`
	}
)

// The words that phases have in files and settings.
func (TriggerReceived) Phase() string      { return "trigger_received" }
func (SessionStart) Phase() string         { return "session_start" }
func (RateLimitChecked) Phase() string     { return "rate_limit_checked" }
func (ContextAssembly) Phase() string      { return "context_assembly" }
func (YoloResolution) Phase() string       { return "yolo_resolution" }
func (AgentConnect) Phase() string         { return "agent_connect" }
func (PromptSent) Phase() string           { return "prompt_sent" }
func (AgentMessage) Phase() string         { return "agent_message" }
func (SkillCall) Phase() string            { return "skill_call" }
func (MemoryOperation) Phase() string      { return "memory_operation" }
func (AgentResponse) Phase() string        { return "agent_response" }
func (AgentCompleteMessage) Phase() string { return "agent_complete_message" }
func (AgentCompleteThought) Phase() string { return "agent_complete_thought" }
func (ReplySent) Phase() string            { return "reply_sent" }
func (ReplyEdited) Phase() string          { return "reply_edited" }
func (FileSent) Phase() string             { return "file_sent" }
func (RetryTriggered) Phase() string       { return "retry_triggered" }
func (SessionEnd) Phase() string           { return "session_end" }
func (PermissionApproved) Phase() string   { return "permission_approved" }
func (PermissionDenied) Phase() string     { return "permission_denied" }

// Phases returns the word of every phase, in the order in which a session may meet them.
func Phases() []string {
	var words []string
	for _, e := range []Entry{TriggerReceived{}, SessionStart{}, RateLimitChecked{}, ContextAssembly{}, YoloResolution{},
		AgentConnect{}, PromptSent{}, AgentMessage{}, SkillCall{}, MemoryOperation{}, AgentResponse{},
		AgentCompleteMessage{}, AgentCompleteThought{}, ReplySent{}, ReplyEdited{}, FileSent{}, RetryTriggered{},
		SessionEnd{}, PermissionApproved{}, PermissionDenied{}} {
		words = append(words, e.Phase())
	}
	return words
}

// NewSkillCall records a call that has ended: err is nil when it succeeded. Parameters that are not JSON are
// recorded by their hash alone.
func NewSkillCall(name string, params json.RawMessage, took time.Duration, err error) SkillCall {
	c := SkillCall{SkillName: name, SkillParams: params, SkillResult: SkillResult{Success: err == nil},
		SkillDurationMs: took.Milliseconds()}
	if err != nil {
		c.SkillResult.Error = err.Error()
	}
	switch {
	case len(params) == 0:
		c.SkillParams = json.RawMessage("{}")
	case !json.Valid(params):
		c.SkillParams = json.RawMessage(`"not JSON: ` + hashed(params) + `"`)
	}
	return c
}

// NewReplySent records a reply by its hash and length.
func NewReplySent(text, platform string) ReplySent {
	return ReplySent{hashed([]byte(text)), len([]rune(text)), platform}
}

// NewReplyEdited records the new text of a reply by its hash and length.
func NewReplyEdited(message, text, platform string) ReplyEdited {
	return ReplyEdited{message, hashed([]byte(text)), len([]rune(text)), platform}
}

// hashed returns what stands in a record in place of some words.
func hashed(text []byte) string {
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}
