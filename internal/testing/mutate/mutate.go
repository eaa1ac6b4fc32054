// Package mutate makes mutants of Go source: the same code with one condition changed. A test suite
// that passes for a mutant does not notice that condition.
//
// All mutants of a package are compiled at once. Each mutated condition asks at run time which
// mutant is active, so that only tests run anew for each mutant, and not the compiler (mutant
// schemata; Untch, Offutt and Harrold, "Mutation Analysis Using Mutant Schemata", ISSTA 1993).
package mutate

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
)

// A Mutant is one change to one condition.
type Mutant struct {
	File   string // as the caller names it
	Line   int    // of the condition, from 1
	Column int    // of the condition in bytes, from 1
	Func   string // the enclosing function: "name" or "Type.name"
	Text   string // the condition, its spaces and line breaks each as one space
	Change string // what replaces what: "negated", "<= for <", "|| for &&"
	Nth    int    // from 1: among those of Func with the same Text and Change, in source order

	pos, end int    // byte offsets of the condition
	op       int    // byte offset of the operator that is replaced; -1 if the condition is negated
	old, new string // the operator and its replacement
}

// Key identifies the mutant while the code around it changes.
func (m *Mutant) Key() Key {
	return Key{File: m.File, Func: m.Func, Text: m.Text, Change: m.Change, Nth: m.Nth}
}

// String is file:line:column, the condition and the change, in one line.
func (m *Mutant) String() string {
	return fmt.Sprintf("%s:%d:%d: %s: %s", m.File, m.Line, m.Column, m.Text, m.Change)
}

// replacement says which operator replaces another. Comparisons of order change at their boundary
// only: a negated one is found by many more tests.
var replacement = map[token.Token]token.Token{
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.EQL: token.NEQ, token.NEQ: token.EQL, token.LAND: token.LOR, token.LOR: token.LAND,
}

// Find returns the mutants of a Go file in source order:
//
//   - the condition of an if, or of a case without a tag, negated
//   - < for <=, > for >=, == for !=, && for ||, and the reverse, anywhere in a function
//
// It leaves out what cannot change a result: comparisons with nil, whose negation only crashes, the
// conditions of checks that do nothing but panic, and the functions that describe a value (String,
// Error, and those whose name begins with "print").
func Find(name string, text []byte) ([]*Mutant, error) {
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, name, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	f := finder{file: fset.File(tree.Pos()), name: name, text: text, count: map[Key]int{}}
	for _, d := range tree.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil && !describes(fn.Name.Name) {
			f.fn = functionName(fn)
			f.negated = map[ast.Expr]bool{}
			ast.Inspect(fn.Body, f.visit)
		}
	}
	return f.found, nil
}

// describes reports whether a function of this name only makes text for people.
func describes(name string) bool {
	return name == "String" || name == "Error" || name == "GoString" ||
		strings.HasPrefix(strings.ToLower(name), "print")
}

// functionName returns the name of a function, after its receiver's type if it is a method.
func functionName(fn *ast.FuncDecl) string {
	if fn.Recv == nil || len(fn.Recv.List) == 0 {
		return fn.Name.Name
	}
	t := fn.Recv.List[0].Type
	for {
		switch u := t.(type) {
		case *ast.StarExpr:
			t = u.X
		case *ast.IndexExpr:
			t = u.X
		case *ast.IndexListExpr:
			t = u.X
		case *ast.Ident:
			return u.Name + "." + fn.Name.Name
		default:
			return fn.Name.Name
		}
	}
}

// A finder collects the mutants of one file.
type finder struct {
	file    *token.File
	name    string
	text    []byte
	fn      string            // the function that is visited
	negated map[ast.Expr]bool // conditions of fn that have a negated mutant
	count   map[Key]int       // mutants so far, by key without Nth
	found   []*Mutant
}

// visit adds the mutants of one node, and reports whether its children have any.
func (f *finder) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GenDecl:
		return n.Tok != token.CONST
	case *ast.IfStmt:
		if panics(n.Body) {
			return false
		}
		f.negate(n.Cond)
	case *ast.SwitchStmt:
		if n.Tag == nil {
			for _, s := range n.Body.List {
				for _, e := range s.(*ast.CaseClause).List {
					f.negate(e)
				}
			}
		}
	case *ast.BinaryExpr:
		f.replace(n)
	}
	return true
}

// panics reports whether a block is a single call of panic.
func panics(b *ast.BlockStmt) bool {
	if len(b.List) != 1 {
		return false
	}
	s, ok := b.List[0].(*ast.ExprStmt)
	if !ok {
		return false
	}
	call, ok := s.X.(*ast.CallExpr)
	return ok && isIdent(call.Fun, "panic")
}

// isIdent reports whether e is the identifier.
func isIdent(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}

// withNil reports whether e compares something with nil.
func withNil(e *ast.BinaryExpr) bool { return isIdent(e.X, "nil") || isIdent(e.Y, "nil") }

// negate adds the negation of a condition.
func (f *finder) negate(e ast.Expr) {
	if b, ok := e.(*ast.BinaryExpr); ok && withNil(b) {
		return
	}
	f.negated[e] = true
	f.add(e, &Mutant{Change: "negated", op: -1})
}

// replace adds the mutant with the operator of e replaced, if it has a replacement. That of == and
// != is the negation, which conditions have already.
func (f *finder) replace(e *ast.BinaryExpr) {
	to, ok := replacement[e.Op]
	if !ok || withNil(e) || (e.Op == token.EQL || e.Op == token.NEQ) && f.negated[e] {
		return
	}
	f.add(e, &Mutant{Change: to.String() + " for " + e.Op.String(), op: f.file.Offset(e.OpPos),
		old: e.Op.String(), new: to.String()})
}

// add completes m, which changes e, and keeps it.
func (f *finder) add(e ast.Expr, m *Mutant) {
	m.pos, m.end = f.file.Offset(e.Pos()), f.file.Offset(e.End())
	at := f.file.Position(e.Pos())
	m.File, m.Line, m.Column, m.Func = f.name, at.Line, at.Column, f.fn
	m.Text = strings.Join(strings.Fields(string(f.text[m.pos:m.end])), " ")
	k := m.Key()
	f.count[k]++
	m.Nth = f.count[k]
	f.found = append(f.found, m)
}
