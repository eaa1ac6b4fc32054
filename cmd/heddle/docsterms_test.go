package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"heddle/internal/diag"
)

// TestGlossaryDoc holds docs/glossary.md to the terms of heddle explain.
func TestGlossaryDoc(t *testing.T) {
	var b bytes.Buffer
	if err := diag.WriteGlossary(&b); err != nil {
		t.Fatal(err)
	}
	t.Chdir("../..")
	current(t, "docs/glossary.md", b.String())
}

// TestVerdictsDoc holds the definitions in docs/verdicts.md to those of heddle explain.
func TestVerdictsDoc(t *testing.T) {
	const begin, end = "<!-- begin: heddle explain -->\n\n", "\n<!-- end: heddle explain -->\n"
	t.Chdir("../..")
	text, err := os.ReadFile("docs/verdicts.md")
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatal("docs/verdicts.md has no place for the definitions")
	}
	var b bytes.Buffer
	if err := diag.WriteVerdicts(&b); err != nil {
		t.Fatal(err)
	}
	current(t, "docs/verdicts.md", before+begin+b.String()+end+after)
}

var (
	mdLink    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	mdHeading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	mdFence   = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
)

// anchors returns the names under which the headings of a document can be linked to.
func anchors(text string) map[string]bool {
	out := map[string]bool{}
	for _, m := range mdHeading.FindAllStringSubmatch(mdFence.ReplaceAllString(text, ""), -1) {
		var b strings.Builder
		for _, c := range strings.ToLower(m[1]) {
			switch {
			case c == ' ':
				b.WriteByte('-')
			case c == '-' || c == '_' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c > 0x7f:
				b.WriteRune(c)
			}
		}
		out[b.String()] = true
	}
	return out
}

// mdPath matches a path of the repository in backquotes.
var mdPath = regexp.MustCompile("`((?:internal|cmd|testdata|docs|examples|scripts)/[\\w./-]*\\w)`")

// TestLinks follows each link of the documents that leads to a file of the repository or to a
// heading, and each path.
func TestLinks(t *testing.T) {
	t.Chdir("../..")
	links := 0
	for _, name := range documents(t) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range mdPath.FindAllStringSubmatch(string(text), -1) {
			if _, err := os.Stat(m[1]); err != nil {
				t.Errorf("%s: %s does not exist", name, m[1])
			}
		}
		for _, m := range mdLink.FindAllStringSubmatch(mdFence.ReplaceAllString(string(text), ""), -1) {
			path, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(path, ":") {
				continue
			}
			links++
			target, to := name, text
			if path != "" {
				target = filepath.Join(filepath.Dir(name), path)
				if _, err := os.Stat(target); err != nil {
					t.Errorf("%s: %s does not exist", name, m[1])
					continue
				}
				to, _ = os.ReadFile(target) // a directory has no headings
			}
			if anchor != "" && !anchors(string(to))[anchor] {
				t.Errorf("%s: %s has no heading #%s", name, target, anchor)
			}
		}
	}
	if links == 0 {
		t.Error("no document has a link")
	}
}

// documents are all Markdown files of the repository.
func documents(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/theory/*.md"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, files...)
	}
	return out
}

// TestDocsWrap holds the lines of the documents to 100 columns. Tables, what programs print, and
// generated pages are exempt.
func TestDocsWrap(t *testing.T) {
	t.Chdir("../..")
	console := regexp.MustCompile("(?ms)^```(console|json|text)$.*?^```$")
	for _, name := range documents(t) {
		if base := filepath.Base(name); base == "commands.md" || base == "glossary.md" {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(console.ReplaceAllString(string(text), "")) {
			line = strings.TrimSuffix(line, "\n")
			if n := len([]rune(line)); n > 100 && !strings.HasPrefix(line, "|") {
				t.Errorf("%s: a line of %d columns: %s", name, n, line)
			}
		}
	}
}

// TestTheoryIndex holds docs/theory/README.md to the pages that there are.
func TestTheoryIndex(t *testing.T) {
	index, err := os.ReadFile("../../docs/theory/README.md")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob("../../docs/theory/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range pages {
		base := filepath.Base(name)
		if base != "README.md" && !strings.Contains(string(index), "]("+base+")") {
			t.Errorf("docs/theory/README.md does not name %s", base)
		}
	}
}
