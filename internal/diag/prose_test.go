package diag

import (
	"bytes"
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
)

// shownAs returns the text that a renderer of GitHub Flavored Markdown shows, with single spaces,
// and its tags.
func shownAs(t *testing.T, markdown string) (text string, tags []string) {
	t.Helper()
	var out bytes.Buffer
	if err := goldmark.New(goldmark.WithExtensions(extension.GFM)).Convert([]byte(markdown),
		&out); err != nil {
		t.Fatal(err)
	}
	tag := regexp.MustCompile(`<!--.*?-->|<[^>]*>`)
	tags = tag.FindAllString(out.String(), -1)
	plain := html.UnescapeString(tag.ReplaceAllString(out.String(), ""))
	return strings.Join(strings.Fields(plain), " "), tags
}

// unquoted is a plain text as it is to be shown: code without its backquotes.
func unquoted(s string) string {
	s = regexp.MustCompile("`([^`]+)`").ReplaceAllString(s, "$1")
	return strings.Join(strings.Fields(s), " ")
}

// What heddle explain says is shown word for word where SARIF viewers render its Markdown:
// __syncthreads() is not bold, <<<...>>> is no tag, and the index of an array no link.
func TestProseDocs(t *testing.T) {
	inProse := regexp.MustCompile("^</?(p|code|pre)>$")
	for _, d := range Docs() {
		for _, text := range []string{d.Title, d.Text, d.Fix} {
			got, tags := shownAs(t, Prose(text, nil))
			if want := unquoted(text); got != want {
				t.Errorf("%s is shown as\n%s\nwant\n%s", d.Code, got, want)
			}
			for _, tag := range tags {
				if !inProse.MatchString(tag) {
					t.Errorf("%s: %s of %q", d.Code, tag, text)
				}
			}
		}
		got, _ := shownAs(t, markdown(d))
		for _, want := range []string{string(d.Code) + ": " + unquoted(d.Title), unquoted(d.Text),
			unquoted(d.Fix)} {
			if !strings.Contains(got, want) {
				t.Errorf("the help of %s lacks\n%s\nin\n%s", d.Code, want, got)
			}
		}
	}
}

// Text of any kind stays text.
func TestProseHostile(t *testing.T) {
	for _, s := range []string{"__a__ and *b* **c** _d_ a_b_c", "kernel sum<int>(int*)", "v[t] += v[t + 16]",
		"[x](y) ![x](y) [x]: y", "a\n- b\n+ c\n1. d\n2) e\n= f\n---\n===\n# g", "- a", "12) a", "    a `b",
		"<script>x</script> &lt; &#60; <!-- a -->", "a | b\n|---|---|\nc | d", "~~a~~", "a\\", "> q", "`",
		"a ` b", "```", "a\n\n# b\n\n- c", "x `y`- z\n-z", "a \\* b", "9.7.13.1). Here"} {
		want := unquoted(s)
		if got, _ := shownAs(t, Prose(s, nil)); got != want {
			t.Errorf("%q is shown as %q, want %q; the Markdown is %q", s, got, want, Prose(s, nil))
		}
	}
}

// The parts that are not code can be changed, as for links.
func TestProseOther(t *testing.T) {
	got := Prose("see docs/a.md or `docs/b.md`", func(s string) string {
		return strings.ReplaceAll(s, "docs/a.md", "[A](a)")
	})
	if want := "see [A](a) or `docs/b.md`"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
