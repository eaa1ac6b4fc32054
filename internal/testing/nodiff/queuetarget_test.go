package nodiff

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"heddle/internal/event"
	"heddle/internal/ptx/instrument"
	"heddle/internal/race"
)

// every is a kernel with the forms of operands that a log call must understand: guards, generic
// addresses of every space, vectors, immediates, narrow and floating-point values, variables as
// addresses, dynamic shared memory, device functions called directly and by pointer, exits within
// them, registers in nested scopes, and an end without ret. Lanes that leave early make the warps
// incomplete.
const every = `
.version VERSION
.target TARGET
.address_size 64
// heddle: grid=1 block=48 shared=256
.global .align 8 .u64 table[2] = {touch, touch};
.global .align 4 .u32 counter;
.global .align 4 .u32 flag;
.extern .shared .align 8 .b8 dynamic[];
.func touch (.param .u64 at, .param .u32 v)
{
	.reg .pred %q;
	.reg .b64 %a;
	.reg .b32 %v;
	ld.param.u64 %a, [at];
	ld.param.u32 %v, [v];
	st.u32 [%a], %v;
	setp.gt.u32 %q, %v, 44;
	@%q exit;
	ret;
}
.visible .entry k(.param .u64 p)
{
	.reg .pred %q, %z;
	.reg .b16 %h;
	.reg .b32 %t, %u, %c, %o;
	.reg .b64 %a, %b, %s, %l, %g;
	.reg .f32 %f;
	.reg .f64 %d;
	.shared .align 8 .b8 s[512];
	.local .align 8 .b8 private[16];
	ld.param.u64 %a, [p];
	cvta.to.global.u64 %g, %a;
	mov.u32 %t, %tid.x;
	setp.lt.u32 %q, %t, 20;
	// private memory, and shared memory by a generic address that depends on the lane
	mov.u64 %l, private;
	cvta.local.u64 %l, %l;
	mov.u64 %s, s;
	cvta.shared.u64 %s, %s;
	selp.b64 %b, %l, %s, %q;
	st.u32 [%b+4], %t;
	ld.u32 %u, [%b+4];
	// guards, narrow values, vectors and immediates
	cvt.u16.u32 %h, %t;
	@%q st.global.u8 [%g+256], %h;
	@!%q st.global.u16 [%g+260], %h;
	mov.f32 %f, 0f3f800000;
	cvt.rn.f64.u32 %d, %t;
	mul.wide.u32 %b, %t, 16;
	add.u64 %b, %b, %g;
	st.global.v2.f32 [%b+1024], {%f, 0f40000000};
	st.global.v4.u32 [%b+4096], {%t, 1, %t, 2};
	st.global.f64 [%g+264], %d;
	st.global.u32 [%g+272], 7;
	ld.global.v4.u32 {%u, %c, %o, %u}, [%b+1024];
	// several accesses with one base
	st.global.u32 [%b+8192], %t;
	st.global.u32 [%b+8192], 3;
	ld.global.u32 %u, [%b+8196];
	ld.global.u32 %c, [%b+8204];
	// addresses: of every other lane, in rows, scattered near and far; pairs of lanes store the same
	and.b32 %u, %t, 1;
	setp.eq.u32 %z, %u, 1;
	mul.wide.u32 %b, %t, 4;
	add.u64 %b, %b, %g;
	@%z st.global.u32 [%b+16384], %t;
	and.b32 %u, %t, 7;
	shl.b32 %u, %u, 3;
	and.b32 %c, %t, 24;
	mad.lo.u32 %u, %c, 100, %u;
	cvt.u64.u32 %b, %u;
	add.u64 %b, %b, %g;
	st.global.u32 [%b+20480], %t;
	shr.u32 %c, %t, 1;
	mul.lo.u32 %u, %c, 5;
	and.b32 %u, %u, 31;
	mul.wide.u32 %b, %u, 4;
	add.u64 %b, %b, %g;
	st.global.u32 [%b+32768], %c;
	mul.wide.u32 %b, %u, 1024;
	add.u64 %b, %b, %g;
	st.global.u32 [%b+65536], %c;
	mul.wide.u32 %b, %u, 65536;
	add.u64 %b, %b, %g;
	st.global.u32 [%b+524288], %c;
	// variables as addresses, and dynamic shared memory
	st.shared.u32 [s+64], %t;
	mul.wide.u32 %b, %t, 4;
	mov.u64 %l, dynamic;
	add.u64 %l, %l, %b;
	st.shared.u32 [%l], %t;
	bar.sync 0;
	ld.shared.u32 %u, [%l];
	ld.shared.u32 %u, [dynamic+4];
	{
		.reg .b32 %t;
		mov.u32 %t, 5;
		st.shared.u32 [dynamic+4], %t;
	}
	// atomic operations, strong loads and a lock
	atom.global.add.u32 %u, [counter], 1;
	red.global.add.u32 [counter], %t;
	atom.shared.cas.b32 %c, [s+128], %t, %u;
	atom.global.cas.b32 %t, [flag], %t, 1;
	membar.gl;
	ld.volatile.global.u32 %u, [flag];
	membar.gl;
	mov.u32 %t, %tid.x;
	// functions
	call touch, (%a, %t);
	ld.global.u64 %b, [table+8];
	add.u64 %s, %s, 96;
	call %b, (%s, %t), shape;
	@%q exit;
	setp.eq.u32 %z, %t, 30;
	@%z ret;
	st.global.u32 [%g+300], %t;
	bra end;
shape: .callprototype _ (.param .u64 _, .param .u32 _);
end:
}
`

// TestTargets runs a kernel with all forms of operands under versions of PTX and targets that need
// other code on the device. Findings must be those of direct emulation, with each option.
func TestTargets(t *testing.T) {
	for _, target := range []string{"3.0 sm_30", "3.1 sm_35", "4.3 sm_52", "6.0 sm_61", "6.0 sm_70",
		"6.3 sm_75", "7.8 sm_80", "8.0 sm_90a", "8.7 sm_100"} {
		for _, opt := range []instrument.Options{{}, {Fixed: true, Private: true, Separate: true},
			{Values: true}} {
			t.Run(fmt.Sprint(target, opt), func(t *testing.T) {
				version, sm, _ := strings.Cut(target, " ")
				before := loadText(t, strings.NewReplacer("VERSION", version, "TARGET", sm).Replace(every))
				w, ok := watch(t, before, before.mod.Kernel("k"), opt, event.Independent, event.BenignWarp)
				if !ok {
					t.Fatal("the kernel is not instrumented")
				}
				direct, queues := make(findings), make(findings)
				for seed := range uint64(10) {
					a, _ := w.directly(seed)
					det := race.New(w.opt)
					sum, _ := w.logged(seed, 10_000_000, det, nil)
					if !sum.Complete() {
						t.Errorf("seed %d: %+v", seed, sum)
					}
					maps.Copy(direct, a)
					maps.Copy(queues, found(det, identity))
					w.sameRun(seed, 10_000_000)
					w.sameLog(seed, 10_000_000)
				}
				if !maps.Equal(direct, queues) || len(direct) < 10 {
					t.Errorf("queues: %v\ndirect: %v", queues, direct)
				}
			})
		}
	}
}
