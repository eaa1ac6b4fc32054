package repair

import (
	"cmp"
	"context"
	"slices"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/source"
)

// Redundant is a barrier that a kernel does not need.
type Redundant struct {
	Barrier *ir.Instr
	// Proved: the kernel stays Verified without it, and without those before it in the list. Otherwise the runs that
	// were tried show nothing without it, which says little.
	Proved bool
	Cost   float64
}

// FindRedundant tries to leave out the barriers of a kernel that a judge has nothing against, the costliest first, each
// together with those that were found before and with those that are the same statement of the source. The patch leaves out those that are proved; it is nil if there are none.
//
// "A barrier is redundant if no race appears without it" (AuCS, section II.C) holds only where no two accesses may
// meet without being a race: strong accesses, atomic ones among them, may, and a barrier may decide what they see. So in
// a kernel with strong accesses none is called redundant.
func FindRedundant(ctx context.Context, k *Kernel, judge Judge, opt Options) ([]Redundant, *Patch, error) {
	if opt.Cost == (Cost{}) {
		opt.Cost = DefaultCost
	}
	bars := Barriers(k.Func)
	if len(bars) == 0 || hasStrong(k.Func) {
		return nil, nil, nil
	}
	base, err := judge.Judge(ctx, k.File.Content, true)
	if err != nil || base.Grade < Clean {
		return nil, nil, err
	}
	x := New(k)
	groups := statements(bars)
	cost := func(group []*ir.Instr) (sum float64) {
		for _, in := range group {
			sum += x.pointCost(opt.Cost, x.where(in))
		}
		return sum
	}
	slices.SortStableFunc(groups, func(a, b []*ir.Instr) int { return cmp.Compare(cost(b), cost(a)) })
	var out []Redundant
	var best *Patch
	gone := map[int]bool{}
	for _, group := range groups {
		for _, in := range group {
			gone[in.Index] = true
		}
		p, err := x.Apply(&Plan{Drop: gone})
		if err != nil {
			return nil, nil, err
		}
		j, err := judge.Judge(ctx, p.Text, base.Grade == Verified)
		if err != nil {
			return nil, nil, err
		}
		switch {
		case j.Grade < base.Grade:
			for _, in := range group {
				delete(gone, in.Index)
			}
			continue
		case j.Grade == Verified:
			best = p
		}
		for _, in := range group {
			out = append(out, Redundant{in, j.Grade == Verified, x.pointCost(opt.Cost, x.where(in))})
		}
	}
	return out, best, nil
}

// statements groups barriers that are one statement of the source, which the compiler copied: in an unrolled loop, in
// branches that it told apart. One of them alone nobody can leave out.
func statements(bars []*ir.Instr) [][]*ir.Instr {
	var out [][]*ir.Instr
	same := func(a, b *source.Frame) bool {
		for ; a != nil && b != nil && a.Pos == b.Pos; a, b = a.Parent, b.Parent {
		}
		return a == nil && b == nil
	}
	for _, in := range bars {
		i := slices.IndexFunc(out, func(g []*ir.Instr) bool { return in.Loc != nil && same(in.Loc, g[0].Loc) })
		if i < 0 {
			i, out = len(out), append(out, nil)
		}
		out[i] = append(out[i], in)
	}
	return out
}

// hasStrong reports whether a kernel has accesses that may meet without being a race, or calls what may have some.
func hasStrong(f *ir.Func) bool {
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			if in.Row == nil || in.IsCall() {
				return true
			}
			if in.Row.Category == isa.Memory && in.Order != event.Weak && in.Row.Effect != isa.NoEffect {
				return true
			}
		}
	}
	return false
}
