package ptx

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"

	"heddle/internal/source"
)

// checkPlain parses the source of f again without the fast path, and checks that the records, the
// nodes and the errors are the same.
func checkPlain(t *testing.T, f *File, errs []*Error) {
	t.Helper()
	g, errs2 := parse(f.Source, false)
	if a, b := errorList(errs), errorList(errs2); a != b {
		t.Fatalf("errors:\n%s\nwithout plain statements:\n%s\nof:\n%s", a, b, f.Source.Content)
	}
	if a, b := printed(t, f), printed(t, g); !bytes.Equal(a, b) {
		t.Fatalf("printed:\n%s\nwithout plain statements:\n%s\nof:\n%s", a, b, f.Source.Content)
	}
	if a, b := spans(f), spans(g); !slices.Equal(a, b) {
		t.Fatalf("without plain statements the ranges differ, of:\n%s", f.Source.Content)
	}
	if !slices.Equal(f.stmts, g.stmts) || !slices.Equal(f.ops, g.ops) ||
		!slices.Equal(f.locs, g.locs) || !reflect.DeepEqual(f.words, g.words) {
		t.Fatalf("without plain statements the records differ, of:\n%s", f.Source.Content)
	}
}

// spans returns the ranges of the nodes of f.
func spans(f *File) []source.Span {
	var out []source.Span
	for _, x := range children(f) {
		walk(x, func(n any) {
			if s, ok := spanOf(n); ok {
				out = append(out, s)
			}
		})
	}
	return out
}

// TestPlain checks statements at the limits of the fast path.
func TestPlain(t *testing.T) {
	names := []string{"%r1", "%", "%1", "a", "_", "$L", "a.x", "a.1", "a..b", "a.b::c", "a.b:c", "ä",
		"aä", "WARP_SZ", "%WARP_SZ", "generic", "mask"}
	numbers := []string{"0", "00", "08", "1", "123456789", "1234567890", "4294967296", "1U", "0x1",
		"0f3F800000", "0F3f80000", "0f3F8000000", "0d3FF0000000000000", "1.5", "1e5", "1.", ".5", "-1",
		"--1", "- 1", "+1", "~1", "!a", "!%p", "-a"}
	var ops []string
	for _, n := range slices.Concat(names, numbers) {
		ops = append(ops, n, "["+n+"]", "[a+"+n+"]", "["+n+"-4]", "[a-"+n+"]", "{"+n+"}", "{a,"+n+"}",
			"{"+n+" , b}", "("+n+")", "%p|"+n, n+"|%q", n+"|b", n+"+1", n+"[1]", n+"(a)", n+" ", n+"%4",
			n+"// x")
	}
	ops = append(ops, "[a].unified", "[a] .unified", "[a+ 4]", "[ a]", "[a ]", "[a+4*2]", "[a+b]",
		"[a,b]", "[a,{b,c}]", "{}", "[]", "{a,}", "{{a}}", "{"+strings.Repeat("a,", maxPlain)+"a}",
		strings.Repeat("a,", maxPlain)+"a", strings.Repeat("a,", maxPlain-1)+"a")
	var stmts []string
	for _, o := range ops {
		stmts = append(stmts, "op "+o+";", "op.u32 a, "+o+", b;", "op "+o+"\n;", "op "+o+",\n c;",
			"op "+o)
	}
	for _, n := range names {
		stmts = append(stmts, "@"+n+" op;", "@!"+n+" op a;", "@ "+n+" op;", "@! "+n+" op;",
			"@"+n+"\top.x a;", "@"+n+"op;", "@"+n, "@"+n+" 5;", n+":", n+" :", n+": op;", n+"::", n+":;",
			n+";", n+" a;", n+".x a;", "op."+n+" a;")
	}
	for _, s := range []string{".loc 1 2 3", ".loc 1 2", ".loc\t01 2 3", ".loc 1 2 08", ".loc 1 2 3;",
		".loc 1 2 3,", ".loc 1 2 3\n;", ".loc 1 2 3\n, inlined_at 1 2 3",
		".loc 1 2 3, function_name a+1, inlined_at 4 5 6",
		".loc 1 2 3 // c\n, inlined_at 1 2 3", ".loc 1 2 3 /* c */ ;", ".loc 1 2 4294967295",
		".loc 1 2 4294967296", ".loc 1 2 3// c", ".loc1 2 3", ".locs 1 2 3", ".loc 1 2 3.5",
		".loc 1\n2 3"} {
		stmts = append(stmts, s, s+" op a;", s+"\nop a;", "op;\n"+s+"\nop;")
	}
	stmts = append(stmts, "L: .callprototype _ ;", "L:\n\n// c\n.callprototype (.param .b32 _) _ ;",
		"L: .loc 1 2 3", "L: // heddle x\n .callprototype _;", "L: /* c */ .callprototype _;",
		"L: M: op;", "op; // heddle x\nop;",
		"op; //heddle\nop;", "op; // heddles\nop;", "op; # 1 \"x\"\nop;", "op;\n# 1 \"x\"\nop;", "op .x;",
		"op.x .y a;", "op.x. a;", "op..x a;", "op.a::b a;", "op.a:::b a;", "op.a:: a;", "op.a: b;",
		"ld.const[2].u32 a;",
		"op; { op; }", "op;;op;", "op", "op\nop", "op a\nop b;", "op\x00;", "op a\x00;", "op a;\x00",
		"op\v\f\ra;", ".reg .b32 a;", "op a; op b;", "op a;\r\nop b;\r\n")
	var data []string
	for _, n := range slices.Concat(numbers, names) {
		data = append(data, ".b8 "+n, ".b8 "+n+",1", ".b8 1, "+n, ".b8 1\n.b8 "+n, ".b8 1,2\n"+n+":",
			".b8 1\n"+n, ".b8 1 "+n, ".b8 1 // "+n, ".b8 1,\n"+n, ".b8\n"+n)
	}
	data = append(data, ".b8 1\n.b16 2\n.b8 3", ".b8 1 .b8 2", ".b8 1.b8", ".b8 1 .5", ".b8 1;",
		".b8 1\n+1", ".b8 1\n,2", ".b8,1", ".b8", ".b8 1,", ".b8 1,,2", ".b81", ".b8 1 // heddle\n.b8 2",
		".b8 1\n}", ".b8 1}", ".b8 1 }")
	for _, s := range data {
		f, errs := Parse(newFile(t, "test.ptx", []byte(".section .debug_str {\n"+s+"\n}\n.b8 1")))
		checkPlain(t, f, errs)
		f, errs = Parse(newFile(t, "test.ptx", []byte(".section .debug_str {\n"+s)))
		checkPlain(t, f, errs)
	}
	for _, s := range stmts {
		for _, around := range []string{"", "op.x a;\nop a;\nop;\n"} { // the opcodes are known, or not
			f, errs := Parse(newFile(t, "test.ptx", []byte(".entry k() {\n"+around+s+"\nlast a;\n}\n")))
			checkPlain(t, f, errs)
			f, errs = Parse(newFile(t, "test.ptx", []byte(".entry k() {\n"+around+s)))
			checkPlain(t, f, errs)
		}
	}
}
