package placement

import (
	"fmt"
	"slices"

	"heddle/internal/event"
	placer "heddle/internal/place"
	"heddle/internal/source"
	"heddle/internal/syntax"
)

// A result in words: each barrier with the races that it separates, and each race that cannot be
// separated with the reason. A barrier in a function that is called at several places is listed
// once.

// report describes a result. A status of Changed needs a barrier that is inserted or removed.
func (f *found) report() {
	r, t := f.result, &f.marked.tree
	f.sync.Calls, f.sync.Optimal, f.sync.After = r.Calls, r.Optimal, r.Cost
	for i := range r.OtherBlocks {
		f.sync.OtherBlocks = append(f.sync.OtherBlocks, r.OtherBlocks[i].Why())
	}
	if !r.Found {
		f.sync.Status = NoPlacement
		f.sync.Stuck = append(f.sync.Stuck, f.stuckTexts(r)...)
		return
	}
	f.sync.Status = Unchanged
	f.sync.Stuck = f.stuckTexts(r)
	standing := t.Standing()
	all := placer.Placement{}
	for l := range standing {
		all[l] = true
	}
	for l := range r.Placement {
		all[l] = true
	}
	listed := map[origin]int{}
	for _, l := range all.Labels() {
		if i, ok := listed[f.marked.origins[l]]; ok { // at another call site
			f.why(&f.sync.Barriers[i], l)
			continue
		}
		listed[f.marked.origins[l]] = len(f.sync.Barriers)
		b := Barrier{
			Where: f.marked.node(l).Span, Warp: t.Labels[l].Warp,
			Kept: standing[l] && r.Placement[l], Gone: standing[l] && !r.Placement[l],
			from: f.marked.origins[l],
		}
		if b.Gone || !b.Kept {
			f.sync.Status = Changed
		}
		b.Place, b.At = f.place(l), f.at(l)
		f.why(&b, l)
		f.sync.Barriers = append(f.sync.Barriers, b)
	}
}

// why adds the races that a barrier after a label separates.
func (f *found) why(b *Barrier, l placer.Label) {
	for _, why := range f.result.Reasons[l] {
		if text := f.reason(why); !slices.Contains(b.Why, text) {
			b.Why = append(b.Why, text)
		}
	}
}

// stuckTexts describes why a search found nothing.
func (f *found) stuckTexts(r *placer.Result) []string {
	var out []string
	for i := range r.Stuck {
		out = append(out, f.stuck(&r.Stuck[i]))
	}
	if r.GaveUp != "" {
		out = append(out, r.GaveUp)
	}
	return out
}

// place describes the place of a barrier.
func (f *found) place(l placer.Label) string {
	if fn := f.marked.origins[l].fn; fn != f.marked.fn {
		in := " of " + fn.Name
		if fn.File != f.marked.fn.File {
			in += " (" + fn.File.Name + ")"
		}
		return f.inFunc(l) + in
	}
	return f.inFunc(l)
}

// inFunc describes the place of a barrier in its function. The end of a statement is behind its
// last byte, so the line is that of the byte before it.
func (f *found) inFunc(l placer.Label) string {
	node, file := f.marked.node(l), f.marked.origins[l].fn.File
	span := node.Span
	line := func(p source.Pos, back int) int {
		if off, ok := file.Offset(p); ok && off >= back {
			return file.PosAt(off - back).Line()
		}
		return p.Line()
	}
	from := f.marked.origins[l]
	switch n := from.fn.Tree.Labels[from.l]; {
	case n.Barrier:
		return fmt.Sprintf("in line %d", span.Start.Line())
	case n.Kind == placer.Start:
		at := line(span.Start, 0)
		if node.At > 0 {
			at = file.PosAt(node.At - 1).Line()
		}
		what := "kernel" // or function
		switch from.fn.Tree.Labels[n.Parent].Kind {
		case placer.Loop:
			what = "loop"
		case placer.Cond:
			what = "branch"
		case placer.Block:
			if n.Parent > 0 {
				what = "braces"
			}
		}
		return fmt.Sprintf("at the top of the %s in line %d", what, at)
	}
	return fmt.Sprintf("after line %d", line(span.End, 1))
}

// reason describes what a barrier separates, in the order of execution: across iterations, the
// access at B comes first.
func (f *found) reason(r placer.Reason) string {
	a, b := r.Race.Texts[0], r.Race.Texts[1]
	if r.Level > 0 && r.Path == placer.Near {
		line := f.marked.node(r.Loop).Span.Start.Line()
		return fmt.Sprintf("separates %s from %s in the next iteration of the loop in line %d%s", b, a,
			line, r.Race.Doubt())
	}
	return "separates " + a + " from " + b + r.Race.Doubt() + f.level(r.Race, r.Level, r.Loop)
}

// level describes in which iterations the accesses of a race follow each other. It is empty for a
// race without a loop around both accesses, which follows the order of the source.
func (f *found) level(r *placer.Race, level int, loop placer.Label) string {
	switch {
	case loop != placer.None:
		line := f.marked.node(loop).Span.Start.Line()
		return fmt.Sprintf(", across iterations of the loop in line %d", line)
	case len(f.marked.order.CommonLoops(r.A, r.B)) > 0:
		return ", within an iteration"
	}
	return ""
}

// stuck describes why a race cannot be separated.
func (f *found) stuck(st *placer.Stuck) string {
	level := f.level(st.Race, st.Level, st.Loop)
	return fmt.Sprintf("%s race%s: %s", st.Race.Why(), level, causes[st.Cause])
}

// GridBarrier is the statement of a barrier of the grid in CUDA C++. Its header is
// cooperative_groups.h.
const GridBarrier = "cooperative_groups::this_grid().sync();"

// barrierText is the statement of a barrier, with the flags of the memory that it orders. Without a
// known race, the barrier orders shared and global memory.
func (f *found) barrierText(u *syntax.Unit, fn *syntax.Func, l placer.Label) string {
	if f.marked.s.opt.Grid {
		return GridBarrier
	}
	var spaces []event.Space
	for at := range f.result.Placement {
		if f.marked.origins[at] == (origin{fn, l, true}) {
			return "__syncwarp();"
		}
	}
	for at, reasons := range f.result.Reasons {
		for _, why := range reasons {
			if f.marked.origins[at] == (origin{fn, l, false}) {
				spaces = append(spaces, f.marked.spaces[[2]placer.Label{why.Race.A, why.Race.B}]...)
			}
		}
	}
	shared := slices.Contains(spaces, event.Shared) || len(spaces) == 0
	notShared := func(s event.Space) bool { return s != event.Shared }
	global := len(spaces) == 0 || slices.ContainsFunc(spaces, notShared)
	return u.Barrier(shared, global)
}
