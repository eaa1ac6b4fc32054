package check

import (
	"context"

	"heddle/internal/diag"
	"heddle/internal/edit"
	"heddle/internal/ir"
	"heddle/internal/lower"
)

// say puts a repair into the source, if that can be.
func (d *driver) say(ctx context.Context, fix FixOptions, k *ir.Func, out *Fix, find func(*sourceFixer) (*SourceFix, error)) {
	s := fix.source
	if s == nil {
		return
	}
	compiled, compiles := s.compiled, s.compiles
	got, err := find(s)
	out.Compiled, out.Compiles = s.compiled-compiled, s.compiles-compiles
	if err != nil {
		out.PTXOnly = err.Error()
		return
	}
	out.Edits = got.Edits[len(s.edits):]
	out.Source = verdictOf(k, got.After)
	s.edits = got.Edits
	for i := range out.Wrong {
		out.Wrong[i].Fixes = append(out.Wrong[i].Fixes, diag.Fix{Message: "synchronize " + k.Demangled, Edits: out.Edits})
	}
}

// patch makes the new text of the file, and the difference to the old one.
func (d *driver) patch(out *FixResult, s *sourceFixer, file Input, in *input) error {
	switch {
	case s != nil:
		out.User = s.user
		var err error
		if out.Patched, err = edit.Apply(s.user, s.edits); err != nil {
			return err
		}
		out.Diff, err = edit.Diff(s.user, s.edits)
		return err
	case in.lowered.Lang != lower.PTX:
		return nil
	}
	if out.User = d.files.Named(file.Name); out.User == nil || out.User.Content == nil {
		out.User = nil
		return nil
	}
	out.Patched = out.PTX
	edits := edit.Between(out.User, 0, len(out.User.Content), string(out.PTX))
	var err error
	out.Diff, err = edit.Diff(out.User, edits)
	return err
}
