package launch

import (
	"math/bits"

	"heddle/internal/ir"
	"heddle/internal/isa"
)

// A kernel with sizes B, T and C often loops over B * T * C elements. If each were guessed as the
// number of threads, the loops would be longer than any run. So only one factor of such a product
// is guessed as a size, and the others as small numbers.

// products returns the integer parameters of k that it multiplies with two others or more, each
// with its number among them, in the order of the parameters. It follows values through the code in
// its order, which is enough for a guess.
func products(k *ir.Func) map[*ir.Var]int {
	number := make(map[*ir.Var]int)
	for i, v := range k.Params {
		if !v.Pointer && !isStruct(v) && !v.Type.IsFloat() && i < 64 {
			number[v] = i
		}
	}
	if len(number) < 3 {
		return nil
	}
	held := make(map[ir.RegID]uint64) // the parameters whose product a register holds
	var factors uint64
	for _, b := range k.Blocks {
		for _, in := range b.Instrs {
			set := productOf(in, number, held)
			if bits.OnesCount64(set) >= 3 {
				factors |= set
			}
			for _, d := range in.Dst {
				if d.Kind == ir.Register {
					held[d.Reg] = set
				}
			}
		}
	}
	out := make(map[*ir.Var]int)
	for _, v := range k.Params {
		if i, ok := number[v]; ok && factors>>i&1 != 0 {
			out[v] = len(out)
		}
	}
	return out
}

// productOf returns the parameters whose product an instruction computes; none if it computes
// something else.
func productOf(in *ir.Instr, number map[*ir.Var]int, held map[ir.RegID]uint64) uint64 {
	if in.Row == nil || len(in.Src) == 0 {
		return 0
	}
	of := func(n int) uint64 {
		if n < len(in.Src) && in.Src[n].Kind == ir.Register {
			return held[in.Src[n].Reg]
		}
		return 0
	}
	switch in.Row.Opcode {
	case "ld":
		if m := in.Src[0]; m.Kind == ir.Mem && m.Var != nil && in.Row.Effect == isa.Reads {
			if i, ok := number[m.Var]; ok {
				return 1 << i
			}
		}
	case "mov", "cvt":
		return of(0)
	case "mul":
		if of(0) != 0 && of(1) != 0 {
			return of(0) | of(1)
		}
	}
	return 0
}

// smallFactor guesses factor n of a product of sizes whose last is a size of the launch.
func smallFactor(n int) (uint64, string) {
	return uint64(2 + n%3), "a small factor of a product of sizes"
}
