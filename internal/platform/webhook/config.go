package webhook

import (
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"familiar/internal/secret"
	"familiar/internal/setting"
)

// Config is the section platforms.webhook.
type Config struct {
	Enabled     bool              `yaml:"enabled" doc:"take signed messages on POST /webhook/generic; the section switches it on by being there"`
	Secret      secret.Value      `yaml:"secret" doc:"the secret that both sides sign with; without one the platform does not start"`
	ReplyURL    string            `yaml:"replyUrl" doc:"where replies are posted to; empty: messages are taken and nothing is ever answered"`
	Headers     map[string]string `yaml:"headers" doc:"headers that every reply carries besides our own"`
	Format      string            `yaml:"format" doc:"what replies are written in: markdown, or plain for a place that shows Markdown as it is"`
	Actions     []string          `yaml:"actions" doc:"what the other side understands besides messages: edit, delete, react, files, ask"`
	MaxAttempts int               `yaml:"maxAttempts" doc:"how often one reply is sent before it becomes a dead letter"`
	RetryMs     int               `yaml:"retryMs" doc:"the wait before the second attempt; it doubles with each, up to ten minutes"`
	TimeoutMs   int               `yaml:"timeoutMs" doc:"how long the other side may take to answer one attempt"`
}

// The values of Format.
const (
	Markdown = "markdown"
	Plain    = "plain"
)

// The values of Actions.
const (
	doEdit   = "edit"
	doDelete = "delete"
	doReact  = "react"
	doFiles  = "files"
	doAsk    = "ask"
)

// shortSecret is the length below which a secret can be guessed from one signed message, in bytes.
const shortSecret = 16

// Defaults returns the section as it is when nothing is written: off. Twelve attempts take about 40 minutes.
func Defaults() Config {
	return Config{Format: Markdown, MaxAttempts: 12, RetryMs: 1000, TimeoutMs: 10_000}
}

// Check implements the convention of package setting. What is off is not looked at.
func (c *Config) Check(r *setting.Report) {
	if !c.Enabled {
		return
	}
	switch n := len(c.Secret.Reveal()); {
	case n == 0:
		r.Missing("secret")
	case n < shortSecret:
		r.Warn("secret", "has %d bytes and can be guessed; make one of %d or more, such as with openssl rand -hex 32", n, shortSecret)
	}
	c.checkURL(r)
	c.checkHeaders(r)
	r.OneOf("format", c.Format, Markdown, Plain)
	for _, a := range c.Actions {
		r.OneOf("actions", a, doEdit, doDelete, doReact, doFiles, doAsk)
	}
	r.AtLeast("maxAttempts", &c.MaxAttempts, 1)
	r.AtLeast("retryMs", &c.RetryMs, 1)
	r.AtLeast("timeoutMs", &c.TimeoutMs, 100)
}

func (c *Config) checkURL(r *setting.Report) {
	if c.ReplyURL == "" {
		r.Warn("replyUrl", "is empty: messages are taken, and nothing that is said ever arrives anywhere")
		return
	}
	u, err := url.Parse(c.ReplyURL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		r.Wrong("replyUrl", "is no address; write one such as https://host/path") // not shown: it may hold a key
	case u.User != nil:
		r.Wrong("replyUrl", "must not hold a name or password; use headers for that")
	case u.Scheme == "http" && !loopback(u.Hostname()):
		r.Warn("replyUrl", "is not encrypted: whoever is between can read the replies; use https")
	}
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// own are the headers that are ours to set.
var own = []string{headerTime, headerSignature, headerKey, "Content-Type", "Content-Length", "Host", "Transfer-Encoding", "Connection"}

func (c *Config) checkHeaders(r *setting.Report) {
	for name, value := range c.Headers {
		if name == "" || strings.ContainsFunc(name, notInName) || strings.ContainsAny(value, "\r\n\x00") {
			r.Wrong("headers", "%q is no header; a name has letters, digits and dashes, a value is one line", name)
		}
		if slices.ContainsFunc(own, func(o string) bool { return strings.EqualFold(o, name) }) {
			r.Wrong("headers", "%s is set by Familiar itself; leave it out", http.CanonicalHeaderKey(name))
		}
	}
}

func notInName(c rune) bool {
	return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_'
}

// sends says whether the other side understands an action.
func (c *Config) sends(action string) bool { return slices.Contains(c.Actions, action) }
