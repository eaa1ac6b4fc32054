package placement

import (
	"context"

	"heddle/internal/diag"
	"heddle/internal/driver"
	placer "heddle/internal/place"
	"heddle/internal/source"
	"heddle/internal/syntax"
)

// At is a line and a byte column of a file, both from 1.
type At struct{ Line, Col int }

// UseOfBarrier explains the barrier at a place of the file. The result is nil without an error if
// there is no barrier there. Mistakes in the input go to sink. If several kernels have the barrier,
// the answer is about the one that needs it most; for a template, it is about all its kernels
// together and names the first.
func UseOfBarrier(ctx context.Context, opt Options, file driver.Input, at At,
	sink func(diag.Diagnostic)) (*BarrierUse, error) {
	s, in, err := compiled(ctx, opt, file, sink)
	if in == nil {
		return nil, err
	}
	defer s.prover.Close()
	var best *BarrierUse
	for f := range s.functions(in) {
		use := s.useAt(ctx, f, at)
		if use != nil && (best == nil || use.Need.rank() > best.Need.rank()) {
			best = use
		}
		if best != nil && best.Need == BarrierNeeded {
			break
		}
	}
	if fn, _ := s.barrierAt(at); best == nil && fn != nil {
		best = &BarrierUse{Why: "no kernel of this file reaches it"}
	}
	return best, nil
}

// rank orders the needs of several kernels: what one needs cannot go.
func (n BarrierNeed) rank() int {
	return [...]int{BarrierRedundant: 0, BarrierUndecided: 1, BarrierMaybe: 2, BarrierNeeded: 3}[n]
}

// useAt explains the barrier at a place for one kernel; nil if the kernel does not have it.
func (s *syncer) useAt(ctx context.Context, f *found, at At) *BarrierUse {
	x, err := newExplainer(f, f.marked.tree.Standing())
	if err != nil {
		if fn, l := s.barrierAt(at); fn == nil || f.marked.chosen(fn.Point(l)) == placer.None {
			return nil // the barrier that is lost is perhaps another one
		}
	}
	var g *group
	if err == nil {
		if g = s.groupAt(x, at); g == nil {
			return nil
		}
		err = x.observe(ctx)
	}
	if err != nil {
		u := &BarrierUse{Kernel: f.marked.kernels[0].Demangled}
		u.undecided(ctx, err)
		return u
	}
	return x.use(ctx, g)
}

// groupAt returns the barrier of a kernel at a place: the one of the statement there, or the last
// one of the line that begins before; nil if there is none.
func (s *syncer) groupAt(x *explainer, at At) *group {
	fn, l := s.barrierAt(at)
	var best *group
	for _, g := range x.groups {
		file := s.d.Files().File(g.pos.File())
		switch {
		case fn != nil && g.from == origin{fn, l, false}:
			return g
		case file == nil || file.Name != s.file.Name || g.pos.Line() != at.Line || g.pos.Col() > at.Col:
		case best == nil || best.pos < g.pos:
			best = g
		}
	}
	return best
}

// barrierAt returns the barrier whose statement is at a position of the input. A position within
// the statement is enough; a barrier of a header is not found.
func (s *syncer) barrierAt(at At) (*syntax.Func, placer.Label) {
	for _, fn := range s.unit.Funcs {
		if fn.File.Name != s.file.Name {
			continue
		}
		off, ok := fn.File.Offset(source.MakePos(fn.File.ID, at.Line, at.Col))
		if !ok {
			continue
		}
		for l := range fn.Tree.Labels {
			if !fn.Tree.Labels[l].Barrier {
				continue
			}
			from, ok1 := fn.File.Offset(fn.Nodes[l].Span.Start)
			to, ok2 := fn.File.Offset(fn.Nodes[l].Span.End)
			if ok1 && ok2 && from <= off && off < to {
				return fn, placer.Label(l)
			}
		}
	}
	return nil, placer.None
}
