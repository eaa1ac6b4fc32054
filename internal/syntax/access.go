package syntax

import (
	"fmt"
	"slices"
	"strings"
)

// sprintf is fmt.Sprintf, so that errors of a place are one line.
func sprintf(format string, args ...any) string { return fmt.Sprintf(format, args...) }

// isConst reports whether a type is const itself, not what it points to.
func isConst(typ string) bool {
	return strings.HasPrefix(typ, "const ") && !strings.Contains(typ, "*") ||
		strings.HasSuffix(typ, "const")
}

// Param is a parameter of a function.
type Param struct {
	Name string
	Type string // as written, an array as a pointer
	Range
	id string
}

// Params returns the parameters of a function; false if one of them is not plain text.
func (f *Func) Params() ([]Param, bool) {
	t := text(f.File.Content)
	var out []Param
	for _, d := range f.decls {
		if d.begin.macro || d.end.macro || d.begin.offset < 0 || d.name == "" {
			return nil, false
		}
		to := d.end.offset + d.end.size
		p := Param{d.name, d.typ, Range{d.begin.offset, to}, d.id}
		if !strings.Contains(string(t[p.From:p.To]), p.Name) {
			return nil, false
		}
		out = append(out, p)
	}
	return out, true
}

// AccessKind says what an access does.
type AccessKind uint8

const (
	AccessRead   AccessKind = iota // p[i] is read
	AccessWrite                    // p[i] = x
	AccessUpdate                   // p[i] += x and the like
	AccessOther                    // anything else, such as an address
)

// Access is a use of a pointer parameter.
type Access struct {
	Name   Range // of the parameter
	Kind   AccessKind
	at     int // of a write, the end of its assignment
	around []fork
	// jumps says that the function has a goto: anything may come after anything.
	jumps bool
}

// fork is a part of a statement that an access is in.
type fork struct {
	of   *node
	part int
}

// After reports whether an access may come after another, in one thread or in two that other code
// orders: it is behind it in the text, or both are in a loop, and they are not in two branches of
// one condition.
func (a *Access) After(b *Access) bool {
	if a.jumps {
		return true
	}
	for i := range min(len(a.around), len(b.around)) {
		x, y := a.around[i], b.around[i]
		switch {
		case x.of != y.of:
			return a.at >= b.at
		case isLoopKind(x.of.kind):
			return true
		case x.of.kind == "IfStmt" && x.of.hasElse && x.part != y.part &&
			min(x.part, y.part) == len(x.of.kids)-2: // the two branches
			return false
		}
	}
	return a.at >= b.at
}

func isLoopKind(kind string) bool {
	switch kind {
	case "ForStmt", "WhileStmt", "DoStmt", "CXXForRangeStmt":
		return true
	}
	return false
}

// Accesses returns the uses of a parameter in the order of the text.
func (f *Func) Accesses(p Param) []Access {
	var out []Access
	seen := map[int]bool{}
	var path []fork
	jumps := f.body.has("GotoStmt") || f.body.has("IndirectGotoStmt")
	var walk func(n *node)
	walk = func(n *node) {
		if n.kind == "DeclRefExpr" && n.target == p.id && !seen[n.begin.offset] {
			seen[n.begin.offset] = true
			a := Access{jumps: jumps, Name: Range{n.begin.offset, n.begin.offset + n.begin.size}}
			a.Kind, a.at = accessKind(path)
			if n.begin.macro {
				a.Kind = AccessOther
			}
			if a.Kind == AccessRead || a.Kind == AccessOther {
				a.at = n.begin.offset
			}
			for _, b := range path {
				if b.of.kind == "IfStmt" || isLoopKind(b.of.kind) {
					a.around = append(a.around, b)
				}
			}
			out = append(out, a)
		}
		for i, kid := range n.kids {
			path = append(path, fork{n, i})
			walk(kid)
			path = path[:len(path)-1]
		}
	}
	walk(f.body)
	return out
}

// has reports whether a node of a kind is below n.
func (n *node) has(kind string) bool {
	return n.kind == kind || slices.ContainsFunc(n.kids, func(k *node) bool { return k.has(kind) })
}

// accessKind climbs from the name of a pointer to what is done with the element. end is the end of
// the assignment.
func accessKind(path []fork) (kind AccessKind, end int) {
	i := len(path) - 1
	if i < 0 || path[i].of.cast != "LValueToRValue" {
		return AccessOther, 0
	}
	element := false
	for i--; i >= 0; i-- {
		n := path[i].of
		switch {
		case n.kind == "ParenExpr":
		case !element && n.kind == "BinaryOperator" && (n.op == "+" || n.op == "-") &&
			strings.HasSuffix(n.typ, "*"):
		case !element && (n.kind == "ArraySubscriptExpr" && path[i].part == 0 ||
			n.kind == "UnaryOperator" && n.op == "*"):
			element = true
		case element && n.kind == "MemberExpr":
		case element && n.kind == "ImplicitCastExpr" && n.cast == "LValueToRValue":
			return AccessRead, 0
		case element && n.kind == "BinaryOperator" && n.op == "=" && path[i].part == 0:
			return AccessWrite, n.end.offset + n.end.size
		case element && (n.kind == "CompoundAssignOperator" && path[i].part == 0 ||
			n.kind == "UnaryOperator" && (n.op == "++" || n.op == "--")):
			return AccessUpdate, n.end.offset + n.end.size
		default:
			return AccessOther, 0
		}
	}
	return AccessOther, 0
}
