package emu

import (
	"math/bits"
	"testing"

	"heddle/internal/event"
)

// shfl.sync: the expected lane follows the pseudo code of PTX ISA 9.7.9.6, here computed with
// signed numbers as it is written there.
func TestShuffle(t *testing.T) {
	type result struct {
		j    int
		pred bool
	}
	model := func(mode string, lane, b, c int) result {
		bval, cval, seg := b&31, c&31, c>>8&31
		maxLane := (lane & seg) | (cval &^ seg)
		minLane := lane & seg
		var j int
		var p bool
		switch mode {
		case "up":
			j = lane - bval
			p = j >= maxLane
		case "down":
			j = lane + bval
			p = j <= maxLane
		case "bfly":
			j = lane ^ bval
			p = j <= maxLane
		case "idx":
			j = minLane | (bval &^ seg)
			p = j <= maxLane
		}
		if !p {
			j = lane
		}
		return result{j, p}
	}
	for _, mode := range []string{"up", "down", "bfly", "idx"} {
		// whole warp, segments of 8 and 4 lanes
		for _, c := range []uint64{0, 31, 0x1800 | 7, 0x1c00 | 3, 0x181f} {
			for _, b := range []uint64{0, 1, 3, 16, 33} {
				k := kernel(t, `
	ld.param.u32 %u, [x];
	shr.u64 %x, %x, 32;
	cvt.u32.u64 %z, %x;
	mul.lo.u32 %v, %i, 7;
	shfl.sync.`+mode+`.b32 %v|%c, %v, %u, %z, 0xffffffff;
	selp.u32 %w, 1000, 0, %c;
	add.u32 %v, %v, %w;
	st.global.u32 [%p], %v;
	ret;`)
				res, _ := completed(t, k, config(1, 32, buffer("out", 128), value("x", c<<32|b)), Options{})
				wantWords(t, res, "out", 32, func(i int) uint32 {
					r := model(mode, i, int(b), int(c))
					v := uint32(7 * r.j)
					if r.pred {
						v += 1000
					}
					return v
				})
			}
		}
	}
}

// Votes, matches, reductions and elections among the members that have not exited.
func TestWarpOperations(t *testing.T) {
	val := func(i int) uint32 { return uint32(i*i) % 7 }
	const lanes = 20 // of the block; the rest of the warp are no threads
	fold := func(f func(a, b uint32) uint32) uint32 {
		r := val(0)
		for i := 1; i < lanes; i++ {
			r = f(r, val(i))
		}
		return r
	}
	ballot := func(f func(i int) bool) (m uint32) {
		for i := range lanes {
			if f(i) {
				m |= 1 << i
			}
		}
		return m
	}
	for _, test := range []struct {
		text string
		want func(i int) uint32
	}{
		{"vote.sync.ballot.b32 %v, %c, 0xffffffff;",
			func(int) uint32 { return ballot(func(i int) bool { return val(i) < 3 }) }},
		{"vote.sync.ballot.b32 %v, !%c, 0xffffffff;",
			func(int) uint32 { return ballot(func(i int) bool { return val(i) >= 3 }) }},
		{"vote.sync.any.pred %d, %c, 0xffffffff;\nselp.u32 %v, 1, 0, %d;", func(int) uint32 { return 1 }},
		{"vote.sync.all.pred %d, %c, 0xffffffff;\nselp.u32 %v, 1, 0, %d;", func(int) uint32 { return 0 }},
		{"vote.sync.uni.pred %d, %c, 0xffffffff;\nselp.u32 %v, 1, 0, %d;", func(int) uint32 { return 0 }},
		{"setp.lt.u32 %c, %i, 32;\nvote.sync.all.pred %d, %c, 0xffffffff;\nselp.u32 %v, 1, 0, %d;",
			func(int) uint32 { return 1 }},
		{"setp.ge.u32 %c, %i, 32;\nvote.sync.uni.pred %d, %c, 0xffffffff;\nselp.u32 %v, 1, 0, %d;",
			func(int) uint32 { return 1 }},
		{"match.any.sync.b32 %v, %u, 0xffffffff;",
			func(i int) uint32 { return ballot(func(k int) bool { return val(k) == val(i) }) }},
		{"match.all.sync.b32 %v|%d, %u, 0xffffffff;\n@%d add.u32 %v, %v, 1;",
			func(int) uint32 { return 0 }},
		{"match.all.sync.b32 %v|%d, %n, 0xffffffff;\n@%d add.u32 %v, %v, 1;",
			func(int) uint32 { return 1 << lanes }},
		{"redux.sync.add.u32 %v, %u, 0xffffffff;",
			func(int) uint32 { return fold(func(a, b uint32) uint32 { return a + b }) }},
		{"redux.sync.min.u32 %v, %u, 0xffffffff;", func(int) uint32 { return 0 }},
		{"redux.sync.max.u32 %v, %u, 0xffffffff;",
			func(int) uint32 { return fold(func(a, b uint32) uint32 { return max(a, b) }) }},
		{"sub.u32 %u, %u, 3;\nredux.sync.min.s32 %v, %u, 0xffffffff;",
			func(int) uint32 { return 0xfffffffd }},
		{"redux.sync.xor.b32 %v, %u, 0xffffffff;",
			func(int) uint32 { return fold(func(a, b uint32) uint32 { return a ^ b }) }},
		{"redux.sync.or.b32 %v, %u, 0xffffffff;",
			func(int) uint32 { return fold(func(a, b uint32) uint32 { return a | b }) }},
		{"elect.sync %v|%d, 0xffffffff;\n@%d add.u32 %v, %v, 50;",
			func(i int) uint32 { return map[bool]uint32{true: 50}[i == 0] }},
		{"setp.lt.u32 %d, %i, 5;\n@%d activemask.b32 %v;\n@!%d activemask.b32 %v;", func(i int) uint32 {
			if i < 5 {
				return 0x1f
			}
			return 0xfffe0
		}},
		{"mov.u32 %v, %lanemask_lt;\nmov.u32 %w, %laneid;\nadd.u32 %v, %v, %w;",
			func(i int) uint32 { return 1<<i - 1 + uint32(i) }},
	} {
		k := kernel(t,
			"mul.lo.u32 %u, %i, %i;\nrem.u32 %u, %u, 7;\nsetp.lt.u32 %c, %u, 3;\n"+test.text+
				"\nst.global.u32 [%p], %v;\nret;")
		twoModels(t, func(t *testing.T, opt Options) {
			res, _ := completed(t, k, config(1, lanes, buffer("out", 4*lanes)), opt)
			got := words(t, res, "out", lanes)
			for i, v := range got {
				if w := test.want(i); v != w {
					t.Fatalf("%s\nlane %d: %#x, want %#x", test.text, i, v, w)
				}
			}
		})
	}
}

// Members reach a shuffle by two paths, through two instructions: shfl.sync waits "until all
// non-exited threads corresponding to membermask have executed shfl.sync with the same qualifiers
// and same membermask".
func TestShuffleAcrossPaths(t *testing.T) {
	k := kernel(t, `
	setp.lt.u32 %c, %i, 16;
	mov.u32 %u, 31;
	@%c bra LOW;
	add.u32 %v, %i, 100;
	shfl.sync.bfly.b32 %w, %v, 16, 31, 0xffffffff;
	bra END;
LOW:
	add.u32 %v, %i, 200;
	shfl.sync.bfly.b32 %w, %v, 16, %u, 0xffffffff;
END:
	st.global.u32 [%p], %w;
	ret;`)
	twoModels(t, func(t *testing.T, opt Options) {
		res, r := completed(t, k, config(1, 32, buffer("out", 128)), opt)
		wantWords(t, res, "out", 32, func(i int) uint32 {
			if i < 16 {
				return uint32(i + 16 + 100)
			}
			return uint32(i - 16 + 200)
		})
		if as := of[access](r); len(as) != 1 || len(of[event.WarpSync](r)) != 0 {
			t.Errorf("%d stores; a shuffle orders no memory", len(as))
		}
	})
}

// A reduction in groups formed by match: member masks differ between lanes of one instruction.
func TestGroupsByMask(t *testing.T) {
	k := kernel(t, `
	rem.u32 %u, %i, 3;
	match.any.sync.b32 %w, %u, 0xffffffff;
	redux.sync.add.u32 %v, %i, %w;
	bar.warp.sync %w;
	st.global.u32 [%p], %v;
	ret;`)
	twoModels(t, func(t *testing.T, opt Options) {
		res, r := completed(t, k, config(1, 32, buffer("out", 128)), opt)
		wantWords(t, res, "out", 32, func(i int) (s uint32) {
			for k := i % 3; k < 32; k += 3 {
				s += uint32(k)
			}
			return s
		})
		all := uint32(0)
		for _, w := range of[event.WarpSync](r) {
			if bits.OnesCount32(w.Mask) < 10 || all&w.Mask != 0 {
				t.Errorf("warp barrier of %x", w.Mask)
			}
			all |= w.Mask
		}
		if all != full {
			t.Errorf("lanes %x synchronized", all)
		}
	})
}

// The forms without .sync act on the lanes that are active (PTX ISA 9.7.9.5, 9.7.13.8).
func TestDeprecatedForms(t *testing.T) {
	k := kernel(t, `
	setp.lt.u32 %c, %i, 12;
	mov.u32 %v, 0;
	@!%c bra END;
	setp.lt.u32 %d, %i, 40;
	vote.all.pred %e, %d;
	vote.ballot.b32 %v, %d;
	shfl.down.b32 %w, %i, 1, 31;
	setp.eq.u32 %d, %i, 11;
	@!%d add.u32 %v, %v, %w;
	@!%e mov.u32 %v, 0;
END:
	st.global.u32 [%p], %v;
	ret;`)
	twoModels(t, func(t *testing.T, opt Options) {
		res, _ := completed(t, k, config(1, 32, buffer("out", 128)), opt)
		wantWords(t, res, "out", 32, func(i int) uint32 {
			switch {
			case i < 11:
				return uint32(0xfff + i + 1)
			case i == 11:
				return 0xfff
			}
			return 0
		})
	})
}

// The results of operations of a warp reach any register, also the first ones of a kernel.
func TestFirstRegisters(t *testing.T) {
	for op, want := range map[string]func(i int) uint32{
		"vote.sync.ballot.b32 %i, %c, 0xffffffff;": func(int) uint32 { return 0xff },
		"match.any.sync.b32 %i, %b, 0xffffffff;":   func(int) uint32 { return full },
		"elect.sync %i|%c, 0xffffffff;":            func(int) uint32 { return 0 },
		"elect.sync _|%c, 0xffffffff;\n\tselp.u32 %i, 1, 0, %c;": func(i int) uint32 {
			return uint32(1 - min(1, i)) // the lowest lane is elected
		},
		"shfl.sync.idx.b32 %i, %t, 3, 31, 0xffffffff;": func(int) uint32 { return 3 },
		"activemask.b32 %i;":                           func(int) uint32 { return full },
	} {
		k := moduleText(t, ".version 8.3\n.target sm_90\n.address_size 64\n"+
			".visible .entry k(.param .u64 out, .param .u64 x) {\n\t.reg .u32 %i, %t, %b;\n"+
			"\t.reg .pred %c;\n\t.reg .u64 %o, %p;\n\tmov.u32 %t, %tid.x;\n\tmov.u32 %b, %ctaid.x;\n"+
			"\tmov.u32 %i, 77;\n\tld.param.u64 %o, [out];\n\tmad.wide.u32 %p, %t, 4, %o;\n"+
			"\tsetp.lt.u32 %c, %t, 8;\n\t"+op+"\n\tst.global.u32 [%p], %i;\n\tret;\n}\n")
		res, _ := completed(t, k, config(1, 32, buffer("out", 128)), Options{})
		wantWords(t, res, "out", 32, want)
	}
}
