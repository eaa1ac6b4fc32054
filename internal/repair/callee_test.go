package repair

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"heddle/internal/ir"
	"heddle/internal/ptx"
	"heddle/internal/source"
)

// calls are kernels with functions; each thread writes what it computes to its words of mem.
var calls = []struct{ name, funcs, body string }{
	{"registers, a guarded return, an end without one", `
.func (.reg .b32 %out) f(.reg .b32 %in, .reg .u32 by)
{ .reg .pred %p; .reg .b32 %x;
	mov.u32 %out, 5;
	setp.gt.u32 %p, %in, 20;
	@%p ret;
	add.u32 %x, %in, by;
	mov.u32 %out, %x;
}`, "call (%v), f, (%t, 3);"},
	{"parameters as compilers pass them, twice, with names that the kernel has too", `
.func (.param .b32 r) f(.param .b64 a, .param .b32 b)
{ .reg .b32 %v, %t; .reg .b64 %a;
	ld.param.u64 %a, [a];
	ld.param.u32 %t, [b+0];
	shl.b32 %v, %t, 1;
	st.global.u32 [%a+4], %v;
	bra done;
done:
	add.u32 %v, %v, 1;
	st.param.b32 [r], %v;
	ret;
}`, `mov.u32 %u, %t;
	{ .param .b64 p0; st.param.b64 [p0], %a; .param .b32 p1; st.param.b32 [p1+0], %u; .param .b32 r0;
	call.uni (r0), f, (p0, p1); ld.param.b32 %v, [r0+0]; }
	{ .param .b64 p0; st.param.b64 [p0+0], %a; .param .b32 p1; st.param.b32 [p1], %v; .param .b32 r0;
	call.uni (r0), f, (p0, p1); ld.param.b32 %v, [r0]; }`},
	{"a guarded call leaves its result alone", `
.func (.reg .b32 %out) f(.reg .b32 %in) { add.u32 %out, %in, 100; ret; }`,
		"mov.u32 %v, 1;\n\tsetp.lt.u32 %q, %t, 9;\n\t@%q call (%v), f, (%t);\n\t@!%q call f2, ();", // f2 has no body here
	},
	{"calls of calls, a loop, a { } with a register of its own", `
.func (.reg .b32 %out) g(.reg .b32 %in) { { .reg .b32 %out2; mul.lo.u32 %out2, %in, %in; mov.u32 %out, %out2; } ret; }
.func (.param .b32 r) f(.param .b32 n)
{ .reg .b32 %i<2>; .reg .b32 %s; .reg .pred %p;
	ld.param.b32 %i0, [n];
	mov.u32 %s, 0;
again:
	call (%i1), g, (%i0);
	add.u32 %s, %s, %i1;
	sub.u32 %i0, %i0, 7;
	setp.gt.s32 %p, %i0, 0;
	@%p bra again;
	st.param.b32 [r], %s;
	ret;
}`, "{ .param .b32 a; st.param.b32 [a], %t; .param .b32 b; call (b), f, (a); ld.param.b32 %v, [b]; }"},
	{"registers of an inner { } that hide others, alone and in numbers", `
.func (.reg .b32 %out) f(.reg .b32 %in)
{ .reg .b32 %x; .reg .b32 %y<2>; .reg .b32 %z<2>; .reg .b32 %w;
	mov.u32 %x, 1; mov.u32 %y0, 2; mov.u32 %y1, 3; mov.u32 %z0, 4; mov.u32 %z1, 5; mov.u32 %w, 6;
	{ .reg .b32 %x; .reg .b32 %y1; .reg .b32 %z<2>; .reg .b32 %y; .reg .b32 %w<2>;
		add.u32 %x, %in, 100; mov.u32 %y1, %x; mov.u32 %z0, %x; mov.u32 %z1, %x; mov.u32 %y, %x;
		mov.u32 %w1, %y; add.u32 %y0, %w1, %y; }
	mad.lo.u32 %out, %x, 7, %y0; mad.lo.u32 %out, %out, 7, %y1; mad.lo.u32 %out, %out, 7, %z0;
	mad.lo.u32 %out, %out, 7, %z1; mad.lo.u32 %out, %out, 7, %w;
	ret;
}`, "call (%v), f, (%t);"},
	{"a { } with a register inside the { } of a call", `
.func (.param .b32 r) f(.param .b32 a)
{ .reg .b32 %x; ld.param.b32 %x, [a]; add.u32 %x, %x, 5; st.param.b32 [r], %x; ret; }`, `
	{ .param .b32 p; .param .b32 q; { .reg .b32 %x; shl.b32 %x, %t, 2; st.param.b32 [p], %x; }
	call (q), f, (p); ld.param.b32 %v, [q]; }`},
	{"registers for .param parameters, and names of registers without a %", `
.func (.param .b32 r) f(.param .b32 a)
{ .reg .b32 %x; ld.param.b32 %x, [a]; add.u32 %x, %x, 5; st.param.b32 [r], %x; ret; }
.func (.reg .b32 r) g(.reg .b32 a) { add.u32 r, a, 9; ret; }`,
		".reg .b32 w; call (%v), f, (%t); mov.u32 w, %v; call (w), g, (w); mov.u32 %v, w;"},
	{"labels of the function and of the kernel with one name", `
.func (.reg .b32 %out) f(.reg .b32 %in)
{ .reg .pred %p; mov.u32 %out, 3; setp.gt.u32 %p, %in, 20; @%p bra L; add.u32 %out, %in, 1; L: ret; }`,
		"L: mov.u32 %v, 0; call (%u), f, (%t); add.u32 %t, %u, %t; setp.lt.u32 %p, %t, 40; @%p bra L; " +
			"mov.u32 %v, %t;"},
	{"floating point, and a thread that ends in the function", `
.func (.param .f32 r) f(.param .f32 x) { .reg .f32 %x; .reg .pred %p; ld.param.f32 %x, [x]; setp.gt.f32 %p, %x, 0f41F00000; @%p exit; add.f32 %x, %x, 0f3F800000; st.param.f32 [r], %x; ret; }`,
		"cvt.rn.f32.u32 %f, %t;\n\t{ .param .f32 a; st.param.f32 [a], %f; .param .f32 b; call (b), f, (a); ld.param.f32 %f, [b]; }\n\tcvt.rzi.u32.f32 %v, %f;"},
}

func withCalls(funcs, body string) string {
	return ".version 8.0\n.target sm_80\n.address_size 64\n" + funcs + `
.visible .entry k(.param .u64 mem)
{
	.reg .pred %p, %q;
	.reg .b32 %t, %u, %v;
	.reg .f32 %f;
	.reg .b64 %a, %d;
	ld.param.u64 %a, [mem];
	mov.u32 %t, %tid.x;
	mul.wide.u32 %d, %t, 256;
	add.u64 %a, %a, %d;
	` + body + `
	st.global.u32 [%a], %v;
	ret;
}
`
}

func inlined(t *testing.T, text string) ([]byte, []Copied, error) {
	t.Helper()
	set := source.NewSet()
	file, _ := set.Add("k.ptx", []byte(text))
	tree, errs := ptx.Parse(file)
	if len(errs) > 0 {
		t.Fatalf("%v\n%s", errs[0], text)
	}
	return Inlined(file, tree.Decls, "k")
}

// With copies of its functions a kernel does the same to memory, thread by thread.
func TestInlinedKeepsEffects(t *testing.T) {
	for _, c := range calls {
		t.Run(c.name, func(t *testing.T) {
			text := withCalls(c.funcs, strings.ReplaceAll(c.body, "\n\t@!%q call f2, ();", ""))
			out, from, err := inlined(t, text)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(out[bytes.Index(out, []byte(".entry")):]), "call") {
				t.Errorf("a call stays\n%s", out)
			}
			before, after := parse(t, text), parse(t, string(out))
			for seed := range uint64(3) {
				e1, m1 := execute(t, before.Func, seed)
				e2, m2 := execute(t, after.Func, seed)
				if !bytes.Equal(m1, m2) || !reflect.DeepEqual(e1.of, e2.of) {
					for th, list := range e1.of {
						if !slices.Equal(list, e2.of[th]) {
							t.Fatalf("seed %d: thread %v does %q, and did %q\n%s", seed, th, e2.of[th], list, out)
						}
					}
				}
			}
			list := after.Func.Blocks
			n, own := 0, 0
			for _, b := range list {
				for _, in := range b.Instrs {
					if in.Span.Start == in.Span.End || n >= len(from) { // the end of the body
						continue
					}
					if from[n].Func == "" && in.Op() != "mov" && in.Op() != "bra" {
						old := instr(before, from[n].At)
						if old == nil || old.Op() != in.Op() {
							t.Errorf("instruction %d, %s, is said to be %v of the kernel", n, in.Text(), old)
						}
						own++
					}
					n++
				}
			}
			if n != len(from) || own == 0 {
				t.Errorf("%d instructions, of which %d are the kernel's, and %d origins", n, own, len(from))
			}
		})
	}
}

// TestNotInlined: what cannot be copied is reported. A call has as many results and arguments as
// the function declares (PTX ISA 9.7.12.5). A .param variable that is declared outside the { } of
// its call is no register, and the copies of a call in a call end somewhere.
func TestNotInlined(t *testing.T) {
	for _, c := range []struct{ funcs, body, why string }{
		{".func f() { .shared .b32 s; ret; }", "call f;", "declares .shared variables"},
		{".func f() { call f; ret; }", "call f;", "is recursive"},
		{".func f(.param .align 4 .b8 x[12]) { ret; }", "{ .param .align 4 .b8 p[12]; call f, (p); }", "not a scalar"},
		{".func f(.param .b8 x) { ret; }", "{ .param .b8 p; st.param.b8 [p], %t; call f, (p); }", "not a scalar"},
		{".func f(.param .b64 x) { .reg .b32 %l; ld.param.b32 %l, [x+4]; ret; }", "{ .param .b64 p; st.param.b64 [p], %a; call f, (p); }", "in parts"},
		{".func f(.param .b32 x) { .reg .b64 %l; ld.param.b64 %l, [x]; ret; }",
			"{ .param .b32 p; st.param.b32 [p], %t; call f, (p); }", "in parts"},
		{".func f(.param .b64 x) { ret; }",
			"{ .param .b64 p; st.param.b32 [p+4], %t; call f, (p); }", "in parts"},
		{".func f(.reg .b32 %a) { ret; }", "call f;", "does not match its parameters"},
		{".func f(.reg .b32 %a) { ret; }", "call (%v), f, (%t);", "does not match its parameters"},
		{".func (.reg .b32 %r) f() { ret; }", "call f;", "does not match its parameters"},
		{".func f(.reg .b32 %a) { ret; }", "call f, (%t, %t);", "does not match its parameters"},
		{".func f(.param .b32 x) { ret; }",
			".param .b32 p; st.param.b32 [p], %t; { call f, (p); }", "outside its own { } block"},
		{".func f() { .shared .b32 s; ret; }", "{ { call f; } }", "declares .shared variables"},
		{nest(7), "call f6;", "nested too deeply"},
		{".func f() { }", strings.Repeat("call f;", 101), "nested too deeply"},
	} {
		out, _, err := inlined(t, withCalls(c.funcs, c.body))
		var no *Unsupported
		if out != nil || !errors.As(err, &no) || !strings.Contains(no.What, c.why) {
			t.Errorf("%s\n%v, want %q; %s", c.funcs, err, c.why, out)
		}
	}
	for _, most := range []struct{ funcs, body string }{
		{".func f() { }", strings.Repeat("call f;", maxCopies)}, {nest(6), "call f5;"},
	} {
		if out, _, err := inlined(t, withCalls(most.funcs, most.body)); out == nil || err != nil {
			t.Errorf("%.99s: %v", most.funcs, err)
		}
	}
	if out, _, err := inlined(t, withCalls(".func f() { ret; }", "")); out != nil || err != nil {
		t.Errorf("without a call: %v, %s", err, out)
	}
}

// nest returns functions f0 to f(n-1), of which each but the first calls the one before it twice: a
// call of the last one makes 2^n - 1 copies.
func nest(n int) string {
	text := ".func f0() { ret; }\n"
	for i := range n - 1 {
		text += fmt.Sprintf(".func f%d() { call f%d; call f%d; ret; }\n", i+1, i, i)
	}
	return text
}

func instr(k *Kernel, n int) *ir.Instr {
	for _, b := range k.Func.Blocks {
		for _, in := range b.Instrs {
			if in.Index == n {
				return in
			}
		}
	}
	return nil
}
