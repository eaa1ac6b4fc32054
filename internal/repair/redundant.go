package repair

import (
	"cmp"
	"context"
	"slices"

	"heddle/internal/ir"
	"heddle/internal/source"
)

// Redundant is a barrier that a kernel does not need.
type Redundant struct {
	Barrier *ir.Instr
	// Proved means that the kernel stays Verified without this barrier and those before it in the
	// list. Otherwise only runs showed no bug without it, which is weak evidence.
	Proved bool
	Cost   float64
}

// FindRedundant tries to remove the barriers of a kernel that the judge accepts: the costliest
// first, each together with those found before and with those of the same source statement. The
// patch removes the proved ones; it is nil if there are none.
//
// "A barrier is redundant if no race appears without it" (AuCS, section II.C) holds only where
// every conflict is a race. Strong accesses, such as atomic ones, may conflict without a race, and
// a barrier may decide what they read. So no barrier of a kernel with strong accesses is called
// redundant.
//
// The result depends on the order: of two barriers that can each replace the other, the costlier
// one is removed and the other is kept.
func FindRedundant(
	ctx context.Context, k *Kernel, judge Judge, opt Options,
) ([]Redundant, *Patch, error) {
	if opt.Cost == (Cost{}) {
		opt.Cost = DefaultCost
	}
	bars := Barriers(k.Func)
	if len(bars) == 0 || k.Func.HasStrong() {
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

// statements groups the barriers of one source statement that the compiler duplicated, by unrolling
// a loop or specializing branches. The source can only lose all of them. Barriers without a source
// position, as in PTX text, are groups of one.
func statements(bars []*ir.Instr) [][]*ir.Instr {
	var out [][]*ir.Instr
	same := func(a, b *source.Frame) bool {
		for ; a != nil && b != nil && a.Pos == b.Pos; a, b = a.Parent, b.Parent {
		}
		return a == nil && b == nil
	}
	for _, in := range bars {
		of := func(g []*ir.Instr) bool { return in.Loc != nil && same(in.Loc, g[0].Loc) }
		i := slices.IndexFunc(out, of)
		if i < 0 {
			i, out = len(out), append(out, nil)
		}
		out[i] = append(out[i], in)
	}
	return out
}
