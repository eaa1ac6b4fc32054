package placement

import (
	"context"
	"iter"
	"slices"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/ir"
	"heddle/internal/source"
)

// Explained says what the barriers of one function of the source are for.
type Explained struct {
	Kernel string      // demangled; of a template, the first instance that was wanted
	Body   source.Span // of the function, braces included
	Uses   []PlacedUse // in the order of the source
}

// PlacedUse is the use of one barrier.
type PlacedUse struct {
	At source.Pos
	*BarrierUse
}

// UsesOfBarriers explains the barriers of a file's kernels that wanted selects by their demangled
// names; those of a template for all its kernels together. Barriers that are not explained, such as
// named ones, are left out, and so are kernels without others. Mistakes in the input go to sink.
func UsesOfBarriers(ctx context.Context, opt Options, file driver.Input, wanted func(string) bool,
	sink func(diag.Diagnostic)) ([]Explained, error) {
	s, in, err := compiled(ctx, opt, file, sink)
	if in == nil {
		return nil, err
	}
	defer s.prover.Close()
	var out []Explained
	for f := range s.functions(in) {
		kernels := f.marked.kernels
		i := slices.IndexFunc(kernels, func(k *ir.Func) bool { return wanted(k.Demangled) })
		if i < 0 || ctx.Err() != nil {
			continue
		}
		x, err := newExplainer(f, f.marked.tree.Standing())
		if err == nil && len(x.groups) > 0 {
			err = x.observe(ctx)
		}
		if err != nil {
			continue // this kernel has no explanation
		}
		e := Explained{Kernel: kernels[i].Demangled, Body: f.marked.fn.Span}
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

// compiled opens a file and compiles it. Without a result the file has a mistake, which went to
// sink, or there is an error. The caller closes the prover.
func compiled(ctx context.Context, opt Options, file driver.Input,
	sink func(diag.Diagnostic)) (*syncer, *driver.Module, error) {
	s, err := open(opt, file, sink)
	if err != nil {
		return nil, nil, err
	}
	in, err := s.compile(ctx)
	if in == nil || err != nil {
		s.prover.Close()
		return nil, nil, err
	}
	return s, in, nil
}

// functions yields the functions of the source that are kernels, or templates of them.
func (s *syncer) functions(in *driver.Module) iter.Seq[*found] {
	return func(yield func(*found) bool) {
		for _, fn := range s.unit.Funcs {
			kernels := s.kernelsOf(in, fn)
			if len(kernels) > 0 && !yield(&found{marked: newMarked(s, in, fn, kernels)}) {
				return
			}
		}
	}
}
