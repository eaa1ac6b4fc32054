package fix

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/edit"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/launch"
	"heddle/internal/lower"
	"heddle/internal/repair"
	"heddle/internal/repair/between"
	"heddle/internal/source"
	"heddle/internal/syntax"
)

// currentFile is the user's file with the repairs of the kernels before, and its syntax. The
// barriers of a repair in part are only in it if it says so.
type currentFile struct {
	text   []byte
	user   *source.File
	kernel *between.Kernel
	grid   []gridForm // with barriers of the grid; nil: not searched yet
	why    error      // why the kernel has no such repair; nil: it may have one
}

// current reads the file with the given edits.
func (x *kernelFix) current(ctx context.Context, edits []edit.Edit) (*currentFile, error) {
	text, err := edit.Apply(x.source.user, edits)
	if err != nil {
		return nil, err
	}
	if x.ptxOnly {
		why := notInSourcef("another kernel of the file is repaired in the PTX only")
		return &currentFile{why: why}, nil
	}
	return x.read(ctx, text)
}

// read reads the syntax of a text of the file.
func (x *kernelFix) read(ctx context.Context, text []byte) (*currentFile, error) {
	cur := &currentFile{text: text}
	set := source.NewSet()
	var err error
	if cur.user, err = set.Add(x.file.Name, text); err != nil {
		return nil, err
	}
	in := x.file.Input
	in.Content = text
	var unit *syntax.Unit
	err = lower.AST(ctx, in, x.opt.Common.Lower, func(t *lower.Tree) (err error) {
		unit, err = syntax.Read(set, t, t.OpenCL, t.User)
		return err
	})
	if err != nil {
		return nil, err
	}
	name := func(f *syntax.Func) bool {
		return f.Kernel && f.File == cur.user && slices.Contains(f.Mangled, x.k.Name)
	}
	i := slices.IndexFunc(unit.Funcs, name)
	if i < 0 {
		cur.why = notInSourcef("%s is not a kernel of the file %s", x.k.Demangled, x.file.Name)
		return cur, nil
	}
	cur.kernel, cur.why = between.New(unit, unit.Funcs[i])
	if cur.why == nil && waits(x.kernel.Func) {
		cur.why = notInSourcef("a loop of the kernel may wait for what another block writes")
	}
	return cur, nil
}

// inUser is the place in the user's file of a place in a text that repairs have changed: the
// nearest line that is equal.
func (x *kernelFix) inUser(cur *currentFile, p source.Pos) source.Pos {
	user := x.source.user
	if cur.user == nil || len(cur.text) == len(user.Content) {
		return x.source.at(p)
	}
	return equalLine(cur.user, user, p)
}

// equalLine is the place in a text of a place in another: in the nearest line that is equal.
func equalLine(from, to *source.File, p source.Pos) source.Pos {
	text, _ := from.Line(p.Line())
	best := 0
	for n := 1; n <= to.NumLines(); n++ {
		near := best == 0 || max(n-p.Line(), p.Line()-n) < max(best-p.Line(), p.Line()-best)
		if line, ok := to.Line(n); ok && line == text && near {
			best = n
		}
	}
	if best == 0 {
		best = min(p.Line(), to.NumLines())
	}
	return source.MakePos(to.ID, best, p.Col())
}

// waits reports whether a loop has strong loads or exchanges, as one that waits for another block.
// Such a block may be ordered before others, or needs them to run at the same time.
func waits(k *ir.Func) bool {
	loops := ir.FindLoops(k, ir.Dominators(k))
	for _, b := range k.Blocks {
		if loops.Of[b.ID] == nil {
			continue
		}
		for _, in := range b.Instrs {
			load := in.Action() == isa.ActLoad && in.Order.Strong()
			exchange := in.Action() == isa.ActAtomic && (in.Fn == isa.FnCAS || in.Fn == isa.FnExch)
			if in.Row != nil && (load || exchange) {
				return true
			}
		}
	}
	return false
}

// judgeBetween compiles and judges a candidate: all of its kernels have to be verified for each of
// their launches. It returns why they are not.
func (x *kernelFix) judgeBetween(ctx context.Context, cur *currentFile, c *between.Candidate,
	b *Between) (string, error) {
	inner, why := x.compileBetween(ctx, c.Text)
	if why != "" || ctx.Err() != nil {
		return why, ctx.Err()
	}
	x.out.Compiled++
	b.after = nil
	notes := slices.Clone(c.Notes)
	var names []string
	for _, name := range c.Kernels {
		kernels := slices.DeleteFunc(inner.in.Kernels(), func(k *ir.Func) bool {
			return launch.BaseName(k.Demangled) != name
		})
		if len(kernels) == 0 {
			return fmt.Sprintf("the changed file has no kernel %s", name), nil
		}
		for _, k := range kernels {
			after, why, err := x.proveBetween(ctx, inner, k)
			if why != "" || err != nil {
				return why, err
			}
			if left := x.unproved(inner, k); left != "" {
				notes = append(notes, left)
			}
			if b.after != nil && !strings.HasPrefix(after.Scope, b.after.Scope) {
				after.Scope = b.after.Scope + "; " + after.Scope
			}
			names = append(names, k.Demangled)
			b.after, b.Verdict = after, verdictOf(k, after)
		}
	}
	b.Verdict.Kernel = strings.Join(names, " and ")
	b.Why, b.text, b.ptx, b.Notes = "", c.Text, inner.in.Lowered.PTX, notes
	for _, ch := range c.Changes {
		at := x.inUser(cur, cur.user.PosAt(ch.At))
		b.Changes = append(b.Changes, Change{Text: ch.Text, Span: source.Span{Start: at, End: at}})
	}
	var err error
	b.Diff, err = edit.Diff(cur.user, edit.Between(cur.user, 0, len(cur.text), string(c.Text)))
	return "", err
}

// compileBetween compiles a changed file, host code included.
func (x *kernelFix) compileBetween(ctx context.Context, text []byte) (inner *fixer, why string) {
	common := x.opt.Common
	common.Files, common.Kernel = source.NewSet(), ""
	d := driver.New(common, func(diag.Diagnostic) {})
	file := x.file
	file.Content = text
	d.Open(file.Name)
	results := d.Lower(ctx, file)
	switch {
	case len(results) != 1:
		return nil, "the compiler rejects the changed file"
	case len(results[0].Warnings) > len(x.in.Lowered.Warnings):
		return nil, "the compiler rejects the changed host code: " + results[0].Warnings[0]
	}
	in := d.Parse(file, results[0])
	if in == nil {
		return nil, "the changed file has no valid PTX"
	}
	return &fixer{d: d, prover: x.prover, opt: x.opt, file: file, in: in, steps: kernelSteps}, ""
}

// proveBetween judges one kernel of a changed file. A launch that is not read as before would be
// guessed, and a proof for it would not be about the launch of the patch.
func (x *kernelFix) proveBetween(ctx context.Context, inner *fixer, k *ir.Func) (
	after *repair.Judgement, why string, err error) {
	if shapes(x.fixer, x.k) != shapes(inner, k) {
		return nil, fmt.Sprintf("the launches of %s in the changed file are not understood",
			k.Demangled), nil
	}
	j := newJudge(inner, k)
	j.hunted = true
	after, err = j.Judge(ctx, inner.in.Lowered.PTX, true)
	x.judge.spent += j.spent
	x.out.Judged++
	switch {
	case ctx.Err() != nil:
		return nil, "", ctx.Err()
	case err != nil:
		return nil, err.Error(), nil
	case after.Grade != repair.Verified:
		return nil, unprovedText(k.Demangled, after), nil
	}
	return after, "", nil
}

// shapes are the grids and blocks with which a kernel is launched.
func shapes(f *fixer, k *ir.Func) string {
	all, errs := launch.Launches(k, f.d.Job(f.in, k).Launch, f.in.Facts)
	if len(errs) > 0 {
		return errs[0].Msg
	}
	var out []string
	for _, c := range all.Configs {
		out = append(out, fmt.Sprint(c.Geometry))
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), "; ")
}

// unproved is a note on launches beyond those that are proved; empty if there are none.
func (x *kernelFix) unproved(inner *fixer, k *ir.Func) string {
	all, errs := launch.Launches(k, inner.d.Job(inner.in, k).Launch, inner.in.Facts)
	if len(errs) > 0 || all.Left == 0 {
		return ""
	}
	return fmt.Sprintf("the host code launches %s with %d other shapes or arguments than those of "+
		"the verdict", k.Demangled, all.Left)
}

// unprovedText says why a changed kernel is not verified.
func unprovedText(kernel string, after *repair.Judgement) string {
	switch {
	case after.Reason != "":
		return fmt.Sprintf("%s is not verified with it: %s", kernel, after.Reason)
	case after.Grade == repair.Buggy:
		return fmt.Sprintf("%s still has a race or a divergence with it", kernel)
	}
	return fmt.Sprintf("%s is not verified with it", kernel)
}
