package backup

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"familiar/internal/secret"
	"familiar/internal/setting"
)

// An address is one: no password stands in it, which lists of processes would show, and git does not take it for an option.
func TestAddresses(t *testing.T) {
	for address, good := range map[string]bool{
		"https://git.example.org/x.git": true, "ssh://git@git.example.org/x": true, "git@git.example.org:x.git": true,
		"/srv/x.git": true, "https://git.example.org/a@b": true,
		"https://bot:word@git.example.org/x": false, "https://bot@git.example.org/x": false,
		"ssh://git:word@git.example.org/x": false, "--upload-pack=x": false,
	} {
		c, r := Defaults(), new(setting.Report)
		c.Enabled, c.RemoteURL = true, address
		c.Check(r)
		if got := len(r.Problems()) == 0; got != good {
			t.Errorf("%s is good: %v", address, got)
		}
	}
}

// AF-194: the host is the own setting, else that of the backup, else github.com.
func TestWhoseLoginIsLent(t *testing.T) {
	for _, c := range []struct{ own, remote, want string }{
		{"", "https://git.example.org/bot/data.git", "git.example.org"},
		{"git.example.net", "https://git.example.org/bot/data.git", "git.example.net"},
		{"", "https://git.example.org:8443/x", "git.example.org:8443"},
		{"", "ssh://git@git.example.org:2222/x", "git.example.org"},
		{"", "git@git.example.org:bot/data.git", "git.example.org"},
		{"", "git.example.org:bot/data.git", "git.example.org"},
		{"", "/srv/backup.git", "github.com"},
		{"", "./a:b", "github.com"},
		{"", "", "github.com"},
	} {
		loan, ok := Credential{Enabled: true, Host: c.own}.Lend(Config{RemoteURL: c.remote, AuthUser: "bot", AuthPassword: secret.New("pass-word")}, secret.Value{})
		if !ok || loan.Host() != c.want || loan.line.Reveal() != "https://bot:pass-word@"+c.want {
			t.Errorf("%+v: %v, %q", c, ok, loan.line.Reveal())
		}
	}
	with := Config{AuthPassword: secret.New("pass-word"), AuthorEmail: "a@b.c"}
	if _, ok := (Credential{}).Lend(with, secret.Value{}); ok {
		t.Error("lent although it is off")
	}
	if _, ok := (Credential{Enabled: true}).Lend(Config{AuthorEmail: "a@b.c"}, secret.Value{}); ok {
		t.Error("lent without a password")
	}
	if loan, ok := (Credential{Enabled: true}).Lend(Config{AuthorEmail: "a@b.c"}, secret.New("ghp_token")); !ok || loan.line.Reveal() != "https://a%40b.c:ghp_token@github.com" {
		t.Errorf("%v, %q", ok, loan.line.Reveal())
	}
}

// AF-194: Git itself reads what was laid, for that host and for no other, and nobody else may read it.
func TestGitSignsInWithTheLoan(t *testing.T) {
	const word = "p@ss:w/o rd%+é"
	home := t.TempDir()
	loan, _ := Credential{Enabled: true}.Lend(Config{RemoteURL: "https://git.example.org/x", AuthUser: "the bot", AuthPassword: secret.New(word)}, secret.Value{})
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte("[user]\n\tname = ann\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := loan.Lay(home); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".git-credentials", ".gitconfig"} {
		if info, err := os.Stat(filepath.Join(home, name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	fill := func(host string) string {
		cmd := exec.Command("git", "credential", "fill")
		cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=true", "GIT_CONFIG_NOSYSTEM=1"}
		cmd.Stdin = strings.NewReader("protocol=https\nhost=" + host + "\n\n")
		out, _ := cmd.Output() // it fails where there is nothing
		return string(out)
	}
	if got := fill("git.example.org"); !strings.Contains(got, "username=the bot\n") || !strings.Contains(got, "password="+word+"\n") {
		t.Errorf("got %q", got)
	}
	if got := fill("git.example.net"); strings.Contains(got, word) {
		t.Errorf("another host gets it: %q", got)
	}
	var vault secret.Vault
	vault.Know(loan.Secrets()...)
	text, err := os.ReadFile(filepath.Join(home, ".git-credentials"))
	if err != nil || strings.Contains(vault.Mask("it says "+string(text)), "p%40ss") {
		t.Errorf("the vault does not know the address: %v", err)
	}
	link := filepath.Join(t.TempDir(), "home")
	if err := os.Mkdir(link, 0o700); err != nil {
		t.Fatal(err)
	}
	target := filepath.Join(t.TempDir(), "victim")
	if err := os.Symlink(target, filepath.Join(link, ".git-credentials")); err != nil {
		t.Fatal(err)
	}
	if err := loan.Lay(link); err == nil {
		t.Error("it went through a link out of HOME")
	}
	if _, err := os.Stat(target); err == nil {
		t.Error("what the link led to was written")
	}
}
