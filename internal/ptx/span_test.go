package ptx

import (
	"reflect"
	"strings"
	"testing"

	"heddle/internal/source"
)

// checkSpans checks that every node's range lies in the file and within its parent's, that ranges of one
// list follow each other, and that the text of a range is what the node says. It walks the tree by its
// fields, so that no kind of node is forgotten.
func checkSpans(t *testing.T, f *File, text string) {
	t.Helper()
	c := &spanChecker{t: t, f: f, text: text}
	last := 0
	for _, d := range f.Decls {
		if _, ok := d.(*Comment); ok {
			continue
		}
		_, last = c.node(d, last, len(text))
	}
}

type spanChecker struct {
	t    *testing.T
	f    *File
	text string
}

// node checks n, whose range should lie in [from, to), and returns its range.
func (c *spanChecker) node(n any, from, to int) (start, end int) {
	v := reflect.ValueOf(n)
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	start, end = c.offsets(spanOf(v), n)
	if start < from || end > to || start >= end {
		c.t.Fatalf("%T %q at %d-%d is not within %d-%d", n, c.text[start:end], start, end, from, to)
	}
	c.content(n, c.text[start:end])
	if _, ok := n.(VarName); ok {
		c.fields(v, start, to) // the range is that of the name, without its initialiser
	} else {
		c.fields(v, start, end)
	}
	return start, end
}

// fields checks the nodes that v holds.
func (c *spanChecker) fields(v reflect.Value, from, to int) {
	last := from
	for i := range v.NumField() {
		switch fv := v.Field(i); fv.Kind() {
		case reflect.Slice:
			at := last
			for j := range fv.Len() {
				e := fv.Index(j)
				if _, ok := e.Interface().(*Comment); ok {
					continue // may stand inside of the statement that it follows in the tree
				}
				if hasSpan(e) {
					_, at = c.node(e.Interface(), at, to)
				}
			}
		case reflect.Pointer, reflect.Interface:
			if !fv.IsNil() && hasSpan(fv) {
				c.node(fv.Interface(), from, to)
			}
		}
	}
}

func hasSpan(v reflect.Value) bool {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	return v.Kind() == reflect.Struct && spanOf(v).IsValid()
}

func spanOf(v reflect.Value) source.Span {
	for _, name := range []string{"Sp", "Span"} {
		if f := v.FieldByName(name); f.IsValid() {
			return f.Interface().(source.Span)
		}
	}
	return source.Span{}
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
	case *Inst:
		start, end := c.offsets(n.OpSpan, n)
		op := strings.Join(append([]string{n.Opcode}, n.Mods...), ".")
		if got := strings.Join(strings.Fields(c.text[start:end]), ""); got != op {
			c.t.Errorf("opcode %s has the text %q", op, got)
		}
		if !strings.HasSuffix(text, ";") {
			c.t.Errorf("instruction %q does not end with ';'", text)
		}
		return
	case *Name:
		if want = n.Name; n.Field != "" {
			want += "." + n.Field
		}
	case *Int:
		want = n.Text
	case *Float:
		want = n.Text
	case *Guard:
		text = strings.ReplaceAll(text, " ", "")
		if want = "@" + n.Name; n.Neg {
			want = "@!" + n.Name
		}
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
	case VarName:
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

func TestSpans(t *testing.T) {
	for _, name := range testFiles(t) {
		text := readFile(t, name)
		checkSpans(t, mustParse(t, name, text), string(text))
	}
}

// TestWalk checks that Walk meets every operand that the fields hold.
func TestWalk(t *testing.T) {
	for _, name := range testFiles(t) {
		text := readFile(t, name)
		f := mustParse(t, name, text)
		met := make(map[Node]bool)
		Walk(f, func(n Node) bool {
			if met[n] {
				t.Errorf("%s: Walk meets %T at %v twice", name, n, n.Span().Start)
			}
			met[n] = true
			return true
		})
		var visit func(v reflect.Value)
		visit = func(v reflect.Value) {
			switch v.Kind() {
			case reflect.Pointer, reflect.Interface:
				if v.IsNil() || v.Type() == fileType {
					return
				}
				if n, ok := v.Interface().(Node); ok && !met[n] {
					t.Errorf("%s: Walk leaves out %T at %v", name, n, n.Span().Start)
				}
				visit(v.Elem())
			case reflect.Struct:
				for i := range v.NumField() {
					if v.Type().Field(i).Type != reflect.TypeFor[node]() {
						visit(v.Field(i))
					}
				}
			case reflect.Slice:
				for i := range v.Len() {
					visit(v.Index(i))
				}
			}
		}
		visit(reflect.ValueOf(f))
	}
}
