package program

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"familiar/internal/llm/llmtest"
)

// An agent that asks nobody, with a shell, tries to read and write what is not its own: the walls hold without our
// permission rules.
func TestOpenCodeCannotLeaveItsWalls(t *testing.T) {
	b, model := withOpenCode(t, llmtest.Script{})
	b.write("config.yaml", "version: 1\naccess: {channels: [{id: web/account/owner, yolo: true}]}\n")
	b.start()
	if _, err := b.say("/remember my PRIVATE-WORD"); err != nil {
		t.Fatal(err)
	}
	b.write("data/workspaces/web/other/memory.public.jsonl", "OTHER-WORD\n")
	b.write("state/secret", "STATE-WORD\n")
	reads := []string{"state/token", "state/secret", "state/familiar.db", "state/familiar.pid", "config.yaml", "logs/familiar.log",
		"data/workspaces/web/owner/memory.private.jsonl", "data/workspaces/web/other/memory.public.jsonl"}
	var script strings.Builder
	script.WriteString("exec 2>&1\n") // one stream, so that what it says stays in order
	for _, name := range append([]string{"/etc/shadow", "/etc/gshadow", fmt.Sprintf("/proc/%d/environ", b.cmd.Process.Pid)}, b.paths(reads...)...) {
		fmt.Fprintf(&script, "cat '%[1]s' && echo 'LEAKED %[1]s'\n", name)
	}
	for _, name := range b.paths("outside", "data/workspaces/web/owner/outside", "data/workspaces/web/other/outside", "data/agent-workspace/notes/outside.md") {
		fmt.Fprintf(&script, "echo x > '%[1]s' && echo 'WROTE %[1]s'\n", name)
	}
	fmt.Fprintf(&script, "ln -s '%s' link && cat link && echo LEAKED by link\n", b.paths("state/token")[0])
	fmt.Fprintf(&script, "ln '%s' hard && cat hard && echo LEAKED by hard link\n", b.paths("state/token")[0])
	script.WriteString("echo mine > own.md && cat own.md && echo tmp > \"$TMPDIR/t\" && cat \"$TMPDIR/t\"; echo END\n")
	model.Play(t, llmtest.Script{Rules: []llmtest.Rule{
		{Name: "try", Times: 1, Match: llmtest.Match{LastUser: "break out", NotAfter: true},
			Reply: call("bash", map[string]string{"command": script.String(), "description": "look around"})},
		{Name: "tell", Times: 1, Match: llmtest.Match{AfterTool: "bash"}, Reply: call("familiar_send-reply", map[string]string{"message": "I tried."})},
		unheard,
	}, Default: &llmtest.Reply{Text: "."}})
	if reply, err := b.say("break out"); err != nil || reply != "I tried." {
		t.Fatal(reply, err, summaryOf(model))
	}
	saw := model.Answered("tell")[0].ToolResult
	for _, word := range []string{"LEAKED", "WROTE", "PRIVATE-WORD", "OTHER-WORD", "STATE-WORD", b.token, "root:"} {
		if strings.Contains(saw, word) {
			t.Errorf("the agent got out: %q stands in\n%s", word, saw)
		}
	}
	for _, word := range []string{"mine\ntmp\nEND"} {
		if !strings.Contains(saw, word) {
			t.Errorf("its own folders must be open to it: no %q in\n%s", word, saw)
		}
	}
}

// An agent that is killed in mid-turn: its person gets one neutral sentence, and the others notice nothing.
func TestOpenCodeIsKilled(t *testing.T) {
	hold := make(chan struct{})
	defer close(hold)
	b, model := withOpenCode(t, llmtest.Script{Rules: []llmtest.Rule{
		{Name: "held", Match: llmtest.Match{LastUser: "think for ever"}, Reply: llmtest.Reply{Text: "never", Hold: hold}},
		{Name: "well", Match: llmtest.Match{LastUser: "how are you", NotAfter: true}, Reply: call("familiar_send-reply", map[string]string{"message": "Well."})},
		unheard,
	}})
	b.write("config.yaml", "version: 1\nagent: {warmSpare: 0}\n") // no agent but those of the turns
	b.start()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	posted, err := b.control().Post(ctx, "", "1", "think for ever")
	if err != nil {
		t.Fatal(err)
	}
	wait(t, "the model is asked", func() bool { return len(model.Answered("held")) > 0 })
	agents := b.agents()
	if len(agents) != 1 {
		t.Fatal("agents:", agents)
	}
	if reply, err := b.say("how are you?"); err != nil || reply != "Well." {
		t.Fatal("beside it:", reply, err)
	}
	if err := syscall.Kill(agents[0], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	events := b.follow(posted.Session, func(all []event) bool { return all[len(all)-1].Type == "turn.failed" })
	if said := words(events); len(said) != 1 || !strings.HasPrefix(said[0], "Sorry, something went wrong") {
		t.Fatal(said)
	}
	wait(t, "nothing is left of the agent", func() bool { return len(b.agents()) == 0 })
	if reply, err := b.say("how are you?"); err != nil || reply != "Well." {
		t.Fatal("after it:", reply, err)
	}
}

// words are the texts of the bot's messages.
func words(events []event) (said []string) {
	for _, ev := range events {
		if ev.Type == "message.completed" {
			said = append(said, ev.Data.Text)
		}
	}
	return said
}

// agents are the processes of OpenCode that descend from the bot.
func (b *bot) agents() (pids []int) {
	procs, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range procs {
		text, _ := os.ReadFile(name)
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if err == nil && strings.HasSuffix(string(text), "\x00acp\x00") && strings.Contains(string(text), "opencode") && b.owns(pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// owns reports whether a process descends from the bot.
func (b *bot) owns(pid int) bool {
	for pid > 1 {
		if pid == b.cmd.Process.Pid {
			return true
		}
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			return false
		}
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		if pid, err = strconv.Atoi(fields[1]); err != nil {
			return false
		}
	}
	return false
}
