package shape

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

const ours = "familiar/internal/"

// mayImport says which packages of ours each package may import, and no more than it does. Read from top to bottom
// it is the architecture: a line names only what stands above it, except that an adapter hangs off its seam.
var mayImport = map[string]string{
	// Words and stores: they know nothing of the product.
	"chat":      "",
	"secret":    "",
	"setting":   "secret",
	"phrase":    "",
	"redact":    "",
	"journal":   "",
	"sheet":     "",
	"sqlite":    "",
	"answer":    "",
	"process":   "",
	"jsonrpc":   "",
	"kv":        "sqlite",
	"clock":     "sqlite",
	"state":     "clock kv sheet sqlite",
	"egress":    "",
	"inbox":     "chat sqlite",
	"watch":     "",
	"audit":     "chat journal redact setting",
	"logging":   "journal redact secret setting",
	"metrics":   "setting",
	"instance":  "secret sheet",
	"workspace": "process setting",
	"skill":     "setting",
	"terminal":  "",
	"markup":    "",
	"llm":       "secret setting",

	// Seams: where the process ends.
	"platform": "chat",
	"tool":     "chat",
	"agent":    "chat tool workspace",
	"desk":     "agent chat",

	// Adapters hang off their seam, and know no other.
	"platform/discord": "chat egress kv platform secret setting",
	"platform/misskey": "chat egress kv platform platform/misskey/api secret setting",
	"platform/web":     "answer chat platform setting sqlite",
	"platform/webhook": "answer chat markup platform secret setting sqlite",
	"agent/loop":       "agent chat llm setting tool toolclient",
	"agent/acp":        "agent agent/acp/profile chat jsonrpc process secret setting tool workspace",
	"toolserver":       "chat secret setting tool",
	"toolclient":       "process",

	// Our own loop, served to others.
	"agent/serve": "agent agent/loop chat journal jsonrpc llm tool toolclient",

	// How an adapter speaks to its network, where no module of others does.
	"platform/misskey/api": "platform secret",

	// What an adapter knows of the many that it speaks to, as data.
	"agent/acp/profile": "",

	// Where a store finds long files.
	"memory/index": "sqlite",

	// Decisions and features: what Familiar does with what it hears. None imports another.
	"gate":        "chat setting",
	"permission":  "agent",
	"approval":    "chat phrase secret sqlite tool",
	"command":     "chat",
	"history":     "chat platform sqlite tool",
	"memory":      "chat journal memory/index setting sheet tool",
	"briefing":    "agent chat setting",
	"explanation": "chat",
	"doctor":      "",
	"router":      "chat setting",
	"rehearsal":   "agent chat setting sheet tool",
	"outbox":      "chat platform secret setting sqlite tool",
	"login":       "answer chat secret sqlite",
	"pairing":     "answer chat kv",
	"thread":      "chat sqlite",
	"console":     "answer",
	"attachment":  "chat setting tool",
	"backup":      "process secret setting sheet",
	"remind":      "chat clock journal setting tool",
	"note":        "answer chat sheet tool",
	"research":    "chat egress setting tool",
	"skillstore":  "chat sheet skill",
	"spontaneity": "chat kv setting",
	"upkeep":      "setting",

	// The desks, the rooms, and the program around them.
	"desk/companion": "agent audit briefing chat desk permission tool workspace",
	"room":           "chat desk setting",
	"config":         "agent/acp agent/loop attachment audit backup briefing chat gate llm logging memory metrics outbox platform/discord platform/misskey platform/web platform/webhook rehearsal remind research room router secret setting skill spontaneity toolserver upkeep workspace",
	"control":        "secret",
	"host":           "*",
	"cli":            "agent/serve audit chat clock config control doctor explanation host instance llm logging memory note phrase process secret setting skillstore terminal workspace",
	"cmd/familiar":   "cli process",

	// For tests and benches: the contracts of the seams, and scripted counterparts.
	"platform/platformtest": "chat platform",
	"agent/agenttest":       "agent chat tool workspace",
	"agent/script":          "agent chat tool",
	"llm/llmtest":           "",
	"console/consoletest":   "",
	"shape":                 "",
	"bench":                 "*", // the program of `make bench`: it puts the parts together as cli does

	// Networks of our own, for tests and for trying things out.
	"platform/discord/discordtest": "",
	"fake":                         "*", // the program of `make fake`: its table names them
	"platform/misskey/misskeytest": "",
}

// foreign says who may use a module that is not ours. One kind of work has one engine, behind one package.
var foreign = map[string]string{
	"github.com/coder/acp-go-sdk":      "agent/acp agent/serve",
	"github.com/coder/websocket":       "platform/discord platform/misskey/api",
	"github.com/disgoorg/":             "platform/discord",
	"github.com/fsnotify/fsnotify":     "watch",
	"github.com/google/jsonschema-go":  "tool toolclient",
	"github.com/lmittmann/tint":        "logging",
	"github.com/mmcdole/gofeed":        "research",
	"github.com/modelcontextprotocol/": "toolclient toolserver",
	"github.com/prometheus/":           "metrics",
	"github.com/rivo/uniseg":           "outbox terminal",
	"github.com/sashabaranov/":         "llm",
	"github.com/spf13/cobra":           "cli",
	"github.com/yuin/goldmark":         "markup",
	"go.yaml.in/yaml/v4":               "config skill",
	"golang.org/x/net/html":            "research",
	"golang.org/x/sys":                 "process skill terminal",
	"golang.org/x/term":                "cli terminal",
	"modernc.org/sqlite":               "sqlite",
}

func TestImports(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range all(t) {
		if strings.HasSuffix(f.path, "_test.go") {
			continue
		}
		allowed, known := mayImport[f.pkg]
		if !known && !seen[f.pkg] {
			t.Errorf("package %s has no line in mayImport: say there what it may import", f.pkg)
		}
		seen[f.pkg] = true
		for _, imp := range f.ast.Imports {
			name, err := strconv.Unquote(imp.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			switch target, internal := strings.CutPrefix(name, ours); {
			case internal && known && allowed != "*" && !slices.Contains(strings.Fields(allowed), target):
				t.Errorf("%s imports %s, which mayImport does not allow %s", f.at(imp), target, f.pkg)
			case !internal && !f.test && strings.Contains(strings.Split(name, "/")[0], "."):
				checkForeign(t, f, name)
			}
			if imp.Name != nil && imp.Name.Name == "_" && name != "embed" && f.pkg != "sqlite" {
				t.Errorf("%s imports %s only for what its init does", f.at(imp), name)
			}
		}
	}
}

func checkForeign(t *testing.T, f file, name string) {
	t.Helper()
	for module, users := range foreign {
		if strings.HasPrefix(name, module) {
			if !slices.Contains(strings.Fields(users), f.pkg) {
				t.Errorf("%s imports %s, which foreign does not allow %s", f.path, name, f.pkg)
			}
			return
		}
	}
	t.Errorf("%s imports %s, which has no line in foreign", f.path, name)
}

// besides are the adapters that others than the host may name: the served agent is a program without a host.
var besides = map[string]bool{"cli agent/serve": true, "agent/serve agent/loop": true}

// TestTableKeepsTheDirections guards the table itself against a hurried edit.
func TestTableKeepsTheDirections(t *testing.T) {
	for pkg, allowed := range mayImport {
		for _, target := range strings.Fields(allowed) {
			if target == "*" {
				continue
			}
			switch {
			case target == "config" && pkg != "cli":
				t.Errorf("%s may import config: only host and cli may", pkg)
			case target == "host" && pkg != "cli", target == "cli" && pkg != "cmd/familiar":
				t.Errorf("%s may import %s, which stands above it", pkg, target)
			case strings.HasPrefix(pkg, "desk/") && strings.HasPrefix(target, "desk/"):
				t.Errorf("%s may import another desk, %s", pkg, target)
			case adapter(target) && pkg != "config" && !besides[pkg+" "+target] && !strings.HasPrefix(target, pkg+"/"):
				t.Errorf("%s may import the adapter %s: only host names adapters", pkg, target)
			}
			if _, ok := mayImport[target]; !ok {
				t.Errorf("%s may import %s, which has no line of its own", pkg, target)
			}
		}
	}
}

// adapter reports whether a package hangs off a seam.
func adapter(pkg string) bool {
	return strings.HasPrefix(pkg, "platform/") || strings.HasPrefix(pkg, "agent/") || strings.HasPrefix(pkg, "desk/")
}
