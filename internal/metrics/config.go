package metrics

import (
	"regexp"
	"slices"
	"strings"

	"familiar/internal/setting"
)

// Config is the section metrics.
type Config struct {
	Enabled bool   `yaml:"enabled" env:"METRICS_ENABLED" doc:"count what happens, for a Prometheus server to fetch: with the token on the one listener, without it on health.port"`
	Path    string `yaml:"path" env:"METRICS_PATH" doc:"where it is fetched"`
}

// Defaults returns the section as it is when nothing is said.
func Defaults() Config { return Config{Path: "/metrics"} }

var (
	aPath = regexp.MustCompile(`^(/[A-Za-z0-9_.~-]+)+$`)
	// taken are the first steps of paths that mean something else on the listeners.
	taken = []string{"livez", "healthz", "health", "readyz", "ready", "v1", "console", "webhook", "platforms"}
)

// Check reports a path that no listener could have.
func (c *Config) Check(r *setting.Report) {
	if !aPath.MatchString(c.Path) || strings.Contains(c.Path, "/.") {
		r.Wrong("path", "%q is no path as in /metrics", c.Path)
		return
	}
	first, _, _ := strings.Cut(c.Path[1:], "/")
	if slices.Contains(taken, first) {
		r.Wrong("path", "%s is taken; choose another, as in /metrics", c.Path)
	}
}
