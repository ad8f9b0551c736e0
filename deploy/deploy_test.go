// Package deploy holds what runs a bot in containers; these tests read it as those would who run it.
package deploy

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"familiar/internal/config"
)

func TestChart(t *testing.T) {
	all := objects(t, render(t, values{
		"env":                  values{"DISCORD_TOKEN": "a.b", "MISSKEY_TOKEN": "", "GIT_BACKUP_AUTH_PASSWORD": 123456},
		"selfResearchRssFeeds": []any{values{"url": "https://example.org/feed"}}, "autoApproveSkills": []any{"a", "b"},
		"prompts": values{"character_name.md": "Mio"}, "page": values{"enabled": true, "port": 8420},
		"serviceMonitor": values{"enabled": true, "interval": "30s", "path": "/metrics"},
	}))
	if len(all) != 7 {
		t.Fatalf("%d objects", len(all))
	}
	var s secret
	decode(t, all["Secret/bot-familiar"], &s)
	want := map[string]string{"DISCORD_TOKEN": "a.b", "GIT_BACKUP_AUTH_PASSWORD": "123456",
		"SELF_RESEARCH_RSS_FEEDS": `[{"url":"https://example.org/feed"}]`, "AGENT_AUTO_APPROVE_SKILLS": "a,b"}
	if fmt.Sprint(s.StringData) != fmt.Sprint(want) {
		t.Errorf("the secret holds %v", s.StringData)
	}
	var c configMap
	decode(t, all["ConfigMap/bot-familiar"], &c)
	if c.Data["character_name.md"] != "Mio" {
		t.Errorf("%v", c.Data)
	}
	accepted(t, c.Data["config.yaml"])
	for name, size := range map[string]string{"data": "200Mi", "agent-login": "1Mi"} {
		var p claim
		decode(t, all["PersistentVolumeClaim/bot-familiar-"+name], &p)
		if p.Spec.Resources.Requests["storage"] != size || p.Metadata.Annotations["helm.sh/resource-policy"] != "keep" ||
			!slices.Equal(p.Spec.AccessModes, []string{"ReadWriteOnce"}) {
			t.Errorf("%s: %+v", name, p)
		}
	}
	var svc service
	decode(t, all["Service/bot-familiar"], &svc)
	if p := svc.Spec.Ports; len(p) != 2 || p[0].Name != "health" || p[0].Port != 80 || p[0].TargetPort != "health" || p[1].Name != "page" {
		t.Errorf("%+v", p)
	}
	var m monitor
	decode(t, all["ServiceMonitor/bot-familiar"], &m)
	if m.Spec.Endpoints[0].Interval != "30s" || fmt.Sprint(m.Spec.Selector.MatchLabels) != fmt.Sprint(svc.Spec.Selector) {
		t.Errorf("%+v", m)
	}
	checkDeployment(t, all["Deployment/bot-familiar"], svc)
}

func checkDeployment(t *testing.T, text []byte, svc service) {
	t.Helper()
	var d deployment
	decode(t, text, &d)
	pod := d.Spec.Template.Spec
	c := pod.Containers[0]
	if d.Spec.Replicas != 1 || d.Spec.Strategy.Type != "Recreate" || fmt.Sprint(d.Spec.Selector.MatchLabels) != fmt.Sprint(svc.Spec.Selector) {
		t.Errorf("%+v", d.Spec)
	}
	if p := pod.SecurityContext; !p.RunAsNonRoot || p.RunAsUser != 1000 || *p.RunAsGroup != 0 || *p.FSGroup != 0 || p.FSGroupChangePolicy != "OnRootMismatch" {
		t.Errorf("%+v", p)
	}
	if s := c.SecurityContext; *s.AllowPrivilegeEscalation || !s.ReadOnlyRootFilesystem || !slices.Equal(s.Capabilities.Drop, []string{"ALL"}) {
		t.Errorf("%+v", s)
	}
	if p := c.LivenessProbe; p.HTTPGet.Path != "/livez" || fmt.Sprint(p.InitialDelaySeconds, p.PeriodSeconds, p.TimeoutSeconds, p.FailureThreshold) != "30 15 5 3" {
		t.Errorf("%+v", p)
	}
	if p := c.ReadinessProbe; p.HTTPGet.Path != "/readyz" || fmt.Sprint(p.InitialDelaySeconds, p.PeriodSeconds, p.TimeoutSeconds, p.FailureThreshold) != "10 10 5 3" {
		t.Errorf("%+v", p)
	}
	var mounted []string
	for _, m := range c.VolumeMounts {
		mounted = append(mounted, m.MountPath)
		if !slices.ContainsFunc(pod.Volumes, func(v volume) bool { return v.Name == m.Name }) {
			t.Errorf("%s is mounted and there is no such volume", m.Name)
		}
	}
	for _, want := range []string{"/data/bot", "/data/bot/config.yaml", "/data/bot/prompts/character_name.md", "/tmp", "/home/familiar/.local/share/opencode"} {
		if !slices.Contains(mounted, want) {
			t.Errorf("%s is not mounted: %q", want, mounted)
		}
	}
}

// What is off leaves nothing behind, and a claim that is there already is used.
func TestChartWithLittle(t *testing.T) {
	all := objects(t, render(t, values{"persistence": values{"enabled": true, "existingClaim": "mine"}, "agentLogin": values{"enabled": false}}))
	if len(all) != 4 {
		t.Errorf("%d objects", len(all))
	}
	var d deployment
	decode(t, all["Deployment/bot-familiar"], &d)
	for _, v := range d.Spec.Template.Spec.Volumes {
		if v.Name == "data" && v.PersistentVolumeClaim.ClaimName != "mine" || v.Name == "agent-login" && v.EmptyDir == nil {
			t.Errorf("%+v", v)
		}
	}
}

// accepted has the program itself read a configuration.
func accepted(t *testing.T, text string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := config.Load(config.Where{Dir: dir}, nil); err != nil {
		t.Errorf("%v in\n%s", err, text)
	}
}

func TestConfigInAContainer(t *testing.T) { accepted(t, string(read(t, "config.yaml"))) }

// Every variable that the chart and the image name is one that the program reads.
func TestVariablesAreKnown(t *testing.T) {
	known := string(read(t, "../docs/configuration.md")) + "ANTHROPIC_API_KEY OPENAI_API_KEY"
	var of struct {
		Env map[string]string
	}
	if err := yaml.Load(read(t, "chart/values.yaml"), &of); err != nil || len(of.Env) == 0 {
		t.Fatal(of, err)
	}
	for name := range of.Env {
		if !regexp.MustCompile(`\b` + name + `\b`).MatchString(known) {
			t.Errorf("nobody reads %s", name)
		}
	}
	for _, name := range regexp.MustCompile(`\b[A-Z]+(?:_[A-Z]+)+\b`).FindAllString(string(read(t, "chart/templates/secret.yaml")), -1) {
		if !strings.Contains(known, name) {
			t.Errorf("nobody reads %s", name)
		}
	}
}

func TestImage(t *testing.T) {
	text := string(read(t, "../Containerfile"))
	agent := regexp.MustCompile(`"opencode-ai": "([^"]+)"`).FindStringSubmatch(string(read(t, "../package.json")))[1]
	goes := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(string(read(t, "../go.mod")))[1]
	for _, want := range []string{"opencode-ai@" + agent + "\n", "golang:" + goes + "-", "USER 1000:0\n", "STOPSIGNAL SIGTERM\n", "HEALTHCHECK ",
		"/livez", `VOLUME ["/data/bot"]`, `ENTRYPOINT ["dumb-init", "--", "familiar"]`, `CMD ["up", "--dir", "/data/bot", "--no-open"]`,
		"chgrp -R 0 ", "chmod -R 775 "} {
		if !strings.Contains(text, want) {
			t.Errorf("the image lacks %q", want)
		}
	}
	for _, label := range []string{"title", "description", "source", "version", "licenses"} {
		if !strings.Contains(text, "org.opencontainers.image."+label+"=") {
			t.Errorf("no label %s", label)
		}
	}
	if strings.Contains(text, "yolo") {
		t.Error("yolo is never on by itself")
	}
	if n := strings.Count(text, "\nFROM "); n != 3 {
		t.Errorf("%d stages", n)
	}
}

func TestCompose(t *testing.T) {
	var of struct {
		Services map[string]struct {
			Build       struct{ Context, Dockerfile string }
			Image       string
			Restart     string
			EnvFile     []string `yaml:"env_file"`
			Ports       []string
			Volumes     []string
			ReadOnly    bool `yaml:"read_only"`
			Tmpfs       []string
			CapDrop     []string `yaml:"cap_drop"`
			SecurityOpt []string `yaml:"security_opt"`
			Grace       string   `yaml:"stop_grace_period"`
		}
		Volumes map[string]*struct{}
	}
	decode(t, read(t, "compose.yaml"), &of)
	s := of.Services["familiar"]
	if !s.ReadOnly || !slices.Equal(s.CapDrop, []string{"ALL"}) || !slices.Equal(s.Ports, []string{"127.0.0.1:8420:8420"}) ||
		!slices.Contains(s.Volumes, "data:/data/bot") || len(of.Volumes) != 2 {
		t.Errorf("%+v", s)
	}
	if _, err := os.Stat(filepath.Join(s.Build.Context, s.Build.Dockerfile)); err != nil {
		t.Error(err)
	}
}
