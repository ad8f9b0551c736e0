package config

import (
	"net"
	"net/netip"
	"net/url"
	"strings"

	"familiar/internal/setting"
)

// Server is the section server.
type Server struct {
	Host           string   `yaml:"host" doc:"address to listen on; any other than loopback is reached from other machines"`
	Port           int      `yaml:"port" doc:"port to listen on; 0 takes any free one"`
	PublicBaseURL  string   `yaml:"publicBaseUrl" doc:"address under which the outside reaches this listener, as in https://bot.example.org"`
	AllowedHosts   []string `yaml:"allowedHosts" doc:"further names under which the page may be opened"`
	TrustedProxies []string `yaml:"trustedProxies" doc:"addresses or networks of proxies whose X-Forwarded-For is believed, as in 10.0.0.0/8"`
	MaxReconnects  int      `yaml:"maxReconnects" env:"MAX_RECONNECTS" doc:"how often in a row a lost platform is connected anew before the bot ends with an error; 0: without end"`
	ShutdownMs     int      `yaml:"shutdownMs" doc:"how long running sessions may take to finish when the bot stops, in milliseconds"`
}

// Health is the section health.
type Health struct {
	Enabled bool `yaml:"enabled" doc:"open a second listener, on every address, with /livez, /healthz, /readyz and /metrics alone"`
	Port    int  `yaml:"port" env:"HEALTH_PORT" doc:"port of that listener"`
}

func defaultServer() Server {
	return Server{Host: "127.0.0.1", Port: 8420, ShutdownMs: 20_000}
}

func defaultHealth() Health { return Health{Port: 8080} }

// Check reports what cannot work, and says aloud when other machines can connect.
func (s *Server) Check(r *setting.Report) {
	s.checkHost(r)
	checkPort(r, s.Port)
	if s.PublicBaseURL != "" {
		u, err := url.Parse(s.PublicBaseURL)
		if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") || u.RawQuery != "" || u.Fragment != "" {
			r.Wrong("publicBaseUrl", "is not an address as in https://bot.example.org")
		}
	}
	for _, host := range s.AllowedHosts {
		if strings.TrimSpace(host) == "" || strings.ContainsAny(host, "/ ") {
			r.Wrong("allowedHosts", "%q is no host name; write it without http:// and path", host)
		}
	}
	for _, proxy := range s.TrustedProxies {
		_, network := netip.ParsePrefix(proxy)
		if _, single := netip.ParseAddr(proxy); network != nil && single != nil {
			r.Wrong("trustedProxies", "%q is neither an address nor a network as in 10.0.0.0/8", proxy)
		}
	}
	r.AtLeast("maxReconnects", &s.MaxReconnects, 0)
	r.AtLeast("shutdownMs", &s.ShutdownMs, 0)
}

func (s *Server) checkHost(r *setting.Report) {
	ip := net.ParseIP(strings.Trim(s.Host, "[]"))
	switch {
	case s.Host == "":
		r.Missing("host")
	case strings.ContainsAny(s.Host, "/ "):
		r.Wrong("host", "%q is no address; write it without http:// and port", s.Host)
	case s.Host != "localhost" && (ip == nil || !ip.IsLoopback()):
		r.Warn("host", "other machines can connect to %s; they need the token", s.Host)
	}
}

// Check reports what cannot work.
func (h *Health) Check(r *setting.Report) { checkPort(r, h.Port) }

func checkPort(r *setting.Report, port int) {
	if port < 0 || port > 65535 {
		r.Wrong("port", "%d is no port; use 0 to 65535", port)
	}
}
