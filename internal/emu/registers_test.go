package emu

import (
	"context"
	"strings"
	"testing"

	"heddle/internal/event"
	"heddle/internal/launch"
	"heddle/internal/slice"
	"heddle/internal/testing/kernels"
)

// TestRegisterPool: what setmaxnreg.inc takes must be what others give back (PTX ISA 9.7.19.5). The
// sums are beside the cases, in registers of a thread, for three groups of 128 threads.
func TestRegisterPool(t *testing.T) {
	const threads = 384 // 65536 / 384 is 170, and 168 as a multiple of 8: 504 for the three
	groups := func(a, b, c string) string {
		return "\tsetp.lt.u32 %p, %t, 128;\n\t@%p bra A;\n\tsetp.lt.u32 %p, %t, 256;\n\t@%p bra B;\n" +
			c + "\tbra E;\nA:\n" + a + "\tbra E;\nB:\n" + b + "E:\n"
	}
	dec := func(n string) string { return "\tsetmaxnreg.dec.sync.aligned.u32 " + n + ";\n" }
	inc := func(n string) string { return "\tsetmaxnreg.inc.sync.aligned.u32 " + n + ";\n" }
	const ends = Unsupported
	const bar, wait = "\tbar.sync 1, 256;\n", "\tbar.sync 0;\n"
	for name, c := range map[string]struct {
		dirs, body string
		block      uint32
		want       StopKind
	}{
		"40, 232 and 232": {"", groups(dec("40"), inc("232"), inc("232")),
			threads, ends},
		"40, 240 and 240: 520": {"", groups(dec("40"), inc("240"), inc("240")),
			threads, RegisterPool},
		"24, 240 and 240": {"", groups(dec("24"), inc("240"), inc("240")),
			threads, ends},
		"nothing given back": {"", groups("", inc("176"), ""),
			threads, RegisterPool},
		"as many as before": {"", groups("", inc("168"), ""),
			threads, ends},
		"twice": {"", groups(dec("80")+dec("24"), inc("200")+inc("240"), inc("240")),
			threads, ends},
		"given back again": {"", groups(dec("24"), inc("240")+dec("96"), inc("240")+inc("256")),
			threads, ends},
		"three of 128 have 384": {".maxnreg 128", groups(dec("24"), inc("176"), inc("176")),
			threads, ends},
		"and not 392": {".maxnreg 128", groups(dec("24"), inc("184"), inc("184")),
			threads, RegisterPool},
		"two blocks: 80, 240 in all": {".minnctapersm 2", groups(dec("24"), inc("104"), inc("104")),
			threads, ends},
		"two blocks: 248": {".minnctapersm 2", groups(dec("24"), inc("112"), inc("112")),
			threads, RegisterPool},
		"a block of up to 384 threads": {".maxntid 384", inc("176"),
			128, RegisterPool},
		"one block of 128 has 256": {"", inc("256"),
			128, ends},
		// the producers wait for those who wait for their registers
		"given back too late": {"", groups(bar+dec("24"), inc("240")+bar, ""), threads, RegisterPool},
		"given back in time":  {"", groups(dec("24")+bar, inc("240")+bar, ""), threads, ends},
		// all others are at the barrier of the block
		"the block waits": {"", groups(dec("40"), inc("240"), inc("240")) + wait, threads, RegisterPool},
		// the flag is set behind the registers
		"others poll": {"", groups("L:\n\tld.volatile.shared.u32 %r, [flag];\n\tsetp.eq.u32 %p, %r, 0;\n"+
			"\t@%p bra L;\n"+dec("24"), inc("240")+"\tst.volatile.shared.u32 [flag], %t;\n", ""), threads,
			RegisterPool},
	} {
		t.Run(name, func(t *testing.T) {
			k := kernels.PTX(t, ".version 8.3\n.target sm_90a\n.address_size 64\n.visible .entry k()\n"+
				c.dirs+"\n{\n\t.reg .b32 %t, %r;\n\t.reg .pred %p;\n\t.shared .align 4 .b8 flag[4];\n"+
				"\tmov.u32 %t, %tid.x;\n\tst.volatile.shared.u32 [flag], 0;\n\tbar.sync 0;\n"+c.body+
				"\tret;\n}\n").Kernel("k")
			one := event.Dim3{X: 1, Y: 1, Z: 1}
			m, err := New(k, &launch.Config{Geometry: event.Geometry{Grid: event.Dim3{X: 3, Y: 1, Z: 1},
				Block: event.Dim3{X: c.block, Y: 1, Z: 1}, Cluster: one}})
			if err != nil {
				t.Fatal(err)
			}
			for seed := range uint64(12) {
				r, err := m.Run(context.Background(), Options{Seed: seed, MaxSteps: 1_000_000}, nil)
				switch {
				case err != nil:
					t.Fatal(err)
				case c.want == ends && (r.Status != Completed || r.Blocks != 3):
					t.Fatalf("seed %d: status %v, %+v", seed, r.Status, r.Stop)
				case c.want != ends && (r.Stop == nil || r.Stop.Kind != c.want):
					t.Fatalf("seed %d: status %v, %+v", seed, r.Status, r.Stop)
				}
			}
		})
	}
}

// TestStarves: a trace says whether another schedule may leave threads without registers. Three
// groups of 128 threads have 168 each.
func TestStarves(t *testing.T) {
	dec := func(n string) string { return "\tsetmaxnreg.dec.sync.aligned.u32 " + n + ";\n" }
	inc := func(n string) string { return "\tsetmaxnreg.inc.sync.aligned.u32 " + n + ";\n" }
	for name, c := range map[string]struct {
		a, b, c string
		starves bool
		want    StopKind // Unsupported: it ends
	}{
		"all of it":     {dec("24"), inc("240"), inc("240"), false, Unsupported},
		"two steps":     {dec("80") + dec("24"), inc("200") + inc("240"), inc("240"), false, Unsupported},
		"too much":      {dec("40"), inc("240"), inc("240"), true, RegisterPool},
		"nothing there": {"", inc("240"), "", true, RegisterPool},
		// 144 are given back. If the second group takes 72, 72 are left for the third, which needs
		// 88 and waits until the second gives its own back; if the third is first, 56 are left for
		// the second.
		"the order decides": {dec("24"), inc("240") + dec("168"), inc("256"), true, Unsupported},
		// the order does not decide, but what is given back depends on who got some
		"given on": {dec("24"), inc("240") + dec("168"), inc("240"), true, Unsupported},
	} {
		k := kernels.PTX(t, ".version 8.3\n.target sm_90a\n.address_size 64\n.visible .entry k()\n"+
			"{\n\t.reg .b32 %t;\n\t.reg .pred %p;\n\tmov.u32 %t, %tid.x;\n\tsetp.lt.u32 %p, %t, 128;\n"+
			"\t@%p bra A;\n\tsetp.lt.u32 %p, %t, 256;\n\t@%p bra B;\n"+c.c+"\tbra E;\nA:\n"+c.a+
			"\tbra E;\nB:\n"+c.b+"E:\n\tbar.sync 0;\n\tret;\n}\n").Kernel("k")
		one := event.Dim3{X: 1, Y: 1, Z: 1}
		m, err := NewTrace(k, &launch.Config{Geometry: event.Geometry{Grid: one,
			Block: event.Dim3{X: 384, Y: 1, Z: 1}, Cluster: one}}, slice.Of(k, slice.Options{}))
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(12) {
			r, err := m.Run(context.Background(), Options{Seed: seed}, nil)
			switch {
			case err != nil:
				t.Fatal(err)
			case c.want == Unsupported && r.Status != Completed,
				c.want != Unsupported && (r.Stop == nil || r.Stop.Kind != c.want):
				t.Errorf("%s, seed %d: status %v, %+v", name, seed, r.Status, r.Stop)
			case r.Starves != c.starves:
				t.Errorf("%s, seed %d: starves %v", name, seed, r.Starves)
			}
		}
	}
}

// TestRegisterPoolText: the message has what is asked for, what there is, and where it comes from.
func TestRegisterPoolText(t *testing.T) {
	k := kernels.PTX(t, ".version 8.3\n.target sm_90a\n.address_size 64\n.visible .entry k()\n"+
		".minnctapersm 2\n{\n\tsetmaxnreg.dec.sync.aligned.u32 104;\n"+
		"\tsetmaxnreg.inc.sync.aligned.u32 136;\n\tret;\n}\n").Kernel("k")
	one := event.Dim3{X: 1, Y: 1, Z: 1}
	m, err := New(k, &launch.Config{Geometry: event.Geometry{Grid: one,
		Block: event.Dim3{X: 256, Y: 1, Z: 1}, Cluster: one}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := m.Run(context.Background(), Options{}, nil)
	if err != nil || r.Stop == nil {
		t.Fatal(err, r.Status)
	}
	// 65536 / 512 is 128. Each of the 8 warps gives 24 a thread back and asks for 32, of which the
	// 192 that are there suffice for 6.
	for _, want := range []string{"64 threads wait for 136 registers each instead of 104",
		"that takes 2048 registers", "the pool of the block has 0 ",
		"begin with 128: 65536 by 256 threads of each of 2 blocks"} {
		if !strings.Contains(r.Stop.Message, want) {
			t.Errorf("no %q in %q", want, r.Stop.Message)
		}
	}
}
