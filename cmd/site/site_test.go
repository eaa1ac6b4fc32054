package main

import (
	"bytes"
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"heddle/internal/diag"
)

const repository = "../.."

// documents is the site of this repository, and its files, which tests must not change.
var documents = sync.OnceValue(func() (d struct {
	site  *site
	files map[string][]byte
	err   error
}) {
	if d.site, d.err = build(repository); d.err == nil {
		d.files, d.err = d.site.files()
	}
	return d
})

// built returns the files of the site of this repository.
func built(t testing.TB) map[string][]byte {
	t.Helper()
	d := documents()
	if d.err != nil {
		t.Fatal(d.err)
	}
	return d.files
}

// copied makes a copy of what a site is made of, with some files changed: name, text, name, text. An
// empty text removes the file.
func copied(t *testing.T, changes ...string) string {
	t.Helper()
	root := t.TempDir()
	var names []string
	for _, pattern := range []string{"go.mod", "CITATION.cff", "*.md", "docs/*.md", "docs/theory/*.md",
		"docs/examples/check.txt", "docs/examples/codes/*", "internal/diag/codes*.go",
		"examples/buildbarn/*"} {
		files, err := filepath.Glob(filepath.Join(repository, filepath.FromSlash(pattern)))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		names = append(names, files...)
	}
	put := func(name string, text []byte) {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		rel, err := filepath.Rel(repository, name)
		if err != nil {
			t.Fatal(err)
		}
		put(rel, text)
	}
	// Other files to which documents link need no text.
	for _, name := range []string{"examples/reduce.cu", "docs/schema/heddle-1.schema.json",
		"docs/examples/check.jsonl", "docs/examples/check.sarif", "docs/examples/report.html"} {
		put(name, nil)
	}
	text, err := os.ReadFile(filepath.Join(repository, "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`\((internal/[^)]*\.go)\)`).FindAllSubmatch(text, -1) {
		put(string(m[1]), nil)
	}
	for i := 0; i < len(changes); i += 2 {
		if changes[i+1] == "" {
			if err := os.Remove(filepath.Join(root, changes[i])); err != nil {
				t.Fatal(err)
			}
			continue
		}
		put(changes[i], []byte(changes[i+1]))
	}
	return root
}

// TestDocuments: every document and every code has its page, without mistakes.
func TestDocuments(t *testing.T) {
	files := built(t)
	s := documents().site
	for _, p := range s.problems {
		t.Error(p)
	}
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/theory/*.md"} {
		sources, err := filepath.Glob(filepath.Join(repository, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range sources {
			source := path.Join(path.Dir(pattern), filepath.Base(file))
			if s.bySource[source] == nil || files[s.bySource[source].out] == nil {
				t.Errorf("%s has no page", source)
			}
		}
	}
	// These addresses are in SARIF files and editors: they must not change.
	var paths []string
	for _, d := range diag.Docs() {
		p, _ := diag.PagePath(string(d.Code))
		if p != "codes/"+string(d.Code)+".html" {
			t.Errorf("%s has the page %s", d.Code, p)
		}
		paths = append(paths, p)
	}
	for _, d := range diag.Terms() {
		p, _ := diag.PagePath(d.Name)
		paths = append(paths, p)
	}
	for k := diag.Clean; k <= diag.Unsupported; k++ {
		paths = append(paths, strings.TrimPrefix(diag.Site("x:/").Verdict(k), "x:/"))
	}
	for _, p := range paths {
		name, anchor, _ := strings.Cut(p, "#")
		if files[name] == nil || anchor != "" && !ids(files[name])[anchor] {
			t.Errorf("the site has no %s", p)
		}
	}
}

// TestCodePage: the page of a code has the example, what heddle prints for it, the repair, and a link
// to the term.
func TestCodePage(t *testing.T) {
	page := string(built(t)["codes/race-shared.html"])
	for _, want := range []string{"<h1 id=\"race-shared\">race-shared</h1>",
		"<a href=\"index.html#bugs-in-the-kernel\">bugs in the kernel</a>",
		"<code class=\"short\">__syncthreads()</code> between the two accesses",
		"<b>$ heddle run --grid 1 --block 64 neighbour.cu</b>",
		"<span class=\"error\">error</span>[<a href=\"../codes/race-shared.html\">race-shared</a>]: data race",
		"    __syncthreads();", "\nclean: kernel k(int*)", "../glossary.html#race\">"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q", want)
		}
	}
}

var (
	reference = regexp.MustCompile(`<(\w+)[^>]*? (href|src)="([^"]*)"`)
	anyID     = regexp.MustCompile(`<[^>]* id="([^"]*)"`)
)

// ids returns the identifiers of a page.
func ids(page []byte) map[string]bool {
	all := map[string]bool{}
	for _, m := range anyID.FindAllSubmatch(page, -1) {
		all[string(m[1])] = true
	}
	return all
}

// TestLinks follows each link in the HTML, without the code that made it. Only links that a reader
// follows lead to another host. Files that are copied are not pages of ours, except for what they
// are called.
func TestLinks(t *testing.T) {
	files := built(t)
	links := 0
	known := map[string]map[string]bool{}
	for name, text := range files {
		known[name] = ids(text)
	}
	for name, text := range files {
		if path.Ext(name) != ".html" || name == "examples/report.html" {
			continue
		}
		if n := len(anyID.FindAll(text, -1)); n != len(known[name]) {
			t.Errorf("%s: an id twice", name)
		}
		for _, m := range reference.FindAllSubmatch(text, -1) {
			links++
			element, dest := string(m[1]), string(m[3])
			u, err := url.Parse(dest)
			if err != nil {
				t.Errorf("%s: %s: %v", name, dest, err)
				continue
			}
			if u.Scheme != "" {
				if element != "a" || u.Scheme != "https" && u.Scheme != "mailto" {
					t.Errorf("%s: <%s> of %s", name, element, dest)
				}
				continue
			}
			target := name
			if u.Path != "" {
				target = path.Join(path.Dir(name), u.Path)
			}
			if files[target] == nil {
				t.Errorf("%s: no %s", name, dest)
			} else if u.Fragment != "" && !known[target][u.Fragment] {
				t.Errorf("%s: no %s in %s", name, u.Fragment, target)
			}
		}
	}
	if links < 5000 { // the menu alone is 70 pages of more than 70 links
		t.Errorf("%d links", links)
	}
}

// TestHome: with a home, links to source files lead to the repository there; without one they are
// plain text, and no page names a repository.
func TestHome(t *testing.T) {
	for _, c := range []struct{ module, want string }{
		{"heddle", "in examples, correct ones"},
		{"github.com/alice/heddle",
			`in <a href="https://github.com/alice/heddle/tree/HEAD/examples">examples</a>, correct ones`},
	} {
		s, err := build(copied(t, "go.mod", "module "+c.module+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range s.problems {
			t.Error(p)
		}
		files, err := s.files()
		if err != nil {
			t.Fatal(err)
		}
		if page := string(files["examples/index.html"]); !strings.Contains(page, c.want) {
			t.Errorf("%s: no %q in\n%s", c.module, c.want, page)
		}
		source := `<a href="https://github.com/alice/heddle/blob/HEAD/internal/event/conflict.go">` +
			`<code class="short">event/conflict.go</code></a>`
		atHome := c.module != "heddle"
		if strings.Contains(string(files["architecture.html"]), source) != atHome ||
			strings.Contains(string(files["verdicts.html"]), "/blob/HEAD/docs/verdicts.md") != atHome {
			t.Errorf("%s: links to the source", c.module)
		}
		for name, text := range files {
			if path.Ext(name) == ".html" && !atHome && bytes.Contains(text, []byte("/HEAD/")) {
				t.Errorf("%s: a link to no repository", name)
			}
		}
	}
}

// TestDeadLinks: each link that leads nowhere, or where no link may lead, is reported at its line, and
// then nothing is written.
func TestDeadLinks(t *testing.T) {
	const bad = `# Bad

[a](nothing.md) and [good](verdicts.md#clean)
and [b](verdicts.md#cleen)

| x |
|---|
| [c](#nowhere) |

- [d](javascript:alert(1)) [e](//example.org/x)
- [f](/docs/verdicts.md)

[g][ref] ![h](https://example.org/x.png) <javascript:alert(2)>

[i](../../outside.md) [j](data:text/html,x) [k](verdicts.md?x#clean)

[ref]: missing/file.c
`
	root := copied(t, "docs/bad.md", bad)
	want := []string{
		`docs/bad.md:1: no menu has this document`,
		`docs/bad.md:3: link to "nothing.md": docs/nothing.md does not exist`,
		`docs/bad.md:4: link to "verdicts.md#cleen": docs/verdicts.md has no heading #cleen; there is #clean`,
		`docs/bad.md:8: link to "#nowhere": docs/bad.md has no heading #nowhere`,
		`docs/bad.md:10: link to "javascript:alert(1)": expected https, http, mailto, or a path`,
		`docs/bad.md:10: link to "//example.org/x": expected`,
		`docs/bad.md:11: link to "/docs/verdicts.md": expected`,
		`docs/bad.md:13: link to "missing/file.c": docs/missing/file.c does not exist`,
		`docs/bad.md:13: an image`,
		`docs/bad.md:13: link to "javascript:alert(2)": expected https, http or mailto`,
		`docs/bad.md:15: link to "../../outside.md": ../outside.md does not exist`,
		`docs/bad.md:15: link to "data:text/html,x": expected`,
		`docs/bad.md:15: link to "verdicts.md?x#clean": expected`,
		`site: 13 mistakes in documents; nothing was written`,
	}
	out := filepath.Join(t.TempDir(), "out")
	var stdout, stderr bytes.Buffer
	if code := run([]string{"-C", root, "-o", out}, &stdout, &stderr); code != 1 {
		t.Errorf("exit code %d", code)
	}
	got := strings.Split(strings.TrimSpace(stderr.String()), "\n")
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || !strings.HasPrefix(got[i], want[i]) {
			t.Fatalf("line %d of\n%s\nwant\n%s", i+1, stderr.String(), strings.Join(want, "\n"))
		}
	}
	if _, err := os.Stat(out); err == nil || stdout.Len() > 0 {
		t.Errorf("something was written: %v, %q", err, stdout.String())
	}
}

// TestDeadCodes: the pages of codes are held to the same rules. Their mistakes are reported where
// their data is.
func TestDeadCodes(t *testing.T) {
	glossary, err := os.ReadFile(filepath.Join(repository, "docs/glossary.md"))
	if err != nil {
		t.Fatal(err)
	}
	codes, err := os.ReadFile(filepath.Join(repository, "internal/diag/codes_race.go"))
	if err != nil {
		t.Fatal(err)
	}
	line := 1 + strings.Count(string(codes[:bytes.Index(codes, []byte("Code: CodeNoncoherent"))]), "\n")
	root := copied(t,
		// race-noncoherent refers to the term proxy.
		"docs/glossary.md", strings.Replace(string(glossary), "### proxy\n", "### Proxies\n", 1),
		"docs/examples/codes/race-stream.txt", "",
		"docs/examples/codes/trap.txt", "$ heddle run another.cu\n",
		"docs/lost.md", "# Lost\n",
		"Install.md", "# Another\n",
		"docs/config.md", "No title.\n")
	s, err := build(root)
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, p := range s.problems {
		all.WriteString(p.String() + "\n")
	}
	for _, want := range []string{
		fmt.Sprintf("internal/diag/codes_race.go:%d: page codes/race-noncoherent.html: link to "+
			`"glossary.md#proxy": docs/glossary.md has no heading #proxy`, line),
		"the code race-stream has no report in docs/examples/codes/race-stream.txt; make docs writes it",
		"docs/examples/codes/trap.txt:1: expected the output of",
		"docs/lost.md:1: no menu has this document",
		"the page install.html is that of Install.md, too",
		"docs/config.md:1: no title",
	} {
		if !strings.Contains(all.String(), want) {
			t.Errorf("no %q in\n%s", want, all.String())
		}
	}
}

// TestMistakes: wrong flags and unreadable repositories are errors, and a directory with other files
// is left alone.
func TestMistakes(t *testing.T) {
	foreign := t.TempDir()
	if err := os.WriteFile(filepath.Join(foreign, "thesis.tex"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"x"}, {"-y"}, {"-C", t.TempDir()}, {"-C", repository, "-o", foreign}} {
		var out, errs bytes.Buffer
		if code := run(args, &out, &errs); code != 2 || errs.Len() == 0 {
			t.Errorf("%q: exit code %d, %q", args, code, errs.String())
		}
	}
	if _, err := os.Stat(filepath.Join(foreign, "thesis.tex")); err != nil {
		t.Error(err)
	}
}

// TestWrite writes a site twice: the second replaces the first, and is the same.
func TestWrite(t *testing.T) {
	out := filepath.Join(t.TempDir(), "dist", "site")
	var first []string
	for i := range 2 {
		var stdout, stderr bytes.Buffer
		if code := run([]string{"-C", repository, "-o", out}, &stdout, &stderr); code != 0 {
			t.Fatalf("exit code %d: %s", code, stderr.String())
		}
		var names []string
		for name, text := range built(t) {
			got, err := os.ReadFile(filepath.Join(out, filepath.FromSlash(name)))
			if err != nil || !bytes.Equal(got, text) {
				t.Errorf("%s is not what was built: %v", name, err)
			}
			names = append(names, name)
		}
		slices.Sort(names)
		if i == 0 {
			first = names
			if err := os.WriteFile(filepath.Join(out, "old.html"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		} else if !slices.Equal(names, first) {
			t.Errorf("%q, then %q", first, names)
		}
	}
	if _, err := os.Stat(filepath.Join(out, "old.html")); err == nil {
		t.Error("a page of the first site is left")
	}
}

// TestOutOf: addresses are short and in lower case; a README is the index of its directory.
func TestOutOf(t *testing.T) {
	for source, want := range map[string]string{
		"README.md": "index.html", "docs/README.md": "documents.html", "docs/ci.md": "ci.html",
		"docs/theory/README.md": "theory/index.html", "docs/theory/traces.md": "theory/traces.html",
		"LIMITATIONS.md": "limitations.html", "CODE_OF_CONDUCT.md": "code-of-conduct.html",
	} {
		if got := outOf(source); got != want {
			t.Errorf("%s: %s, want %s", source, got, want)
		}
	}
	for _, c := range []struct{ from, to, want string }{
		{"a.html", "b.html", "b.html"}, {"a.html", "d/b.html", "d/b.html"},
		{"d/a.html", "b.html", "../b.html"}, {"d/a.html", "d/b.html", "b.html"},
		{"d/a.html", "e/b.html", "../e/b.html"}, {"d/e/a.html", "d/b.html", "../b.html"},
	} {
		if got := (&page{out: c.from}).to(c.to); got != c.want {
			t.Errorf("from %s to %s: %s, want %s", c.from, c.to, got, c.want)
		}
	}
}
