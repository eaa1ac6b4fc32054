package main

import (
	"cmp"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// A site is the set of pages that one build makes, and what it has found wrong.
type site struct {
	root     string // directory of the repository
	home     string // URL of the repository on the web; empty: unpublished
	pages    []*page
	bySource map[string]*page
	byOut    map[string]*page
	assets   map[string]string // files that pages link to: path in the site, source
	menu     []*menuGroup
	problems []problem
}

// A page is one document, from its source to its HTML.
type page struct {
	source   string // slash path in the repository; of a generated page, that of no file
	out      string // slash path in the site
	text     []byte // Markdown
	title    string // text of the first heading
	tree     *tree
	headings []heading
	html     []byte
	previous *page
	next     *page

	// origin is where the text of a generated page comes from, for problems. It is empty for a file.
	origin origin
}

// An origin is a line of a file of the repository.
type origin struct {
	file string
	line int
}

// A heading is a place within a page that links can name.
type heading struct {
	id    string
	text  string
	level int
}

// A problem is a mistake in a document.
type problem struct {
	origin
	text string
}

// String is the problem as compilers print theirs.
func (p problem) String() string { return fmt.Sprintf("%s:%d: %s", p.file, p.line, p.text) }

// report adds a problem at an offset of a page's text.
func (s *site) report(p *page, offset int, format string, args ...any) {
	at := p.origin
	text := fmt.Sprintf(format, args...)
	if at.file == "" {
		at = origin{p.source, 1 + strings.Count(string(p.text[:min(max(offset, 0), len(p.text))]), "\n")}
	} else {
		text = "page " + p.out + ": " + text
	}
	s.problems = append(s.problems, problem{at, text})
}

// build reads the documents of a repository and renders them in memory. Mistakes in documents are
// in the problems of the result; an error is a file that cannot be read.
func build(root string) (*site, error) {
	s := &site{root: root, bySource: map[string]*page{}, byOut: map[string]*page{},
		assets: map[string]string{}}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return nil, fmt.Errorf("%w; expected the root of the repository", err)
	}
	s.home = homeOf(modfile.ModulePath(mod))
	if err := s.collect(); err != nil {
		return nil, err
	}
	for _, p := range s.pages {
		s.parse(p)
	}
	s.order()
	for _, p := range s.pages {
		s.resolve(p)
	}
	for _, p := range s.pages {
		if err := p.render(); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(s.problems, func(a, b problem) int {
		return cmp.Or(strings.Compare(a.file, b.file), a.line-b.line)
	})
	return s, nil
}

// homeOf returns the web address of the repository of a module, and nothing for a module that is
// published nowhere.
func homeOf(module string) string {
	if strings.HasPrefix(module, "github.com/") && strings.Count(module, "/") == 2 {
		return "https://" + module
	}
	return ""
}

// collect reads all documents: the Markdown files in the root, in docs and in docs/theory, and those
// that are made from data.
func (s *site) collect() error {
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/theory/*.md"} {
		files, err := filepath.Glob(filepath.Join(s.root, filepath.FromSlash(pattern)))
		if err != nil {
			return err
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			source := path.Join(path.Dir(pattern), filepath.Base(file))
			s.add(&page{source: source, out: outOf(source), text: text})
		}
	}
	if s.bySource["README.md"] == nil || s.bySource[docsIndex] == nil {
		return fmt.Errorf("%s has no README.md or no %s; expected the root of heddle's repository",
			s.root, docsIndex)
	}
	if err := s.addCodes(); err != nil {
		return err
	}
	return s.addExamples()
}

// add adds a page. Two sources of one page are a problem of the second.
func (s *site) add(p *page) {
	if other := s.byOut[p.out]; other != nil {
		s.report(p, 0, "the page %s is that of %s, too; rename one of them", p.out, other.source)
		return
	}
	s.bySource[p.source], s.byOut[p.out] = p, p
	s.pages = append(s.pages, p)
}

// docsIndex is the index of the documents, from which the menu takes its order.
const docsIndex = "docs/README.md"

// outOf returns the path of a document in the site. Names are short and in lower case, since people
// type them and findings link to them.
func outOf(source string) string {
	dir, name := path.Split(strings.TrimSuffix(source, ".md"))
	switch {
	case source == "README.md":
		return "index.html"
	case source == docsIndex:
		return "documents.html"
	case name == "README":
		name = "index"
	case dir == "":
		name = strings.ReplaceAll(strings.ToLower(name), "_", "-")
	}
	return strings.TrimPrefix(dir, "docs/") + name + ".html"
}

// assetOf returns the path in the site of a file below docs that is no document.
func assetOf(source string) string { return strings.TrimPrefix(source, "docs/") }
