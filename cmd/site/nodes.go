package main

import (
	"bytes"
	"fmt"
	"html"
	"path"
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"

	"heddle/internal/diag"
)

// nodes renders the nodes that differ from those of other sites: HTML is shown as text, and what may
// be wider than a screen scrolls by itself, by keyboard as well.
type nodes struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (*nodes) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindRawHTML, rawHTML)
	r.Register(ast.KindHTMLBlock, htmlBlock)
	r.Register(ast.KindHeading, headingElement)
	r.Register(ast.KindCodeSpan, codeElement)
	r.Register(ast.KindCodeBlock, codeBlock)
	r.Register(ast.KindFencedCodeBlock, codeBlock)
	r.Register(east.KindTable, tableElement)
}

// rawHTML shows HTML within a paragraph as text; comments are left out.
func rawHTML(w util.BufWriter, source []byte, n ast.Node, enter bool) (ast.WalkStatus, error) {
	if enter {
		shown(w, n.(*ast.RawHTML).Segments.Value(source))
	}
	return ast.WalkSkipChildren, nil
}

// htmlBlock shows a block of HTML as text; comments are left out.
func htmlBlock(w util.BufWriter, source []byte, n ast.Node, enter bool) (ast.WalkStatus, error) {
	if enter {
		b := n.(*ast.HTMLBlock)
		all := b.Lines().Value(source)
		if b.HasClosure() {
			all = append(bytes.Clone(all), b.ClosureLine.Value(source)...)
		}
		shown(w, all)
	}
	return ast.WalkContinue, nil
}

// shown writes HTML as text, and nothing for a comment.
func shown(w util.BufWriter, text []byte) {
	t := strings.TrimSpace(string(text))
	if strings.HasPrefix(t, "<!--") && strings.Index(t, "-->") == len(t)-len("-->") {
		return
	}
	_, _ = w.WriteString(html.EscapeString(string(text)))
}

// headingElement writes a heading, with a link to itself unless it is the title.
func headingElement(w util.BufWriter, source []byte, n ast.Node, enter bool) (ast.WalkStatus, error) {
	h := n.(*ast.Heading)
	id, _ := h.AttributeString("id")
	name := html.EscapeString(string(id.([]byte)))
	if enter {
		fmt.Fprintf(w, "<h%d id=\"%s\">", h.Level, name)
		return ast.WalkContinue, nil
	}
	if h.Level > 1 {
		fmt.Fprintf(w, " <a class=\"self\" href=\"#%s\" aria-label=\"Link to %s\">#</a>", name,
			html.EscapeString(textOf(h, source)))
	}
	fmt.Fprintf(w, "</h%d>\n", h.Level)
	return ast.WalkContinue, nil
}

// codeElement writes code within a text. A short piece stays on one line: browsers break lines after
// the hyphens of flags.
func codeElement(w util.BufWriter, source []byte, n ast.Node, enter bool) (ast.WalkStatus, error) {
	if !enter {
		return ast.WalkContinue, nil
	}
	text, class := textOf(n, source), ""
	if len(text) <= 20 {
		class = ` class="short"`
	}
	fmt.Fprintf(w, "<code%s>%s</code>", class, html.EscapeString(text))
	return ast.WalkSkipChildren, nil
}

// codeBlock writes a block of code. In what heddle prints, codes of findings are links.
func codeBlock(w util.BufWriter, source []byte, n ast.Node, enter bool) (ast.WalkStatus, error) {
	if !enter {
		return ast.WalkContinue, nil
	}
	text := html.EscapeString(string(n.Lines().Value(source)))
	class := ""
	if f, ok := n.(*ast.FencedCodeBlock); ok && string(f.Language(source)) == "console" {
		class = ` class="console"`
		up, _ := n.OwnerDocument().AttributeString("up")
		text = console(text, fmt.Sprint(up))
	}
	fmt.Fprintf(w, "<pre%s tabindex=\"0\"><code>%s</code></pre>\n", class, text)
	return ast.WalkSkipChildren, nil
}

var (
	prompt  = regexp.MustCompile(`(?m)^\$ .*$`)
	labeled = regexp.MustCompile(`\b(error|warning|note)\[([a-z-]+)\]`)
)

// console marks the commands in the transcript of a terminal, and links codes to their pages. up is
// the path from the page to the root of the site.
func console(text, up string) string {
	text = prompt.ReplaceAllString(text, "<b>$0</b>")
	return labeled.ReplaceAllStringFunc(text, func(label string) string {
		m := labeled.FindStringSubmatch(label)
		if _, ok := diag.Lookup(diag.Code(m[2])); !ok {
			return label
		}
		to, _ := diag.PagePath(m[2])
		return fmt.Sprintf(`<span class="%s">%s</span>[<a href="%s">%s</a>]`, m[1], m[1],
			path.Join(up, to), m[2])
	})
}

// tableElement puts a table into a part of the page that scrolls sideways.
func tableElement(w util.BufWriter, _ []byte, _ ast.Node, enter bool) (ast.WalkStatus, error) {
	if enter {
		_, _ = w.WriteString("<div class=\"scroll\" tabindex=\"0\" role=\"region\" " +
			"aria-label=\"Table\"><table>\n")
	} else {
		_, _ = w.WriteString("</table></div>\n")
	}
	return ast.WalkContinue, nil
}
