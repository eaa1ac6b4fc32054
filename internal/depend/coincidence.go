package depend

import (
	"slices"

	"heddle/internal/ir"
	"heddle/internal/isa"
)

// A search stores where it found something: if (key[i] == wanted[0]) *at = i. Two threads race there
// if two places of an array hold one value. Made-up contents do (zeros), the user's may be distinct,
// so that the race rests on the contents as one at an index from memory does. Whether a value is a
// certain one (flag[i] == 1, level[i] == current) is another matter: many may be.

// Coincidence returns the facts that must make values at two places of memory equal for two threads
// to execute two accesses: a branch before both compares, for equality, what the threads have loaded
// from different addresses with what both have loaded from one. It is empty if there is none.
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
		test, equal := f.equality(t)
		if test == nil {
			continue
		}
		to := block.Succs[1]
		if equal {
			to = block.Succs[0]
		}
		if len(f.fn.Blocks[to].Preds) != 1 || !f.dom.Dominates(to, one) || !f.dom.Dominates(to, two) {
			continue
		}
		x, y := f.operand(test, &test.Src[0]), f.operand(test, &test.Src[1])
		for _, p := range [2][2]*value{{x, y}, {y, x}} {
			same := !p[1].varies && p[1].equalAt(&a, &b)
			if k.loaded(p[0]) && k.loaded(p[1]) && !p[0].equalAt(&a, &b) && same {
				set.add(p[0].from)
			}
		}
	}
	return slices.DeleteFunc(k.facts(set), func(s Source) bool { return s.Kind != Contents })
}

// equality returns the comparison of two registers that decides a branch, and whether the branch is
// taken if they are equal; nil if something else decides it.
func (f *function) equality(t *ir.Instr) (test *ir.Instr, equal bool) {
	m := f.reach.at(t, t.Guard)
	if len(m.defs) != 1 {
		return nil, false
	}
	in := f.reach.defs[m.defs[0]].in
	if in == nil || in.Row == nil || in.Row.Operation != isa.Comparison || in.Guard != ir.NoReg ||
		len(in.Dst) != 1 || len(in.Src) != 2 || in.Cmp != isa.EQ && in.Cmp != isa.NE ||
		in.Src[0].Kind != ir.Register || in.Src[1].Kind != ir.Register {
		return nil, false
	}
	return in, (in.Cmp == isa.EQ) != t.Neg
}

// loaded reports whether a value depends on the contents of memory.
func (k *Kernel) loaded(v *value) bool {
	return slices.ContainsFunc(k.facts(v.from), func(s Source) bool { return s.Kind == Contents })
}
