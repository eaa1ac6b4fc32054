package emu

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"heddle/internal/event"
	"heddle/internal/irgen"
	"heddle/internal/ptx"
	"heddle/internal/source"
)

// Randomly assembled instructions, most of them invalid: each is rejected with a message, stops the
// run, or executes. None panics.
func TestRandomInstructions(t *testing.T) {
	r := rand.New(rand.NewPCG(111, 112))
	pick := func(s ...string) string { return s[r.IntN(len(s))] }
	some := func(n int, s ...string) (out string) {
		for range r.IntN(n + 1) {
			out += "." + pick(s...)
		}
		return out
	}
	types := []string{"f16", "f32", "f64", "bf16", "tf32", "s8", "u8", "s4", "b1", "s32", "e4m3",
		"e2m1", "e3m2", "ue8m0", "ue4m3", "b16", "b32", "b128", "u32", "f16x2", "bf16x2", "pred"}
	shapes := []string{"m8n8", "m8n8k4", "m16n8k8", "m16n8k16", "m8n32k16", "m16n16k16", "m32n8k16",
		"m8n8k128", "m16n16k8", "m0n0k0", "m8n8k32", "m16n8k32", "m16n8k64", "m16n8k128", "m16n8k256"}
	operand := func() string {
		list := func(n int) string {
			var e []string
			for range n {
				e = append(e, fmt.Sprintf("%%r%d", r.IntN(9)))
			}
			return "{" + strings.Join(e, ", ") + "}"
		}
		switch r.IntN(9) {
		case 0:
			return "[%rd1]"
		case 1:
			return "[sh+16]"
		case 2, 3, 4:
			return list(1 << r.IntN(4))
		case 5:
			return pick("%rd1", "%f1", "%fd1", "%p1", "%h1", "%b1", "_", "%r1.b0", "-%r2", "%r3.h10", "sh",
				"sh[1]", "%r1+1")
		case 6:
			return fmt.Sprint(r.IntN(40))
		}
		return fmt.Sprintf("%%r%d", r.IntN(9))
	}
	ran := 0
	for range 6000 {
		text := ""
		switch r.IntN(8) {
		case 0:
			text = "mma.sync.aligned." + pick(shapes...) + "." + pick("row", "col") + "." +
				pick("row", "col") + some(1, "rn", "satfinite", "kind::f8f6f4") +
				some(2, "sp", "sp::ordered_metadata", "kind::mxf4", "block_scale", "scale_vec::2X")
			for range 3 + r.IntN(3) {
				text += "." + pick(types...)
			}
			text += some(2, "xor", "and", "popc")
		case 1:
			text = "wmma." + pick("load.a", "load.b", "load.c", "store.d", "mma") + ".sync.aligned." +
				pick("row", "col") + some(1, "row", "col") + "." + pick(shapes...) +
				some(1, "shared", "global") + some(4, types...)
		case 2:
			text = pick("ldmatrix", "stmatrix", "movmatrix") + ".sync.aligned." + pick("m8n8", "m16n16", "m8n16", "m16n8") +
				some(1, "x1", "x2", "x4") + some(1, "trans") + some(1, "shared") +
				some(1, "b16", "b8", "b8x16.b6x16_p32", "b8x16.b4x16_p64")
		case 3:
			text = pick("atom", "red") + some(1, "global", "shared") + "." +
				pick("add", "min", "max", "cas", "exch") + some(1, "noftz") + some(1, "v2", "v4", "v8") + "." +
				pick(types...)
		case 4:
			text = pick("tex.2d.v4", "tld4.r.2d.v4", "txq.width", "suld.b.1d.v2", "sust.b.1d", "suq.width") +
				some(2, types...)
		case 5:
			text = pick("vadd", "vsub", "vshl", "vmad", "vset", "vadd2", "vset4", "vavrg4") +
				some(3, "u32", "s32") + some(2, "sat", "add", "max", "clamp", "wrap", "lt", "po", "shr7")
		case 6:
			text = pick("mov", "mov", "ld.global", "st.shared", "redux.sync.min", "mapa", "getctarank") +
				some(1, "v2", "v4") + some(2, types...)
		case 7:
			text = "min" + some(2, "ftz", "NaN", "abs", "xorsign") + "." + pick(types...)
		}
		var ops []string
		for range r.IntN(6) {
			ops = append(ops, operand())
		}
		if runRandom(t, text+" "+strings.Join(ops, ", ")+";") {
			ran++
		}
	}
	if ran < 50 {
		t.Errorf("only %d instructions were good enough to run", ran)
	}
}

// runRandom reports whether the instruction could be decoded.
func runRandom(t *testing.T, text string) bool {
	t.Helper()
	defer func() {
		if e := recover(); e != nil {
			t.Fatalf("%s: panic: %v", text, e)
		}
	}()
	set := source.NewSet()
	f,
		err := set.Add("t.ptx",
		[]byte(
			".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u64 x) {\n"+
				".shared .align 16 .b8 sh[512]; .reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .f64 %fd<2>; .reg .b128 %b<2>;\n"+
				"ld.param.u64 %rd1, [out];\n"+text+"\nret;\n}"))
	if err != nil {
		t.Fatal(err)
	}
	tree, perrs := ptx.Parse(f)
	if len(perrs) > 0 {
		return false
	}
	m, errs := irgen.Module(set, tree)
	if len(errs) > 0 {
		return false
	}
	machine, err := New(m.Kernel("k"), config(1, 32, buffer("out", 4096)))
	if err != nil {
		return false
	}
	for _, model := range []event.WarpModel{event.Independent, event.Lockstep} {
		if _, err := machine.Run(context.Background(), Options{Model: model, MaxSteps: 1000},
			&recorder{}); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	return true
}
