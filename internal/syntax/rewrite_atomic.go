package syntax

import (
	"fmt"
	"strings"

	"heddle/internal/source"
)

// atomicNames are the functions that do in one step what an update does (CUDA C++ Programming Guide, Atomic Functions).
var atomicNames = map[string]string{"+": "atomicAdd", "-": "atomicSub", "&": "atomicAnd", "|": "atomicOr", "^": "atomicXor"}

// AtomicUpdate returns the statement that does atomically what the update at an offset does: x += e; x++; and the like,
// as a statement of its own.
func (u *Unit) AtomicUpdate(f *Func, off int) (text string, err error) {
	b := newBuilder(f.File, f.path, u.OpenCL)
	w := &rewriter{b: b, f: f, rw: &Rewrite{}}
	no := func(what string) (string, error) {
		pos := f.File.PosAt(off)
		return "", &RewriteError{Span: source.Span{Start: pos, End: pos}, What: what}
	}
	if u.OpenCL || f.body == nil {
		return no("an atomic update is written for CUDA C++ only")
	}
	n := w.itemAt(f.body, off)
	if n == nil || len(n.kids) == 0 || !b.plain(n.begin) || !b.plain(n.end) {
		return no("the update is no statement of its own")
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
		return no("the update is no statement of the form x += e")
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
		return no(fmt.Sprintf("there is no atomic function for %s of type %s", op, n.typ))
	}
	if !b.plain(cell.begin) || cell.end.macro {
		return no("the update is not plain text")
	}
	lhs := string(b.text[cell.begin.offset : cell.end.offset+cell.end.size])
	return fmt.Sprintf("%s(&%s, %s);", name, lhs, value), nil
}

// SameStatement reports whether two offsets are in one assignment, between whose reads and whose write a barrier can stand
// (Rewrite.Split).
func (u *Unit) SameStatement(f *Func, a, b int) bool {
	if f.body == nil {
		return false
	}
	w := &rewriter{b: newBuilder(f.File, f.path, u.OpenCL), f: f, rw: &Rewrite{}}
	n := w.itemAt(f.body, a)
	return n != nil && n == w.itemAt(f.body, b) && (n.kind == "BinaryOperator" && n.op == "=" || n.kind == "CompoundAssignOperator")
}
