package ptx

import (
	"reflect"
	"strings"
	"testing"

	"heddle/internal/source"
)

// checkSpans checks that every range is in the file and within its parent's, that the ranges of a
// list are in order, and that the text of a range agrees with its node.
func checkSpans(t *testing.T, f *File, text string) {
	t.Helper()
	c := &spanChecker{t: t, f: f, text: text}
	c.parts(f, 0, len(text), len(text))
}

type spanChecker struct {
	t    *testing.T
	f    *File
	text string
}

// node checks n, whose range should be within [from, to), and returns the end of its range.
func (c *spanChecker) node(n any, from, to int) int {
	span, ok := spanOf(n)
	if !ok {
		return from
	}
	start, end := c.offsets(span, n)
	if start < from || end > to || start >= end {
		c.t.Fatalf("%T %q at %d-%d is not within %d-%d", n, c.text[start:end], start, end, from, to)
	}
	c.content(n, c.text[start:end])
	if _, ok := n.(*VarName); ok {
		return c.parts(n, start, end, to) // the range is that of the name, without its initialiser
	}
	c.parts(n, start, end, end)
	return end
}

// parts checks the parts of n, whose own range ends at end, and returns the end of the last one.
func (c *spanChecker) parts(n any, from, end, to int) int {
	for _, x := range children(n) {
		if s, ok := x.(Stmt); ok && s.Kind() == StmtNode {
			x = s.Node()
		}
		if _, ok := x.(*Comment); ok {
			continue // it may be inside the statement that it follows in the tree
		}
		from = c.node(x, from, to)
	}
	return max(from, end)
}

func spanOf(n any) (source.Span, bool) {
	switch n := n.(type) {
	case *Ptr:
		return source.Span{}, false
	case *VarName:
		return n.Span, true
	case *Init:
		return n.Span, true
	case *SectionItem:
		return n.Span, true
	}
	return n.(Node).Span(), true
}

func (c *spanChecker) offsets(s source.Span, n any) (start, end int) {
	start, ok := c.f.Source.Offset(s.Start)
	end, ok2 := c.f.Source.Offset(s.End)
	if !ok || !ok2 {
		c.t.Fatalf("%T has the range %v-%v, which is not in the file", n, s.Start, s.End)
	}
	return start, end
}

// content checks the text of a node's range.
func (c *spanChecker) content(n any, text string) {
	want := ""
	switch n := n.(type) {
	case Stmt:
		c.stmt(n, text)
		return
	case Operand:
		want = n.Text()
	case *Func:
		if start, end := c.offsets(n.NameSpan, n); c.text[start:end] != n.Name {
			c.t.Errorf("the name of %s has the text %q", n.Name, c.text[start:end])
		}
		return
	case *Var:
		if start, end := c.offsets(n.TypeSpan, n); c.text[start:end] != "."+n.Type {
			c.t.Errorf("the type .%s has the text %q", n.Type, c.text[start:end])
		}
		return
	case *VarName:
		if !strings.HasPrefix(text, n.Name) {
			c.t.Errorf("%s has the text %q", n.Name, text)
		}
		return
	default:
		return
	}
	if text != want {
		c.t.Errorf("%T %q has the text %q", n, want, text)
	}
}

func (c *spanChecker) stmt(s Stmt, text string) {
	switch s.Kind() {
	case StmtLabel:
		if !strings.HasPrefix(text, s.Label()) || !strings.HasSuffix(text, ":") {
			c.t.Errorf("label %s has the text %q", s.Label(), text)
		}
	case StmtLoc:
		if l := s.Loc(); l.Span() != s.Span() || !strings.HasPrefix(text, ".loc") {
			c.t.Errorf("a .loc has the range %v and the text %q", l.Span(), text)
		}
	case StmtInst:
		in := s.Inst()
		start, end := c.offsets(in.OpSpan(), in)
		op := strings.Join(append([]string{in.Opcode()}, in.Mods()...), ".")
		if got := strings.Join(strings.Fields(c.text[start:end]), ""); got != op || got != in.Text() {
			c.t.Errorf("opcode %s has the text %q", op, got)
		}
		if !strings.HasSuffix(text, ";") {
			c.t.Errorf("instruction %q does not end with ';'", text)
		}
		if g, ok := in.Guard(); ok {
			start, end := c.offsets(g.Span, in)
			want := "@" + g.Name
			if g.Neg {
				want = "@!" + g.Name
			}
			if got := strings.Join(strings.Fields(c.text[start:end]), ""); got != want {
				c.t.Errorf("guard %s has the text %q", want, got)
			}
		}
	}
}

func TestSpans(t *testing.T) {
	for _, name := range testFiles(t) {
		text := readFile(t, name)
		checkSpans(t, mustParse(t, name, text), string(text))
	}
}

// TestKinds checks that the test files have every kind of statement, operand and node.
func TestKinds(t *testing.T) {
	var stmts [StmtLoc + 1]bool
	var ops [Mask + 1]bool
	nodes := make(map[reflect.Type]bool)
	for _, name := range testFiles(t) {
		walk(mustParse(t, name, readFile(t, name)), func(n any) {
			switch n := n.(type) {
			case Stmt:
				stmts[n.Kind()] = true
			case Operand:
				ops[n.Kind()] = true
			case Node:
				nodes[reflect.TypeOf(n)] = true
			}
		})
	}
	for k, ok := range stmts {
		if !ok {
			t.Errorf("no statement of kind %d", k)
		}
	}
	for k, ok := range ops[Name:] {
		if !ok {
			t.Errorf("no operand of kind %d", k+int(Name))
		}
	}
	if len(nodes) < 9 {
		t.Errorf("%d types of nodes: %v", len(nodes), nodes)
	}
}
