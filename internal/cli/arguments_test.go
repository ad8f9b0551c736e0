package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Whoever calls the program in a wrong way reads what is wrong in plain words, and gets exit code 2.
func TestMisuse(t *testing.T) {
	plainEnv(t)
	t.Setenv("FAMILIAR_ROOT", t.TempDir())
	t.Chdir(t.TempDir())
	for _, c := range []struct {
		args []string
		say  string
	}{
		{[]string{"upp"}, `no command "familiar upp"; did you mean up?`},
		{[]string{"config", "chek"}, `no command "familiar config chek"; did you mean check?`},
		{[]string{"help", "nonsense"}, `no command "familiar nonsense"`},
		{[]string{"help", "config", "nonsense"}, `no command "familiar config nonsense"`},
		{[]string{"completion"}, "the shell is missing"},
		{[]string{"completion", "tcsh"}, `"tcsh" is none of bash, fish, powershell, zsh`},
		{[]string{"explain"}, "EVENT.json is missing"},
		{[]string{"skills", "admit", "x"}, "HASH is missing"},
		{[]string{"up", "fern"}, `"fern" is one word too many; a bot is named by --dir`},
		{[]string{"doctor", "fern", "moss"}, `"moss" is one word too many`},
		{[]string{"doctor", "fern", "--dir", "moss"}, "not by both"},
		{[]string{"open", "fern", "--dir", "moss"}, "not by both"},
		{[]string{"up", "--port", "high"}, `--port "high": it must be a whole number`},
		{[]string{"up", "--port", "99999", "--dir", "x"}, "99999 is no port"},
		{[]string{"say", "--timeout", "5", "x"}, `--timeout "5": it must be a time`},
		{[]string{"notes", "ls", "--dir=~/bots"}, "without ="},
		{[]string{"memory", "search", "tea", "--since", "soon"}, `familiar: --since "soon": write a day`},
	} {
		code, out, errs := command(c.args...)
		if code != exitUsage || out != "" || !strings.Contains(errs, c.say) {
			t.Errorf("%v: exit %d\n%s%s", c.args, code, out, errs)
		}
	}
	if left, err := os.ReadDir("."); err != nil || len(left) > 0 {
		t.Errorf("a misuse made %v, %v", left, err)
	}
}

// A bot that is not there is told in the same words by every command, with what makes one.
func TestABotThatIsNotThere(t *testing.T) {
	plainEnv(t)
	t.Setenv("FAMILIAR_ROOT", t.TempDir())
	t.Chdir(t.TempDir())
	for _, args := range [][]string{{"doctor"}, {"memory", "ls"}, {"audit", "ls"}, {"notes", "ls"}, {"clock", "ls"}, {"skills", "ls"}, {"config", "show"}, {"open"}, {"say", "x"}, {"chat"}} {
		code, out, errs := command(append(args, "--dir", "my bot")...)
		if code != exitFailed || out != "" || !strings.Contains(errs, "no bot of that id (familiar up --dir 'my bot' makes one)") {
			t.Errorf("%v: exit %d\n%s%s", args, code, out, errs)
		}
	}
	for _, args := range [][]string{{"open"}, {"say", "x"}, {"chat"}} {
		if code, _, errs := command(args...); code != exitFailed || errs != "familiar: the bot is not running (start it with: familiar up)\n" {
			t.Errorf("%v: exit %d\n%s", args, code, errs)
		}
	}
	for _, args := range [][]string{{"memory", "ls"}, {"clock", "ls"}, {"skills", "ls"}, {"notes", "ls"}} {
		if code, out, errs := command(args...); code != 0 || out == "" || errs != "" {
			t.Errorf("%v, before the first start: exit %d\n%s%s", args, code, out, errs)
		}
	}
}

func TestHelp(t *testing.T) {
	var walk func(path []string, names []string)
	visited := 0
	walk = func(path, names []string) {
		for _, name := range names {
			args := append(append([]string{}, path...), name)
			code, out, errs := command(append(args, "--help")...)
			if code != 0 || errs != "" || !strings.Contains(out, "Examples:\n") || !strings.Contains(out, "familiar "+strings.Join(args, " ")) {
				t.Errorf("%v --help: exit %d\n%s%s", args, code, out, errs)
			}
			if _, same, _ := command(append([]string{"help"}, args...)...); same != out {
				t.Errorf("help %v is another text: %s", args, same)
			}
			visited++
			walk(args, commandsIn(out))
		}
	}
	_, out, _ := command("--help")
	walk(nil, commandsIn(out))
	if visited < 40 {
		t.Errorf("only %d commands were found", visited)
	}
	if _, out, _ := command("completion", "--help"); !strings.Contains(out, "package bash-completion") {
		t.Errorf("the help does not say what bash needs: %s", out)
	}
	for _, shell := range []string{"bash", "fish", "powershell", "zsh"} {
		if code, out, errs := command("completion", shell); code != 0 || !strings.Contains(out, "__complete") || errs != "" {
			t.Errorf("completion %s: exit %d, %s", shell, code, errs)
		}
	}
	_, long, _ := command("version")
	if _, short, _ := command("--version"); short != long || !strings.HasPrefix(long, "familiar ") {
		t.Errorf("two versions: %q, %q", long, short)
	}
}

// commandsIn are the names of the commands that a help lists.
func commandsIn(help string) (names []string) {
	_, list, _ := strings.Cut(help, "Available Commands:\n")
	list, _, _ = strings.Cut(list, "\n\n")
	for line := range strings.Lines(list) {
		names = append(names, strings.Fields(line)[0])
	}
	return names
}

func TestRefusalsOfNobody(t *testing.T) {
	plainEnv(t)
	dir := t.TempDir()
	put(t, filepath.Join(dir, "config.yaml"), "version: 1\naudit: {enabled: true}\n")
	if code, out, errs := command("audit", "show", "refused", "--dir", dir); code != 0 || out != "nobody was turned away\n" || errs != "" {
		t.Errorf("exit %d, %q, %q", code, out, errs)
	}
	put(t, filepath.Join(dir, "config.yaml"), "version: 1\n")
	if code, out, errs := command("audit", "show", "refused", "--dir", dir); code != 0 || out != "" || !strings.Contains(errs, "audit.enabled is off") {
		t.Errorf("without an audit: exit %d, %q, %q", code, out, errs)
	}
}
