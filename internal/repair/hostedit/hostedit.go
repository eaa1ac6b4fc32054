// Package hostedit changes host code around launches: a launch becomes cooperative, or several
// launches, or gets a further buffer with its allocation. A change is made as a person would write
// it: new lines with the indentation of the launch, and braces where a statement becomes several.
//
// In flow the launches that package syntax found; out flow edits of the file. Package
// repair/between decides what is changed.
package hostedit

import (
	"fmt"
	"strings"

	"heddle/internal/edit"
	"heddle/internal/source"
	"heddle/internal/syntax"
)

// Patch collects the edits of one file.
type Patch struct {
	File  *source.File
	edits []edit.Edit
	names map[string]bool         // identifiers of the file, and those that the patch adds
	local map[int]map[string]bool // the same of functions, by their places
}

// New returns an empty patch.
func New(f *source.File) *Patch {
	p := &Patch{File: f, names: map[string]bool{}, local: map[int]map[string]bool{}}
	addWords(p.names, string(f.Content))
	return p
}

// addWords adds the words of a text to a set.
func addWords(set map[string]bool, text string) {
	for _, w := range strings.FieldsFunc(text, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}) {
		set[w] = true
	}
}

// Text returns the file with all edits.
func (p *Patch) Text() ([]byte, error) { return edit.Apply(p.File, p.edits) }

// Replace replaces a range.
func (p *Patch) Replace(r syntax.Range, with string) {
	p.edits = append(p.edits, edit.Edit{New: with,
		Span: source.Span{Start: p.File.PosAt(r.From), End: p.File.PosAt(r.To)}})
}

// Insert inserts text.
func (p *Patch) Insert(at int, text string) { p.Replace(syntax.Range{From: at, To: at}, text) }

// Add adds edits that were made elsewhere.
func (p *Patch) Add(edits []edit.Edit) { p.edits = append(p.edits, edits...) }

// Source returns the text of a range.
func (p *Patch) Source(r syntax.Range) string { return string(p.File.Content[r.From:r.To]) }

// Fresh returns a name that the file does not use, which begins with base.
func (p *Patch) Fresh(base string) string { return fresh(p.names, base) }

// FreshIn returns a name that a function does not use, and no directive: other functions may use
// it. The range is that of its body.
func (p *Patch) FreshIn(body syntax.Range, base string) string {
	names := p.local[body.From]
	if names == nil {
		names = map[string]bool{}
		p.local[body.From] = names
		t := string(p.File.Content)
		head := strings.LastIndexAny(t[:body.From], "};") + 1
		addWords(names, t[head:body.To])
		for line := range strings.Lines(t) {
			if strings.HasPrefix(strings.TrimSpace(line), "#") {
				addWords(names, line)
			}
		}
	}
	name := fresh(names, base)
	p.names[name] = true
	return name
}

func fresh(names map[string]bool, base string) string {
	name := base
	for i := 2; names[name]; i++ {
		name = fmt.Sprint(base, i)
	}
	names[name] = true
	return name
}

// Around replaces a statement by several, each on its own line if the statement is.
func (p *Patch) Around(s syntax.HostStmt, lines []string) {
	t := p.File.Content
	from, br := s.From, p.LineBreak()
	indent := p.Indent(from)
	if !s.Bare {
		sep := br + indent
		if !p.First(from) {
			sep = " "
		}
		p.Replace(s.Range, strings.Join(lines, sep))
		return
	}
	own := p.First(from)
	for from > 0 && strings.IndexByte(" \t\r\n", t[from-1]) >= 0 {
		from--
	}
	outer := p.Indent(from)
	if !own {
		indent = outer + p.Unit()
	}
	sep := br + indent
	open := " {"
	if p.OwnBraces() {
		open = br + outer + "{"
	}
	text := open + sep + strings.Join(lines, sep) + br + outer + "}"
	p.Replace(syntax.Range{From: from, To: s.To}, text)
}

// After inserts lines after a statement.
func (p *Patch) After(s syntax.HostStmt, lines []string) {
	p.Around(s, append([]string{p.Source(s.Range)}, lines...))
}

// Include adds a header after the last #include, unless the file includes it. It returns the line
// that it adds.
func (p *Patch) Include(header string) string {
	last, off := -1, 0
	for line := range strings.Lines(string(p.File.Content)) {
		off += len(line)
		word, ok := strings.CutPrefix(strings.TrimSpace(line), "#")
		if !ok || !strings.HasPrefix(strings.TrimSpace(word), "include") {
			continue
		}
		if last = off; strings.Contains(line, header) {
			return ""
		}
	}
	line := "#include <" + header + ">" + p.LineBreak()
	p.Insert(max(last, 0), line)
	return line
}

// Indent returns the white space at the beginning of a line.
func (p *Patch) Indent(at int) string {
	t := string(p.File.Content)
	line := t[strings.LastIndexByte(t[:at], '\n')+1:]
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

// Unit is one level of indentation: that of the first line that has one.
func (p *Patch) Unit() string {
	for line := range strings.Lines(string(p.File.Content)) {
		rest := strings.TrimLeft(line, " \t")
		if n := len(line) - len(rest); n > 0 && strings.TrimSpace(rest) != "" && rest[0] != '*' {
			return line[:n]
		}
	}
	return "    "
}

// First reports whether only white space precedes an offset on its line.
func (p *Patch) First(at int) bool {
	t := string(p.File.Content[:at])
	return strings.TrimLeft(t[strings.LastIndexByte(t, '\n')+1:], " \t") == ""
}

// OwnBraces reports whether the first brace behind a parenthesis has its own line.
func (p *Patch) OwnBraces() bool {
	t := string(p.File.Content)
	for i := strings.IndexByte(t, '{'); i >= 0 && i < len(t); {
		before := strings.TrimRight(t[:i], " \t\r\n")
		if strings.HasSuffix(before, ")") {
			return strings.Contains(t[len(before):i], "\n")
		}
		next := strings.IndexByte(t[i+1:], '{')
		if next < 0 {
			break
		}
		i += 1 + next
	}
	return false
}

// LineBreak is the line break that the file uses.
func (p *Patch) LineBreak() string {
	if strings.Contains(string(p.File.Content), "\r\n") {
		return "\r\n"
	}
	return "\n"
}

// LineEnd returns the offset of the line break at or after an offset.
func (p *Patch) LineEnd(at int) int {
	if n := strings.IndexByte(string(p.File.Content[at:]), '\n'); n >= 0 {
		return at + n
	}
	return len(p.File.Content)
}

// CommentEnd returns the end of the line if only a comment is left on it, else the offset itself.
func (p *Patch) CommentEnd(at int) int {
	end := p.LineEnd(at)
	if rest := strings.TrimSpace(string(p.File.Content[at:end])); strings.HasPrefix(rest, "//") {
		return end
	}
	return at
}

// OpenBrace returns the offset behind the next opening brace; 0 if there is none.
func (p *Patch) OpenBrace(at int) int {
	if n := strings.IndexByte(string(p.File.Content[at:]), '{'); n >= 0 {
		return at + n + 1
	}
	return 0
}
