package emu

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"heddle/internal/slice"
)

// bitOp is an operation between registers of 32 bits, some of them through other sizes.
type bitOp struct {
	ptx string // %d, %a and %b are the result and the sources
	f   func(a, b uint32) uint32
}

// bitOps are operations whose unknown bits a trace follows, and others.
func bitOps(rnd *rand.Rand) bitOp {
	c := []uint32{1, 0xff, 0xff00, 0xffff, 0xffff0000, 0x80000000, 0xfffffffe, rnd.Uint32()}[rnd.IntN(8)]
	n := []uint32{0, 1, 8, 16, 24, 31, 32, 40}[rnd.IntN(8)]
	shift := func(v uint64, n uint32) uint32 {
		if n > 31 {
			return 0
		}
		return uint32(v)
	}
	one := func(text string, f func(a uint32) uint32) bitOp {
		return bitOp{text, func(a, _ uint32) uint32 { return f(a) }}
	}
	switch rnd.IntN(18) {
	case 0:
		return one("mov.b32 %d, %a;", func(a uint32) uint32 { return a })
	case 1, 2, 3:
		return one(fmt.Sprintf("and.b32 %%d, %%a, %d;", c), func(a uint32) uint32 { return a & c })
	case 4, 5:
		return bitOp{"or.b32 %d, %a, %b;", func(a, b uint32) uint32 { return a | b }}
	case 6:
		return bitOp{"xor.b32 %d, %a, %b;", func(a, b uint32) uint32 { return a ^ b }}
	case 7:
		return bitOp{"and.b32 %d, %a, %b;", func(a, b uint32) uint32 { return a & b }}
	case 8, 9:
		return one(fmt.Sprintf("shl.b32 %%d, %%a, %d;", n),
			func(a uint32) uint32 { return shift(uint64(a)<<(n&31), n) })
	case 10, 11:
		return one(fmt.Sprintf("shr.u32 %%d, %%a, %d;", n),
			func(a uint32) uint32 { return shift(uint64(a)>>(n&31), n) })
	case 12:
		return one(fmt.Sprintf("shr.s32 %%d, %%a, %d;", n),
			func(a uint32) uint32 { return uint32(int32(a) >> min(n, 31)) })
	case 13:
		return one("cvt.u16.u32 %g16, %a; cvt.u32.u16 %d, %g16;", func(a uint32) uint32 { return a & 0xffff })
	case 14:
		return one("cvt.u16.u32 %g16, %a; cvt.s32.s16 %d, %g16;",
			func(a uint32) uint32 { return uint32(int32(int16(a))) })
	case 15:
		return one("cvt.s8.s32 %d, %a;", func(a uint32) uint32 { return uint32(int32(int8(a))) })
	case 16:
		return one("cvt.u16.u32 %g16, %a; mul.wide.u16 %d, %g16, 256;",
			func(a uint32) uint32 { return a & 0xffff << 8 })
	}
	return bitOp{"add.u32 %d, %a, %b;", func(a, b uint32) uint32 { return a + b }}
}

// TestUnknownBits draws sequences of operations on a register that nothing has written. Where a
// trace takes the result to be known, it is the same for all contents of that register, and it is
// the one that the trace has: a thread waits at a barrier for nobody if it is another one.
func TestUnknownBits(t *testing.T) {
	rnd := rand.New(rand.NewPCG(31, 32))
	known, differ := 0, 0
	for range 3000 {
		var ops []bitOp
		var from [][2]int
		regs := 2 // 0: not written, 1: known
		for range 2 + rnd.IntN(7) {
			ops = append(ops, bitOps(rnd))
			from = append(from, [2]int{rnd.IntN(regs), rnd.IntN(regs)})
			regs++
		}
		one := rnd.Uint32()
		value := func(unset uint32) uint32 {
			v := []uint32{unset, one}
			for i, o := range ops {
				v = append(v, o.f(v[from[i][0]], v[from[i][1]]))
			}
			return v[regs-1]
		}
		var text strings.Builder
		fmt.Fprintf(&text, ".reg .b32 %%q<%d>; .reg .b16 %%g16;\nmov.b32 %%q1, %d;\n", regs, one)
		for i, o := range ops {
			text.WriteString(strings.NewReplacer("%d", fmt.Sprintf("%%q%d", i+2), "%a",
				fmt.Sprintf("%%q%d", from[i][0]), "%b", fmt.Sprintf("%%q%d", from[i][1])).Replace(o.ptx) + "\n")
		}
		want := value(0)
		fmt.Fprintf(&text, "setp.ne.u32 %%c, %%q%d, %d;\n@%%c bar.sync 1, 64;\nret;", regs-1, want)
		k := kernel(t, text.String())
		m, err := NewTrace(k, config(1, 32, buffer("out", 4)), slice.Of(k, slice.Options{}))
		if err != nil {
			t.Fatal(err)
		}
		res, err := m.Run(context.Background(), Options{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		same := true
		for i := range 200 {
			v := uint32(1) << (i % 32)
			if i >= 32 {
				v = rnd.Uint32()
			}
			same = same && value(v) == want
		}
		if !same {
			differ++
		}
		switch unknown := res.Stop != nil && res.Stop.Kind == DependsOnInput; {
		case unknown:
		case !same:
			t.Fatalf("the result depends on what is not written, and a trace knows it:\n%s", text.String())
		case res.Status != Completed:
			t.Fatalf("the result is %#x, and a trace has another one: %v\n%s", want, res.Status, text.String())
		default:
			known++
		}
	}
	t.Logf("%d results known, %d depend on what is not written", known, differ)
	if known < 500 || differ < 500 {
		t.Error("the programs show too little")
	}
}
