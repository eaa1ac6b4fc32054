package emu

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"heddle/internal/ir"
)

// inlined is k with its calls inlined, and without the calls that mark where functions return,
// which inlining would create again.
func inlined(t *testing.T, k *ir.Func) *ir.Func {
	t.Helper()
	f, err := ir.Inline(k)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range f.Blocks {
		b.Instrs = slices.DeleteFunc(b.Instrs,
			func(in *ir.Instr) bool {
				return in.Op() == "call" && in.Callee != nil &&
					in.Callee.Blocks != nil
			})
	}
	f.Link()
	for _, e := range ir.Check(f) {
		t.Error(e)
	}
	return f
}

// A kernel with its calls inlined computes what it computes with them (PTX ISA 9.7.12.5 and 7.1).
func TestInline(t *testing.T) {
	for name, body := range map[string]string{
		"registers":         "call (%v), twice, (%i);",
		"a constant":        "call (%v), twice, (21);",
		"calls of calls":    "call (%v), twice, (%i);\n\tcall (%v), plus7, (%v);\n\tcall (%v), twice, (%v);",
		"guarded":           "mov.u32 %v, 5;\n\tsetp.lt.u32 %c, %i, 9;\n\t@%c call (%v), twice, (%i);",
		"guarded by its no": "mov.u32 %v, 5;\n\tsetp.lt.u32 %c, %i, 9;\n\t@!%c call (%v), plus7, (%i);",
		"a struct by value": "{ .param .align 8 .b8 a[16]; .param .b32 r;\n\tst.param.v2.u32 [a], {%i, 2};\n\tst.param.u32 [a+8], 3;\n\tst.param.u32 [a+12], %i;\n\tcall (r), sum, (a);\n\tld.param.b32 %v, [r]; }",
		"guarded return":    "{ .param .b32 a; .param .b32 r;\n\tst.param.b32 [a], %i;\n\tcall (r), early, (a);\n\tld.param.b32 %v, [r]; }",
		"in a loop":         "mov.u32 %v, 0;\nL:\n\tcall (%v), plus7, (%v);\n\tadd.u32 %i, %i, 1;\n\tsetp.lt.u32 %c, %i, 40;\n\t@%c bra L;",
		"one of two": "and.b32 %v, %i, 1;\n\tsetp.eq.u32 %c, %v, 0;\n\tmov.u64 %q, twice;\n\t@%c mov.u64 %q, plus7;\n\t" +
			"T: .calltargets twice, plus7;\n\tcall (%v), %q, (%i), T;",
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			var out [2][]uint32
			for i := range out {
				k := module(t, callKernel(body))
				if i == 1 {
					if k = inlined(t, k); k == nil {
						return
					}
				}
				_, res, _ := start(t, k, config(1, 64, buffer("out", 256)), Options{})
				if res.Stop != nil {
					t.Fatal(res.Stop.Message)
				}
				out[i] = words(t, res, "out", 64)
			}
			if !slices.Equal(out[0], out[1]) || slices.Max(out[0]) == 0 {
				t.Errorf("calls %v, inlined %v", out[0], out[1])
			}
		})
	}
	var no *ir.InlineError
	k := module(t,
		callKernel(
			"{ .param .b32 a; .param .b32 b;\n\tst.param.b32 [a], %i;\n\tcall (b), fact, (a);\n\tld.param.b32 %v, [b]; }"))
	if _, err := ir.Inline(k); !errors.As(err, &no) || no.Instr == nil ||
		!strings.Contains(no.What, "recursion: fact") {
		t.Errorf("recursion: %v", err)
	}
}

// Control does not come back from a .noreturn function (PTX ISA 11.4.6), so that nothing follows the
// call that stays; threads that skip the call go on.
func TestInlineNoReturn(t *testing.T) {
	for _, call := range []string{"@!%c bra L;\n\tcall fail, ();\nL:", "@%c call fail, ();"} {
		k := module(t, ".func fail() .noreturn { trap; }\n"+
			callKernel("mov.u32 %v, 5;\n\tsetp.gt.u32 %c, %i, 200;\n\t"+call+"\n\tadd.u32 %v, %v, %i;"))
		f, err := ir.Inline(k) // which panics if a block has other successors than its last instruction
		if err != nil {
			t.Fatal(err)
		}
		if f == k {
			t.Fatalf("%s: the call is not inlined", call)
		}
		res, _ := completed(t, f, config(1, 64, buffer("out", 256)), Options{})
		wantWords(t, res, "out", 64, func(i int) uint32 { return uint32(5 + i) })
	}
}
