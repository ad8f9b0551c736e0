package backup

import (
	"fmt"
	"net/url"
	"os"
	"strings"

	"familiar/internal/secret"
	"familiar/internal/setting"
)

// Credential is the section agent.gitCredential: the login of gitBackup, lent to the agent's own Git.
type Credential struct {
	Enabled bool   `yaml:"enabled" env:"AGENT_GIT_CREDENTIAL_ENABLED" doc:"let the agent's Git sign in with the login of gitBackup, in direct conversations with an owner"`
	Host    string `yaml:"host" env:"AGENT_GIT_CREDENTIAL_HOST" doc:"the host that this login is for; empty takes that of gitBackup.remoteUrl, else github.com"`
}

// Check reports a host that is none.
func (c *Credential) Check(r *setting.Report) {
	if strings.ContainsAny(c.Host, "/@ \t\r\n") {
		r.Wrong("host", "%q is no host name; write it without https:// and login", c.Host)
	}
}

// fallbackHost is whose login it is when nothing says so.
const fallbackHost = "github.com"

// Loan is the login of one host, for the Git of an agent.
type Loan struct {
	host string
	line secret.Value // https://user:password@host
}

// Lend makes the loan that the section asks for. ok is false where it is off, and where there is no password to lend,
// which whoever asks says once. token is what stands in for the password.
func (c Credential) Lend(of Config, token secret.Value) (loan Loan, ok bool) {
	user, password := of.Login(token)
	if !c.Enabled || !password.Set() {
		return Loan{}, false
	}
	host := c.Host
	if host == "" {
		host = hostOf(of.RemoteURL)
	}
	at := url.URL{Scheme: "https", User: url.UserPassword(user, password.Reveal()), Host: host}
	return Loan{host: host, line: secret.New(at.String())}, true
}

// Secrets are what must not be told of a loan: a password looks different where it is written as part of an address.
func (l Loan) Secrets() []secret.Value {
	at, err := url.Parse(l.line.Reveal())
	if err != nil {
		return []secret.Value{l.line}
	}
	_, written, _ := strings.Cut(at.User.String(), ":")
	return []secret.Value{l.line, secret.New(written)}
}

// Host is whose login it is.
func (l Loan) Host() string { return l.host }

// hostOf is the host of a remote repository's address, with its port where it has one; the fallback for what names none.
func hostOf(remote string) string {
	remote = strings.TrimSpace(remote)
	if at, err := url.Parse(remote); err == nil && at.Host != "" {
		if at.Scheme == "http" || at.Scheme == "https" {
			return at.Host
		}
		return at.Hostname()
	}
	// user@host:path, as ssh has it; a path of this machine has no colon before its first slash
	before, _, ok := strings.Cut(remote, ":")
	if _, host, login := strings.Cut(before, "@"); login {
		before = host
	}
	if ok && before != "" && !strings.ContainsAny(before, "/\\ ") {
		return before
	}
	return fallbackHost
}

// Lay writes the loan into a HOME, for Git's own helper «store». Where Git has settings there already, one is added.
func (l Loan) Lay(home string) error {
	root, err := os.OpenRoot(home)
	if err != nil {
		return fmt.Errorf("lend the login of Git: %w", err)
	}
	defer func() { _ = root.Close() }()
	const file, settings = ".git-credentials", ".gitconfig"
	before, err := root.ReadFile(settings)
	if err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("lend the login of Git: %w", err)
	}
	const store = "[credential]\n\thelper = store\n"
	for name, text := range map[string]string{file: l.line.Reveal() + "\n", settings: string(before) + store} {
		if err := root.WriteFile(name, []byte(text), 0o600); err != nil {
			return fmt.Errorf("lend the login of Git: %w", err)
		}
		if err := root.Chmod(name, 0o600); err != nil { // whatever the umask says
			return fmt.Errorf("lend the login of Git: %w", err)
		}
	}
	return nil
}
