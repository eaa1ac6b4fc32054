package irgen

import (
	"slices"
	"strings"
	"testing"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/ptx"
	"heddle/internal/source"
)

const header = ".version 8.3\n.target sm_80\n.address_size 64\n"

// parse parses text that is right as far as the grammar goes.
func parse(t testing.TB, text string) (*source.Set, *ptx.File) {
	t.Helper()
	set := source.NewSet()
	src, err := set.Add("t.ptx", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	file, errs := ptx.Parse(src)
	for _, e := range errs {
		t.Fatalf("%s: %s", set.Format(e.Span.Start), e.Msg)
	}
	return set, file
}

// module builds the IR of a text without mistakes and checks it.
func module(t testing.TB, text string) *ir.Module {
	t.Helper()
	set, file := parse(t, text)
	m, errs := Module(set, file)
	for _, e := range errs {
		t.Errorf("%s: %s", set.Format(e.Span.Start), e.Msg)
	}
	if len(errs) > 0 {
		t.FailNow()
	}
	for _, err := range ir.CheckModule(m) {
		t.Error(err)
	}
	return m
}

// kernel builds the kernel "k" around a body.
func kernel(t testing.TB, body string) *ir.Func {
	t.Helper()
	return module(t, header+".visible .entry k(.param .u64 p, .param .u32 n)\n{\n"+body+"\n}\n").Kernel("k")
}

// text prints the instructions of f, one a line, with the blocks' numbers.
func text(f *ir.Func) string {
	var b strings.Builder
	for _, blk := range f.Blocks {
		for _, in := range blk.Instrs {
			b.WriteString("b" + itoa(int(blk.ID)) + " " + f.Format(in) + "\n")
		}
	}
	return b.String()
}

func TestBlocks(t *testing.T) {
	f := kernel(t, `
	.reg .pred %p<3>;
	.reg .b32 %r<4>;
	mov.u32 %r1, %tid.x;
	setp.eq.u32 %p1, %r1, 0;
	@%p1 bra THEN;
	add.u32 %r2, %r1, 1;
UNUSED:
	@!%p2 exit;
	bra.uni JOIN;
THEN:
	add.u32 %r2, %r1, 2;
JOIN:
	ret;
END:`)
	want := `b0 mov.u32 %r1, %tid.x
b0 setp.eq.u32 %p1, %r1, 0
b0 @%p1 bra b3
b1 add.u32 %r2, %r1, 1
b1 @!%p2 exit
b2 bra.uni b4
b3 add.u32 %r2, %r1, 2
b4 ret
`
	if got := text(f); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	for i, want := range [][]ir.BlockID{{3, 1}, {2}, {4}, {4}, nil} {
		if got := f.Blocks[i].Succs; len(got) != len(want) || len(got) > 0 && got[0] != want[0] || len(got) > 1 && got[1] != want[1] {
			t.Errorf("b%d: successors %v, want %v", i, got, want)
		}
	}
	// A lane that exits comes together with no one, so the branch at b0 does at JOIN.
	if got := ir.PostDom(f)[0]; got != 4 {
		t.Errorf("lanes that part in b0 come together in b%d, want b4", got)
	}
}

// The failure path of an assertion joins nothing: in PTX before 6.4 only the name says so.
func TestAssertFail(t *testing.T) {
	f := module(t, `.version 6.0
.target sm_70
.address_size 64
.extern .func __assertfail(.param .b64 m);
.entry k()
{
	.reg .pred p;
	@p bra OK;
	{ .param .b64 m; st.param.b64 [m], 0; call.uni __assertfail, (m); }
OK:	ret;
}`).Kernel("k")
	if len(f.Blocks[1].Succs) != 0 || ir.PostDom(f)[0] != 2 {
		t.Errorf("blocks:\n%s", f)
	}
}

// A body that falls off its end returns there.
func TestImplicitRet(t *testing.T) {
	for _, body := range []string{"", "\t.reg .b32 %r<2>;\n\tmov.u32 %r1, 1;", "\tbra END;\nEND:"} {
		f := kernel(t, body)
		last := f.Blocks[len(f.Blocks)-1].Last()
		if last.Op() != "ret" || !last.Span.IsValid() {
			t.Errorf("%q: ends with %v", body, last)
		}
	}
}

// Immediates have the bits of the instruction's type (PTX ISA 4.5.1, 4.5.2).
func TestImmediates(t *testing.T) {
	for _, c := range []struct {
		inst string
		want uint64
	}{
		{"mov.u32 %r1, 42;", 42},
		{"mov.s32 %r1, -1;", 0xffffffff},
		{"mov.u64 %rd1, -1;", 0xffffffffffffffff},
		{"mov.b16 %rs1, -2;", 0xfffe},
		{"mov.u32 %r1, 0x1ffffffff;", 0xffffffff},
		{"mov.f32 %f1, 0f3F800000;", 0x3f800000},
		{"mov.b32 %r1, 0f3F800000;", 0x3f800000},
		{"mov.f32 %f1, 1.5;", 0x3fc00000},
		{"mov.f32 %f1, -1.5;", 0xbfc00000},
		{"mov.f32 %f1, 0d3FF8000000000000;", 0x3fc00000},
		{"mov.f64 %fd1, 0d3FF8000000000000;", 0x3ff8000000000000},
		{"mov.b64 %rd1, 0d3FF8000000000000;", 0x3ff8000000000000},
		{"mov.f64 %fd1, 0f3FC00000;", 0x3ff8000000000000},
		{"mov.f64 %fd1, 0.1;", 0x3fb999999999999a},
		{"mov.f32 %f1, 0.1;", 0x3dcccccd},
		{"mov.pred %p1, 7;", 1},
		{"mov.u32 %r1, WARP_SZ;", 32},
		{"mov.u32 %r1, (1 << 4) + 3;", 19},
		{"mov.s64 %rd1, -7 / 2;", 0xfffffffffffffffd},   // truncates, as C
		{"mov.s64 %rd1, -7 % 4;", 1},                    // operands read as unsigned: 2^64-7 mod 4
		{"mov.s64 %rd1, -8 >> 1;", 0xfffffffffffffffc},  // arithmetic
		{"mov.u64 %rd1, -8U >> 1;", 0x7ffffffffffffffc}, // logical
		{"mov.u32 %r1, -1 < 1U;", 0},                    // usual conversions: unsigned
		{"mov.u32 %r1, -1 < 1;", 1},
		{"mov.u32 %r1, 1 ? 5 : 6;", 5},
		{"mov.u32 %r1, !3;", 0},
		{"mov.u32 %r1, ~0;", 0xffffffff},
		{"mov.f64 %fd1, 1.0 + 0.5;", 0x3ff8000000000000},
	} {
		f := kernel(t, ".reg .pred %p<2>; .reg .b16 %rs<2>; .reg .b32 %r<2>; .reg .b64 %rd<2>; .reg .f32 %f<2>; .reg .f64 %fd<2>;\n"+c.inst)
		o := f.Blocks[0].Instrs[0].Src[0]
		if o.Kind != ir.Imm || o.Val != c.want {
			t.Errorf("%s: kind %d, bits %#x, want %#x", c.inst, o.Kind, o.Val, c.want)
		}
	}
}

// The amount of a shift is 32 bits whatever is shifted (PTX ISA 9.7.8.7).
func TestImmediateOfOtherType(t *testing.T) {
	f := kernel(t, ".reg .b64 %rd<2>; .reg .b32 %r<3>; .reg .b16 %rs<2>;\nshl.b64 %rd1, %rd1, -1;\nmad.wide.u16 %r1, %rs1, -1, -1;\nmov.b64 %rd1, {%r1, -1};")
	in := f.Blocks[0].Instrs
	if got := in[0].Src[1].Val; got != 0xffffffff {
		t.Errorf("shift amount %#x", got)
	}
	if got := in[2].Src[0].Elems[1].Val; got != 0xffffffff { // half of a .b64 (9.7.9.4)
		t.Errorf("part of a packed value %#x", got)
	}
	if a, b := in[1].Src[1].Val, in[1].Src[2].Val; a != 0xffff || b != 0xffffffff {
		t.Errorf("mad.wide.u16: immediates %#x and %#x, want 16 and 32 bits", a, b)
	}
}

func TestSpecialRegisters(t *testing.T) {
	f := kernel(t, `
	.reg .b32 %r<9>; .reg .b64 %rd<3>; .reg .v4 .u32 %v;
	mov.u32 %r1, %ctaid.y;
	mov.u64 %rd1, %clock64;
	mov.u32 %r2, %laneid;
	mov.u32 %r3, %envreg17;
	mov.u32 %r4, %ntid.w;
	ld.const.v4.u32 %v, [0];
	mov.u32 %r5, %v.z;
	mov.u32 %r6, %lanemask_lt;`)
	in := f.Blocks[0].Instrs
	for i, want := range map[int]ir.Operand{
		0: {Kind: ir.Special, Sreg: ir.CtaidY}, 1: {Kind: ir.Special, Sreg: ir.Clock64}, 2: {Kind: ir.Special, Sreg: ir.LaneID},
		3: {Kind: ir.Special, Sreg: ir.EnvReg, Val: 17}, 4: {Kind: ir.Imm}, 7: {Kind: ir.Special, Sreg: ir.LanemaskLT},
	} {
		if o := in[i].Src[0]; o.Kind != want.Kind || o.Sreg != want.Sreg || o.Val != want.Val {
			t.Errorf("%s: got %+v", f.Format(in[i]), o)
		}
	}
	v := in[5]
	if len(v.Dst[0].Elems) != 4 {
		t.Errorf("%s: %+v", f.Format(v), v)
	}
	if got := in[6].Src[0].Reg; got != v.Dst[0].Elems[2].Reg {
		t.Errorf("%%v.z is register %d, want %d", got, v.Dst[0].Elems[2].Reg)
	}
}

func TestAddresses(t *testing.T) {
	m := module(t, header+`
.shared .align 4 .b8 tile[64];
.global .u32 g[4];
.entry k(.param .u64 p)
{
	.reg .b32 %r<9>; .reg .b64 %rd<5>; .reg .f32 %f<5>;
	ld.param.u64 %rd1, [p];
	ld.global.u32 %r1, [%rd1+-4];
	ld.shared.u32 %r2, [tile+8];
	ld.global.v4.f32 {%f1, %f2, _, %f4}, [%rd1 + 16];
	mov.u64 %rd2, tile;
	mov.u64 %rd3, g+12;
	ld.const.u32 %r3, [64];
	st.shared.v2.u32 [%rd2-8], {%r1, 5};
	ld.global.u32 %r4, [g];
}`)
	f := m.Kernel("k")
	in := f.Blocks[0].Instrs
	for i, want := range map[int]string{
		1: "ld.global.u32 %r1, [%rd1-4]", 2: "ld.shared.u32 %r2, [tile+8]",
		3: "ld.global.v4.f32 {%f1, %f2, _, %f4}, [%rd1+16]", 4: "mov.u64 %rd2, tile", 5: "mov.u64 %rd3, g+12",
		6: "ld.const.u32 %r3, [64]", 7: "st.shared.v2.u32 [%rd2-8], {%r1, 5}",
	} {
		if got := f.Format(in[i]); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if in[6].Src[0].Kind != ir.Mem || in[6].Src[0].Reg != ir.NoReg || in[6].Src[0].Var != nil {
		t.Errorf("absolute address: %+v", in[6].Src[0])
	}
	if v := in[2].Src[0].Var; v.Space != event.Shared || v.Size != 64 || v.Type != isa.B8 {
		t.Errorf("tile: %+v", v)
	}
	if !f.Params[0].Pointer {
		t.Error("p is not inferred to be a pointer")
	}
}

// Names of an inner scope hide the outer ones; a nested label is local to its braces.
func TestScopes(t *testing.T) {
	f := kernel(t, `
	.reg .u32 a;
	.reg .pred q;
	mov.u32 a, 1;
	{
		.reg .u64 a;
		mov.u64 a, 2;
	L:	@q bra L;
	}
	{
	L:	@q bra L;
	}
	mov.u32 a, 3;`)
	in := f.Blocks
	if got := text(f); !strings.Contains(got, "@q bra b1") || !strings.Contains(got, "@q bra b2") {
		t.Errorf("labels of two scopes:\n%s", got)
	}
	first, inner, last := in[0].Instrs[0].Dst[0].Reg, in[0].Instrs[1].Dst[0].Reg, in[3].Instrs[0].Dst[0].Reg
	if first != last || first == inner || f.Regs[inner].Type != isa.U64 {
		t.Errorf("registers %d, %d, %d", first, inner, last)
	}
}

func TestIndexedBranch(t *testing.T) {
	f := kernel(t, `
	.reg .u32 %r<2>; .reg .pred %p<2>;
N0:	mov.u32 %r1, 0;
N1:	mov.u32 %r1, 1;
	ts: .branchtargets N<2>, OUT, N0;
	@%p1 brx.idx %r1, ts;
	mov.u32 %r1, 2;
OUT:	ret;`)
	b := f.Blocks[1]
	want := []ir.BlockID{0, 1, 3, 0, 2}
	if len(b.Succs) != len(want) {
		t.Fatalf("successors %v, want %v", b.Succs, want)
	}
	for i := range want {
		if b.Succs[i] != want[i] {
			t.Errorf("successors %v, want %v", b.Succs, want)
		}
	}
}

func TestCalls(t *testing.T) {
	m := module(t, header+`
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
.func (.reg .u32 r) inreg(.reg .u32 a) { mov.u32 r, a; ret; }
.visible .func (.param .b32 res) f(.param .b32 x, .param .align 8 .b8 s[24])
{
	.reg .b32 %r<3>;
	ld.param.u32 %r1, [x];
	ld.param.u32 %r2, [s+16];
	st.param.b32 [res], %r2;
	ret;
}
.func stop() .noreturn { trap; }
.entry k()
{
	.reg .b32 %r<9>; .reg .b64 %rd<3>; .reg .pred %p<2>;
	{
	.param .b32 param0;
	st.param.b32 [param0], 7;
	.param .align 8 .b8 param1[24];
	st.param.b32 [param1+16], 8;
	.param .b32 retval0;
	call.uni (retval0), f, (param0, param1);
	ld.param.b32 %r1, [retval0];
	}
	call (%r2), inreg, (%r1);
	call (_), inreg, (5);
	mov.u64 %rd1, f;
	{
	.param .b32 a; .param .align 8 .b8 b[24]; .param .b32 c;
	proto: .callprototype (.param .b32 _) _ (.param .b32 _, .param .align 8 .b8 _[24]);
	@%p1 call (c), %rd1, (a, b), proto;
	}
	@%p1 call stop;
	call stop;
	mov.u32 %r3, 1;
}`)
	k := m.Kernel("k")
	var calls []*ir.Instr
	for _, b := range k.Blocks {
		for _, in := range b.Instrs {
			if in.Op() == "call" {
				calls = append(calls, in)
			}
		}
	}
	if len(calls) != 6 {
		t.Fatalf("%d calls", len(calls))
	}
	if c := calls[0]; c.Callee == nil || c.Callee.Name != "f" || len(c.Src) != 2 || c.Src[1].Kind != ir.VarVal || c.Src[1].Var.Size != 24 || c.Dst[0].Kind != ir.VarVal {
		t.Errorf("direct call: %+v", c)
	}
	if f := calls[1].Callee; !f.Params[0].InReg || f.Regs[f.Params[0].Reg].Name != "a" || calls[1].Src[0].Kind != ir.Register {
		t.Errorf("call with registers: %+v", calls[1])
	}
	if calls[2].Dst[0].Kind != ir.None || calls[2].Src[0].Kind != ir.Imm || calls[2].Src[0].Val != 5 {
		t.Errorf("call with a sink: %+v", calls[2])
	}
	if c := calls[3]; c.Callee != nil || c.Src[0].Kind != ir.Register || len(c.Src) != 3 || c.Guard == ir.NoReg {
		t.Errorf("indirect call: %+v", c)
	}
	// Only the unguarded call of a function that does not return ends its block.
	n := len(k.Blocks)
	if n != 2 || len(k.Blocks[0].Succs) != 0 || k.Blocks[0].Last() != calls[5] {
		t.Errorf("blocks:\n%s", k)
	}
	if vp := m.Funcs[0]; vp.Name != "vprintf" || vp.Blocks != nil || len(vp.Params) != 2 {
		t.Errorf("declared function: %+v", vp)
	}
	// Call sequences in scopes of their own share the parameter area; within one they do not overlap.
	if v := k.Vars; v[0].Offset == v[1].Offset || k.ParamSize != 36 {
		t.Errorf("parameter area of %d bytes:\n%s", k.ParamSize, k)
	}
}

func TestParams(t *testing.T) {
	k := module(t, header+`
.entry k(.param .u8 a, .param .u64 b, .param .align 16 .b8 c[20], .param .u64 .ptr .global .align 8 d)
.maxntid 128, 2 .reqntid 64 .reqnctapercluster 2, 1, 1
{ ret; }`).Kernel("k")
	for i, want := range []int{0, 8, 16, 40} {
		if got := k.Params[i].Offset; got != want {
			t.Errorf("parameter %d at %d, want %d", i, got, want)
		}
	}
	if k.ParamSize != 48 {
		t.Errorf("parameter area of %d bytes, want 48", k.ParamSize)
	}
	if d := k.Params[3]; !d.Pointer || d.PtrSpace != event.Global {
		t.Errorf(".ptr parameter: %+v", d)
	}
	if k.MaxNTID != (event.Dim3{X: 128, Y: 2, Z: 1}) || k.ReqNTID != (event.Dim3{X: 64, Y: 1, Z: 1}) || k.ReqCluster.X != 2 {
		t.Errorf("%v %v %v", k.MaxNTID, k.ReqNTID, k.ReqCluster)
	}
}

// A struct by value with one pointer is 8 bytes of PTX parameter that the front end does not call a
// pointer; that its field is one shows in the code. Of an integer, the front end's word counts.
func TestPointerInStructByValue(t *testing.T) {
	for fact, want := range map[string]bool{"[8 x i8]": true, "i64": false} {
		src := "// heddle.param k 0 s val " + fact + `
.version 8.3
.target sm_80
.address_size 64
.visible .entry k(.param .align 8 .b8 k_param_0[8])
{
	.reg .b32 %r<2>;
	.reg .b64 %rd<3>;
	ld.param.u64 %rd1, [k_param_0];
	cvta.to.global.u64 %rd2, %rd1;
	mov.u32 %r1, %tid.x;
	st.global.u32 [%rd2], %r1;
	ret;
}
`
		m := module(t, src)
		if got := m.Kernel("k").Params[0].Pointer; got != want {
			t.Errorf("val %s: pointer %v, want %v", fact, got, want)
		}
	}
}

// TestGuessedField: that an integer of a struct may be a pointer is a guess in each kernel,
// whichever comes first and whatever the functions do with it; the front end knows which fields
// are pointers.
func TestGuessedField(t *testing.T) {
	kernel := func(name string) string {
		return `.visible .entry ` + name + `(.param .align 8 .b8 d[24])
{
	.reg .b64 %a, %b;
	.param .b64 p;
	.param .b64 q;
	ld.param.u64 %a, [d];
	ld.param.u64 %b, [d+8];
	st.param.b64 [p], %b;
	st.param.b64 [q], %a;
	call put, (p, q);
	ret;
}
`
	}
	text := header + `.func put(.param .b64 off, .param .b64 base)
{
	.reg .b64 %o, %p, %s;
	ld.param.u64 %o, [off];
	ld.param.u64 %p, [base];
	add.s64 %s, %o, %p;
	st.u32 [%s], 1;
	ret;
}
` + kernel("first") + kernel("second")
	m := module(t, text)
	for _, name := range []string{"first", "second"} {
		d := m.Kernel(name).Params[0]
		for _, off := range d.PtrFields {
			if !slices.Contains(d.Guessed, off) {
				t.Errorf("%s: the field at %d is a pointer for sure, of %v", name, off, d.PtrFields)
			}
		}
	}
	m = module(t, "// heddle.fields first 0 0\n"+text)
	if d := m.Kernel("first").Params[0]; !slices.Contains(d.PtrFields, 0) ||
		slices.Contains(d.Guessed, 0) ||
		slices.Contains(d.PtrFields, 8) && !slices.Contains(d.Guessed, 8) {
		t.Errorf("with types: pointers at %v, of which %v are guesses", d.PtrFields, d.Guessed)
	}
}
