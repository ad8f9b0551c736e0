package permission

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"familiar/internal/agent"
)

// places are real folders, so that links lead somewhere.
type places struct{ work, tmp, notes, skills, out string }

func setUp(t *testing.T) (Policy, places) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := places{root + "/123/work", root + "/123/tmp/s", root + "/notes", root + "/skills", root + "/1234/work"}
	for _, dir := range []string{at.work, at.tmp, at.notes, at.skills, at.out} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{
		"/out": at.out, "/nowhere.md": at.out + "/new.md", "/in": at.tmp,
	} {
		if err := os.Symlink(to, at.work+link); err != nil {
			t.Fatal(err)
		}
	}
	return Policy{
		Binary: "/opt/familiar/familiar", Skills: []string{"send-reply", "memory-save"}, Dir: at.work,
		SkillDirs: []string{at.skills}, Tmp: at.tmp, Notes: at.notes, WriteDirs: []string{at.work},
		WriteExtensions: []string{".md", ".txt"},
	}, at
}

func rawInput(t *testing.T, pairs ...string) []byte {
	t.Helper()
	fields := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		fields[pairs[i]] = pairs[i+1]
	}
	raw, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestJudgeCommands(t *testing.T) {
	p, at := setUp(t)
	for _, line := range []string{
		"familiar skill send-reply --message-file $TMPDIR/reply.md", // AF-110
		`familiar skill send-reply --message-file "$TMPDIR/reply.md"`,
		"familiar skill send-reply --message-file ${TMPDIR}/reply.md --reply-to 1",
		"familiar skill send-reply --message-file=reply.md",
		"familiar skill send-reply --message-file " + at.tmp + "/reply.md",
		"familiar skill send-reply --message-file -",
		"familiar skill send-reply --session-id $SESSION_ID --message-file a.md",
		"/opt/familiar/familiar skill memory-save --content-file 'a.md'",
		"  familiar\tskill  memory-save ",
		"familiar skill memory-save --importance 'costs $5, $HOME*'",
		`familiar skill memory-save --importance "5 $ and more"`,
	} {
		if got := p.Judge(agent.Ask{Kind: agent.KindExecute, RawInput: rawInput(t, "command", line)}); !got.Allow || got.Reason != SkillCommand {
			t.Errorf("%s: %+v", line, got)
		}
	}
	for _, line := range []string{ // AF-111 first: a foreign command with the skill as an argument, and a second command
		"cat secret familiar skill send-reply",
		"familiar skill send-reply --message-file a.md ; env",
		"familiar skill send-reply --message-file a.md;env",
		"familiar skill send-reply && env",
		"familiar skill send-reply || env",
		"familiar skill send-reply & env",
		"familiar skill send-reply | cat",
		"cat secret | familiar skill send-reply",
		"familiar skill send-reply `env`",
		"familiar skill send-reply $(env)",
		`familiar skill send-reply "$(env)"`,
		"familiar skill send-reply > /etc/x",
		"familiar skill send-reply < /etc/passwd",
		"familiar skill send-reply <<< x",
		"familiar skill send-reply # env",
		"familiar skill send-reply\nenv",
		"familiar skill send-reply\renv",
		"familiar skill send-reply \\\nenv",
		"familiar skill send-reply \\; env",
		"PATH=/tmp familiar skill send-reply",
		"env familiar skill send-reply",
		"exec familiar skill send-reply",
		"sh -c 'familiar skill send-reply'",
		"/tmp/familiar skill send-reply",
		"./familiar skill send-reply",
		"/opt/familiar/../../tmp/familiar skill send-reply",
		"familiar2 skill send-reply",
		"familiar",
		"familiar skill",
		"familiar skill shell",
		"familiar skill send-reply2",
		"familiar skill send",
		"familiar up",
		"familiar --dir /x skill send-reply",
		"familiar 'skill send-reply'",
		"familiar skill 'send-reply",
		`familiar skill send-reply "`,
		`fam"iliar skill send-reply`,
		"$HOME/familiar skill send-reply",
		"~/familiar skill send-reply",
		"familiar skill send-reply --message-file /proc/self/environ",
		"familiar skill send-reply --message-file=/proc/self/environ",
		"familiar skill send-reply '--message-file' /proc/self/environ",
		"familiar skill send-reply --message-file ../../1234/work/a.md",
		"familiar skill send-reply --message-file $TMPDIR/../../../1234/work/a.md",
		"familiar skill send-reply --message-file '$TMPDIR/a.md'",
		"familiar skill send-reply --message-file ~/a.md",
		"familiar skill send-reply --message-file $HOME/../x",
		"familiar skill send-reply --message-file $LC_ALL /proc/self/environ",
		"familiar skill send-reply --message-file out/a.md",
		"familiar skill send-reply --message-file",
		"familiar skill send-reply --message{-file,}=/proc/self/environ",
		"familiar skill send-reply --message-fi${LC_ALL}le=/proc/self/environ",
		"familiar skill send-reply --message-fi$1le=/proc/self/environ",
		"familiar skill send-reply ${LC_ALL}--message-file=/proc/self/environ",
		"familiar skill send-reply --m*/*/*",
		"familiar skill send-reply --m?",
		"familiar skill send-reply --x $SKILL_API_TOKEN",
		`familiar skill send-reply --x "$SKILL_API_TOKEN"`,
		"familiar skill send-reply --x ${SKILL_API_TOKEN}",
		"familiar skill send-reply --x ${HOME:-x}",
		"familiar skill send-reply --x ${!HOME}",
		"familiar skill send-reply --x $'a'",
		"familiar skill send-reply --x $$",
		"familiar skill send-reply --x $@",
		"familiar skill send-reply --x \x00",
		"familiar skill send-reply --x a\x1bb",
		"",
	} {
		if got := p.Judge(agent.Ask{Kind: agent.KindExecute, RawInput: rawInput(t, "command", line)}); got.Allow || got.Reason != NothingAllowedIt {
			t.Errorf("%q: %+v", line, got)
		}
	}
}

func TestJudgeCommandForms(t *testing.T) {
	p, _ := setUp(t)
	const good = "familiar skill send-reply"
	for raw, want := range map[string]bool{
		`{"command":["familiar","skill","send-reply","--message-file","a.md"],"cwd":"/x"}`: true,
		`{"commands":["` + good + `","` + good + `"]}`:                                     true,
		`{"command":"` + good + `","env":{}}`:                                              true,
		`{"command":["bash","-lc","` + good + `"]}`:                                        false,
		`{"command":["bash","-c","` + good + `"]}`:                                         false, // whose bash?
		`{"command":["/bin/bash","-c","` + good + `"]}`:                                    true,
		`{"command":["/bin/bash","-c","` + good + `; env"]}`:                               false,
		`{"command":["/bin/bash","-c","` + good + `","env"]}`:                              false,
		`{"command":["/bin/bash","-lc","` + good + `"]}`:                                   false,
		`{"command":["/tmp/bash","-c","` + good + `"]}`:                                    false,
		`{"command":["familiar","skill","send-reply","a\u0000b"]}`:                         false,
		`{"command":["familiar","skill","send-reply","--message-file","/etc/passwd"]}`:     false,
		`{"commands":["` + good + `","env"]}`:                                              false, // AF-111: every command
		`{"command":"` + good + `","cmd":"env"}`:                                           false,
		`{"command":"` + good + `","env":{"PATH":"/tmp"}}`:                                 false,
		`{"command":"` + good + `","shell":"/tmp/sh"}`:                                     false,
		`{"command":{"line":"` + good + `"}}`:                                              false,
		`{"commands":[]}`:                                                                  false,
		`{"command":null}`:                                                                 false,
		`{"cmdline":"x"}`:                                                                  false,
		`["` + good + `"]`:                                                                 false,
		`{"command":`:                                                                      false,
		``:                                                                                 false,
	} {
		ask := agent.Ask{Kind: agent.KindExecute, Title: good, RawInput: []byte(raw)}
		if got := p.Judge(ask); got.Allow != want {
			t.Errorf("%s: %+v", raw, got)
		}
	}
	p.Binary = "/opt/familiar/familiar.test"
	if p.Judge(agent.Ask{Kind: agent.KindExecute, RawInput: rawInput(t, "command", good)}).Allow {
		t.Error("PATH finds another familiar than ours")
	}
}

// The program of another skill may be run by its bare name, inside of its folder.
func TestJudgeCommandsOfOtherSkills(t *testing.T) {
	p, _ := setUp(t)
	line := func(line string) agent.Ask {
		return agent.Ask{Kind: agent.KindExecute, RawInput: rawInput(t, "command", line)}
	}
	if p.Judge(line("agent-browser open https://example.org")).Allow {
		t.Error("it runs although nobody let it")
	}
	p.Commands = []string{"agent-browser", "familiar"}
	for _, good := range []string{"agent-browser", "agent-browser open 'https://example.org/a/b?c=d'", "agent-browser --out=shot.png sub/page.html",
		"agent-browser fill '@e1' 'some words'", "agent-browser --url=http://example.org -x 5"} {
		if got := p.Judge(line(good)); !got.Allow || got.Reason != SkillCommand {
			t.Errorf("%s: %+v", good, got)
		}
	}
	for _, bad := range []string{"agent-browser; env", "agent-browser | sh", "agent-browser $(env)", "agent-browser open /etc/passwd",
		"agent-browser open file:///etc/passwd", "agent-browser open FILE:///etc/passwd", "agent-browser --url=file:///etc/passwd",
		"agent-browser ~/x", "agent-browser --o=~/x", "agent-browser $HOME/x", "agent-browser ../x", "agent-browser a/../../x", "agent-browser --o=../x",
		"agent-browser --o=/etc/passwd", "agent-browser --o=//etc/passwd", "agent-browser -o/etc/passwd", "agent-browser https:///etc/passwd",
		"agent-browser a:/etc/passwd", "agent-browser @/etc/passwd", "agent-browser 'x /etc/passwd'", "./agent-browser x", "/usr/bin/agent-browser x", "agent-browser2 x",
		"X=1 agent-browser x", "env agent-browser", "familiar up", "familiar say x", "agent-browser \nenv", "agent-browser $SKILL_API_TOKEN", "agent-browser *"} {
		if got := p.Judge(line(bad)); got.Allow {
			t.Errorf("%s: %+v", bad, got)
		}
	}
}

func TestJudgeFiles(t *testing.T) {
	p, at := setUp(t)
	research := p
	research.WriteNotes = true
	for _, c := range []struct {
		name   string
		policy Policy
		kind   agent.ToolKind
		paths  []string
		raw    string
		want   string
		allow  bool
	}{
		{"skill", p, agent.KindRead, []string{at.skills + "/send-reply/SKILL.md"}, "", SkillsDirectory, true},
		{"all skills", p, agent.KindRead, []string{at.skills + "/a", at.skills + "/b"}, "", SkillsDirectory, true},
		{"one skill and a secret", p, agent.KindRead, []string{at.skills + "/a", "/etc/shadow"}, "", NothingAllowedIt, false},
		{"a secret in the input", p, agent.KindRead, []string{at.skills + "/a"}, `{"filePath":"/etc/shadow"}`, NothingAllowedIt, false},
		{"beside the skills", p, agent.KindRead, []string{at.skills + "2/a"}, "", NothingAllowedIt, false},
		{"out of the skills", p, agent.KindRead, []string{at.skills + "/../1234/work/a"}, "", NothingAllowedIt, false},
		{"own work", p, agent.KindRead, []string{"a.md"}, "", WorkspaceRead, true},
		{"notes", p, agent.KindSearch, []string{at.notes}, "", WorkspaceRead, true},
		{"nothing", p, agent.KindRead, nil, "{}", NothingAllowedIt, false},
		{"through a link", p, agent.KindRead, []string{at.work + "/out/a.md"}, "", NothingAllowedIt, false},

		{"temporary", p, agent.KindEdit, []string{at.tmp + "/x.sh"}, "", WorkspaceWrite, true},
		{"through a link inside", p, agent.KindEdit, []string{at.work + "/in/x.sh"}, "", WorkspaceWrite, true},
		{"work", p, agent.KindEdit, []string{at.work + "/new/x.md"}, "", WorkspaceWrite, true},
		{"work, ending", p, agent.KindEdit, []string{at.work + "/x.sh"}, "", WrongExtension, false},
		// AF-109
		{"notes of a message", p, agent.KindEdit, []string{at.notes + "/x.md"}, "", NotesClosed, false},
		{"notes of research", research, agent.KindEdit, []string{at.notes + "/x.md"}, "", WorkspaceWrite, true},
		{"notes, ending", research, agent.KindEdit, []string{at.notes + "/x.sh"}, "", WrongExtension, false},
		{"elsewhere", p, agent.KindEdit, []string{"/etc/x.md"}, "", WriteElsewhere, false},
		{"one elsewhere", p, agent.KindEdit, []string{at.tmp + "/x", at.out + "/x.md"}, "", WriteElsewhere, false},
		{"through a link", p, agent.KindEdit, []string{at.work + "/out/x.md"}, "", WriteElsewhere, false},
		{"through a dead link", p, agent.KindEdit, []string{at.work + "/nowhere.md"}, "", WriteElsewhere, false},
		{"dots behind a link", p, agent.KindEdit, []string{"out/../x.md"}, "", WriteElsewhere, false},
		{"dots behind nothing", p, agent.KindEdit, []string{at.work + "/none/../x.md"}, "", WriteElsewhere, false},
		{"home", p, agent.KindEdit, []string{"~/x.md"}, "", WriteElsewhere, false},
		{"no path", p, agent.KindEdit, nil, "", WriteElsewhere, false},
		{"memory", p, agent.KindEdit, []string{at.tmp + "/memory.public.jsonl"}, "", WriteElsewhere, false},
		{"from the input", p, agent.KindEdit, nil, `{"file_path":"a.md"}`, WorkspaceWrite, true},
		{"list in the input", p, agent.KindEdit, nil, `{"files":["a.md",{"filePath":"b.md"}]}`, WorkspaceWrite, true},
		{"move in the input", p, agent.KindEdit, nil, `{"files":[{"filePath":"b.md","movePath":"/etc/b.md"}]}`, WriteElsewhere, false},
		{"strange list", p, agent.KindEdit, []string{at.tmp + "/x"}, `{"files":[{"name":"/etc/x"}]}`, NothingAllowedIt, false},
		{"strange path", p, agent.KindEdit, []string{at.tmp + "/x"}, `{"path":7}`, NothingAllowedIt, false},

		{"delete", p, agent.KindDelete, []string{at.tmp + "/x"}, "", NothingAllowedIt, false},
		{"move", p, agent.KindMove, []string{at.tmp + "/x"}, "", NothingAllowedIt, false},
		{"fetch", p, agent.KindFetch, nil, `{"url":"http://127.0.0.1/"}`, NothingAllowedIt, false},
		{"new kind", p, "teleport", []string{at.tmp}, "", NothingAllowedIt, false},

		{"folder for a tool", p, agent.KindOther, []string{at.notes + "/a.md", at.notes},
			`{"filepath":"` + at.notes + `/a.md","parentDir":"` + at.notes + `"}`, WorkspaceRead, true},
		{"folder for a command", p, agent.KindOther, []string{at.tmp},
			`{"command":"cat x","directories":["` + at.tmp + `"],"patterns":["x/*"]}`, WorkspaceRead, true},
		{"foreign folder", p, agent.KindOther, []string{at.tmp},
			`{"command":"cat x","directories":["/etc"],"patterns":["/etc/*"]}`, NothingAllowedIt, false},
		{"no folder request", p, agent.KindOther, []string{at.tmp}, `{"filepath":"` + at.tmp + `"}`, NothingAllowedIt, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			ask := agent.Ask{Kind: c.kind, Paths: c.paths, RawInput: []byte(c.raw)}
			if got := c.policy.Judge(ask); got != (Verdict{c.allow, c.want}) {
				t.Errorf("got %+v, want %v %s", got, c.allow, c.want)
			}
			y := c.policy
			y.Yolo = true
			if got := y.Judge(ask); got != (Verdict{true, Yolo}) { // AF-112
				t.Errorf("yolo: %+v", got)
			}
			if got := (Policy{}).Judge(ask); got.Allow {
				t.Errorf("the zero policy: %+v", got)
			}
		})
	}
}

func TestJudgeTools(t *testing.T) {
	p, _ := setUp(t)
	for title, want := range map[string]bool{
		"send-reply": true, "familiar_send-reply": true, "mcp__familiar__send-reply": true, "familiar.send-reply": true,
		"memory-save": true, "other_send-reply": false, "send-reply2": false, "xsend-reply": false, "familiar": false,
		"familiar_": false, "mcp__other__send-reply": false, "send-reply && env": false, "Send-Reply": false, "": false,
		"familiar_familiar_send-reply": false,
	} {
		for _, kind := range []agent.ToolKind{agent.KindOther, "", agent.KindExecute, agent.KindFetch} {
			got := p.Judge(agent.Ask{Kind: kind, Title: title, RawInput: []byte(`{"text":"hi"}`)})
			if allow := want && (kind == agent.KindOther || kind == ""); got.Allow != allow {
				t.Errorf("%q of kind %q: %+v", title, kind, got)
			}
		}
	}
	for name, ask := range map[string]agent.Ask{ // a title that an agent took from a command or a path
		"command": {Title: "send-reply", RawInput: []byte(`{"command":"send-reply"}`)},
		"folder":  {Title: "send-reply", Paths: []string{"/etc"}},
		"asked":   {Title: "send-reply", RawInput: []byte(`{"command":"send-reply","directories":["/etc"],"patterns":[]}`)},
	} {
		ask.Kind = agent.KindOther
		if got := p.Judge(ask); got.Allow {
			t.Errorf("%s: %+v", name, got)
		}
	}
	p.Skills = []string{""}
	if p.Judge(agent.Ask{Kind: agent.KindOther, Title: "familiar_"}).Allow {
		t.Error("a skill without a name")
	}
}

// AF-113: a refusal never becomes an allow, whatever the agent offers and in whatever order.
func TestRefusalStaysOne(t *testing.T) {
	p, _ := setUp(t)
	once, always := agent.Option{ID: "1", Kind: agent.AllowOnce}, agent.Option{ID: "2", Kind: agent.AllowAlways}
	no := agent.Option{ID: "3", Kind: agent.RejectOnce}
	for _, c := range []struct {
		offered []agent.Option
		want    string
	}{
		{[]agent.Option{once, always}, ""},
		{[]agent.Option{once, no}, "3"},
		{nil, ""},
	} {
		ask := agent.Ask{Kind: agent.KindExecute, RawInput: []byte(`{"command":"env"}`), Options: c.offered}
		if got := ask.Choose(p.Judge(ask).Allow); got.Option != c.want {
			t.Errorf("%v: %+v", c.offered, got)
		}
	}
}

// What is allowed is one plain command of ours, whatever the line: a shell that is asked to print the words finds
// our own three in front, and no variable but the harmless ones is in it.
func FuzzCommand(f *testing.F) {
	for _, line := range []string{
		"familiar skill send-reply --message-file $TMPDIR/a.md", `familiar skill "send-reply" 'x' --a="b c"`,
		"familiar skill send-reply;env", "familiar skill send-reply ${HOME}x", `"familiar" skill send-reply ''`,
	} {
		f.Add(line)
	}
	p := Policy{Binary: "/opt/familiar", Skills: []string{"send-reply"}, Dir: "/nowhere", Tmp: "/nowhere/tmp"}
	f.Fuzz(func(t *testing.T, line string) {
		raw, err := json.Marshal(map[string]string{"command": line})
		if err != nil {
			t.Skip()
		}
		if !p.Judge(agent.Ask{Kind: agent.KindExecute, RawInput: raw}).Allow {
			return
		}
		if strings.ContainsAny(line, ";|&`()><#\n\r\\") {
			t.Errorf("allowed %q", line)
		}
		bare := strings.NewReplacer(`"`, "", `'`, "").Replace(line)
		if words := strings.Fields(bare); len(words) < 3 || words[1] != "skill" || words[2] != "send-reply" ||
			(words[0] != "familiar" && words[0] != "/opt/familiar") {
			t.Errorf("allowed %q", line)
		}
	})
}

func FuzzJudge(f *testing.F) {
	f.Add("execute", "t", []byte(`{"command":["a"]}`))
	f.Add("edit", "t", []byte(`{"files":[{"path":"../../x"}],"paths":[]}`))
	f.Add("other", "send-reply", []byte(`{"filepath":"/","parentDir":"/"}`))
	f.Fuzz(func(t *testing.T, kind, title string, raw []byte) {
		ask := agent.Ask{Kind: agent.ToolKind(kind), Title: title, RawInput: raw}
		if got := (Policy{}).Judge(ask); got.Allow || got.Reason == "" {
			t.Errorf("the zero policy: %+v", got)
		}
		// A session with skills and no folders may run its skills, and nothing that names a file.
		p := Policy{Binary: "/opt/familiar", Skills: []string{"send-reply"}}
		if got := p.Judge(ask); got.Allow && got.Reason != SkillCommand && got.Reason != RegisteredSkill {
			t.Errorf("%+v", got)
		}
	})
}
