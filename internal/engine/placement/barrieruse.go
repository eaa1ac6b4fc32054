package placement

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"heddle/internal/diag"
	"heddle/internal/driver"
	placer "heddle/internal/place"
	"heddle/internal/source"
	"heddle/internal/syntax"
)

// BarrierNeed says whether a barrier of a block is needed, as far as is known.
type BarrierNeed uint8

const (
	BarrierUndecided BarrierNeed = iota // Why says what is missing
	BarrierNeeded                       // a run without it shows the races that Separates names
	// without it there is no proof, because of the pairs that Separates names; no run shows them
	BarrierMaybe
	BarrierRedundant // proved: without it no two threads race either
)

// BarrierUse is the purpose of one barrier.
type BarrierUse struct {
	Kernel    string
	Need      BarrierNeed
	Separates []string // "the read at 6:17 and the write at 7:16"
	Why       string
}

// At is a line and a byte column of a file, both from 1.
type At struct{ Line, Col int }

// UseOfBarrier removes the barrier at a place of the file from its kernel, and reports the effect:
// first on runs of the launch, then on a proof. The result is nil without an error if there is no
// barrier of a kernel there. Mistakes in the input go to sink. For a template, the answer is about
// all its kernels together and names the first.
func UseOfBarrier(ctx context.Context, opt Options, file driver.Input, at At,
	sink func(diag.Diagnostic)) (*BarrierUse, error) {
	s, err := open(opt, file, sink)
	if err != nil {
		return nil, err
	}
	defer s.prover.Close()
	in, err := s.compile(ctx)
	if in == nil || err != nil {
		return nil, err
	}
	fn, label := s.barrierAt(at.Line, at.Col)
	if fn == nil {
		return nil, nil
	}
	kernels := s.kernelsOf(in, fn)
	if len(kernels) == 0 {
		return nil, nil
	}
	use := &BarrierUse{Kernel: kernels[0].Demangled}
	err = use.judge(ctx, newMarked(s, in, fn, kernels), label)
	var no *notJudgedError
	switch {
	case ctx.Err() != nil:
		use.Need, use.Why = BarrierUndecided, "out of time"
	case errors.As(err, &no):
		use.Need, use.Why = BarrierUndecided, fmt.Sprintf("%s: %s", no.verdict.Kind, no.verdict.Reason)
	case err != nil: // that of a place or of a launch
		use.Need, use.Why = BarrierUndecided, err.Error()
	}
	return use, nil
}

// barrierAt returns the barrier whose statement is at a position of the input. A position within
// the statement is enough; a barrier of a header is not found.
func (s *syncer) barrierAt(line, col int) (*syntax.Func, placer.Label) {
	for _, fn := range s.unit.Funcs {
		if fn.File.Name != s.file.Name {
			continue
		}
		at, ok := fn.File.Offset(source.MakePos(fn.File.ID, line, col))
		if !ok {
			continue
		}
		for l := range fn.Tree.Labels {
			if !fn.Tree.Labels[l].Barrier {
				continue
			}
			from, ok1 := fn.File.Offset(fn.Nodes[l].Span.Start)
			to, ok2 := fn.File.Offset(fn.Nodes[l].Span.End)
			if ok1 && ok2 && from <= at && at < to {
				return fn, placer.Label(l)
			}
		}
	}
	return nil, placer.None
}

// judge compares the answers of runs and of the static engine with the barrier and without it.
//
// A race in a run without the barrier shows the need. Only a proof shows that there is none: a
// clean run says nothing. In between, a failed proof without the barrier, beside one that succeeds
// with it, is a hint ("maybe").
func (u *BarrierUse) judge(ctx context.Context, m *marked, label placer.Label) error {
	label = m.chosen(m.fn.Point(label)) // in the tree with the functions that are inlined
	with := m.tree.Standing()
	without := maps.Clone(with)
	delete(without, label)
	seen, err := (&dynamicOracle{m}).Check(ctx, with)
	if err != nil {
		return err
	}
	if slices.Contains(seen.Divergences, label) {
		u.Need, u.Why = BarrierUndecided, "not all threads of the block reach it"
		return nil
	}
	more, err := (&dynamicOracle{m}).Check(ctx, without)
	if err != nil {
		return err
	}
	if u.Separates = beyond(more, seen); len(u.Separates) > 0 {
		u.Need = BarrierNeeded
		return nil
	}
	// An oracle keeps the places that diverge; each placement needs an oracle of its own.
	proved, err := (&staticOracle{marked: m}).Check(ctx, without)
	if err != nil {
		return err
	}
	// races between blocks may be those that it orders together with a flag
	if proved.Verified && len(proved.Races) == 0 {
		u.Need = BarrierRedundant
		return nil
	}
	standing, err := (&staticOracle{marked: m}).Check(ctx, with)
	if err != nil {
		return err
	}
	if !standing.Verified {
		u.Need, u.Why = BarrierUndecided, "the kernel is not proved even with it"
		return nil
	}
	if u.Separates = beyond(proved, standing); len(u.Separates) > 0 {
		u.Need = BarrierMaybe
		return nil
	}
	u.Need, u.Why = BarrierUndecided, "the kernel is not proved without it, but no pair of "+
		"accesses is known that it separates"
	return nil
}

// beyond names the races that one answer has and another does not have. Races are the same if they
// are between the same two statements.
func beyond(a, b *placer.Answer) []string {
	var out []string
	for i := range a.Races {
		r := &a.Races[i]
		known := func(o placer.Race) bool {
			return o.A == r.A && o.B == r.B && o.OtherBlock == r.OtherBlock
		}
		if !slices.ContainsFunc(b.Races, known) {
			out = append(out, r.Why)
		}
	}
	return out
}
