package irgen

import (
	"strings"
	"testing"
)

// Each text has one mistake. The error's range is exactly the text between « and », and the message
// contains want.
func TestErrors(t *testing.T) {
	const regs = ".reg .pred %p<3>; .reg .b16 %rs<3>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<3>; .reg .f64 %fd<3>; .reg .v2 .u32 %v;\n"
	for _, c := range []struct{ body, want string }{
		{"add.u32 %r1, «%r9», 1;", "%r9 is not declared; expected a register"},
		{"add.u32 %r1, «%q», 1;", "%q is not declared"},
		{"add.u32 «%r01», %r1, 1;", "%r01 is not declared"}, // the range declares %r1, not %r01
		{"mov.u32 %r1, «%tid.q»;", "%tid is not declared"},
		{"mov.u32 %r1, «%v.z»;", "%v has 2 components"},
		{"mov.u32 %r1, «%r2.x»;", "%r2 is a register of type .b32 and has no component .x"},
		{"«@%p7» bra L; L: ret;", "register %p7 is not declared"},
		{"«@%r1» bra L; L: ret;", "a guard needs a register of type .pred"},
		{"bra «NOWHERE»;", "label NOWHERE is not in this function"},
		{"{ L: ret; } bra «L»;", "label L is not in this function"},
		{"bra «%r1»;", "%r1 is a register of type .b32; expected a label"},
		{"«bra» L, L; L: ret;", "bra takes 1 operand, found 2"},
		{"brx.idx %r1, «L»; L: ret;", "L is a label; expected the name of a .branchtargets list"},
		{"brx.idx %r1, «ts»;", "ts is not declared; expected the name of a .branchtargets list"},
		{"«frobnicate.u32» %r1, %r2;", "unknown opcode"},
		{"«add.u33» %r1, %r2, 1;", "u33"},
		{"«st.const.u32» [%rd1], %r2;", "constant memory can only be read by a kernel"},
		{"«add.u32» %r1, %r2;", "add.u32 takes 3 operands, found 2"},
		{"«ld.global.u32» %r1, [%rd1], %rd2;", "takes 2 operands, found 3"},
		{"«atom.global.cas.b32» %r1, [%rd1], 0;", "takes 4 operands, found 3"},
		{"«setp.eq.and.u32» %p1, %r1, %r2;", "takes 4 operands, found 3"},
		{"«cvt.pack.sat.u8.s32.b32» %r1, %r2, %r3;", "takes 4 operands, found 3"}, // 9.7.9.22
		{"«bar.sync»;", "takes 1 to 2 operands, found 0"},
		{"«bar.arrive» 1;", "takes 2 operands, found 1"},
		{"«shfl.sync.idx.b32» %r1, %r2, 0, 31;", "takes 5 operands, found 4"},
		{"«mov.u32» %r1|%p1, %r2;", "takes 2 operands"},
		{"ld.global.u32 %r1, «%rd1»;", "takes an address in brackets"},
		{"add.u32 %r1, «[%rd1]», 1;", "does not take an address in brackets"},
		{"add.u32 «7», %r1, 1;", "expected a register to write to"},
		{"add.u32 %r1, «_», 1;", "the sink _ cannot be read"},
		{"mov.b64 {%r1, «3»}, %rd1;", "expected a register to write to"},
		{"add.u32 %r1, «%rd1», 1;", "%rd1 is of type .b64, but add takes .u32"},
		{"add.f32 %f1, «%fd1», %f2;", "%fd1 is of type .f64, but add takes .f32"},
		{"setp.eq.u32 «%r1», %r2, 0;", "%r1 is of type .b32, but setp takes .pred"},
		{"selp.b32 %r1, %r2, %r3, «%r4»;", "%r4 is of type .b32; selp takes a predicate"},
		{"ld.global.v2.u32 {%r1, «%rs1»}, [%rd1];", "but ld takes .u32"},
		{"ld.global.u32 %r1, «[%f1]»;", "an address needs an integer register"},
		{"ld.global.u32 %r1, [%rd1+«%r2»];", "%r2 is a register; it cannot be part of a constant expression"},
		{"ld.global.u32 %r1, [%rd1+«1.5»];", "expected an integer as the offset"},
		{"ld.global.u32 %r1, [«%v»];", "as the base of an address"},
		{"mov.u32 %r1, «1.5»;", "a float where a value of type .u32"},
		{"mov.f32 %f1, «1»;", "an integer where a value of type .f32"},
		{"mov.u32 %r1, «1 / 0»;", "division by zero"},
		{"mov.u32 %r1, «1 + 1.0»;", "two integers or two 64-bit floats"},
		{"mov.u32 %r1, «!%r2»;", "! takes a register of type .pred"},
		{"ld.global.u32 %r1, «%r2»[0];", "expected the name of an array"},
		{".shared .u32 a[4]; ld.shared.u32 %r1, a[«%rs1»];", "expected an integer register of 32 bits"},
		{".shared .u32 a[4]; ld.shared.u32 %r1, a[«1.5»];", "expected an integer or a register as the index"},
		{".shared .u32 a[4]; ld.u32 %r1, «a[%r2]»;", "ld needs the state space of the array"},
		{"add.f32 %f1, «%f2+1», %f1;", "expected an integer register and a constant"},
		{"vadd.u32.u32.u32 «7», %r1, %r2;", "expected a register to write to"},
		{"vadd.u32.u32.u32 %r1, «%r2.b012345678», %r2;", "not a selector"},
		{"call «nobody»;", "nobody is not declared"},
		{"call «k»;", "k is a kernel and cannot be called"},
		{"«call» f, (%r1);", "f has 1 results, found 0"},
		{"«call» (%r1), f, (%r1, %r2);", "f takes 1 arguments, found 2"},
		{"call (%r1), f, («%rd1»);", "the called function has 4 bytes here"},
		{"call (%r1), «%rd1», (%r1);", "an indirect call needs a .callprototype"},
		{"call (%r1), f, («glob»);", "glob is a .global variable; a call passes"},
		{"L: ret; «L:» ret;", "L is declared twice"},
		{".reg .u32 a; .reg .u64 «a»;", "a is declared twice"},
		{".local .b8 «buf»[];", "an array without a bound"},
		{".shared .u32 «s» = 5;", "only .global and .const variables can be initialised"},
		{".reg «.u7» a;", "u7"},
		{"mov.u32 %r1, «generic(glob)»;", "allowed only in initialisers"},
	} {
		src := header + ".global .u32 glob;\n.func (.reg .u32 r) f(.reg .u32 a) { ret; }\n.entry k()\n{\n" + regs + c.body + "\n}\n"
		checkError(t, src, c.want)
	}
}

func TestModuleErrors(t *testing.T) {
	for _, c := range []struct{ decls, want string }{
		{".entry k() { ret; } .entry «k»() { ret; }", "k is defined twice"},
		{".func f(); .entry «f»() { ret; }", "declared as .entry and as .func"},
		{".func f(.param .u32 a); .func «f»() { ret; }", "f has 0 parameters"},
		{".global .u32 f; .func «f»() { ret; }", "f is declared twice"},
		{".global .u32 a; .global .u32 «a»;", "a is declared twice"},
		{"«.reg .u32 a;»", "at module level is not supported"},
		{".global .u32 a[2] = {1, 2, «3»};", "3 values for 2 elements"},
		{".global .u32 a = «nobody»;", "nobody is not declared"},
		{".global .u16 a = «b»; .global .u32 b;", "an address needs a type of 4 or 8 bytes"},
		{".shared .u32 s; .global .u64 a = «s»;", "only addresses of .global and .const"},
		{".global .u64 a = «0xFF(b)»; .global .u32 b;", "a mask operator takes one byte"},
		{".global .f32 a[2] = {1.0, «2»};", "an integer where a value of type .f32"},
		{".global .u8 «a»[1000000000][1000000000];", "larger than 2^40"},
		{".global .align 3 .u8 a;", ".align 3"},
		{".entry k() «.maxntid 0» { ret; }", ".maxntid: expected one to three positive numbers"},
		{".entry k(«.reg .u32 a») { ret; }", "must be in state space .param"},
		{"«// heddle.kernel k 3»\n.entry k() { ret; }", "malformed fact"},
		{"«// heddle.param k 1 n val i32»\n.entry k(.param .u32 a) { ret; }", "fact about parameter 1 of k, which has 1"},
		{"«// heddle.param k 0 n ptr ptr»\n.entry k(.param .u32 a) { ret; }", "a pointer of 4 bytes"},
		{"«// heddle.fields k 1 0»\n.entry k(.param .b8 a[16]) { ret; }",
			"fact about fields of parameter 1 of k, which has none there"},
		{"«// heddle.fields k 0 0 16»\n.entry k(.param .b8 a[16]) { ret; }",
			"fact about fields of parameter 0 of k, which has none there"},
		{"«// heddle.fields k 0 x»\n.entry k(.param .b8 a[16]) { ret; }", "malformed fact"},
		{"«// heddle.param k 0 n maybe i32»\n.entry k(.param .u32 a) { ret; }", "malformed fact"},
	} {
		checkError(t, header+c.decls+"\n", c.want)
	}
}

// checkError wants one error, at the marked text. A text without marks is not checked for the place
// of its error.
func checkError(t *testing.T, marked, want string) {
	t.Helper()
	before, rest, ok := strings.Cut(marked, "«")
	at, after, _ := strings.Cut(rest, "»")
	set, file := parse(t, before+at+after)
	m, errs := Module(set, file)
	if m != nil || len(errs) == 0 {
		t.Errorf("%s: no error, want %q", at, want)
		return
	}
	e := errs[0]
	start, _ := file.Source.Offset(e.Span.Start)
	end, _ := file.Source.Offset(e.Span.End)
	if !strings.Contains(e.Msg, want) {
		t.Errorf("%s: got %q, want %q", at, e.Msg, want)
	}
	if got := string(file.Source.Content[start:max(start, end)]); ok && got != at {
		t.Errorf("%s: %q at %q, want it at %q", want, e.Msg, got, at)
	}
}
