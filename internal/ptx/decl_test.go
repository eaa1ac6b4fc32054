package ptx

import (
	"fmt"
	"strings"
	"testing"
)

// TestDecls checks the fields of definitions and directives.
func TestDecls(t *testing.T) {
	f := mustParse(t, "test.ptx", []byte(`
.extern .const[2] .align 8 .v2 .f32 a[][4], b = 1.0, c<3>;
.global .attribute(.managed, .unified( 19 , 95 )) .samplerref s = {filter_mode = nearest};
.weak .func .attribute(.unified(1,2)) (.param .b32 r) f(.param .u64 .ptr .shared .align 16 p, .reg .b32 q, ...) .noreturn;
.entry e .maxntid 8, 4 .pragma "x"; { }
.file 3 "a\"b\\c\tx\101", 17, 18
L: .callprototype (.param .b32 _) _ (.param .b8 _[12]) .abi_preserve 4;
`))
	var got []string
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *Var:
			got = append(got, varText(d))
		case *Func:
			s := fmt.Sprintf("func %d %t %s %t %t %q", d.Linkage, d.Entry, d.Name, d.HasParens, d.Variadic,
				d.Attrs)
			for _, v := range append(d.Results, d.Params...) {
				s += " (" + varText(v) + ")"
			}
			got = append(got, s+dirText(d.Dirs)+fmt.Sprintf(" body %t", d.Body != nil))
		case *FileDir:
			got = append(got, fmt.Sprintf("file %d %q %v", d.Index, d.Name, d.Extra))
		case *Prototype:
			got = append(got, fmt.Sprintf("proto %s (%s) (%s)", d.Name, varText(d.Results[0]),
				varText(d.Params[0]))+dirText(d.Dirs))
		}
	}
	want := []string{
		`2 const "[2]" align 8 v2 f32 [] [a[-1][4] b=f64:1 c<3>]`,
		`0 global "" align 0 v0 samplerref [.managed .unified(19,95)] [s={filter_mode:nearest}]`,
		`func 3 false f true true [".unified(1,2)"] (0 param "" align 0 v0 b32 [] [r]) (0 param "" align 0 v0 u64 [] ptr shared 16 [p]) (0 reg "" align 0 v0 b32 [] [q]) .noreturn() body false`,
		`func 0 true e false false [] .maxntid(8 4) .pragma("x") body true`,
		`file 3 "a\"b\\c\txA" [17 18]`,
		`proto L (0 param "" align 0 v0 b32 [] [_]) (0 param "" align 0 v0 b8 [] [_[12]]) .abi_preserve(4)`,
	}
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("got:\n%s\nwant:\n%s", g, w)
	}
}

func varText(v *Var) string {
	s := fmt.Sprintf("%d %s %q align %d v%d %s %v", v.Linkage, v.Space, v.Bank, v.Align, v.Vec, v.Type,
		v.Attrs)
	if v.Ptr != nil {
		s += fmt.Sprintf(" ptr %s %d", v.Ptr.Space, v.Ptr.Align)
	}
	var names []string
	for _, n := range v.Names {
		name := n.Name
		if n.Range > 0 {
			name += fmt.Sprintf("<%d>", n.Range)
		}
		for _, d := range n.Dims {
			name += fmt.Sprintf("[%d]", d)
		}
		if n.Init != nil {
			name += "=" + initText(n.Init)
		}
		names = append(names, name)
	}
	return s + fmt.Sprintf(" %v", names)
}

func initText(in *Init) string {
	if !in.Braces {
		if in.Member != "" {
			return in.Member + ":" + sexpr(in.Value)
		}
		return sexpr(in.Value)
	}
	var parts []string
	for _, x := range in.List {
		parts = append(parts, initText(x))
	}
	return "{" + strings.Join(parts, " ") + "}"
}

func dirText(dirs []*Directive) string {
	var s string
	for _, d := range dirs {
		var args []string
		for _, a := range d.Args.All() {
			args = append(args, sexpr(a))
		}
		s += " " + d.Name + "(" + strings.Join(args, " ") + ")"
	}
	return s
}

// TestInsts checks the parts of instructions.
func TestInsts(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"ret;", "ret"},
		{"@p bra.uni L;", "p bra uni: L"},
		{"@!%p1 ld.const[2].b32 a, [b];", "!%p1 ld const[2] b32: a (mem b)"},
		{"cp.async.bulk.shared::cluster.mbarrier::complete_tx::bytes [a], [b];",
			"cp async bulk shared::cluster mbarrier::complete_tx::bytes: (mem a) (mem b)"},
		{"mma.sync.aligned.m8n8k4.1X a;", "mma sync aligned m8n8k4 1X: a"},
		{"ld . global a;", ""},
		{"ld .global .b32 a, [b];", "ld global b32: a (mem b)"},
		{"call.uni (r), f, (a, 1);", "call uni: (paren r) f (paren a 1)"},
		{"tex.1d.v4.s32.f32 {a,b,c,d}|p, [t, {x}];",
			"tex 1d v4 s32 f32: (pair (vec a b c d) p) (mem t (vec x))"},
	} {
		f, errs := Parse(newFile(t, tt.text, []byte(".entry k() { "+tt.text+" }")))
		if len(errs) > 0 != (tt.want == "") {
			t.Errorf("%s: errors %s", tt.text, errorList(errs))
		}
		if tt.want == "" || len(errs) > 0 {
			continue
		}
		in := bodyOf(f)[0].Inst()
		got := strings.Join(append([]string{in.Opcode()}, in.Mods()...), " ")
		if g, ok := in.Guard(); ok {
			got = g.Name + " " + got
			if g.Neg {
				got = "!" + got
			}
		}
		for i, x := range in.Operands().All() {
			if i == 0 {
				got += ":"
			}
			got += " " + sexpr(x)
		}
		if got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.text, got, tt.want)
		}
	}
}

// TestManyOpcodes makes the table of opcodes grow.
func TestManyOpcodes(t *testing.T) {
	var b strings.Builder
	b.WriteString(".entry k() {\n")
	const n = 3000
	for range 2 {
		for i := range n {
			fmt.Fprintf(&b, "op%d.x%d;\n", i, i)
		}
	}
	b.WriteString("}\n")
	f := mustParse(t, "test.ptx", []byte(b.String()))
	if f.Words() != n {
		t.Errorf("%d different opcodes, want %d", f.Words(), n)
	}
	for i, s := range bodyOf(f) {
		in := s.Inst()
		if in.Word() != i%n || in.Opcode() != fmt.Sprintf("op%d", i%n) || len(in.Mods()) != 1 ||
			in.Mods()[0] != fmt.Sprintf("x%d", i%n) {
			t.Fatalf("statement %d is %s %v", i, in.Opcode(), in.Mods())
		}
	}
}

// TestComments checks which comments become nodes, and where.
func TestComments(t *testing.T) {
	f := mustParse(t, "test.ptx", []byte(`//heddle: top
//   heddle.point 3  `+"\r"+`
// heddles
// a heddle
/* heddle */
.entry k() // heddle header
{
	ret; // heddle end
}`))
	var got []string
	walk(f, func(n any) {
		switch n := n.(type) {
		case *Comment:
			got = append(got, fmt.Sprintf("%v %s", n.Sp.Start, n.Text))
		case Stmt:
			if n.Kind() == StmtInst {
				got = append(got, n.Inst().Opcode())
			}
		}
	})
	want := "1:1 heddle: top|2:1 heddle.point 3|6:12 heddle header|ret|8:7 heddle end"
	if g := strings.Join(got, "|"); g != want {
		t.Errorf("got  %s\nwant %s", g, want)
	}
}
