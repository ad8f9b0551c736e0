package console

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

func TestMarkdown(t *testing.T) {
	r := newRig(t, ready())
	r.open("/")
	render := func(text string) string {
		t.Helper()
		quoted, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		got, err := chromedp.Run(r.Tab, chromedp.Evaluate[string](`import("/console/markdown.js").then(({ render }) => {
			const box = document.createElement("div"); box.append(render(`+string(quoted)+`)); return box.innerHTML; })`,
			chromedp.EvalAwaitPromise))
		if err != nil {
			t.Fatalf("%.60q: %v", text, err)
		}
		return strings.ReplaceAll(got, ` target="_blank" rel="noopener noreferrer nofollow"`, "")
	}
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"a\nb\n\nc", "<p>a<br>b</p><p>c</p>"},
		{"**a** *b* ***c*** ~~d~~ `e*f*`", "<p><strong>a</strong> <em>b</em> <strong><em>c</em></strong> <s>d</s> <code>e*f*</code></p>"},
		{"2 * 3 * 4, snake_case_word, a * b", "<p>2 * 3 * 4, snake_case_word, a * b</p>"},
		{`\*no\* 1 < 2 & 3`, "<p>*no* 1 &lt; 2 &amp; 3</p>"},
		{"``a`b`` and `open", "<p><code>a`b</code> and `open</p>"},
		{"# A\n## B", "<h3>A</h3><h4>B</h4>"},
		{"- a\n- b\n  - c\n  - d\n- e", "<ul><li>a</li><li>b<ul><li>c</li><li>d</li></ul></li><li>e</li></ul>"},
		{"3. a\n4. b", `<ol start="3"><li>a</li><li>b</li></ol>`},
		{"- a\n\n- b\n\ntext", "<ul><li>a</li><li>b</li></ul><p>text</p>"},
		{"> a\n> b", "<blockquote><p>a<br>b</p></blockquote>"},
		{"a\n\n---\n\nb", "<p>a</p><hr><p>b</p>"},
		{"[the *site*](https://a.example/x_(y)?q=1)", `<p><a href="https://a.example/x_(y)?q=1">the <em>site</em></a></p>`},
		{"see https://a.example/b_c_d. (https://b.example)", `<p>see <a href="https://a.example/b_c_d">https://a.example/b_c_d</a>. (<a href="https://b.example/">https://b.example</a>)</p>`},
		{"見 https://a.example/b。好", `<p>見 <a href="https://a.example/b">https://a.example/b</a>。好</p>`},
		{"[x](ftp://a) [y](nowhere)", "<p>[x](ftp://a) [y](nowhere)</p>"},
		{"[https://a.example](https://b.example)", `<p><a href="https://b.example/">https://a.example</a></p>`},
		{"| a | b |\n|--|:-:|\n| `c` | d \\| e |", `<div class="table"><table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td><code>c</code></td><td>d | e</td></tr></tbody></table></div>`},
		{"```sh\nls *\n\n# x\n```\nafter", `<div class="code"><div class="bar"><span>sh</span><button type="button" class="copy">Copy</button></div><pre tabindex="0"><code>ls *` + "\n\n# x" + `</code></pre></div><p>after</p>`},
		{"```\nnever closed", `<div class="code"><div class="bar"><span></span><button type="button" class="copy">Copy</button></div><pre tabindex="0"><code>never closed</code></pre></div>`},
	} {
		if got := render(c.text); got != c.want {
			t.Errorf("%q\ngives %s\nwant  %s", c.text, got, c.want)
		}
	}
	// Texts that are made to be slow come back; the browser's own limit ends the test when one does not.
	for _, piece := range []string{"*", "**a ", "[", "[a](", "`", "``` ", "> ", "- ", "_a", "|", "https://", "<", "\\", "~~a*", "  - a\n", "***", "1. "} {
		if got := render(strings.Repeat(piece, 100_000/len(piece))); got == "" {
			t.Errorf("many %q give nothing", piece)
		}
	}
}
