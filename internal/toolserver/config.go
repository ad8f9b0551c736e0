package toolserver

import (
	"net"
	"strings"
	"time"

	"familiar/internal/setting"
)

// DefaultPort is where the listener tries first. Being a default, it gives way to any free port when it is taken.
const DefaultPort = 3001

// Config is the section skillApi.
type Config struct {
	Enabled          bool   `yaml:"enabled" doc:"let agent processes call tools over HTTP; without it they cannot answer anybody"`
	Host             string `yaml:"host" doc:"address to listen on; loopback only"`
	Port             int    `yaml:"port" doc:"port to listen on; 0 takes any free one, and so does 3001 when it is taken"`
	SessionTimeoutMs int    `yaml:"sessionTimeoutMs" doc:"how long a session may be idle before its token ends, in milliseconds"`
}

// Defaults returns the section as it is when nothing is configured.
func Defaults() Config {
	return Config{Enabled: true, Host: "127.0.0.1", Port: DefaultPort, SessionTimeoutMs: 1_800_000}
}

// leastTimeout is the shortest sessionTimeoutMs, in milliseconds: below it a session would end between two calls.
const leastTimeout = 1000

// Check reports what cannot work.
func (c *Config) Check(r *setting.Report) {
	if !loopback(c.Host) {
		r.Wrong("host", "%q is not a loopback address; agents run on this machine: use 127.0.0.1", c.Host)
	}
	if c.Port < 0 || c.Port > 65535 {
		r.Wrong("port", "%d is no port; use 0 to 65535", c.Port)
	}
	r.AtLeast("sessionTimeoutMs", &c.SessionTimeoutMs, leastTimeout)
}

func (c Config) timeout() time.Duration { return time.Duration(c.SessionTimeoutMs) * time.Millisecond }

// loopback reports whether host, without a port, names this machine and nothing else.
func loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return ip != nil && ip.IsLoopback()
}
