package reduce

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"heddle/internal/ptx"
	"heddle/internal/source"
)

// Candidate is a program with its launch. It does not change: a pass makes new ones.
type Candidate struct {
	Text   []byte    // of one PTX module
	Tree   *ptx.File // of Text
	Launch Launch
}

// fileName is the name of the text in positions, which nobody sees.
const fileName = "candidate.ptx"

// Parse reads PTX text. The error is the first mistake in it, with line and column.
func Parse(text []byte, l Launch) (*Candidate, error) {
	f, err := source.NewSet().Add(fileName, text)
	if err != nil {
		return nil, err
	}
	tree, errs := ptx.Parse(f)
	if len(errs) > 0 {
		return nil, fmt.Errorf("line %v: %s", errs[0].Span.Start, errs[0].Msg)
	}
	return &Candidate{Text: text, Tree: tree, Launch: l}, nil
}

// printed returns the candidate in the layout of ptx.Print: without comments of the user, and with
// one statement on a line.
func (c *Candidate) printed() (*Candidate, error) {
	var b bytes.Buffer
	if err := ptx.Print(&b, c.Tree); err != nil {
		return nil, err
	}
	return Parse(b.Bytes(), c.Launch)
}

// Instructions counts the instructions of all functions.
func (c *Candidate) Instructions() int {
	n := 0
	for _, f := range c.functions() {
		for range c.instructions(f) {
			n++
		}
	}
	return n
}

// functions are those with a body, in the order of the text.
func (c *Candidate) functions() []*ptx.Func {
	var out []*ptx.Func
	for _, d := range c.Tree.Decls {
		if f, ok := d.(*ptx.Func); ok && f.Body != nil {
			out = append(out, f)
		}
	}
	return out
}

// instructions are those of a function, in the order of the text, nested blocks included.
func (c *Candidate) instructions(f *ptx.Func) []ptx.Inst {
	var out []ptx.Inst
	for s := range statements(f.Body) {
		if s.Kind() == ptx.StmtInst {
			out = append(out, s.Inst())
		}
	}
	return out
}

// statements iterates over the statements of a block in the order of the text, those of nested
// blocks after the block itself.
func statements(b *ptx.Block) func(yield func(ptx.Stmt) bool) {
	return func(yield func(ptx.Stmt) bool) { walk(b, yield) }
}

// walk calls yield for the statements of a block until it returns false.
func walk(b *ptx.Block, yield func(ptx.Stmt) bool) bool {
	for s := range b.Stmts() {
		if !yield(s) {
			return false
		}
		if s.Kind() == ptx.StmtNode {
			if inner, ok := s.Node().(*ptx.Block); ok && !walk(inner, yield) {
				return false
			}
		}
	}
	return true
}

// change replaces the bytes from start to end of a text.
type change struct {
	start, end int
	text       string
}

// at returns the range of a span in the text.
func (c *Candidate) at(s source.Span) (start, end int) {
	start, _ = c.Tree.Source.Offset(s.Start)
	end, _ = c.Tree.Source.Offset(s.End)
	return start, max(start, end)
}

// cut returns the change that removes a statement with the semicolon behind it, and the line if
// nothing else is on it.
func (c *Candidate) cut(s source.Span) change {
	start, end := c.at(s)
	if at := skipBlank(c.Text, end, " \t\r\n"); at < len(c.Text) && c.Text[at] == ';' {
		end = at + 1
	}
	line := start
	for line > 0 && (c.Text[line-1] == ' ' || c.Text[line-1] == '\t') {
		line--
	}
	rest := skipBlank(c.Text, end, " \t\r")
	if (line == 0 || c.Text[line-1] == '\n') && rest < len(c.Text) && c.Text[rest] == '\n' {
		return change{start: line, end: rest + 1}
	}
	return change{start: start, end: end}
}

// skipBlank returns the offset of the first byte from at on that is not one of blank.
func skipBlank(text []byte, at int, blank string) int {
	for at < len(text) && strings.IndexByte(blank, text[at]) >= 0 {
		at++
	}
	return at
}

// replace returns the change that replaces a span.
func (c *Candidate) replace(s source.Span, text string) change {
	start, end := c.at(s)
	return change{start, end, text}
}

// without returns the change that removes element i of a list that commas separate.
func (c *Candidate) without(spans []source.Span, i int) change {
	start, end := c.at(spans[i])
	switch {
	case i+1 < len(spans):
		end, _ = c.at(spans[i+1])
	case i > 0:
		_, start = c.at(spans[i-1])
	}
	return change{start: start, end: end}
}

// apply makes the candidate with some changes; nil if two of them overlap without one containing
// the other, or if the result does not parse. A change within another one has no effect.
func (c *Candidate) apply(changes []change, l Launch) *Candidate {
	list := slices.Clone(changes)
	slices.SortStableFunc(list, func(a, b change) int {
		if a.start != b.start {
			return a.start - b.start
		}
		return b.end - a.end
	})
	var out strings.Builder
	at := 0
	for _, ch := range list {
		switch {
		case ch.start >= at:
			out.Write(c.Text[at:ch.start])
			out.WriteString(ch.text)
			at = ch.end
		case ch.end > at:
			return nil
		}
	}
	out.Write(c.Text[at:])
	next, err := Parse([]byte(out.String()), l)
	if err != nil {
		return nil
	}
	return next
}
