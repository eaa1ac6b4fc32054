package lockstep_test

import (
	"fmt"
	"slices"
	"testing"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/lockstep"
	"heddle/internal/smt"
	"heddle/internal/smt/sat"
	"heddle/internal/testing/kernels"
	"heddle/internal/verify"
)

// trap is a kernel that is wrong although a proof that trusts too much goes through, or its right
// twin. Why says what is wrong, from the PTX ISA; it is empty for the twin, which must be verified.
type trap struct {
	name, module, body, why string
}

// prologue declares what the bodies use: %t is the thread's index in its block, %b the block's, %n
// the scalar argument; %A and %B are the global arrays, %s and %r the shared ones of 4096 bytes; %o
// is 4*tid, %P = A+4*tid, %Q = r+4*tid.
const prologue = `.version 8.7
.target sm_100
.address_size 64
%s
.visible .entry k(.param .u64 A, .param .u64 B, .param .u32 n)
{
	.reg .pred %%p<10>;
	.reg .b16 %%h<10>;
	.reg .b32 %%t, %%b, %%n, %%o, %%s, %%r, %%Q, %%x<20>;
	.reg .b64 %%A, %%B, %%P, %%d<20>;
	.shared .align 16 .b8 s[4096];
	.shared .align 16 .b8 r[4096];
	.shared .align 16 .b8 w[4];
	ld.param.u64 %%A, [A];
	ld.param.u64 %%B, [B];
	ld.param.u32 %%n, [n];
	cvta.to.global.u64 %%A, %%A;
	cvta.to.global.u64 %%B, %%B;
	mov.u32 %%t, %%tid.x;
	mov.u32 %%b, %%ctaid.x;
	shl.b32 %%o, %%t, 2;
	mov.u32 %%s, s;
	mov.u32 %%r, r;
	add.u32 %%Q, %%r, %%o;
	mul.wide.u32 %%d0, %%t, 4;
	add.s64 %%P, %%A, %%d0;
%s
	ret;
}
`

func (tr *trap) build(t *testing.T) *ir.Func {
	t.Helper()
	for _, k := range kernels.PTX(t, fmt.Sprintf(prologue, tr.module, tr.body)).Funcs {
		if k.Kernel {
			return k
		}
	}
	t.Fatal("no kernel")
	return nil
}

// TestTraps: none of the wrong kernels is verified, and all of the right ones are.
func TestTraps(t *testing.T) {
	one := event.Dim3{X: 1, Y: 1, Z: 1}
	g := event.Geometry{Grid: event.Dim3{X: 2, Y: 1, Z: 1}, Block: event.Dim3{X: 64, Y: 1, Z: 1}, Cluster: one}
	for _, tr := range slices.Concat(traps, loopTraps, partTraps, slotTraps, copyTraps, warpTraps, orderTraps, gridTraps,
		ticketTraps) {
		t.Run(tr.name, func(t *testing.T) {
			th, err := lockstep.Build(t.Context(), tr.build(t), lockstep.Options{Geometry: g})
			if err != nil {
				if tr.why == "" {
					t.Error(err)
				}
				return
			}
			r := verify.Kernel(t.Context(), th, verify.Options{Solvers: []smt.Solver{&sat.Solver{Steps: 500_000_000}}})
			if want := tr.why == ""; r.Verified() != want {
				t.Errorf("verified: %v. %s", r.Verified(), tr.why)
			}
			for i := range r.Findings {
				t.Log(r.Findings[i].String())
			}
		})
	}
}
