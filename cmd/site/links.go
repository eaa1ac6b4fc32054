package main

import (
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"

	"heddle/internal/diag"
)

// resolve turns the links of a page into links between pages, and reports those that lead nowhere.
// Names of codes become links as well.
func (s *site) resolve(p *page) {
	p.tree.SetAttributeString("up", p.up())
	var all []ast.Node // before any of them moves
	walk(p.tree, func(n ast.Node) { all = append(all, n) })
	for _, n := range all {
		switch n := n.(type) {
		case *ast.Link:
			s.link(p, n)
		case *ast.AutoLink:
			if u := string(n.URL(p.text)); n.AutoLinkType == ast.AutoLinkURL && !external(u) {
				s.report(p, offset(n), "link to %q: expected https, http or mailto", u)
				plain(n, ast.NewString([]byte(u)))
			}
		case *ast.Image:
			s.report(p, offset(n), "an image: the site has none yet, and pages load nothing from other "+
				"hosts; describe it in words")
			plain(n, ast.NewString([]byte(textOf(n, p.text))))
		case *ast.CodeSpan:
			s.code(p, n)
		}
	}
}

// up is the path from the directory of a page to the root of the site.
func (p *page) up() string { return "./" + strings.Repeat("../", strings.Count(p.out, "/")) }

// to returns the path from a page to another path of the site.
func (p *page) to(out string) string {
	from := strings.Split(path.Dir(p.out), "/")
	if path.Dir(p.out) == "." {
		from = nil
	}
	parts := strings.Split(out, "/")
	for len(from) > 0 && len(parts) > 1 && from[0] == parts[0] {
		from, parts = from[1:], parts[1:]
	}
	return strings.Repeat("../", len(from)) + strings.Join(parts, "/")
}

// external reports whether a URL leads out of the site by a scheme that only opens a page or a mail.
func external(dest string) bool {
	u, err := url.Parse(dest)
	if err != nil {
		return false
	}
	switch strings.ToLower(u.Scheme) {
	case "http", "https":
		return u.Host != ""
	}
	return strings.EqualFold(u.Scheme, "mailto")
}

// link resolves one link. One that leads nowhere, or to a file whose repository has no address yet,
// becomes plain text.
func (s *site) link(p *page, n *ast.Link) {
	dest := string(n.Destination)
	if external(dest) {
		return
	}
	to, err := s.target(p, dest)
	if err != nil {
		s.report(p, offset(n), "link to %q: %v", dest, err)
	}
	if to == "" {
		plain(n, children(n)...)
		return
	}
	n.Destination = []byte(to)
}

// target returns where a link of a page leads in the site, and nothing for what it does not have. An
// error says why a link is dead.
func (s *site) target(p *page, dest string) (string, error) {
	u, err := url.Parse(dest)
	switch {
	case err != nil:
		return "", fmt.Errorf("not a URL: %w", err)
	case u.Scheme != "" || u.Host != "" || strings.HasPrefix(u.Path, "/") || u.RawQuery != "":
		return "", fmt.Errorf("expected https, http, mailto, or a path relative to this file")
	}
	source := p.source
	if u.Path != "" {
		source = path.Join(path.Dir(p.source), u.Path)
	}
	target := s.bySource[source]
	if target == nil {
		target = s.bySource[path.Join(source, "README.md")]
	}
	if target == nil {
		return s.file(p, source)
	}
	to := p.to(target.out)
	if u.Fragment == "" {
		return to, nil
	}
	if !slices.ContainsFunc(target.headings, func(h heading) bool { return h.id == u.Fragment }) {
		return "", fmt.Errorf("%s has no heading #%s%s", target.source, u.Fragment,
			nearest(target, u.Fragment))
	}
	if target == p {
		to = ""
	}
	return to + "#" + u.EscapedFragment(), nil
}

// nearest names a heading of a page that begins as an identifier does, as a suggestion.
func nearest(p *page, id string) string {
	for n := len(id); n > 2; n-- {
		for _, h := range p.headings {
			if strings.HasPrefix(h.id, id[:n]) {
				return "; there is #" + h.id
			}
		}
	}
	return ""
}

// file returns where a link to a file leads that is no document: a file below docs becomes part of
// the site, any other is shown by the repository.
func (s *site) file(p *page, source string) (string, error) {
	st, err := os.Stat(filepath.Join(s.root, filepath.FromSlash(source)))
	if err != nil || strings.HasPrefix(source, "..") {
		return "", fmt.Errorf("%s does not exist", source)
	}
	switch {
	case st.Mode().IsRegular() && strings.HasPrefix(source, "docs/"):
		out := assetOf(source)
		s.assets[out] = source
		return p.to(out), nil
	case s.home == "":
		return "", nil
	case st.IsDir():
		return s.home + "/tree/HEAD/" + source, nil
	}
	return s.home + "/blob/HEAD/" + source, nil
}

// code links the name of a code, or a command that explains a word, to its page. Codes without a
// hyphen, such as launch, are words with other meanings; CODE and TERM stand for any.
func (s *site) code(p *page, n *ast.CodeSpan) {
	for a := n.Parent(); a != nil; a = a.Parent() {
		if a.Kind() == ast.KindLink || a.Kind() == ast.KindHeading {
			return
		}
	}
	name := strings.Join(strings.Fields(textOf(n, p.text)), " ") // it may be on two lines
	if word, ok := strings.CutPrefix(name, "heddle explain "); ok && word == strings.ToLower(word) {
		name = word
	} else if _, ok := diag.Lookup(diag.Code(name)); !ok || !strings.Contains(name, "-") {
		return
	}
	out, ok := diag.PagePath(name)
	if !ok || out == p.out {
		return
	}
	out, anchor, hasAnchor := strings.Cut(out, "#")
	if s.byOut[out] == nil {
		s.report(p, offset(n), "%s: the site has no page %s", name, out)
		return
	}
	l := ast.NewLink()
	l.Destination = []byte(p.to(out))
	if hasAnchor {
		l.Destination = append(l.Destination, "#"+anchor...)
	}
	n.Parent().ReplaceChild(n.Parent(), n, l)
	l.AppendChild(l, n)
}

// plain replaces a node by others.
func plain(n ast.Node, by ...ast.Node) {
	parent := n.Parent()
	for _, c := range by {
		parent.InsertBefore(parent, n, c)
	}
	parent.RemoveChild(parent, n)
}

// children returns the nodes in a node.
func children(n ast.Node) []ast.Node {
	var all []ast.Node
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		all = append(all, c)
	}
	return all
}

// offset returns where a node is in the text: its own place, or that of what it is in.
func offset(n ast.Node) int {
	for ; n != nil; n = n.Parent() {
		if at := n.Pos(); at >= 0 {
			return at
		}
	}
	return 0
}
