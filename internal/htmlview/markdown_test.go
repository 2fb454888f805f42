package htmlview

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestMarkdown(t *testing.T) {
	for in, want := range map[string]string{
		"**a** and `b`":                         "<p><strong>a</strong> and <code>b</code></p>",
		"1\n2":                                  "<p>1<br>\n2</p>",
		"<script>alert(1)</script>":             "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>",
		"a <b onclick=x>bold</b>":               "<p>a &lt;b onclick=x&gt;bold&lt;/b&gt;</p>",
		"![a cat](https://x.example/p)":         "<p>[image: a cat]</p>",
		"[go](javascript:alert(1))":             "<p><tt>go</tt></p>",
		"[go](data:text/html,x)":                "<p><tt>go</tt></p>",
		"[go](https://x.example/?a=1&b)":        `<p><a href="https://x.example/?a=1&amp;b" rel="nofollow noreferrer noopener">go</a></p>`,
		"```go\nfunc x() {}\n```":               "<pre><code><span class=\"k\">func</span> x() {}\n</code></pre>",
		"```\" onload=x\n</code></pre>\n```":    "<pre><code>&lt;/code&gt;&lt;/pre&gt;\n</code></pre>",
		"```go danger\n\"</code>\" // <b>\n```": "<pre><code><span class=\"s\">&#34;&lt;/code&gt;&#34;</span> <span class=\"c\">// &lt;b&gt;</span>\n</code></pre>",
		"```danger\fc\n<b>\n```":                "<pre><code>&lt;b&gt;\n</code></pre>",
		"    indented <b>":                      "<pre><code>indented &lt;b&gt;\n</code></pre>",
		"배포 مرحبا":                              "<p>배포 مرحبا</p>",
	} {
		if got := strings.TrimSpace(string(Markdown(in))); got != want {
			t.Errorf("%q:\ngot  %s\nwant %s", in, got, want)
		}
	}
	long := strings.Repeat("# a\n", maxMarkdown)
	if got := string(Markdown(long)); got != "<pre>"+long+"</pre>" {
		t.Errorf("a long text is read as Markdown: %.60s", got)
	}
}

// tag is an element as the policy lets it through: nothing else may begin with
// an angle bracket.
var tag = regexp.MustCompile(`^</?([a-z0-9]+)((?: [a-z]+="[^"<>]*")*)/?>`)

// inert says what in a piece of HTML is no plain text and no element that does
// nothing.
func inert(t *testing.T, html string) {
	t.Helper()
	harmless := strings.Fields("p br hr h1 h2 h3 h4 h5 h6 strong em del code pre blockquote ul ol li table thead tbody tr th td tfoot a tt span")
	for rest := html; ; {
		i := strings.IndexByte(rest, '<')
		if i < 0 {
			return
		}
		rest = rest[i:]
		m := tag.FindStringSubmatch(rest)
		if m == nil || !slices.Contains(harmless, m[1]) {
			t.Fatalf("%.80q in %q", rest, html)
		}
		for attribute := range strings.SplitSeq(strings.TrimSpace(m[2]), `" `) {
			name, value, _ := strings.Cut(attribute, `="`)
			switch name {
			case "", "rel", "start", "align", "colspan":
			case "class":
				if m[1] != "span" || !slices.Contains(codeClass[:], strings.TrimSuffix(value, `"`)) {
					t.Fatalf("class %q of %s in %q", value, m[1], html)
				}
			case "href":
				if !regexp.MustCompile(`^(?i:https?:|ftp:|mailto:|[/.]|[^:]*$)`).MatchString(value) {
					t.Fatalf("a link to %q in %q", value, html)
				}
			default:
				t.Fatalf("%s of %s in %q", name, m[1], html)
			}
		}
		rest = rest[len(m[0]):]
	}
}

func FuzzMarkdown(f *testing.F) {
	for _, s := range []string{
		"<img src=x onerror=alert(1)>", "[a](java\nscript:alert(1))", "<svg/onload=alert(1)>", "![x](y \"onerror=alert(1)\")",
		"<a href=\"javascript:x\">b</a>", "[a]: javascript:x\n\n[a]", "<!-- --><iframe src=//x>", "`<script>`", "\x00<\xff",
		"|a|\n|-|\n|<script>|", "a|b\n|-\n||-||", "<https://x.example/\"onmouseover=\"x>", "&lt;script&gt;", "</pre><script>", "> <style>@import url(x)</style>",
		"[x](&#106;avascript:alert(1))", "[x](vbscript:a)", "www.x.example/<script>", "<math><mi xlink:href=javascript:x>",
		"```html\n<script>'</code>' <!-- </pre> -->\n```", "~~~js message\n`<b>` // </span>\n~~~", "```\"><b>\n\x00'\xff\n```",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		inert(t, string(Markdown(text)))
		inert(t, string(Plain(text)))
	})
}
