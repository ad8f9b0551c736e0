package config

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"familiar/internal/gate"
)

// lay writes files into a fresh directory.
func lay(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func load(t *testing.T, yaml string, environ ...string) (Loaded, error) {
	t.Helper()
	return Load(Where{Dir: lay(t, map[string]string{"config.yaml": yaml})}, environ)
}

func good(t *testing.T, yaml string, environ ...string) Loaded {
	t.Helper()
	l, err := load(t, yaml, environ...)
	if err != nil {
		t.Fatalf("unexpected problems:\n%v", err)
	}
	return l
}

// bad wants exactly one line for each of wants, which it must hold.
func bad(t *testing.T, err error, wants ...string) {
	t.Helper()
	var problems Problems
	if !errors.As(err, &problems) {
		t.Fatalf("want problems, got %v", err)
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != len(wants) {
		t.Fatalf("want %d lines, got:\n%v", len(wants), err)
	}
	for i, want := range wants {
		if !strings.Contains(lines[i], want) {
			t.Errorf("line %d: want %q in %q", i+1, want, lines[i])
		}
	}
}

func warned(t *testing.T, l Loaded, want string) {
	t.Helper()
	if !slices.ContainsFunc(l.Warnings, func(p Problem) bool { return strings.Contains(p.String(), want) }) {
		t.Errorf("no warning with %q in:\n%v", want, l.Warnings)
	}
}

// AF-1: the file of the environment is laid over the base; keys that it does not have keep their value.
func TestEnvironmentFileIsLaidOver(t *testing.T) {
	dir := lay(t, map[string]string{
		"config.yaml":             "version: 1\nagent: {tokenLimit: 20000, model: big}\n",
		"config.production.yaml":  "agent: {tokenLimit: 4096}\n",
		"config.development.yaml": "agent: {tokenLimit: 1}\n",
	})
	for _, name := range []string{"FAMILIAR_ENV", "APP_ENV", "DENO_ENV", "ENV"} {
		l, err := Load(Where{Dir: dir}, []string{name + "=production"})
		if err != nil {
			t.Fatal(err)
		}
		if l.Config.Agent.Briefing.TokenLimit != 4096 || l.Config.Agent.Model != "big" || l.Environment != "production" {
			t.Errorf("%s: got %d, %q, %q", name, l.Config.Agent.Briefing.TokenLimit, l.Config.Agent.Model, l.Environment)
		}
		if len(l.Files) != 2 || filepath.Base(l.Files[1]) != "config.production.yaml" {
			t.Errorf("%s: read %v", name, l.Files)
		}
	}
}

func TestWhichEnvironment(t *testing.T) {
	for want, environ := range map[string][]string{
		"development": nil,
		"a":           {"FAMILIAR_ENV=a", "APP_ENV=b", "DENO_ENV=c", "ENV=d"},
		"b":           {"FAMILIAR_ENV=", "APP_ENV=b", "ENV=d"},
		"d":           {"APP_ENV=../../etc", "ENV=d"},
	} {
		if got := environment(table(environ)); got != want {
			t.Errorf("%v: got %q, want %q", environ, got, want)
		}
	}
	if got := environment(map[string]string{"ENV": "/root/.shrc"}); got != "development" {
		t.Errorf("a path in ENV became %q", got)
	}
}

// Lists are not joined.
func TestListsAreReplacedWhole(t *testing.T) {
	dir := lay(t, map[string]string{
		"config.yaml":             "version: 1\nserver: {allowedHosts: [a, b], port: 1}\n",
		"config.development.yaml": "server: {allowedHosts: [c]}\n",
	})
	l, err := Load(Where{Dir: dir}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := l.Config.Server; !slices.Equal(got.AllowedHosts, []string{"c"}) || got.Port != 1 {
		t.Fatalf("got %+v", got)
	}
}

func TestNullReplaces(t *testing.T) {
	dir := lay(t, map[string]string{
		"config.yaml":             "version: 1\nserver: {port: 1, shutdownMs: 7}\naccess: {replyPolicy: all}\n",
		"config.development.yaml": "server: {port: null}\naccess: null\n",
	})
	l, err := Load(Where{Dir: dir}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if l.Config.Server.Port != 8420 || l.Config.Server.ShutdownMs != 7 || l.Config.Access.ReplyPolicy != gate.ReplyChannels {
		t.Fatalf("got %+v, %v", l.Config.Server, l.Config.Access.ReplyPolicy)
	}
}

// AF-4: the message speaks of platforms.
func TestNoPlatform(t *testing.T) {
	for _, yaml := range []string{
		"version: 1\nplatforms: {}\n",
		"version: 1\nplatforms: {web: {enabled: false}}\n",
	} {
		_, err := load(t, yaml)
		bad(t, err, "config.yaml:2:1: platforms: no platform is on")
	}
	if _, err := load(t, "version: 1\nplatforms: {disord: {}}\n"); err == nil || strings.Contains(err.Error(), "no platform is on") {
		t.Errorf("a platform that is mistyped: %v", err) // what is wrong with it is enough
	}
	for _, yaml := range []string{"version: 1\n", "version: 1\nplatforms:\n  web:\n", "version: 1\nplatforms: {web: {}}\n"} {
		if !good(t, yaml).Config.Platforms.Web.Enabled {
			t.Errorf("the page is off with %q", yaml)
		}
	}
}

// AF-7: the file and the place are named, and nothing is loaded.
func TestFilesThatAreNoMapping(t *testing.T) {
	cases := []struct{ name, yaml, want string }{
		{"AF-7 a list", "- a\n- b\n", "config.yaml:1:1: the file holds a list"},
		{"a word", "hello\n", "config.yaml:1:1: the file holds text"},
		{"null", "~\n", "config.yaml:1:1: the file holds nothing"},
		{"empty", "", "config.yaml:1:1: the file is empty"},
		{"only comments", "# one\n", "config.yaml:1:1: the file is empty"},
		{"AF-7 a syntax error", "a: [\nb: }\n", "config.yaml:2:4: not YAML"},
		{"a tab", "a:\n\tb: 1\n", "config.yaml:2:1: not YAML"},
		{"two documents", "version: 1\n---\nversion: 1\n", "several YAML documents"},
		{"not UTF-8", "a: \xff\n", "is not UTF-8"},
		{"an alias", "version: 1\nbot: &x {name: a}\nserver: *x\n", "config.yaml:3:9: aliases"},
		{"a merge key", "version: 1\nbot:\n  <<: {name: a}\n", "config.yaml:3:3: a key must be a plain word"},
		{"a tag of somebody", "version: 1\nbot: {name: !env X}\n", "config.yaml:2:13: the tag !env"},
		{"a duplicate key", "version: 1\nbot: {name: a}\nbot: {name: b}\n", "config.yaml:3:1: bot: duplicate key; it is already in line 2"},
		{"too deep", "version: 1\nbot: " + strings.Repeat("[", 80) + strings.Repeat("]", 80), "nested"},
		{"too many keys", manyKeys(100_000), "config.yaml:1001:1: a mapping of more than 1000 keys"},
		{"too large", "version: 1\n#" + strings.Repeat("x", largest), "larger than 1024 KiB"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			l, err := load(t, c.yaml)
			bad(t, err, c.want)
			if l.Files != nil || l.Config.Version != 0 {
				t.Error("something was loaded")
			}
		})
	}
}

func manyKeys(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("k" + strconv.Itoa(i) + ":\n")
	}
	return b.String()
}

func TestManyProblemsAreCut(t *testing.T) {
	_, err := load(t, manyKeys(900))
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != mostTold+1 || lines[mostTold] != "and 850 more" {
		t.Errorf("%d lines, the last %q", len(lines), lines[len(lines)-1])
	}
}

// AF-8: no file is fine; when the environment supplies values instead, that is worth a word.
func TestNoFile(t *testing.T) {
	l, err := Load(Where{Dir: t.TempDir()}, []string{"HOME=/root"})
	if err != nil || len(l.Warnings) > 0 || len(l.Files) > 0 {
		t.Fatalf("got %v, %v", l.Warnings, err)
	}
	if l.Config.Bot.Desk != "companion" || !l.Config.Platforms.Web.Enabled || l.Config.Server.Port != 8420 {
		t.Fatalf("the defaults are %+v", l.Config)
	}
	l, err = Load(Where{Dir: t.TempDir()}, []string{"REPLY_POLICY=all"})
	if err != nil || l.Config.Access.ReplyPolicy != gate.ReplyAll {
		t.Fatalf("got %v, %v", l.Config.Access.ReplyPolicy, err)
	}
	warned(t, l, "no configuration file")
	l, err = Load(Where{Dir: filepath.Join(t.TempDir(), "not", "there")}, nil)
	if err != nil || len(l.Files) > 0 {
		t.Fatalf("got %v", err)
	}
}

func TestTwoFilesAtOnce(t *testing.T) {
	_, err := Load(Where{Dir: lay(t, map[string]string{"config.yaml": "version: 1\n", "config.json": "{}"})}, nil)
	bad(t, err, "config.json: stands beside config.yaml")
	_, err = Load(Where{Dir: lay(t, map[string]string{"config.yml": "version: 1\n"})}, nil)
	bad(t, err, "config.yml: is not read")
}

// AF-25: the very file that was asked for is read, and the one of the environment beside it.
func TestExplicitFile(t *testing.T) {
	dir := lay(t, map[string]string{
		"config.yaml":          "version: 1\nserver: {port: 1}\n",
		"conf/config.yaml":     "version: 1\nserver: {port: 2}\n",
		"conf/prod.yaml":       "version: 1\nserver: {port: 3, shutdownMs: 3}\n",
		"conf/prod.green.yaml": "server: {port: 4}\n",
	})
	file := filepath.Join(dir, "conf", "prod.yaml")
	l, err := Load(Where{Dir: dir, File: file}, nil)
	if err != nil || l.Config.Server.Port != 3 || l.Dir != filepath.Join(dir, "conf") {
		t.Fatalf("got %+v, %v", l.Config.Server, err)
	}
	l, err = Load(Where{File: file}, []string{"ENV=green"})
	if err != nil || l.Config.Server.Port != 4 || l.Config.Server.ShutdownMs != 3 {
		t.Fatalf("got %+v, %v", l.Config.Server, err)
	}
	_, err = Load(Where{File: filepath.Join(dir, "conf", "pord.yaml")}, nil)
	bad(t, err, "pord.yaml: no such file")
	_, err = Load(Where{File: dir}, nil)
	bad(t, err, "is not a file")
}

func TestJSONFile(t *testing.T) {
	dir := lay(t, map[string]string{
		"config.json": "{\n\t\"version\": 1,\n\t\"bot\": {\"name\": \"\\ud83d\\ude00\"},\n\t\"access\": {\"channels\": [\"web/account/a\"]}\n}\n",
	})
	l, err := Load(Where{Dir: dir}, nil)
	if err != nil || l.Config.Bot.Name != "😀" || len(l.Config.Access.Channels) != 1 {
		t.Fatalf("got %+v, %v", l.Config, err)
	}
	for content, want := range map[string]string{
		"{\"version\": 1,\n \"bot\": {\"nmae\": \"a\"}}": "config.json:2:10: bot.nmae: unknown key; did you mean name?",
		"{\"version\": 1,\n\n \"version\": 1}":           "config.json:3:2: version: duplicate key; it is already in line 1",
		"{\"version\": 1,\n \"bot\": }":                  "config.json:2:9: not JSON",
		"{\"version\": 1":                                "ends too early",
		"{\"version\": 1} {}":                            "something follows",
		"[]":                                             "config.json:1:1: the file holds a list",
		"":                                               "ends too early",
	} {
		_, err := Load(Where{Dir: lay(t, map[string]string{"config.json": content})}, nil)
		bad(t, err, want)
	}
}

func TestCommandLineWins(t *testing.T) {
	dir := lay(t, map[string]string{"config.yaml": "version: 1\nserver: {port: 1}\n"})
	l, err := Load(Where{Dir: dir, Set: []Override{{"flag --port", "server.port", "0"}}}, nil)
	if err != nil || l.Config.Server.Port != 0 {
		t.Fatalf("got %+v, %v", l.Config.Server, err)
	}
	_, err = Load(Where{Dir: dir, Set: []Override{{"flag --desk", "bot.desk", "workbench"}}}, nil)
	bad(t, err, "flag --desk: bot.desk: the desk workbench is not in this build")
}

// BUG-L12: a mistyped path is told at load, with the path that was looked at.
func TestPathsAreChecked(t *testing.T) {
	dir := lay(t, map[string]string{"config.yaml": "version: 1\nbot: {prompts: promts}\nagent:\n  skillsDir: config.yaml\n  systemPromptPath: gone.md\nworkspace: {repoPath: vloumes/data}\n"})
	_, err := Load(Where{Dir: dir}, nil)
	bad(t, err,
		"config.yaml:2:16: bot.prompts: "+filepath.Join(dir, "promts")+" does not exist",
		"config.yaml:4:14: agent.skillsDir: "+filepath.Join(dir, "config.yaml")+" is not a folder",
		"config.yaml:5:21: agent.systemPromptPath: "+filepath.Join(dir, "gone.md")+" does not exist",
		"config.yaml:6:23: workspace.repoPath: "+filepath.Join(dir, "vloumes")+" does not exist")
}

func TestDanglingLinkIsNotNoFile(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink("gone.yaml", filepath.Join(dir, "config.yaml")); err != nil {
		t.Fatal(err)
	}
	_, err := Load(Where{Dir: dir}, nil)
	bad(t, err, "config.yaml: read: no such file")
}

func TestReadableSecretsAreWarnedOf(t *testing.T) {
	for yaml, want := range map[string]bool{
		"version: 1\nagent: {geminiApiKey: written-out}\n": true,
		"version: 1\nagent: {geminiApiKey: env:KEY}\n":     false,
		"version: 1\nagent: {geminiApiKey: \"${KEY}\"}\n":  false,
	} {
		dir := lay(t, map[string]string{"config.yaml": yaml})
		if err := os.Chmod(filepath.Join(dir, "config.yaml"), 0o640); err != nil {
			t.Fatal(err)
		}
		l, err := Load(Where{Dir: dir}, []string{"KEY=from-environment"})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(l.Warnings.Error(), "chmod 600"); got != want {
			t.Errorf("%q: warned %v", yaml, got)
		}
	}
}

// The directory is what is wrong, not each file that could lie in it.
func TestADirectoryThatIsNone(t *testing.T) {
	dir := lay(t, map[string]string{"a": "x"})
	for _, file := range []string{"a", "a/below"} {
		_, err := Load(Where{Dir: filepath.Join(dir, file)}, nil)
		bad(t, err, "not a directory")
	}
	_, err := Load(Where{Dir: filepath.Join(dir, strings.Repeat("x", 300))}, nil)
	bad(t, err, "name too long")
	if err := os.Chmod(dir, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "a")); err != nil { // root may enter it all the same
		_, err = Load(Where{Dir: dir}, nil)
		bad(t, err, "permission denied")
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
}
