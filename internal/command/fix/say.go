package fix

import (
	"slices"

	"heddle/internal/diag"
	"heddle/internal/edit"
	"heddle/internal/lower"
)

// Repairs are found kernel by kernel, and their edits of one source add up: each is compiled and
// judged together with those before it.

// say expresses a repair in the source, if that is possible. Without a form, the repair remains one
// of the PTX, with the reason.
func (x *kernelFix) say(find func(*sourceFixer) (*sourceForm, error)) {
	s, out := x.source, x.out
	if s == nil || !x.opt.Source {
		x.ptxOnly = true
		return
	}
	compiled, compiles := s.compiled, s.compiles
	got, err := find(s)
	out.Compiled += s.compiled - compiled
	out.Compiles += s.compiles - compiles
	if err != nil {
		out.PTXOnly, x.ptxOnly = err.Error(), true
		return
	}
	x.accept(got)
}

// accept adds the edits of a form in the source to those of the kernels before.
func (x *kernelFix) accept(got *sourceForm) {
	s, out := x.source, x.out
	was := s.edits
	edits := slices.DeleteFunc(slices.Clone(got.edits), func(e edit.Edit) bool {
		return slices.Contains(was, e)
	})
	if len(edits) == 0 {
		edits = s.sharedEdits(x.k)
	}
	s.remember(x, got)
	if s.edits = got.edits; !x.opt.Source {
		return
	}
	out.Edits, out.Source = edits, verdictOf(x.k, got.after)
	if out.Status != Repaired { // which findings no longer occur is not known
		return
	}
	for i := range out.Wrong {
		fix := diag.Fix{Message: "synchronize " + x.k.Demangled, Edits: out.Edits}
		out.Wrong[i].Fixes = append(out.Wrong[i].Fixes, fix)
	}
}

// patch makes the new text of the file, and the difference to the old one. For PTX the patch is
// between the two texts, as far as the file has one: a binary has none.
func (f *fixer) patch(out *Result) error {
	s := f.source
	switch {
	case s != nil && f.opt.Source:
		out.User, out.Edits = s.user, s.edits
		var err error
		if out.Patched, err = edit.Apply(s.user, s.edits); err != nil {
			return err
		}
		out.Diff, err = edit.Diff(s.user, s.edits)
		return err
	case f.in.Lowered.Lang != lower.PTX:
		return nil
	}
	if out.User = f.d.Files().Named(f.file.Name); out.User == nil || out.User.Content == nil {
		out.User = nil
		return nil
	}
	out.Patched = out.PTX
	edits := edit.Between(out.User, 0, len(out.User.Content), string(out.PTX))
	var err error
	out.Diff, err = edit.Diff(out.User, edits)
	return err
}
