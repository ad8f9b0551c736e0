package backup

import (
	"strings"

	"familiar/internal/secret"
	"familiar/internal/setting"
)

// Config is the section gitBackup.
type Config struct {
	Enabled      bool         `yaml:"enabled" env:"GIT_BACKUP_ENABLED" doc:"push workspace.repoPath to a Git repository; needs remoteUrl"`
	RemoteURL    string       `yaml:"remoteUrl" env:"GIT_BACKUP_REMOTE_URL" doc:"the repository, without a login in the address"`
	IntervalMs   int          `yaml:"intervalMs" env:"GIT_BACKUP_INTERVAL_MS" doc:"time between two pushes, in milliseconds"`
	AuthorName   string       `yaml:"authorName" env:"GIT_BACKUP_AUTHOR_NAME" doc:"author of the commits"`
	AuthorEmail  string       `yaml:"authorEmail" env:"GIT_BACKUP_AUTHOR_EMAIL" doc:"mail address of that author"`
	AuthUser     string       `yaml:"authUser" env:"GIT_BACKUP_AUTH_USER" doc:"user at the repository; empty takes authorEmail"`
	AuthPassword secret.Value `yaml:"authPassword" env:"GIT_BACKUP_AUTH_PASSWORD" doc:"password or token at the repository; empty takes agent.githubToken"`
}

// leastInterval leaves one push time to end before the next, in milliseconds.
const leastInterval = 60_000

// Defaults returns the section as it is when nothing is written: off.
func Defaults() Config {
	return Config{IntervalMs: 3_600_000, AuthorName: "AIr-Friends Backup", AuthorEmail: "airfriends-backup@noreply.github.com"}
}

// Check corrects what is out of range, and switches off what has nowhere to go.
func (c *Config) Check(r *setting.Report) {
	if c.Enabled && strings.TrimSpace(c.RemoteURL) == "" {
		r.Warn("enabled", "is switched off: remoteUrl is blank")
		c.Enabled = false
	}
	if holdsLogin(c.RemoteURL) {
		r.Wrong("remoteUrl", "holds a login; it belongs into authUser and authPassword, where it is kept secret")
	}
	if strings.HasPrefix(strings.TrimSpace(c.RemoteURL), "-") {
		r.Wrong("remoteUrl", "%q is an option of git, and no address", c.RemoteURL)
	}
	r.AtLeast("intervalMs", &c.IntervalMs, leastInterval)
	if strings.TrimSpace(c.AuthorName) == "" || strings.ContainsAny(c.AuthorName, "<>\n") {
		r.Wrong("authorName", "%q is not a name", c.AuthorName)
	}
	if !strings.Contains(c.AuthorEmail, "@") || strings.ContainsAny(c.AuthorEmail, "<> \n") {
		r.Wrong("authorEmail", "%q is not a mail address", c.AuthorEmail)
	}
}

// holdsLogin reports whether an address holds a password, or a user where only the login of http has one: over ssh the user is
// a part of the address.
func holdsLogin(address string) bool {
	scheme, rest, ok := strings.Cut(address, "://")
	authority, _, _ := strings.Cut(rest, "/")
	at := strings.LastIndexByte(authority, '@')
	return ok && at >= 0 && (strings.TrimSpace(scheme) != "ssh" || strings.Contains(authority[:at], ":"))
}

// Login returns who pushes: what is not said of the login is the author, and the token that agents sign in to GitHub
// with.
func (c Config) Login(token secret.Value) (user string, password secret.Value) {
	user, password = c.AuthUser, c.AuthPassword
	if user == "" {
		user = c.AuthorEmail
	}
	if !password.Set() {
		password = token
	}
	return user, password
}
