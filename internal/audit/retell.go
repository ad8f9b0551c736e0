package audit

import (
	"fmt"
	"strings"
	"time"
)

// Mood says how a sentence may be shown.
type Mood string

// The moods.
const (
	Plain Mood = ""
	Good  Mood = "good" // somebody got an answer
	Bad   Mood = "bad"  // something was refused, or went wrong
	Quiet Mood = "quiet"
)

// Sentence is one thing that happened, in words for the operator.
type Sentence struct {
	At   time.Time
	Text string
	Mood Mood
}

// Retell says what happened in a session, in the order in which it did. A memory that a tool found or wrote is told
// with the call. Pieces of what the agent wrote are told as one.
func (r Record) Retell() []Sentence {
	var told []Sentence
	pieces := 0
	for i, line := range r.Lines {
		var s Sentence
		switch e := line.Entry.(type) {
		case MemoryOperation:
			if i > 0 && isCall(r.Lines[i-1].Entry) {
				continue
			}
			s.Text = "worked on memories: " + e.Operation + result(e)
		case AgentMessage:
			if pieces += e.Length; i+1 < len(r.Lines) && r.Lines[i+1].Phase == line.Phase {
				continue
			}
			s = Sentence{Text: fmt.Sprintf("the agent wrote %s", count(pieces, "character")), Mood: Quiet}
			pieces = 0
		case SkillCall:
			s = e.retell()
			if i+1 < len(r.Lines) {
				if op, ok := r.Lines[i+1].Entry.(MemoryOperation); ok && e.SkillResult.Success {
					s.Text = strings.Replace(s.Text, " in ", result(op)+" in ", 1)
				}
			}
		default:
			s = retell(line)
		}
		s.At = line.At
		told = append(told, s)
	}
	return told
}

func isCall(e Entry) bool {
	_, ok := e.(SkillCall)
	return ok
}

func (e SkillCall) retell() Sentence {
	took := time.Duration(e.SkillDurationMs) * time.Millisecond
	if !e.SkillResult.Success {
		return Sentence{Text: fmt.Sprintf("called %s, which failed in %s: %s", e.SkillName, took, e.SkillResult.Error), Mood: Bad}
	}
	return Sentence{Text: fmt.Sprintf("called %s in %s", e.SkillName, took)}
}

// result is what a memory operation came to.
func result(e MemoryOperation) string {
	switch {
	case e.Operation == "search":
		return " → " + count(e.Count, "hit")
	case e.MemoryID != "":
		return " → " + strings.TrimSpace(e.Visibility+" "+e.MemoryID)
	}
	return ""
}

// retell says one entry, where no other belongs to it.
func retell(line Line) Sentence {
	switch e := line.Entry.(type) {
	case TriggerReceived, SessionStart, RateLimitChecked, ContextAssembly, YoloResolution:
		return beforehand(e)
	case AgentConnect, PromptSent, AgentResponse, AgentCompleteMessage, AgentCompleteThought, RetryTriggered:
		return thinking(e)
	case ReplySent:
		return Sentence{Text: fmt.Sprintf("replied %s on %s", count(e.ReplyLength, "character"), e.Platform), Mood: Good}
	case ReplyEdited:
		return Sentence{Text: fmt.Sprintf("changed the reply to %s on %s", count(e.ReplyLength, "character"), e.Platform), Mood: Good}
	case FileSent:
		return Sentence{Text: fmt.Sprintf("sent %s of %s on %s", count(e.FilesCount, "file"), count(int(e.TotalBytes), "byte"), e.Platform), Mood: Good}
	case PermissionApproved:
		return Sentence{Text: fmt.Sprintf("allowed the agent to use %s (%s)", e.Tool, e.Reason)}
	case PermissionDenied:
		return Sentence{Text: fmt.Sprintf("refused the agent the use of %s (%s)", e.Tool, e.Reason), Mood: Bad}
	case SessionEnd:
		return e.retell()
	}
	return Sentence{Text: line.Phase, Mood: Quiet}
}

// beforehand says what happens before anybody thinks.
func beforehand(e Entry) Sentence {
	switch e := e.(type) {
	case TriggerReceived:
		where := "in " + e.ChannelID
		if e.IsDM {
			where = "in private"
		}
		said := "heard " + count(e.ContentLength, "character")
		if e.AttachmentCount > 0 {
			said += " and " + count(e.AttachmentCount, "file")
		}
		return Sentence{Text: fmt.Sprintf("%s from %s/%s, %s", said, e.Platform, e.UserID, where)}
	case SessionStart:
		return Sentence{Text: fmt.Sprintf("began a session of type %s with %s", e.SessionType, named(e.AgentType, e.Model))}
	case RateLimitChecked:
		if e.Allowed {
			return Sentence{Text: "the rate limit let it pass", Mood: Quiet}
		}
		return Sentence{Text: "the rate limit refused it", Mood: Bad}
	case YoloResolution:
		if e.Yolo {
			return Sentence{Text: fmt.Sprintf("the agent may do everything unasked (%s)", e.Source)}
		}
		return Sentence{Text: "the agent has to ask for permission", Mood: Quiet}
	case ContextAssembly:
		return Sentence{Text: fmt.Sprintf("gathered %s and %s, and %s: about %s", countMemories(e.MemoriesCount),
			count(e.RecentMessagesCount, "recent message"), count(e.RelatedMessagesCount, "related one"), count(e.EstimatedTokens, "token"))}
	}
	return Sentence{}
}

// thinking says what passes between us and the agent.
func thinking(e Entry) Sentence {
	switch e := e.(type) {
	case AgentConnect:
		took := time.Duration(e.DurationMs) * time.Millisecond
		if !e.Success {
			return Sentence{Text: fmt.Sprintf("could not reach %s in %s: %s", e.AgentType, took, e.Error), Mood: Bad}
		}
		return Sentence{Text: fmt.Sprintf("reached %s in %s", e.AgentType, took)}
	case PromptSent:
		sent := count(e.PromptLength, "character")
		if e.ImageCount > 0 {
			sent += " and " + count(e.ImageCount, "picture")
		}
		return Sentence{Text: "asked " + named("the agent", e.ModelID) + " with " + sent}
	case AgentResponse:
		again := ""
		if e.IsRetry {
			again = " again"
		}
		if e.StopReason == "" {
			return Sentence{Text: "the agent's turn broke off" + again, Mood: Bad}
		}
		return Sentence{Text: fmt.Sprintf("the agent ended its turn%s (%s)", again, e.StopReason)}
	case AgentCompleteMessage:
		return Sentence{Text: fmt.Sprintf("the agent wrote %s in all%s", count(e.Length, "character"), quoted(e.Content)), Mood: Quiet}
	case AgentCompleteThought:
		return Sentence{Text: fmt.Sprintf("the agent thought %s%s", count(e.Length, "character"), quoted(e.Content)), Mood: Quiet}
	case RetryTriggered:
		return Sentence{Text: fmt.Sprintf("asks once more, %d of %d (%s)", e.RetryCount, e.MaxRetries, e.Reason), Mood: Bad}
	}
	return Sentence{}
}

func (e SessionEnd) retell() Sentence {
	took := time.Duration(e.DurationMs) * time.Millisecond
	if !e.Success {
		return Sentence{Text: fmt.Sprintf("failed after %s: %s", took, e.Error), Mood: Bad}
	}
	var did []string
	for _, deed := range []struct {
		done bool
		text string
	}{{e.ReplySent, "replied"}, {e.ReactionSent, "reacted"}, {e.FileSent, "sent a file"}} {
		if deed.done {
			did = append(did, deed.text)
		}
	}
	if len(did) == 0 {
		return Sentence{Text: fmt.Sprintf("done in %s, without an answer", took)}
	}
	return Sentence{Text: fmt.Sprintf("done in %s: %s", took, strings.Join(did, ", ")), Mood: Good}
}

func named(agent, model string) string {
	if model == "" {
		return agent
	}
	return agent + " (model " + model + ")"
}

// quoted shows words that are not hashed, shortened.
func quoted(content string) string {
	if content == "" || strings.HasPrefix(content, "sha256:") {
		return ""
	}
	const most = 200
	runes := []rune(strings.Join(strings.Fields(content), " "))
	if len(runes) > most {
		runes = append(runes[:most-1], '…')
	}
	return ": «" + string(runes) + "»"
}

func countMemories(n int) string {
	if n == 1 {
		return "1 memory"
	}
	return fmt.Sprintf("%d memories", n)
}

func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
