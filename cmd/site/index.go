package main

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// An entry of the search index is a section: a heading and the text up to the next one.
type entry struct {
	To      string `json:"u"` // path in the site
	Page    string `json:"p"` // title of its page
	Heading string `json:"h"`
	Text    string `json:"t"`
}

// maxText bounds the text of a section in the index, in bytes: the reports of all examples would be
// half of it.
const maxText = 6000

// searchIndex returns the index as a script, since a page that is a file may not read other files.
func (s *site) searchIndex() ([]byte, error) {
	all := []entry{}
	for _, p := range s.pages {
		all = append(all, p.sections()...)
	}
	text, err := json.Marshal(all)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.WriteString("window.heddleIndex = ")
	b.Write(text)
	b.WriteString(";\n")
	return b.Bytes(), nil
}

// sections divides the text of a page at its headings.
func (p *page) sections() []entry {
	all := []entry{{To: p.out, Page: p.title, Heading: p.title}}
	var words []string
	finish := func() {
		text := strings.Join(strings.Fields(strings.Join(words, " ")), " ")
		if len(text) > maxText {
			text = strings.ToValidUTF8(text[:maxText], "")
		}
		all[len(all)-1].Text, words = text, nil
	}
	next := 0
	for _, n := range children(p.tree) {
		if n.Kind() != ast.KindHeading {
			words = append(words, blockText(n, p.text))
			continue
		}
		if h := p.headings[next]; h.level > 1 {
			finish()
			all = append(all, entry{To: p.out + "#" + h.id, Page: p.title, Heading: h.text})
		}
		next++
	}
	finish()
	return all
}

// blockText returns the text of a block, with that of code.
func blockText(n ast.Node, source []byte) string {
	var words []string
	walk(n, func(n ast.Node) {
		switch {
		case n.Type() != ast.TypeBlock:
		case n.Kind() == ast.KindCodeBlock, n.Kind() == ast.KindFencedCodeBlock:
			words = append(words, string(n.Lines().Value(source)))
		case n.FirstChild() != nil && n.FirstChild().Type() == ast.TypeInline:
			words = append(words, textOf(n, source))
		}
	})
	return strings.Join(words, " ")
}
