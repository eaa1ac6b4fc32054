package placement

import (
	"context"
	"slices"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/ir"
	"heddle/internal/source"
)

// Explained says what the barriers of one function of the source are for.
type Explained struct {
	Kernel string      // demangled; of a template, the first instance
	Body   source.Span // of the function, braces included
	Uses   []PlacedUse // in the order of the source
}

// PlacedUse is the use of one barrier.
type PlacedUse struct {
	At source.Pos
	*BarrierUse
}

// UsesOfBarriers explains the barriers of a file's kernels that wanted selects by their demangled
// names. Barriers that are not explained, such as named ones, are left out, and kernels without others. Mistakes in the input go to sink.
func UsesOfBarriers(ctx context.Context, opt Options, file driver.Input, wanted func(string) bool,
	sink func(diag.Diagnostic)) ([]Explained, error) {
	s, err := open(opt, file, sink)
	if err != nil {
		return nil, err
	}
	defer s.prover.Close()
	in, err := s.compile(ctx)
	if in == nil || err != nil {
		return nil, err
	}
	var out []Explained
	for _, fn := range s.unit.Funcs {
		kernels := s.kernelsOf(in, fn)
		if len(kernels) == 0 || ctx.Err() != nil ||
			!slices.ContainsFunc(kernels, func(k *ir.Func) bool { return wanted(k.Demangled) }) {
			continue
		}
		e := Explained{Kernel: kernels[0].Demangled, Body: fn.Span}
		f := &found{marked: newMarked(s, in, fn, kernels)}
		x, err := newExplainer(f, f.marked.tree.Standing())
		if err == nil && len(x.groups) > 0 {
			err = x.observe(ctx)
		}
		if err != nil {
			continue // this kernel has no explanation
		}
		for _, g := range x.groups {
			if u := x.use(ctx, g); !u.Refused {
				e.Uses = append(e.Uses, PlacedUse{g.pos, u})
			}
		}
		if len(e.Uses) > 0 {
			out = append(out, e)
		}
	}
	return out, nil
}
