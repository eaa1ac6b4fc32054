package fix

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/edit"
	"heddle/internal/engine/placement"
	"heddle/internal/ir"
	"heddle/internal/lower"
	"heddle/internal/place"
	"heddle/internal/ptx"
	"heddle/internal/source"
)

// The first question is that of heddle sync: is there a placement of barriers with which the kernel
// is right? Its places are those of the user's source, so that the result is a patch of it and
// needs no translation. The barriers that exist stay unless they diverge. Only what no placement
// repairs is left to package repair. For PTX that comes first: the label trees of PTX have fewer
// places than the instructions between which package repair chooses.

// placed is a placement of barriers: the patch of the user's text, compiled and judged.
type placed struct {
	form    sourceForm
	changes []Change
	stuck   []string // races that it leaves, each with the reason
	// remaining are all findings that it leaves, if it repairs only some.
	remaining []string
	result    *placement.Result
}

// place asks for a placement of the barriers of the kernel. An error of the engine, such as a
// construct that it does not model, means that it has no answer: the question goes to package
// repair. A placement that leaves races is only tried if that has no answer either (partly).
func (x *kernelFix) place(ctx context.Context, _ *parsed) error {
	res, err := placement.File(ctx, x.placementOptions(), x.placementInput(), func(diag.Diagnostic) {})
	if err != nil || len(res.Kernels) != 1 || len(res.Edits) == 0 {
		return ctx.Err()
	}
	k := &res.Kernels[0]
	if k.Removes() && x.kernel.Func.HasStrong() {
		return nil // a barrier may order accesses that never race
	}
	p := &placed{stuck: k.Stuck, result: res}
	for i := range k.Barriers {
		if b := &k.Barriers[i]; !b.Kept {
			p.changes = append(p.changes, x.placedChange(b))
		}
	}
	x.placed = p
	if len(p.stuck) > 0 {
		return nil
	}
	return x.judgePlaced(ctx)
}

// judgePlaced compiles and judges the placement.
func (x *kernelFix) judgePlaced(ctx context.Context) error {
	form := &x.placed.form
	err := x.compilePlaced(ctx, x.placed.result, form)
	if err != nil || form.ptx == nil {
		x.placed = nil
		return err
	}
	form.after, err = x.judge.Judge(ctx, form.ptx, true)
	return err
}

// placementOptions are those of a search for this kernel: for the arguments that decide whether it
// is wrong. Races between blocks are left out, since no barrier of a block affects them. The judge
// looks for them, and proves the result for all arguments if it can.
func (x *kernelFix) placementOptions() placement.Options {
	outlooks := x.outlooks(x.kernel.Func)
	opt := placement.Options{
		Common: x.opt.Common, Run: x.opt.Run, Prove: x.opt.Prove, Unverified: true,
		From: outlooks[len(outlooks)-1], Options: place.Options{Keep: true, Partial: true},
	}
	opt.Common.Files, opt.Common.Kernel = source.NewSet(), x.k.Name
	opt.Prove.OnlyIntraBlock = true
	if len(x.opt.Only) > 0 {
		opt.Wanted = x.wanted
	}
	return opt
}

// placementInput is the source, as the user gave it; without one, the PTX with the repairs so far.
func (x *kernelFix) placementInput() driver.Input {
	in := x.file
	if x.source == nil {
		in.Content, in.Lang = x.text, lower.PTX
	} else {
		in.Content = x.source.user.Content
	}
	return in
}

// compilePlaced fills the form with the edits and the PTX of a placement. There is none if the
// placement changes another file than the user's, or does not go with the repairs so far.
func (x *kernelFix) compilePlaced(ctx context.Context, res *placement.Result, form *sourceForm) error {
	text, ok := res.Patched[x.file.Name]
	switch {
	case !ok || len(res.Patched) > 1:
		return nil
	case x.source == nil:
		form.ptx = text
		return nil
	}
	s := x.source
	form.edits = append(form.edits, s.edits...)
	for _, e := range res.Edits {
		e.Span = source.Span{Start: s.at(e.Span.Start), End: s.at(e.Span.End)}
		form.edits = append(form.edits, e)
	}
	text, err := edit.Apply(s.user, form.edits)
	if err != nil {
		return nil // another repair changes the same text
	}
	was := s.compiles
	compiled, err := s.compile(ctx, text)
	x.out.Compiled, x.out.Compiles = x.out.Compiled+1, x.out.Compiles+s.compiles-was
	if err != nil {
		return ctx.Err()
	}
	form.ptx, err = x.spliced(compiled)
	return err
}

// at is a position of the same text in the user's file.
func (s *sourceFixer) at(p source.Pos) source.Pos {
	return source.MakePos(s.user.ID, p.Line(), p.Col())
}

// spliced is the PTX of a changed source with the repairs that only the PTX has: if there are such
// repairs, it is the text so far with this kernel from the compiled one.
func (x *kernelFix) spliced(compiled []byte) ([]byte, error) {
	if !x.ptxOnly {
		return compiled, nil
	}
	from, err := parseKernel(x.in.Lowered.Name, x.k.Name, compiled)
	if err != nil {
		return nil, err
	}
	to, err := parseKernel(x.in.Lowered.Name, x.k.Name, x.text)
	if err != nil {
		return nil, err
	}
	body := func(file *source.File, tree *ptx.Func) (start, end int) {
		start, _ = file.Offset(tree.Span().Start)
		end, _ = file.Offset(tree.Span().End)
		return start, end
	}
	a, b := body(to.file, to.tree)
	c, d := body(from.file, from.tree)
	return bytes.Join([][]byte{x.text[:a], compiled[c:d], x.text[b:]}, nil), nil
}

// placedChange describes a barrier that is inserted or removed.
func (x *kernelFix) placedChange(b *placement.Barrier) Change {
	out := Change{Span: x.userSpan(b.At)}
	if b.Gone {
		out.Text = "the barrier is removed: not all threads of the block reach it"
		return out
	}
	out.Text = "`" + x.in.BarrierName(b.Warp) + "` " + b.Place
	if why := b.Why; len(why) > 0 {
		out.Why = slices.Clone(why[:min(len(why), mostReasons)])
		if n := len(why) - mostReasons; n > 0 {
			out.Why = append(out.Why, fmt.Sprintf("and %d more pairs", n))
		}
	}
	return out
}

// mostReasons is how many of the pairs that a barrier separates are listed.
const mostReasons = 3

// userSpan is a position of the text in which barriers were placed, in the file of the user. In PTX
// the repairs of kernels before this one have moved it.
func (x *kernelFix) userSpan(p source.Pos) source.Span {
	if x.source != nil {
		at := x.source.at(p)
		return source.Span{Start: at, End: at}
	}
	of := func(k *ir.Func) source.Pos { return k.Span.Start }
	line := p.Line() - of(x.kernel.Func).Line() + of(x.k).Line()
	at := source.MakePos(of(x.k).File(), line, p.Col())
	return source.Span{Start: at, End: at}
}
