package memory

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"strings"
	"text/template"
)

// Export is memories as a file that a person reads or keeps.
type Export struct {
	Name string
	MIME string
	Text string
}

// The forms of an export.
const (
	asMarkdown = "markdown"
	asJSON     = "json"
)

//go:embed export.tmpl
var exportTemplate string

// exported is a memory in a file: what it says, and what holds of it.
type exported struct {
	ID             string     `json:"id"`
	Enabled        bool       `json:"enabled"`
	Visibility     Visibility `json:"visibility"`
	Importance     Importance `json:"importance"`
	Content        string     `json:"content"`
	CreatedAt      string     `json:"createdAt"`
	LastModifiedAt string     `json:"lastModifiedAt"`
}

// Modified reports whether anything was changed since.
func (e exported) Modified() bool { return e.LastModifiedAt != e.CreatedAt }

// Label is the importance as the headings say it.
func (e exported) Label() string { return "[" + strings.ToUpper(string(e.Importance)) + "]" }

// export writes memories, which are in the order of their times, in one of the forms.
func export(memories []Memory, form string) (Export, error) {
	all := make([]exported, len(memories))
	for i, m := range memories {
		all[i] = exported{m.ID, m.Enabled, m.Visibility, m.Importance, m.Content, stampText(m.At), stampText(m.ModifiedAt)}
	}
	if form == asJSON {
		var out bytes.Buffer
		enc := json.NewEncoder(&out)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false) // people read it
		err := enc.Encode(all)
		return Export{"memory-export.json", "application/json", out.String()}, err
	}
	page, err := template.New("export").Parse(exportTemplate)
	if err != nil {
		return Export{}, err
	}
	var out strings.Builder
	err = page.Execute(&out, all)
	return Export{"memory-export.md", "text/markdown", out.String()}, err
}
