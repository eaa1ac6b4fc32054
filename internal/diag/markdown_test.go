package diag

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"heddle/internal/source"
)

func TestMarkdown(t *testing.T) {
	set, d := tile(t)
	d.Message = "data race on shared `s[63]`: 2 threads"
	warning, hidden := *d, *d
	warning.Severity, warning.Code, warning.Message = Warning, CodeRaceUnorderedStrong, "strong"
	hidden.Suppressed = &Suppression{}
	var b bytes.Buffer
	m := NewMarkdown(&b, set, "/base")
	for _, d := range []*Diagnostic{&warning, d, &hidden,
		{Code: CodeLaunch, Severity: Note, Message: "guessed"},
		{Code: CodeInput, Severity: Error, Message: "file not found", Input: "/base/no.cu"}} {
		if err := m.Finding(d); err != nil {
			t.Fatal(err)
		}
	}
	for _, v := range []*Verdict{
		{Kind: Verified, Kernel: "v", Scope: "all inputs", Input: "v.cu", Apart: []string{"a warning"}},
		{Kind: Bug, Kernel: "k(int*)", Input: "tile.cu", Suppressed: 1},
		{Kind: Unknown, Reason: "not examined", Input: "u.cu"},
	} {
		if err := m.Verdict(v); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	// Errors come first, then warnings; bugs, what is undecided, and what passed. Markup is escaped.
	const want = `### heddle: 1 bug, 1 unknown, 1 verified; 1 finding, 1 warning, 1 error in the input

| | finding | place | kernel | message |
|---|---|---|---|---|
| error | <code>race-shared</code> | <code>tile.cu:1</code> | <code>k(int*)</code> | data race on shared <code>s[63]</code>: 2 threads |
| error | <code>input</code> | <code>no.cu</code> |  | file not found |
| warning | <code>race-unordered-strong</code> | <code>tile.cu:1</code> | <code>k(int*)</code> | strong |

| verdict | kernel | file | |
|---|---|---|---|
| bug | <code>k(int*)</code> | <code>tile.cu</code> | 1 finding is suppressed by heddle:ignore |
| unknown | all kernels | <code>u.cu</code> | not examined |
| verified | <code>v</code> | <code>v.cu</code> | all inputs; apart from a warning |

`
	if got := html.UnescapeString(b.String()); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if strings.Contains(b.String(), "k(int*)") || strings.Contains(b.String(), "s[63]") {
		t.Errorf("not escaped:\n%s", b.String())
	}
}

// inert is a cell, without its code elements, in which nothing is markup: letters, digits, other
// characters than those of ASCII, punctuation without a meaning within a line, and numeric
// references. A period or a colon ends a word, so that it makes no link.
var inert = regexp.MustCompile(`^(?:[a-zA-Z0-9 ,;()'-]|[.:](?: |$)|&#[0-9]+;|[^\x00-\x7F])*$`)

// code is a code element; another tag in it is no inert text.
var code = regexp.MustCompile(`<code>([^<>]*)</code>`)

// checkMarkdown holds a summary to its form: a heading, and tables whose rows have as many cells as
// their heads, all of them inert.
func checkMarkdown(t *testing.T, s, text string) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if !strings.HasPrefix(lines[0], "### heddle: ") {
		t.Fatalf("%q: %q", s, text)
	}
	for i, columns := 1, 0; i < len(lines); i++ {
		switch line := lines[i]; {
		case line == "":
			columns = 0
		case columns == 0 && strings.HasPrefix(line, "| "):
			columns = strings.Count(line, "|") - 1
			if i++; lines[i] != "|"+strings.Repeat("---|", columns) {
				t.Errorf("%q: delimiter row %q", s, lines[i])
			}
		case columns == 0 && strings.HasSuffix(line, " not shown."):
		default:
			cells := strings.Split(line, "|")
			if len(cells) != columns+2 || cells[0] != "" || cells[columns+1] != "" {
				t.Fatalf("%q: row %q", s, line)
			}
			for _, c := range cells[1 : columns+1] {
				if !inert.MatchString(code.ReplaceAllString(c, " $1 ")) {
					t.Errorf("%q: markup in the cell %q", s, c)
				}
			}
		}
	}
}

// hostileMarkdown are the texts that are hostile to other formats, and what Markdown, HTML and
// GitHub react to.
func hostileMarkdown() []string {
	return append(slices.Clone(hostile),
		"a|b", `a\|b`, `\`, "``` `a", "`", "a`b|c`d", "| a |\n|---|\n", "<script>alert(1)</script>",
		"<img src=x onerror=alert(1)>", "&lt;b&gt;", "&#60;b>", "[x](javascript:alert(1))",
		"![](//h/i)",
		"http://host.invalid/x", "www.host.invalid", "a@host.invalid", "`a@host.invalid`",
		"@team #1 owner/name#1", ":boom:", "**b** __c__ ~~d~~", "<!-- -->",
		"</code></td></table><h1>", "\r\n# heading\r\n", "$x$ $$y$$", "{{x}}", "- [ ] a", "[^1]: x",
		"a  \nb", "a.`b`:c", strings.Repeat("<", 1000))
}

// No text of a file, a name or a message is markup, HTML or a link in the summary, or leaves its
// cell.
func TestMarkdownHostileText(t *testing.T) {
	for _, s := range hostileMarkdown() {
		checkMarkdown(t, s, printAll(t, s, func(w io.Writer, set *source.Set) Printer {
			return NewMarkdown(w, set, "/base")
		}))
	}
}

// A summary of any number of the longest rows stays below the size that GitHub accepts, 1 MiB for a
// step, and counts what it leaves out.
func TestMarkdownSize(t *testing.T) {
	const all = 1000
	long := strings.Repeat("@`", 4000) // each pair becomes two elements
	var b bytes.Buffer
	m := NewMarkdown(&b, source.NewSet(), "/base")
	for i := range all {
		name := fmt.Sprint(i, long)
		_ = m.Finding(&Diagnostic{Code: CodeRaceShared, Severity: Error, Message: name, Kernel: name,
			Input: name})
		_ = m.Verdict(&Verdict{Kind: Bug, Kernel: name, Input: name, Reason: name})
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if n := b.Len(); n > 1<<20 || n < 100<<10 {
		t.Errorf("%d bytes", n)
	}
	checkMarkdown(t, "long", b.String())
	rows := regexp.MustCompile(`(?m)^\| (error|bug) \|`).FindAllString(b.String(), -1)
	hidden := 0
	for _, m := range regexp.MustCompile(`(?m)^(\d+) more `).FindAllStringSubmatch(b.String(), -1) {
		var n int
		_, _ = fmt.Sscan(m[1], &n)
		hidden += n
	}
	if len(rows) > 2*mostRows || len(rows)+hidden != 2*all {
		t.Errorf("%d rows and %d hidden, want %d in all", len(rows), hidden, 2*all)
	}
	if !strings.HasPrefix(b.String(), "### heddle: 1000 bug; 1000 findings\n") {
		t.Errorf("%.100s", b.String())
	}
}

// tag finds the tags of HTML.
var tag = regexp.MustCompile(`<[^>]*>`)

// TestMarkdownRendered has cmark-gfm, of which GitHub's renderer is made, render a summary of
// hostile text: its HTML has tables of code and text and nothing else.
func TestMarkdownRendered(t *testing.T) {
	program, err := exec.LookPath("cmark-gfm")
	if err != nil {
		t.Skip("no cmark-gfm")
	}
	allowed := regexp.MustCompile(`^</?(h3|table|thead|tbody|tr|th|td|code|p)>$`)
	for _, s := range hostileMarkdown() {
		text := printAll(t, s, func(w io.Writer, set *source.Set) Printer {
			return NewMarkdown(w, set, "/base")
		})
		cmd := exec.Command(program, "--unsafe", "-e", "table", "-e", "autolink", "-e", "strikethrough",
			"-e", "tasklist")
		cmd.Stdin = strings.NewReader(text)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		tags := tag.FindAllString(string(out), -1)
		for _, tag := range tags {
			if !allowed.MatchString(tag) {
				t.Errorf("%q: %s in\n%s\nof\n%s", s, tag, out, text)
			}
		}
		// A finding of five cells, and five verdicts of four.
		if n := strings.Count(string(out), "<td>"); n != 5+5*4 {
			t.Errorf("%q: %d cells, want 25:\n%s", s, n, out)
		}
	}
}
