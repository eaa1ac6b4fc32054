package main

import (
	"path"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"

	"heddle/internal/diag"
)

// A menuGroup is a part of the navigation: a title and pages. Long ones are folded while none of their
// pages is shown.
type menuGroup struct {
	title  string
	pages  []*page
	folded bool
}

// projectPages is the order of the documents for developers.
var projectPages = []string{"CHANGELOG.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "RATIONALE.md",
	"SECURITY.md", "GOVERNANCE.md", "CODE_OF_CONDUCT.md"}

// order puts the pages into the order of the menu: that of docs/README.md, where each list has the
// paragraph before it as its title, then the theory, the codes and the documents of the project. A
// document that no list has is a problem.
func (s *site) order() {
	index := s.bySource[docsIndex]
	s.menu = []*menuGroup{{title: "Start", pages: []*page{s.bySource["README.md"], index}}}
	seen := map[*page]bool{s.bySource["README.md"]: true, index: true}
	add := func(title string, folded bool, sources []string) {
		g := &menuGroup{title: title, folded: folded}
		for _, source := range sources {
			if p := s.bySource[source]; p != nil && !seen[p] {
				seen[p] = true
				g.pages = append(g.pages, p)
			}
		}
		if len(g.pages) > 0 {
			s.menu = append(s.menu, g)
		}
	}
	title := ""
	for _, n := range children(index.tree) {
		switch n.(type) {
		case *ast.Paragraph:
			title = strings.TrimSuffix(textOf(n, index.text), ":")
		case *ast.List:
			add(title, false, linked(n, docsIndex))
		}
	}
	if theory := s.bySource["docs/theory/README.md"]; theory != nil {
		add("Theory", true, slices.DeleteFunc(linked(theory.tree, theory.source),
			func(source string) bool { return !strings.HasPrefix(source, "docs/theory/") }))
	}
	codes := []string{codesIndex}
	for _, d := range diag.Docs() {
		codes = append(codes, codeSource(d.Code))
	}
	add("Codes", true, codes)
	add("Examples", false, []string{examplesIndex})
	add("Project", false, projectPages)
	s.arrange(seen)
}

// arrange sorts the pages by the menu and joins each with its neighbors.
func (s *site) arrange(seen map[*page]bool) {
	for _, p := range s.pages {
		if !seen[p] {
			s.report(p, 0, "no menu has this document; add it to %s, or to a list in cmd/site/menu.go",
				docsIndex)
		}
	}
	var all []*page
	for _, g := range s.menu {
		all = append(all, g.pages...)
	}
	for _, p := range s.pages {
		if !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	s.pages = all
	for i, p := range all {
		if i > 0 {
			p.previous, all[i-1].next = all[i-1], p
		}
	}
}

// linked returns the sources of the pages to which the links in a node lead.
func linked(n ast.Node, from string) []string {
	var out []string
	walk(n, func(n ast.Node) {
		if l, ok := n.(*ast.Link); ok {
			to := path.Join(path.Dir(from), string(l.Destination))
			if !strings.HasSuffix(to, ".md") {
				to = path.Join(to, "README.md")
			}
			out = append(out, to)
		}
	})
	return out
}
