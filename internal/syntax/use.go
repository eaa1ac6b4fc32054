package syntax

import (
	"slices"
	"strings"
)

// Use is a call or an asm statement, with the texts of what it is given.
type Use struct {
	Asm    bool
	Callee string // of a call, as it is written; of a member call, the name behind the object
	// Object is what is in front of the dot or arrow of a member call.
	Object *Given
	// Given are the arguments of a call, or the outputs and inputs of an asm statement, as its text
	// numbers them.
	Given []Given
	Range Range
	// Statement is the statement that it is part of, with its semicolon.
	Statement Range
}

// Given is an expression that a call or an asm statement is given.
type Given struct {
	Range   Range
	Text    string
	Pointer bool // it is an address
	Number  bool // it is a number, or the result of a call
}

// Text returns the text of a range in the file of the function.
func (f *Func) Text(r Range) string { return string(f.File.Content[r.From:r.To]) }

// UseAt returns the innermost call or asm statement of a function around a byte offset, which is the
// place of an instruction that comes from it; nil if there is none in plain text.
func (u *Unit) UseAt(f *Func, off int) *Use {
	if f.body == nil {
		return nil
	}
	w := &rewriter{b: newBuilder(f.File, f.path, u.OpenCL), f: f, rw: &Rewrite{}}
	var found *node
	var walk func(n *node)
	walk = func(n *node) {
		switch n.kind {
		case "CallExpr", "CXXMemberCallExpr", "GCCAsmStmt":
			if r, ok := w.rangeOf(n); ok && r.From <= off && off < r.To {
				found = n
			}
		}
		for _, kid := range n.kids {
			walk(kid)
		}
	}
	walk(f.body)
	if found == nil {
		return nil
	}
	return w.use(found, off)
}

// AsmOf returns the asm statement of a function that has no other; nil if it has none or several.
func (u *Unit) AsmOf(f *Func) *Use {
	if f.body == nil {
		return nil
	}
	w := &rewriter{b: newBuilder(f.File, f.path, u.OpenCL), f: f, rw: &Rewrite{}}
	var all []*node
	var walk func(n *node)
	walk = func(n *node) {
		if n.kind == "GCCAsmStmt" {
			all = append(all, n)
		}
		for _, kid := range n.kids {
			walk(kid)
		}
	}
	walk(f.body)
	if len(all) != 1 {
		return nil
	}
	return w.use(all[0], all[0].begin.offset)
}

// Alone returns the range of an if without else that has nothing but one statement in it, whose range
// is given; that range if there is none.
func (u *Unit) Alone(f *Func, r Range) Range {
	if f.body == nil {
		return r
	}
	w := &rewriter{b: newBuilder(f.File, f.path, u.OpenCL), f: f, rw: &Rewrite{}}
	out := r
	var walk func(n *node)
	walk = func(n *node) {
		for _, kid := range n.kids {
			walk(kid)
		}
		if n.kind != "IfStmt" || n.hasElse || len(n.kids) == 0 {
			return
		}
		body := lastKid(n)
		if body.kind == "CompoundStmt" && len(body.kids) == 1 {
			body = body.kids[0]
		}
		inner, ok := w.b.extent(body)
		outer, ok2 := w.b.extent(n)
		if ok && ok2 && outer.begins && outer.ends && (Range{inner.from, inner.to}) == out {
			out = Range{outer.from, outer.to}
		}
	}
	walk(f.body)
	return out
}

// ConditionAt returns the text of the condition of an if or a loop that contains a byte offset, the
// innermost one; empty if there is none in plain text.
func (u *Unit) ConditionAt(f *Func, off int) string {
	if f.body == nil {
		return ""
	}
	w := &rewriter{b: newBuilder(f.File, f.path, u.OpenCL), f: f, rw: &Rewrite{}}
	found := ""
	var walk func(n *node)
	walk = func(n *node) {
		if (n.kind == "IfStmt" || n.kind == "WhileStmt") && len(n.kids) > 0 {
			if r, ok := w.rangeOf(n.kids[0]); ok && r.From <= off && off < r.To {
				found = f.Text(r)
			}
		}
		for _, kid := range n.kids {
			walk(kid)
		}
	}
	walk(f.body)
	return found
}

// VariableAt returns the name of the variable that the innermost expression around a byte offset
// changes: i of i++, of i += 2 and of i ^= 1; empty if there is none.
func (u *Unit) VariableAt(f *Func, off int) string {
	if f.body == nil {
		return ""
	}
	w := &rewriter{b: newBuilder(f.File, f.path, u.OpenCL), f: f, rw: &Rewrite{}}
	found := ""
	var walk func(n *node)
	walk = func(n *node) {
		changes := n.kind == "CompoundAssignOperator" || n.kind == "UnaryOperator" &&
			(n.op == "++" || n.op == "--") || n.kind == "BinaryOperator" && n.op == "="
		if r, ok := w.rangeOf(n); changes && ok && r.From <= off && off < r.To && len(n.kids) > 0 {
			if to := bare(n.kids[0]); to.kind == "DeclRefExpr" {
				found = to.refers
			}
		}
		for _, kid := range n.kids {
			walk(kid)
		}
	}
	walk(f.body)
	return found
}

// rangeOf returns the bytes of a node that is plain text.
func (w *rewriter) rangeOf(n *node) (Range, bool) {
	if !w.b.plain(n.begin) || !w.b.plain(n.end) {
		return Range{}, false
	}
	return Range{n.begin.offset, n.end.offset + n.end.size}, true
}

// bare returns what implicit conversions and parentheses are around.
func bare(n *node) *node {
	for (n.kind == "ImplicitCastExpr" || n.kind == "ParenExpr") && len(n.kids) == 1 {
		n = n.kids[0]
	}
	return n
}

// use describes a call or an asm statement.
func (w *rewriter) use(n *node, off int) *Use {
	r, ok := w.rangeOf(n)
	item := w.itemAt(w.f.body, off)
	if !ok || item == nil {
		return nil
	}
	e, ok := w.b.extent(item)
	if !ok || !e.begins || !e.ends {
		return nil
	}
	out := &Use{Range: r, Statement: Range{e.from, e.to}, Asm: n.kind == "GCCAsmStmt"}
	kids := n.kids
	if !out.Asm {
		if len(kids) == 0 {
			return nil
		}
		callee, ok := w.rangeOf(kids[0])
		if !ok {
			return nil
		}
		out.Callee, kids = w.f.Text(callee), kids[1:]
		member := bare(n.kids[0])
		dependent := member.kind == "CXXDependentScopeMemberExpr" // in a template
		if (n.kind == "CXXMemberCallExpr" || dependent) && len(member.kids) == 1 {
			object, ok := w.given(member.kids[0])
			if !ok {
				return nil
			}
			out.Object = &object
			out.Callee = strings.TrimLeft(out.Callee[object.Range.To-r.From:], " \t\n.->")
		}
	}
	for _, kid := range kids {
		if kid.kind == "CXXDefaultArgExpr" {
			break
		}
		g, ok := w.given(kid)
		if !ok {
			return nil
		}
		out.Given = append(out.Given, g)
	}
	return out
}

// given describes an expression.
func (w *rewriter) given(n *node) (Given, bool) {
	r, ok := w.rangeOf(n)
	if !ok {
		return Given{}, false
	}
	g := Given{Range: r, Text: w.f.Text(r)}
	n = bare(n)
	g.Pointer = strings.HasSuffix(n.typ, "*") || strings.Contains(n.typ, "[") ||
		n.kind == "UnaryOperator" && n.op == "&"
	words := []string{"unsigned int", "int", "unsigned", "u32", "uint32_t", "cuuint32_t"}
	g.Number = !g.Pointer && (slices.Contains(words, strings.TrimPrefix(n.typ, "const ")) ||
		n.kind == "CallExpr" || n.kind == "IntegerLiteral")
	return g, true
}
