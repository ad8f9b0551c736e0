package serve_test

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/coder/acp-go-sdk"

	"familiar/internal/agent/serve"
)

// tools returns the last state of each tool call, by title.
func tools(updates []sdk.SessionUpdate) map[string]sdk.ToolCallStatus {
	titles, states := map[sdk.ToolCallId]string{}, map[string]sdk.ToolCallStatus{}
	for _, u := range updates {
		switch {
		case u.ToolCall != nil:
			titles[u.ToolCall.ToolCallId] = u.ToolCall.Title
			states[u.ToolCall.Title] = u.ToolCall.Status
		case u.ToolCallUpdate != nil && u.ToolCallUpdate.Status != nil:
			states[titles[u.ToolCallUpdate.ToolCallId]] = *u.ToolCallUpdate.Status
		}
	}
	return states
}

func TestAPromptIsAnswered(t *testing.T) {
	r := start(t, t.TempDir(), nil)
	id := r.open(t, folder(t))
	answer, saw := r.say(t, id, "good day\nto you")
	if answer.StopReason != sdk.StopReasonEndTurn || said(saw) != "hello" || answer.Usage == nil || answer.Usage.TotalTokens == 0 {
		t.Errorf("%+v, said %q", answer, said(saw))
	}
	var title string
	used := 0
	for _, u := range saw {
		if u.SessionInfoUpdate != nil && u.SessionInfoUpdate.Title != nil {
			title = *u.SessionInfoUpdate.Title
		}
		if u.UsageUpdate != nil {
			used = u.UsageUpdate.Used
		}
	}
	if title != "good day" || used == 0 {
		t.Errorf("the title is %q, used are %d tokens", title, used)
	}
	if _, saw = r.say(t, id, "THINK"); said(saw) != "shown" {
		t.Errorf("thinking was said: %q", said(saw))
	}
	if _, saw = r.ask(t, id, sdk.TextBlock("what is it?"), sdk.ImageBlock(dot, "image/png")); said(saw) != "a picture" {
		t.Errorf("of a picture it said %q", said(saw))
	}
}

// dot is a picture of one point.
const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

func TestEffectsAskAndAnAnswerCounts(t *testing.T) {
	for pick, want := range map[sdk.PermissionOptionKind]struct {
		text   string
		status sdk.ToolCallStatus
		asks   int
	}{
		sdk.PermissionOptionKindAllowOnce:   {"new", sdk.ToolCallStatusCompleted, 2},
		sdk.PermissionOptionKindAllowAlways: {"new", sdk.ToolCallStatusCompleted, 1},
		sdk.PermissionOptionKindRejectOnce:  {"old\nlines\nthree\n", sdk.ToolCallStatusFailed, 2},
		"":                                  {"old\nlines\nthree\n", sdk.ToolCallStatusFailed, 2},
	} {
		t.Run("answered with "+string(pick), func(t *testing.T) {
			r, cwd := start(t, t.TempDir(), nil), folder(t)
			r.client.pick = pick
			id := r.open(t, cwd)
			_, saw := r.say(t, id, "WRITE")
			if status := tools(saw)["Write a.txt"]; status != want.status {
				t.Errorf("the call is %q, want %q", status, want.status)
			}
			if text, _ := os.ReadFile(filepath.Join(cwd, "a.txt")); string(text) != want.text {
				t.Errorf("the file holds %q", text)
			}
			r.say(t, id, "WRITE")
			if len(r.client.asked) != want.asks {
				t.Errorf("asked %d times, want %d", len(r.client.asked), want.asks)
			}
			checkAsk(t, r.client.asked[0], filepath.Join(cwd, "a.txt"))
		})
	}
}

// checkAsk checks that a permission says what would be changed, and offers its answers in order.
func checkAsk(t *testing.T, ask sdk.RequestPermissionRequest, path string) {
	t.Helper()
	var kinds []string
	for _, o := range ask.Options {
		kinds = append(kinds, string(o.Kind))
	}
	if strings.Join(kinds, " ") != "allow_once allow_always reject_once" {
		t.Errorf("the answers are %v", kinds)
	}
	if len(ask.ToolCall.Content) != 1 || ask.ToolCall.Content[0].Diff == nil {
		t.Fatalf("no difference is shown: %+v", ask.ToolCall)
	}
	diff := ask.ToolCall.Content[0].Diff
	if diff.Path != path || diff.NewText != "new" || diff.OldText == nil || *diff.OldText != "old\nlines\nthree\n" {
		t.Errorf("the difference is %+v", diff)
	}
	if len(ask.ToolCall.Locations) != 1 || ask.ToolCall.Locations[0].Path != path {
		t.Errorf("the locations are %+v", ask.ToolCall.Locations)
	}
}

func TestReadsDoNotAskAndStayWithin(t *testing.T) {
	r := start(t, t.TempDir(), nil)
	id := r.open(t, folder(t))
	if _, saw := r.say(t, id, "READ"); !strings.Contains(said(saw), `old\nlines\n"`) {
		t.Errorf("it read %q", said(saw))
	}
	if _, saw := r.say(t, id, "ESCAPE"); tools(saw)["read_file"] != sdk.ToolCallStatusFailed {
		t.Errorf("a file outside was reached: %v", tools(saw))
	}
	if len(r.client.asked) > 0 {
		t.Error("reading asked")
	}
}

func TestPlanModeChangesNothing(t *testing.T) {
	r, cwd := start(t, t.TempDir(), nil), folder(t)
	r.client.pick = sdk.PermissionOptionKindAllowAlways
	id := r.open(t, cwd)
	r.say(t, id, "WRITE")
	if err := os.WriteFile(filepath.Join(cwd, "a.txt"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := r.SetSessionMode(t.Context(), sdk.SetSessionModeRequest{SessionId: id, ModeId: "plan"}); err != nil {
		t.Fatal(err)
	}
	r.say(t, id, "WRITE")
	if text, _ := os.ReadFile(filepath.Join(cwd, "a.txt")); string(text) != "mine" || len(r.client.asked) != 1 {
		t.Errorf("the file holds %q after %d asks", text, len(r.client.asked))
	}
	if _, err := r.SetSessionMode(t.Context(), sdk.SetSessionModeRequest{SessionId: id, ModeId: "yolo"}); err == nil {
		t.Error("there is a mode yolo")
	}
}

func TestAModelIsChosen(t *testing.T) {
	r := start(t, t.TempDir(), nil)
	made, err := r.NewSession(t.Context(), sdk.NewSessionRequest{Cwd: folder(t), McpServers: []sdk.McpServer{}})
	if err != nil {
		t.Fatal(err)
	}
	model := made.ConfigOptions[0].Select
	if model == nil || model.CurrentValue != "stub-1" || len(*model.Options.Ungrouped) != 2 || *model.Category != "model" {
		t.Fatalf("the models are %+v", model)
	}
	set := func(value string) (sdk.SetSessionConfigOptionResponse, error) {
		return r.SetSessionConfigOption(t.Context(), sdk.SetSessionConfigOptionRequest{ValueId: &sdk.SetSessionConfigOptionValueId{
			SessionId: made.SessionId, ConfigId: "model", Value: sdk.SessionConfigValueId(value)}})
	}
	answer, err := set("stub-2")
	if err != nil || answer.ConfigOptions[0].Select.CurrentValue != "stub-2" {
		t.Errorf("%+v, %v", answer, err)
	}
	if _, err := set("stub-3"); err == nil {
		t.Error("a model that is not there was chosen")
	}
}

func TestPlansAreShown(t *testing.T) {
	r := start(t, t.TempDir(), nil)
	_, saw := r.say(t, r.open(t, folder(t)), "PLAN")
	var got []string
	for _, u := range saw {
		if u.Plan != nil {
			for _, e := range u.Plan.Entries {
				got = append(got, e.Content+":"+string(e.Status))
			}
		}
		if u.ToolCall != nil {
			t.Errorf("the plan is shown as a tool too: %s", u.ToolCall.Title)
		}
	}
	if strings.Join(got, " ") != "look:completed think:in_progress say:pending" {
		t.Errorf("the plan is %q", got)
	}
}

func TestMCPServersOfTheClient(t *testing.T) {
	for name, trust := range map[string][]string{"asked": nil, "trusted": {"notebook"}} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "notes")
			r := start(t, t.TempDir(), func(o *serve.Options) { o.Trust = trust })
			_, saw := r.say(t, r.open(t, folder(t), jotter(t, file)), "JOT")
			if notes(t, file) != "tea\n" || !strings.Contains(said(saw), "noted tea") {
				t.Errorf("noted %q, said %q", notes(t, file), said(saw))
			}
			if asked := len(r.client.asked); (asked == 0) != (trust != nil) {
				t.Errorf("asked %d times", asked)
			}
		})
	}
}

func TestResourcesBecomeText(t *testing.T) {
	r := start(t, t.TempDir(), nil)
	id := r.open(t, folder(t))
	_, saw := r.ask(t, id, sdk.ResourceLinkBlock("a", "file:///a.txt"), sdk.ResourceBlock(sdk.EmbeddedResourceResource{
		TextResourceContents: &sdk.TextResourceContents{Uri: "file:///b.txt", Text: "please PLAN it"}}))
	if len(saw) == 0 || said(saw) == "hello" {
		t.Errorf("the embedded text did not reach the model; it said %q", said(saw))
	}
	image := base64.StdEncoding.EncodeToString([]byte("x"))
	for name, block := range map[string]sdk.ContentBlock{"audio": sdk.AudioBlock(image, "audio/wav"),
		"no base64": sdk.ImageBlock("?", "image/png")} {
		if _, err := r.Prompt(t.Context(), sdk.PromptRequest{SessionId: id, Prompt: []sdk.ContentBlock{block}}); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}
