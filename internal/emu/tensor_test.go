package emu

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"heddle/internal/irgen"
	"heddle/internal/launch"
	"heddle/internal/ptx"
	"heddle/internal/source"
	"heddle/internal/tensormap"
)

// Random copies, prefetches and changes of tensor maps, most of them invalid, by maps of which some
// are: each is rejected with a message, stops the run, or executes. None panics.
func TestRandomTensorInstructions(t *testing.T) {
	r := rand.New(rand.NewPCG(113, 114))
	pick := func(s ...string) string { return s[r.IntN(len(s))] }
	list := func(regs string, most int) string {
		var e []string
		for range r.IntN(most + 1) {
			e = append(e, fmt.Sprintf("%%%s%d", regs, r.IntN(4)))
		}
		return "{" + strings.Join(e, ", ") + "}"
	}
	rank := 0
	coords := func() string {
		if r.IntN(4) == 0 {
			return list("r", 6)
		}
		return "{" + strings.Repeat("%r1, ", rank-1) + "%r2}"
	}
	wide := false
	offsets := func() string {
		if r.IntN(4) == 0 || rank < 3 {
			return list("h", 3)
		}
		if wide {
			return "{%h1, %h2}"
		}
		return "{" + strings.Repeat("%h1, ", rank-3) + "%h2}"
	}
	at := func() string { return pick("[%rd1]", "[%rd2]", "[sh]", "[sh+128]", "[%r1]", "[g]") }
	ran := 0
	for range 3000 {
		m := &tensormap.Map{Type: tensormap.Type(r.IntN(13)), Rank: 1 + r.IntN(5), Addr: 16 * r.Uint64N(100),
			Swizzle: tensormap.Swizzle(r.IntN(4)), NaN: r.IntN(2) == 0}
		for i := range m.Rank {
			m.Size[i], m.Box[i], m.Step[i], m.Stride[i] = 1+r.Uint64N(9), 1+r.Uint64N(5), 1+r.Uint64N(2), 16*r.Uint64N(9)
		}
		m.Box[0] = 16 / m.Element()
		if r.IntN(8) == 0 { // elements of 4 or 6 bits
			m.Type, m.Box[0], m.Size[0], m.NaN = tensormap.Type(13+r.IntN(3)), 128, 128*(1+r.Uint64N(2)), false
			m.Addr, m.Swizzle = 32*r.Uint64N(50), tensormap.Swizzle(3*r.IntN(2))
		}
		if n := m.Box[0]; m.Rank > 2 && r.IntN(2) == 0 {
			m.Im2col, m.Box = &tensormap.Im2col{Channels: n, Pixels: r.Uint64N(70)}, [5]uint64{}
			if r.IntN(3) == 0 {
				m.Im2col.Wide, m.Swizzle = tensormap.Wide(1+r.IntN(2)), tensormap.Swizzle128
			}
		}
		bits := m.Encode()
		if r.IntN(8) == 0 {
			bits[r.IntN(len(bits))] = byte(r.Uint32())
		}
		rank = m.Rank
		dim := fmt.Sprintf("%dd", max(rank+r.IntN(9)/8, 1))
		mode := pick("tile", "tile::gather4", "tile::scatter4", "im2col", "im2col_no_offs", "im2col::w", "im2col::w::128")
		if r.IntN(4) > 0 {
			if mode = "tile"; m.Im2col != nil {
				mode = [...]string{"im2col", "im2col::w", "im2col::w::128"}[m.Im2col.Wide]
			}
		}
		wide = strings.HasPrefix(mode, "im2col::w")
		field := pick("global_address", "rank", "box_dim", "global_dim", "global_stride", "element_stride", "elemtype",
			"interleave_layout", "swizzle_mode", "swizzle_atomicity", "fill_mode", "size")
		text := ""
		switch r.IntN(7) {
		case 0, 1:
			text = "cp.async.bulk.tensor." + dim + ".shared::cluster.global." + mode + ".mbarrier::complete_tx::bytes [sh], [%rd2, " +
				coords() + "], [bar]"
			if strings.HasPrefix(mode, "im2col") {
				text += ", " + offsets()
			}
		case 2:
			text = pick("cp", "cp.reduce") + ".async.bulk.tensor." + dim + ".global.shared::cta." + pick("add", "tile", "xor") + "." +
				mode + ".bulk_group [%rd2, " + coords() + "], " + at()
		case 3:
			text = "cp.async.bulk.prefetch.tensor." + dim + ".L2.global." + mode + " [%rd2, " + coords() + "]"
			if strings.HasPrefix(mode, "im2col") {
				text += ", " + offsets()
			}
		case 4:
			text = "tensormap.replace." + pick("tile", "tile", "im2col") + "." + field + pick("", ".global", ".shared::cta") + ".b1024." +
				pick("b32", "b64") + " " + at() + pick("", ", 0", ", 1", ", 5", ", %r1") + ", " + pick("%r1", "%rd1", "0", "1", "17", "%f1")
		case 5:
			text = "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release." + pick("gpu", "cta") + ".sync.aligned " +
				at() + ", " + at() + ", " + pick("128", "64")
		case 6:
			text = pick("fence", "membar") + ".proxy.tensormap::generic." + pick("acquire", "release") + "." + pick("gpu", "sys", "cta") +
				pick("", " "+at()+", 128", " "+at())
		}
		if pick("", "", "@%p1 ") != "" {
			text = "@%p1 " + text
		}
		if runTensor(t, text+";", bits) {
			ran++
		}
	}
	if ran < 400 {
		t.Errorf("only %d instructions were good enough to run", ran)
	}
}

// runTensor reports whether the instruction did not stop the run: with a map as a parameter, in
// shared and in global memory, and an mbarrier.
func runTensor(t *testing.T, text string, bits []byte) bool {
	t.Helper()
	defer func() {
		if e := recover(); e != nil {
			t.Fatalf("%s: panic: %v", text, e)
		}
	}()
	set := source.NewSet()
	f, err := set.Add("t.ptx", []byte(`.version 9.0
.target sm_100a
.address_size 64
.global .align 128 .b8 g[128];
.visible .entry k(.param .align 64 .b8 m[128], .param .u64 out) {
.shared .align 128 .b8 sh[4096]; .shared .align 8 .b64 bar; .reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>;
ld.param.u64 %rd1, [out]; mov.b64 %rd2, m; cvta.param.u64 %rd2, %rd2; mov.u32 %r8, %tid.x; setp.eq.u32 %p1, %r8, 0;
mov.u32 %r1, 0; mov.u32 %r2, 1; mov.b16 %h1, 0; mov.b16 %h2, 1;
shl.b32 %r7, %r8, 2; cvt.u64.u32 %rd7, %r7; add.u64 %rd6, %rd2, %rd7; ld.u32 %r6, [%rd6];
mov.u64 %rd5, g; add.u64 %rd5, %rd5, %rd7; st.global.u32 [%rd5], %r6; mov.u32 %r5, sh; add.u32 %r5, %r5, %r7; st.shared.u32 [%r5], %r6;
@%p1 mbarrier.init.shared.b64 [bar], 1;
bar.sync 0;
`+text+`
ret;
}
`))
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
	machine, err := New(m.Kernel("k"), config(1, 32, launch.Arg{Name: "m", Bits: bits}, buffer("out", 1<<14)))
	if err != nil {
		return false
	}
	res, err := machine.Run(context.Background(), Options{MaxSteps: 2000}, &recorder{})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return res.Status != Stopped
}
