package ptx

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"heddle/internal/source"
)

// newFile returns a source file in a new set.
func newFile(t testing.TB, name string, text []byte) *source.File {
	t.Helper()
	f, err := source.NewSet().Add(name, text)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// mustParse parses valid text.
func mustParse(t testing.TB, name string, text []byte) *File {
	t.Helper()
	file, errs := Parse(newFile(t, name, text))
	if len(errs) > 0 {
		t.Fatalf("%s: %s", name, errorList(errs))
	}
	return file
}

// errorList formats errors as line:col-line:col: message.
func errorList(errs []*Error) string {
	var b strings.Builder
	for _, e := range errs {
		fmt.Fprintf(&b, "%v-%v: %s\n", e.Span.Start, e.Span.End, e.Msg)
	}
	return b.String()
}

func printed(t testing.TB, f *File) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Print(&b, f); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// roundTrip checks that printing and parsing reproduce the tree and the text.
func roundTrip(t testing.TB, name string, f *File) {
	t.Helper()
	text := printed(t, f)
	again, errs := Parse(newFile(t, name, text))
	if len(errs) > 0 {
		t.Fatalf("%s: the printed text does not parse:\n%s\n%s", name, errorList(errs), text)
	}
	if diff := treeDiff(f, again); diff != "" {
		t.Fatalf("%s: printing changed the tree: %s\n%s", name, diff, text)
	}
	if text2 := printed(t, again); !bytes.Equal(text, text2) {
		t.Fatalf("%s: printing twice differs:\n%s\n%s", name, text, text2)
	}
}

// children returns the parts of n, a *File, a Stmt, an Operand or a struct of the tree, in the
// order of the text. It finds the parts of structs by reflection, so that none is forgotten.
func children(n any) []any {
	var out []any
	switch n := n.(type) {
	case *Block:
		for s := range n.Stmts() {
			out = append(out, s)
		}
		return out
	case Stmt:
		switch n.Kind() {
		case StmtNode:
			return []any{n.Node()}
		case StmtInst:
			return operandList(n.Inst().Operands())
		}
		return nil
	case Operand:
		return operandList(n.Parts())
	}
	v := reflect.ValueOf(n).Elem()
	for i := range v.NumField() {
		if v.Type().Field(i).IsExported() {
			out = append(out, fieldParts(v.Field(i))...)
		}
	}
	return out
}

func operandList(l Operands) []any {
	var out []any
	for _, x := range l.All() {
		out = append(out, x)
	}
	return out
}

func fieldParts(v reflect.Value) []any {
	switch x := v.Interface().(type) {
	case source.Span, *source.File:
		return nil
	case Operands:
		return operandList(x)
	case Operand:
		if x.Kind() == NoOperand {
			return nil
		}
		return []any{x}
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return nil
		}
		return []any{v.Interface()}
	case reflect.Struct:
		return []any{v.Addr().Interface()}
	case reflect.Slice:
		var out []any
		for i := range v.Len() {
			out = append(out, fieldParts(v.Index(i))...)
		}
		return out
	}
	return nil
}

// own describes n without its parts and positions.
func own(n any) string {
	switch n := n.(type) {
	case Stmt:
		return fmt.Sprintf("stmt %d ", n.Kind()) + ownStmt(n)
	case Operand:
		return ownOperand(n)
	}
	v := reflect.ValueOf(n).Elem()
	s := v.Type().Name()
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if !f.IsExported() {
			continue
		}
		switch k := f.Type.Kind(); {
		case k == reflect.Slice && (f.Type.Elem().Kind() == reflect.String ||
			f.Type.Elem().Kind() == reflect.Int64):
			s += fmt.Sprintf(" %s=%q", f.Name, v.Field(i).Interface())
		case k != reflect.Slice && k != reflect.Pointer && k != reflect.Struct && k != reflect.Interface:
			s += fmt.Sprintf(" %s=%v", f.Name, v.Field(i).Interface())
		}
	}
	return s
}

func ownStmt(s Stmt) string {
	switch s.Kind() {
	case StmtInst:
		in := s.Inst()
		g, guarded := in.Guard()
		return fmt.Sprintf("%q %t %s %t", append([]string{in.Text(), in.Opcode()}, in.Mods()...), guarded,
			g.Name, g.Neg)
	case StmtLabel:
		return s.Label()
	case StmtLoc:
		l := s.Loc()
		return own(&l)
	}
	return ""
}

func ownOperand(x Operand) string {
	s := fmt.Sprintf("operand %d of %d", x.Kind(), x.Parts().Len())
	switch x.Kind() {
	case Name:
		s += fmt.Sprintf(" %q.%q", x.Name(), x.Field())
	case Int:
		v, unsigned := x.Int()
		s += fmt.Sprint(" ", v, unsigned)
	case Float:
		v, single := x.Float()
		s += fmt.Sprint(" ", v, single)
	case String:
		s += x.Str()
	case Mem:
		s += x.Field()
	case Unary, Binary:
		s += x.Op()
	case Range:
		s += x.Name()
	}
	return s
}

// treeDiff compares two trees without positions, and returns the path of the first difference.
func treeDiff(a, b *File) string { return diff("file", a, b) }

func diff(path string, a, b any) string {
	if x, y := own(a), own(b); x != y {
		return fmt.Sprintf("%s: %s and %s", path, x, y)
	}
	x, y := children(a), children(b)
	for i := range min(len(x), len(y)) {
		if d := diff(fmt.Sprintf("%s/%d", path, i), x[i], y[i]); d != "" {
			return d
		}
	}
	if len(x) != len(y) {
		return fmt.Sprintf("%s: %d and %d parts", path, len(x), len(y))
	}
	return ""
}

// walk calls fn for n and all its parts, in the order of the text.
func walk(n any, fn func(any)) {
	fn(n)
	for _, c := range children(n) {
		walk(c, fn)
	}
}

// TestRecords checks that every record in the arrays of a tree belongs to it exactly once.
func TestRecords(t *testing.T) {
	for _, name := range testFiles(t) {
		checkRecords(t, mustParse(t, name, readFile(t, name)))
	}
}

func checkRecords(t *testing.T, f *File) {
	t.Helper()
	stmts, ops, nodes := make([]int, len(f.stmts)), make([]int, len(f.ops)), 0
	walk(f, func(n any) {
		switch n := n.(type) {
		case Stmt:
			stmts[n.i]++
			switch n.Kind() {
			case StmtNode:
				nodes++
			case StmtInst:
				if _, ok := n.Inst().Guard(); ok {
					ops[n.rec().b-1]++
				}
			}
		case Operand:
			ops[n.i]++
		}
	})
	for i, n := range stmts {
		if n != 1 {
			t.Fatalf("statement %d is met %d times", i, n)
		}
	}
	for i, n := range ops {
		if n != 1 {
			t.Fatalf("operand %d, %q, is met %d times", i, Operand{file: f, i: uint32(i)}.Text(), n)
		}
	}
	if nodes != len(f.nodes) {
		t.Fatalf("%d of %d nodes are met", nodes, len(f.nodes))
	}
}
