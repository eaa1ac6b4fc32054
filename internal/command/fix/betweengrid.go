package fix

import (
	"context"
	"errors"
	"slices"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/edit"
	"heddle/internal/engine/placement"
	"heddle/internal/ir"
	"heddle/internal/place"
	"heddle/internal/repair"
	"heddle/internal/repair/between"
	"heddle/internal/source"
	"heddle/internal/syntax"
	"heddle/internal/verify"
)

// gridSynced returns candidates with barriers of the grid.
func (x *kernelFix) gridSynced(ctx context.Context, cur *currentFile) (
	[]*between.Candidate, error) {
	if cur.grid == nil {
		cur.grid = x.gridPlaces(ctx, cur)
	}
	var out []*between.Candidate
	var why error
	for _, g := range cur.grid {
		if g.err == nil {
			var c *between.Candidate
			if c, g.err = cur.kernel.Cooperative(g.edits, slices.Clone(g.changes)); g.err == nil {
				out = append(out, c)
			}
		}
		if why == nil || g.err != nil {
			why = g.err
		}
	}
	if len(out) == 0 && why == nil {
		why = errors.New("no barrier of the grid separates the accesses")
	}
	if len(out) > 0 {
		why = nil
	}
	return out, why
}

// gridForm is a form of the kernel with barriers of the grid.
type gridForm struct {
	edits   []edit.Edit // of the current file
	changes []between.Change
	err     error // why there is none
}

// gridPlaces looks for places of barriers of the grid: those between statements that the placement
// engine finds, else within the statements that race.
func (x *kernelFix) gridPlaces(ctx context.Context, cur *currentFile) []gridForm {
	first, ok := x.gridPlacement(ctx, cur)
	if ok {
		return []gridForm{first}
	}
	out := x.gridDivided(ctx, cur)
	if len(out) == 0 {
		out = append(out, first)
	}
	return out
}

// gridPlacement asks the placement engine.
func (x *kernelFix) gridPlacement(ctx context.Context, cur *currentFile) (gridForm, bool) {
	outlooks := x.outlooks(x.kernel.Func)
	opt := placement.Options{
		Common: x.opt.Common, Run: x.opt.Run, Prove: x.opt.Prove, Unverified: true, Grid: true,
		From: outlooks[len(outlooks)-1], Options: place.Options{Keep: true},
	}
	opt.Common.Files, opt.Common.Kernel = source.NewSet(), x.k.Name
	in := driver.Input{Input: x.file.Input}
	in.Content = cur.text
	res, err := placement.File(ctx, opt, in, func(diag.Diagnostic) {})
	none := gridForm{err: errors.New("no barrier of the grid separates the accesses")}
	if err != nil || len(res.Kernels) != 1 || len(res.Edits) == 0 || len(res.Patched) != 1 ||
		res.Kernels[0].Status != placement.Changed {
		if err == nil && len(res.Kernels) == 1 && len(res.Kernels[0].Stuck) > 0 {
			none.err = errors.New(res.Kernels[0].Stuck[0])
		}
		return none, false
	}
	if res.Kernels[0].Removes() && x.kernel.Func.HasStrong() {
		none.err = errors.New("a barrier that would be removed may order accesses that never race")
		return none, false
	}
	var out gridForm
	for _, e := range res.Edits {
		e.Span = source.Span{Start: cur.at(e.Span.Start), End: cur.at(e.Span.End)}
		out.edits = append(out.edits, e)
	}
	for i := range res.Kernels[0].Barriers {
		b := &res.Kernels[0].Barriers[i]
		if b.Kept {
			continue
		}
		text := "a grid barrier " + b.Place
		if b.Gone {
			text = "the block barrier is removed: the grid barriers leave nothing for it to separate"
		}
		off, _ := cur.user.Offset(cur.at(b.At))
		out.changes = append(out.changes, between.Change{Text: text, At: off})
	}
	return out, true
}

// at is a position of an equal text in the current file.
func (c *currentFile) at(p source.Pos) source.Pos {
	return source.MakePos(c.user.ID, p.Line(), p.Col())
}

// gridDivided makes the statements that race divide: a barrier of the grid between the reads and
// the write of one, or before the later one of two.
func (x *kernelFix) gridDivided(ctx context.Context, cur *currentFile) []gridForm {
	fn := cur.kernel.Func
	rw := &syntax.Rewrite{}
	var changes []between.Change
	cuts, within := x.apart(ctx, cur)
	for _, at := range cuts {
		rw.Inserts = append(rw.Inserts, syntax.Insert{At: at, Text: between.Barrier, Block: true})
		changes = append(changes, between.Change{Text: "a grid barrier before the statement", At: at})
	}
	for _, pair := range within {
		in := syntax.Insert{At: pair[1], Text: between.Barrier, Block: true}
		what := "a grid barrier before the later of two accesses that race"
		list := &rw.Inserts
		if cur.kernel.Unit.SameStatement(fn, pair[0], pair[1]) {
			list, what = &rw.Split, "a grid barrier between the reads and the write of the statement"
		}
		if slices.ContainsFunc(*list, func(o syntax.Insert) bool {
			return cur.kernel.Unit.SameStatement(fn, o.At, in.At)
		}) {
			continue
		}
		*list = append(*list, in)
		changes = append(changes, between.Change{Text: what, At: in.At})
	}
	if len(changes) == 0 {
		return nil
	}
	var out []gridForm
	t := repair.New(x.kernel)
	for _, uniform := range []func(int, int) bool{x.uniformNow(cur, t), nil} {
		rw.Uniform = uniform
		edits, err := cur.kernel.Unit.Rewrite(fn, rw)
		out = append(out, gridForm{edits, changes, err})
	}
	return out
}

// uniformNow is sourceFixer.uniformIn for the current file.
func (x *kernelFix) uniformNow(cur *currentFile, t *repair.Transformer) func(int, int) bool {
	old := x.original()
	if old == nil {
		return nil
	}
	ask := x.source.uniformIn(x.k, t)(old)
	delta := x.moved(cur, old)
	return func(from, to int) bool { return ask(from-delta, to-delta) }
}

// original is the kernel in the user's file.
func (x *kernelFix) original() *syntax.Func {
	for _, f := range x.source.unit.Funcs {
		if f.Kernel && slices.Contains(f.Mangled, x.k.Name) {
			return f
		}
	}
	return nil
}

// moved is how far the repairs of other kernels have moved this one.
func (x *kernelFix) moved(cur *currentFile, old *syntax.Func) int {
	was, _ := old.File.Offset(old.Span.Start)
	is, _ := cur.user.Offset(cur.kernel.Func.Span.Start)
	return is - was
}

// racing returns the pairs of places in the kernel at which the static engine cannot rule out a
// race, the later one of each pair second; of one statement, the write.
func (x *kernelFix) racing(ctx context.Context, cur *currentFile) [][2]int {
	old := x.original()
	if old == nil {
		return nil
	}
	byIndex := instructions(x.k)
	offset := func(in *ir.Instr) (int, bool) {
		if in = byIndex[in.Index]; in == nil {
			return 0, false
		}
		for fr := in.Loc; fr != nil; fr = fr.Parent {
			if x.source.unit.FuncOf(fr.Pos) == old {
				off, ok := old.File.Offset(fr.Pos)
				return off + x.moved(cur, old), ok
			}
		}
		return 0, false
	}
	var out [][2]int
	for _, f := range x.judge.races(ctx, x.kernel.Func) {
		a, okA := offset(f.A)
		b, okB := offset(f.B)
		if f.Kind != verify.Race || !okA || !okB {
			continue
		}
		same := cur.kernel.Unit.SameStatement(cur.kernel.Func, a, b)
		if same && f.B.IsPlainLoad() || !same && a > b {
			a, b = b, a
		}
		if pair := [2]int{a, b}; !slices.Contains(out, pair) {
			out = append(out, pair)
		}
	}
	return out
}
