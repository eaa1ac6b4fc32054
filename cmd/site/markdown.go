package main

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// tree is the syntax tree of a document.
type tree = ast.Document

// markdown reads and writes documents: CommonMark with tables. HTML in Markdown is text.
var markdown = goldmark.New(
	goldmark.WithExtensions(extension.NewTable(
		extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute))),
	goldmark.WithRendererOptions(
		renderer.WithNodeRenderers(util.Prioritized(&nodes{}, 100))),
)

// parse reads the text of a page and gives its headings their identifiers.
func (s *site) parse(p *page) {
	p.tree = markdown.Parser().Parse(text.NewReader(p.text)).(*ast.Document)
	ids := slugs{}
	walk(p.tree, func(n ast.Node) {
		h, ok := n.(*ast.Heading)
		if !ok {
			return
		}
		title := textOf(h, p.text)
		id := ids.unique(title)
		h.SetAttributeString("id", []byte(id))
		p.headings = append(p.headings, heading{id, title, h.Level})
	})
	switch {
	case len(p.headings) == 0 || p.headings[0].level != 1:
		s.report(p, 0, "no title; the first heading must be one of level 1 (# Title)")
		p.title = p.source
	default:
		p.title = p.headings[0].text
	}
}

// walk visits a node and everything in it, in the order of the text.
func walk(n ast.Node, visit func(ast.Node)) {
	visit(n)
	for c := n.FirstChild(); c != nil; {
		next := c.NextSibling() // visit may move c elsewhere
		walk(c, visit)
		c = next
	}
}

// textOf returns the text of a node, without markup.
func textOf(n ast.Node, source []byte) string {
	var b strings.Builder
	walk(n, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.Text:
			b.Write(n.Segment.Value(source))
			if n.SoftLineBreak() || n.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(n.Value)
		case *ast.AutoLink:
			b.Write(n.Label(source))
		}
	})
	return b.String()
}

// render writes the HTML of a page's document.
func (p *page) render() error {
	var b bytes.Buffer
	if err := markdown.Renderer().Render(&b, p.text, p.tree); err != nil {
		return fmt.Errorf("%s: %w", p.source, err)
	}
	p.html = b.Bytes()
	return nil
}

// slugs makes identifiers of headings as GitHub does, so that a link works in both places.
type slugs map[string]int

// unique returns the identifier of a heading: lower case, hyphens for spaces, no punctuation, and a
// number after that of an earlier one.
func (s slugs) unique(title string) string {
	var b strings.Builder
	for _, c := range strings.ToLower(title) {
		switch {
		case c == ' ':
			b.WriteByte('-')
		case c == '-' || c == '_' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c > 0x7f:
			b.WriteRune(c)
		}
	}
	id := cmp.Or(b.String(), "section")
	n, again := s[id]
	s[id] = n + 1
	if again {
		return s.unique(fmt.Sprintf("%s-%d", id, n))
	}
	return id
}
