package syntax

import (
	"fmt"
	"strings"

	"heddle/internal/source"
)

// atomicNames maps the operator of an update to the atomic function with the same effect (CUDA C++
// Programming Guide, "Atomic Functions").
var atomicNames = map[string]string{"+": "atomicAdd", "-": "atomicSub", "&": "atomicAnd",
	"|": "atomicOr", "^": "atomicXor"}

// AtomicUpdate returns an atomic statement that replaces the update at a byte offset, which must be
// a separate statement such as x += e; or x++;. The error is a *RewriteError that says why there is
// none: the type or operator has no atomic function, or a macro produces part of the statement.
func (u *Unit) AtomicUpdate(f *Func, off int) (text string, err error) {
	b := newBuilder(f.File, f.path, u.OpenCL)
	w := &rewriter{b: b, f: f, rw: &Rewrite{}}
	no := func(what string) (string, error) {
		pos := f.File.PosAt(off)
		return "", &RewriteError{Span: source.Span{Start: pos, End: pos}, What: what}
	}
	if u.OpenCL || f.body == nil {
		return no("atomic updates are supported in CUDA C++ only")
	}
	n := w.itemAt(f.body, off)
	if n == nil || len(n.kids) == 0 || !b.plain(n.begin) || !b.plain(n.end) {
		return no("the update is not a separate statement")
	}
	cell := n.kids[0]
	op, value := "", ""
	switch {
	case n.kind == "CompoundAssignOperator":
		op = strings.TrimSuffix(n.op, "=")
		end := n.end.offset + n.end.size
		if !b.plain(n.kids[1].begin) {
			return no("the update is not plain text")
		}
		value = strings.TrimSpace(string(b.text[n.kids[1].begin.offset:end]))
	case n.kind == "UnaryOperator" && (n.op == "++" || n.op == "--"):
		op, value = n.op[:1], "1"
	default:
		return no("the update does not have the form x += e")
	}
	name := atomicNames[op]
	typ := strings.TrimPrefix(n.typ, "volatile ")
	switch typ {
	case "int", "unsigned int":
	case "unsigned long long":
		if op == "-" {
			name = ""
		}
	case "float", "double":
		if op != "+" {
			name = ""
		}
	default:
		name = ""
	}
	if name == "" {
		return no(fmt.Sprintf("CUDA has no atomic function for operator %s on type %s", op, n.typ))
	}
	if !b.plain(cell.begin) || cell.end.macro {
		return no("the update is not plain text")
	}
	lhs := string(b.text[cell.begin.offset : cell.end.offset+cell.end.size])
	return fmt.Sprintf("%s(&%s, %s);", name, lhs, value), nil
}

// SameStatement reports whether two byte offsets are in the same assignment, so that Rewrite.Split
// can put a barrier between its reads and its write, or in a statement that one macro produces, so
// that it says why it cannot.
func (u *Unit) SameStatement(f *Func, a, b int) bool {
	if f.body == nil {
		return false
	}
	w := &rewriter{b: newBuilder(f.File, f.path, u.OpenCL), f: f, rw: &Rewrite{}}
	n := w.itemAt(f.body, a)
	return n != nil && n == w.itemAt(f.body, b) &&
		(n.kind == "BinaryOperator" && n.op == "=" || n.kind == "CompoundAssignOperator" ||
			w.b.single(n))
}
