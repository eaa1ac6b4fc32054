package fix

import (
	"context"
	"errors"
	"slices"

	"heddle/internal/edit"
	"heddle/internal/ir"
	"heddle/internal/repair"
	"heddle/internal/source"
	"heddle/internal/syntax"
)

// Several kernels may call one function. A barrier in it serves them all, so a kernel first tries
// what the source has from the kernels before. If it needs more, the function is rewritten for all
// of them together, and what the whole does not need is left out.

// rewritten is a function with the steps that changed it and their edits.
type rewritten struct {
	steps []step
	edits []edit.Edit
}

// repairedKernel is a kernel that the source repairs, and how far that is known.
type repairedKernel struct {
	name  string
	judge *judge
	grade repair.Grade
	// changes are those of its repair
	changes []Change
}

// remember adds a kernel that a form repairs.
func (s *sourceFixer) remember(x *kernelFix, got *sourceForm) {
	for fn, r := range got.rewritten {
		s.rewritten[fn] = r
	}
	if got.after != nil {
		k := repairedKernel{x.k.Name, x.judge, got.after.Grade, x.out.Changes}
		s.repaired = append(s.repaired, k)
	}
}

// before returns the edits for the kernels before, less those that are made anew.
func (c *sourceChange) before() []edit.Edit {
	out := slices.Clone(c.edits)
	for fn := range c.again {
		if r := c.rewritten[fn]; r != nil {
			anew := func(e edit.Edit) bool { return slices.Contains(r.edits, e) }
			out = slices.DeleteFunc(out, anew)
		}
	}
	return out
}

// wasRepaired reports whether the source repairs a kernel already.
func (s *sourceFixer) wasRepaired(k *ir.Func) bool {
	return slices.ContainsFunc(s.repaired, func(r repairedKernel) bool { return r.name == k.Name })
}

// keepsRepaired returns an error if a text is worse for a kernel that was repaired.
func (s *sourceSearch) keepsRepaired(ctx context.Context, ptx []byte) error {
	for _, r := range s.repaired {
		if r.name == s.j.kernel {
			continue
		}
		after, err := r.judge.Judge(ctx, ptx, r.grade == repair.Verified)
		if err != nil {
			return err
		}
		if after.Grade < r.grade {
			return notInSourcef("the change would break the repair of kernel %s, which also calls the "+
				"changed function", r.name)
		}
	}
	return nil
}

// shared returns the functions that repairs before have changed and this kernel executes.
func (s *sourceFixer) shared(k *ir.Func) map[*syntax.Func]bool {
	out := map[*syntax.Func]bool{}
	if len(s.rewritten) == 0 {
		return out
	}
	for _, b := range k.Blocks {
		for _, in := range b.Instrs {
			for fr := in.Loc; fr != nil; fr = fr.Parent {
				if fn := s.unit.FuncOf(fr.Pos); fn != nil && s.rewritten[fn] != nil {
					out[fn] = true
				}
			}
		}
	}
	return out
}

// sharedEdits are those of the functions that a kernel shares with others.
func (s *sourceFixer) sharedEdits(k *ir.Func) []edit.Edit {
	var out []edit.Edit
	for fn := range s.shared(k) {
		out = append(out, s.rewritten[fn].edits...)
	}
	slices.SortFunc(out, func(a, b edit.Edit) int { return int(a.Span.Start) - int(b.Span.Start) })
	return out
}

// already returns the source so far if the repairs of other kernels repair this one as well.
func (s *sourceSearch) already(ctx context.Context, want repair.Grade) (*sourceForm, error) {
	if len(s.shared(s.kernel)) == 0 {
		return nil, nil
	}
	form, err := s.attempt(ctx, nil, want)
	s.why = nil
	if form != nil && want != repair.Verified {
		var no *notInSource
		if form.after, err = s.judged(ctx, form); errors.As(err, &no) {
			return nil, nil
		}
	}
	return form, err
}

// include adds to the steps of a change those of kernels before in the same functions, which are
// then rewritten anew.
func (s *sourceSearch) include(must []step, open []choices) []step {
	s.again = map[*syntax.Func]bool{}
	for _, list := range append(slices.Clone(open), must) {
		for _, st := range list {
			if r := s.rewritten[st.fn]; r != nil && !s.again[st.fn] {
				s.again[st.fn] = true
				for _, old := range r.steps {
					must = appendNew(must, old)
				}
			}
		}
	}
	return must
}

// changesOfOthers are the changes for kernels before at places of this one.
func (s *sourceFixer) changesOfOthers(k *ir.Func) []Change {
	var out []Change
	within := s.shared(k)
	for _, r := range s.repaired {
		for _, ch := range r.changes {
			fn := s.unit.FuncOf(ch.Span.Start)
			if ch.Span != (source.Span{}) && within[fn] && !slices.ContainsFunc(out, ch.same) {
				out = append(out, ch)
			}
		}
	}
	return out
}
