package emu

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"heddle/internal/event"
	"heddle/internal/launch"
	"heddle/internal/tensormap"
)

// pairCopy is a kernel for four blocks, two pairs: each expects the bytes that the table "expect"
// says, waits for them if there are any, and stores its part of shared memory behind a barrier of
// the cluster.
const pairCopy = `
.global .align 4 .b32 expect[4] = {EXPECT};
.shared .align 8 .b64 bar;
.shared .align 128 .b8 s[128];
.visible .entry k(.param .align 64 .b8 m[128], .param .u64 out) .reqnctapercluster 4 {
.reg .b32 %r<12>; .reg .b64 %rd<8>; .reg .pred %p<4>; .reg .b16 %h<2>;
mov.u32 %r0, %tid.x;
mov.u32 %r1, %cluster_ctarank;
setp.eq.u32 %p0, %r0, 0;
mov.b64 %rd1, m;
cvta.param.u64 %rd1, %rd1;
mov.u64 %rd2, expect;
mul.wide.u32 %rd3, %r1, 4;
add.u64 %rd2, %rd2, %rd3;
ld.global.u32 %r2, [%rd2];
mov.u32 %r3, bar;
mov.u32 %r4, s;
@%p0 mbarrier.init.shared.b64 [bar], 1;
barrier.cluster.arrive.aligned;
barrier.cluster.wait.aligned;
@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], %r2;
COPY
setp.eq.u32 %p1, %r2, 0;
@%p1 bra DONE;
W: mbarrier.try_wait.parity.acquire.cluster.shared.b64 %p2, [bar], 0;
@!%p2 bra W;
DONE:
barrier.cluster.arrive.aligned;
barrier.cluster.wait.aligned;
ld.param.u64 %rd4, [out];
mad.lo.u32 %r5, %r1, 32, %r0;
mul.wide.u32 %rd5, %r5, 4;
add.u64 %rd4, %rd4, %rd5;
shl.b32 %r6, %r0, 2;
add.u32 %r6, %r6, %r4;
ld.shared.u32 %r7, [%r6];
st.global.u32 [%rd4], %r7;
ret;
}`

// The mbarrier of a copy for a pair is that of the address: in the block of the destination, or in
// the other one of its pair. With a mask, each destination signals the one of its pair that is even
// or odd as the block of the address is (PTX ISA 9.7.9.27.1.2). A wrong block would miss bytes, or
// get too many.
func TestPairTensorCopies(t *testing.T) {
	const each = "@%p0 cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes" +
		"GROUP [%r4], [%rd1, {%r9}], [%r3];"
	for _, c := range []struct {
		name, group, mask string
		set               string // what makes %r3 the mbarrier and %r9 the coordinate
		by                string // the block that copies; empty: all
		expect            [4]int
		got               [4]int // 1 + the first element of what a block gets; 0: nothing
	}{
		{name: "to the even block", group: ".cta_group::2", expect: [4]int{256, 0, 256, 0},
			set: "and.b32 %r8, %r1, 2; mapa.shared::cluster.u32 %r3, %r3, %r8;",
			got: [4]int{1, 33, 65, 97}},
		{name: "to the odd block", group: ".cta_group::2", expect: [4]int{0, 256, 0, 256},
			set: "or.b32 %r8, %r1, 1; mapa.shared::cluster.u32 %r3, %r3, %r8;",
			got: [4]int{1, 33, 65, 97}},
		{name: "to itself", group: ".cta_group::2", expect: [4]int{128, 128, 128, 128},
			got: [4]int{1, 33, 65, 97}},
		{name: "group 1", group: ".cta_group::1", expect: [4]int{128, 128, 128, 128},
			got: [4]int{1, 33, 65, 97}},
		{name: "odd blocks of two pairs", group: ".cta_group::2", mask: "15", by: "0",
			set:    "mov.u32 %r8, 1; mapa.shared::cluster.u32 %r3, %r3, %r8;",
			expect: [4]int{0, 256, 0, 256}, got: [4]int{1, 1, 1, 1}},
		{name: "even blocks of two pairs", group: ".cta_group::2", mask: "6", by: "0",
			expect: [4]int{128, 0, 128, 0}, got: [4]int{0, 1, 1, 0}},
		{name: "several, group 1", group: ".cta_group::1", mask: "6", by: "0",
			expect: [4]int{0, 128, 128, 0}, got: [4]int{0, 1, 1, 0}},
	} {
		copies := strings.Replace(each, "GROUP", c.group, 1)
		if c.mask != "" {
			copies = strings.Replace(copies, "::bytes", "::bytes.multicast::cluster", 1)
			copies = "mov.b16 %h0, " + c.mask + ";\n" + strings.Replace(copies, "[%r3];", "[%r3], %h0;", 1)
		}
		if c.by != "" {
			copies = "setp.eq.and.u32 %p0, %r1, " + c.by + ", %p0;\n" + copies
		}
		copies = c.set + "\nshl.b32 %r9, %r1, 5;\n" + copies
		text := strings.Replace(pairCopy, "COPY", copies, 1)
		list := strings.Trim(strings.ReplaceAll(fmt.Sprint(c.expect), " ", ", "), "[]")
		k := module(t, strings.Replace(text, "EXPECT", list, 1)+"\n.global .align 128 .b8 g[512] = {"+
			elements(128)+"};")
		launchOf := func(addr uint64) *launch.Config {
			m := tensormap.Map{Type: 2 /* of 32 bits */, Rank: 1, Addr: addr, Size: [5]uint64{128},
				Box: [5]uint64{32}, Step: [5]uint64{1}}
			bits := m.Encode()
			cfg := config(4, 32, launch.Arg{Name: "m", Bits: bits[:]}, buffer("out", 512))
			cfg.Geometry.Cluster = dim(4)
			return cfg
		}
		m, err := New(k, launchOf(16))
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(m.prog.objects, func(o objectSpec) bool { return o.name == "g" })
		for seed := range uint64(6) {
			res, rec := completed(t, k, launchOf(m.prog.space.base(at)), Options{Seed: seed})
			out := words(t, res, "out", 128)
			for b := range 4 {
				for i := range 32 {
					want := uint32(0)
					if c.got[b] > 0 {
						want = uint32(c.got[b] + i)
					}
					if out[32*b+i] != want {
						t.Fatalf("%s: seed %d: block %d has %d at %d, want %d", c.name, seed, b, out[32*b+i], i,
							want)
					}
				}
			}
			for _, e := range rec.events {
				s, ok := e.(event.Signal)
				if !ok {
					continue
				}
				if home := s.Peer.Block(uint32(s.Warp)); c.expect[home] == 0 {
					t.Errorf("%s: a signal to block %d", c.name, home)
				}
			}
		}
	}
}

// elements are the bytes of n words 1, 2, 3 and so on.
func elements(n int) string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprint(i+1), "0", "0", "0")
	}
	return strings.Join(out, ", ")
}

// What is not modelled of pairs stops a run with its reason.
func TestPairUnsupported(t *testing.T) {
	const alloc = "tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [base], 32;\n"
	for text, message := range map[string]string{
		alloc + "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;": "have the same group",
		// both warps of a block, and none of the other one
		"mov.u32 %v, %cluster_ctarank;\nsetp.eq.u32 %c, %v, 0;\n@!%c bra END;\n" + alloc +
			"END: barrier.cluster.arrive;\nbarrier.cluster.wait;": "which of the two comes first",
		alloc + `ld.shared.u32 %u, [base];
mov.u32 %v, 0x10040010;
mov.u64 %q, 0x0000401000080000;
setp.ne.u32 %d, %u, %u;
setp.eq.u32 %c, %t, 0;
@%c tcgen05.mma.cta_group::2.kind::f16 [%u], %q, %q, %v, {%v,%v,%v,%v,%v,%v,%v,%u}, %d;`: "disabled lanes",
	} {
		k := kernel(t, ".shared .align 4 .b32 base;\n.shared .align 1024 .b8 s[8192];\n"+
			"setp.eq.u32 %c, %t, %t;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n"+text+"\nret;")
		cfg := config(2, 64, buffer("out", 64))
		cfg.Geometry.Cluster = dim(2)
		if !strings.Contains(message, "which of the two") {
			cfg.Geometry.Block = dim(32)
		}
		_, res, _ := start(t, k, cfg, Options{})
		if res.Stop == nil || res.Stop.Kind != Unsupported ||
			!strings.Contains(res.Stop.Message, message) {
			t.Errorf("%s: %+v, want %q", text, res.Stop, message)
		}
	}
}

// TestManyPairs: a launch of more clusters than are resident at a time ends with the deadlock of the
// first one, also where the scheduler has others to start. It went on to start them for ever, where
// warps have priorities (seeds from 2 on).
func TestManyPairs(t *testing.T) {
	k := kernel(t, ".shared .align 8 .b64 bar;\n.shared .align 4 .b32 base;\n"+
		"setp.eq.u32 %d, %t, 0;\n@%d mbarrier.init.shared.b64 [bar], 1;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n"+
		"mov.u32 %v, %cluster_ctarank;\nshr.u32 %u, %t, 5;\nor.b32 %v, %v, %u;\n"+
		"setp.eq.u32 %c, %v, 0;\n"+
		"@%c tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [base], 32;\nbar.sync 0;\nret;")
	cfg := config(40, 128, buffer("out", 64))
	cfg.Geometry.Cluster = dim(2)
	for seed := range uint64(8) {
		_, res, _ := start(t, k, cfg, Options{Seed: seed})
		if res.Stop == nil || !strings.Contains(res.Stop.Message, "which executes no tcgen05.alloc") {
			t.Errorf("seed %d: status %d, %+v", seed, res.Status, res.Stop)
		}
	}
}
