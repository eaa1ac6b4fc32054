package depend

import (
	"slices"

	"heddle/internal/ir"
	"heddle/internal/isa"
)

// A search stores where it found something: if (key[i] == wanted[0]) *at = i. Two threads race there
// if two places of an array hold one value. Made-up contents do (zeros), the user's may be distinct,
// so that the race rests on the contents as one at an index from memory does. Another search looks
// for the place where an array changes: if (above[i] != above[i-1]) *at = i. Two threads race there
// if it changes twice, which made-up contents do, and sorted ones do not. Whether a value is a certain
// one (flag[i] == 1, level[i] == current) is another matter: many may be.

// Coincidence returns the facts that must agree at several places of memory for two threads to
// execute two accesses: a branch before both compares, for equality, what the threads have loaded
// from different addresses with what both have loaded from one; or it compares elements of one array
// that each thread has loaded from two addresses of its own. It is empty if there is none.
func (k *Kernel) Coincidence(a, b Access) []Source {
	f := k.home[a.Instr]
	if f == nil || k.home[b.Instr] != f {
		return nil
	}
	one, two := f.reach.block[a.Instr], f.reach.block[b.Instr]
	if f.dom == nil {
		f.dom = ir.Dominators(f.fn)
	}
	var set bits
	for _, block := range f.fn.Blocks {
		t := block.Last()
		if t == nil || len(block.Succs) != 2 || t.Guard == ir.NoReg {
			continue
		}
		test := f.comparison(t)
		if test == nil {
			continue
		}
		// entered says that both accesses are executed only after the branch goes there.
		entered := func(to ir.BlockID) bool {
			return len(f.fn.Blocks[to].Preds) == 1 && f.dom.Dominates(to, one) && f.dom.Dominates(to, two)
		}
		x, y := f.operand(test, &test.Src[0]), f.operand(test, &test.Src[1])
		if !k.loaded(x) || !k.loaded(y) {
			continue
		}
		if (entered(block.Succs[0]) || entered(block.Succs[1])) && !x.equalAt(&a, &b) &&
			!y.equalAt(&a, &b) && f.sameArray(test) {
			set.add(x.from)
			continue
		}
		if test.Cmp != isa.EQ && test.Cmp != isa.NE {
			continue
		}
		equal := block.Succs[1]
		if (test.Cmp == isa.EQ) != t.Neg {
			equal = block.Succs[0]
		}
		if !entered(equal) {
			continue
		}
		for _, p := range [2][2]*value{{x, y}, {y, x}} {
			if !p[0].equalAt(&a, &b) && !p[1].varies && p[1].equalAt(&a, &b) {
				set.add(p[0].from)
			}
		}
	}
	return slices.DeleteFunc(k.facts(set), func(s Source) bool { return s.Kind != Contents })
}

// comparison returns the comparison of two registers that decides a branch; nil if something else
// decides it.
func (f *function) comparison(t *ir.Instr) *ir.Instr {
	in := f.writer(t, t.Guard)
	if in == nil || in.Row == nil || in.Row.Operation != isa.Comparison || in.Guard != ir.NoReg ||
		len(in.Dst) != 1 || len(in.Src) != 2 ||
		in.Src[0].Kind != ir.Register || in.Src[1].Kind != ir.Register {
		return nil
	}
	return in
}

// writer returns the instruction that alone defines a register where another reads it; nil if there
// are several.
func (f *function) writer(in *ir.Instr, r ir.RegID) *ir.Instr {
	m := f.reach.at(in, r)
	if len(m.defs) != 1 {
		return nil
	}
	return f.reach.defs[m.defs[0]].in
}

// sameArray reports whether a comparison is one of two loads from one array.
func (f *function) sameArray(test *ir.Instr) bool {
	var arrays [2][]*ir.Var
	for i := range arrays {
		load := f.writer(test, test.Src[i].Reg)
		if load == nil || len(load.Src) == 0 {
			return false
		}
		if accesses, ok := load.Accesses(); !ok || len(accesses) != 1 {
			return false
		}
		arrays[i] = f.operand(load, &load.Src[0]).objects
	}
	return len(arrays[0]) == 1 && slices.Equal(arrays[0], arrays[1])
}

// loaded reports whether a value depends on the contents of memory.
func (k *Kernel) loaded(v *value) bool {
	return slices.ContainsFunc(k.facts(v.from), func(s Source) bool { return s.Kind == Contents })
}
