package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"heddle/internal/diag"
)

// codesIndex is the source of the page that lists all codes, and codeSource that of the page of one.
// They exist only in memory; links in them are relative to docs.
const codesIndex = "docs/codes"

func codeSource(code diag.Code) string { return "docs/code-" + string(code) }

// addCodes adds a page for each code of heddle explain, and one that lists them.
func (s *site) addCodes() error {
	s.add(&page{source: codesIndex, out: "codes/index.html", text: []byte(codesList()),
		origin: origin{"internal/diag/codes.go", 1}})
	places, err := s.places()
	if err != nil {
		return err
	}
	for _, d := range diag.Docs() {
		out, _ := diag.PagePath(string(d.Code))
		p := &page{source: codeSource(d.Code), out: out, origin: places[d.Code]}
		p.text = []byte(s.codePage(p, d))
		s.add(p)
	}
	return nil
}

// codesList is the Markdown of the page that lists all codes.
func codesList() string {
	var b strings.Builder
	b.WriteString("# Codes of findings\n\nEach finding has a code. It decides how the finding counts, " +
		"and it never changes its meaning. `heddle explain CODE` prints the text of a page.\n")
	for family := range diag.Inputs + 1 {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n", capital(family.String()), familyText[family])
		b.WriteString("| code | meaning |\n|---|---|\n")
		for _, d := range diag.Docs() {
			if d.Family == family {
				fmt.Fprintf(&b, "| [%s](code-%s) | %s |\n", d.Code, d.Code, prose(d.Title))
			}
		}
	}
	return b.String()
}

// familyText says how the codes of a family count.
var familyText = [...]string{
	diag.Bugs: "An error makes the verdict `bug` and the exit code 1; a warning changes neither.",
	diag.Limits: "They never count as a bug of the kernel. Without a bug, the verdict is `unknown` or " +
		"`unsupported` and the exit code 3.",
	diag.Inputs: "An error in files, flags or launches: exit code 2. Some are warnings, and change " +
		"nothing.",
}

// codePage is the Markdown of the page of one code.
func (s *site) codePage(p *page, d diag.Doc) string {
	var b strings.Builder
	family := d.Family.String()
	fmt.Fprintf(&b, "# %s\n\n*%s.* One of the [%s](codes#%s).\n\n%s\n\n## How to repair it\n\n%s\n",
		d.Code, capital(prose(d.Title)), family, strings.ReplaceAll(family, " ", "-"), prose(d.Text),
		prose(d.Fix))
	before, after := s.reports(p, d)
	fmt.Fprintf(&b, "\n## Example\n\n%s\n### What heddle prints\n\n%s", fence(language(d.Example.File),
		d.Example.Text), fence("console", before))
	b.WriteString("\n## The example after the repair\n\n")
	if r := d.Repaired(); r.Text != d.Example.Text {
		fmt.Fprintf(&b, "%s\n", fence(language(r.File), r.Text))
	} else {
		b.WriteString("The file is the same; the command is another one.\n\n")
	}
	fmt.Fprintf(&b, "### What heddle prints then\n\n%s", fence("console", after))
	b.WriteString("\n## See also\n\n")
	for _, t := range diag.Terms() {
		if slices.Contains(t.See, string(d.Code)) || t.Name == string(d.Code) {
			fmt.Fprintf(&b, "- [%s](glossary.md#%s): %s\n", t.Name,
				strings.ReplaceAll(t.Name, " ", "-"), prose(t.Title))
		}
	}
	b.WriteString("- [All codes](codes)\n- [How to read the report of a race](reading-a-race.md)\n" +
		"- [Findings that are accepted](ci.md#findings-that-are-accepted)\n")
	return b.String()
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// reports returns what heddle prints for the example of a code and for the repaired one, which
// make docs has written down.
func (s *site) reports(p *page, d diag.Doc) (before, after string) {
	name := "docs/examples/codes/" + string(d.Code) + ".txt"
	text, err := os.ReadFile(filepath.Join(s.root, filepath.FromSlash(name)))
	if err != nil {
		s.report(p, 0, "the code %s has no report in %s; make docs writes it", d.Code, name)
		return "", ""
	}
	repaired := d.Repaired()
	first, second := "$ "+d.Example.CommandLine()+"\n", "$ "+repaired.CommandLine()+"\n"
	at := strings.LastIndex(string(text), second)
	if !strings.HasPrefix(string(text), first) || at <= 0 {
		s.problems = append(s.problems, problem{origin{name, 1}, fmt.Sprintf(
			"expected the output of %q and then that of %q; make docs writes it",
			strings.TrimSpace(first), strings.TrimSpace(second))})
		return "", ""
	}
	return string(text[:at]), string(text[at:])
}

// places returns the line of the data of each code.
func (s *site) places() (map[diag.Code]origin, error) {
	names := map[string]diag.Code{} // by constant
	text, err := os.ReadFile(filepath.Join(s.root, "internal", "diag", "codes.go"))
	if err != nil {
		return nil, err
	}
	for _, m := range codeConstant.FindAllStringSubmatch(string(text), -1) {
		names[m[1]] = diag.Code(m[2])
	}
	places := map[diag.Code]origin{}
	files, err := filepath.Glob(filepath.Join(s.root, "internal", "diag", "codes_*.go"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for i, line := range strings.Split(string(text), "\n") {
			if m := codeField.FindStringSubmatch(line); m != nil {
				places[names[m[1]]] = origin{"internal/diag/" + filepath.Base(file), i + 1}
			}
		}
	}
	return places, nil
}

var (
	codeConstant = regexp.MustCompile(`(Code\w+)\s+Code = "([a-z-]+)"`)
	codeField    = regexp.MustCompile(`^\t\tCode: (Code\w+),`)
)

// language is that of a file in the info string of a code block.
func language(file string) string {
	return map[string]string{".cu": "cuda", ".cl": "opencl", ".ptx": "ptx"}[filepath.Ext(file)]
}

// fence makes a code block. Its text may contain backquotes.
func fence(language, text string) string {
	mark := "```"
	for strings.Contains(text, mark) {
		mark += "`"
	}
	return mark + language + "\n" + strings.TrimRight(text, "\n") + "\n" + mark + "\n"
}

// document finds the documents that a text names.
var document = regexp.MustCompile(`docs/([a-z-]+\.md)`)

// prose is a plain text of package diag in Markdown, with links to documents.
func prose(text string) string {
	return diag.Prose(text, func(s string) string {
		return document.ReplaceAllString(s, "[$0]($1)")
	})
}
