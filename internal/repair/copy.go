package repair

import (
	"fmt"
	"slices"
	"strings"

	"heddle/internal/ir"
	"heddle/internal/isa"
)

// Asynchronous copies that no thread waits for, and non-coherent loads of memory that the kernel
// writes. Barriers alone repair neither. A copy is complete for its own thread after a wait (PTX
// ISA 9.7.9.25.3.3), and for other threads after a barrier behind that wait. A load with .nc may
// never see a write of its own kernel (9.7.9.9, ld.global.nc).

// waitCost is the cost of a wait relative to a barrier at the same place.
const waitCost = 0.5

const waitAll = "cp.async.wait_all;"

// copied reports whether a finding concerns the memory of an asynchronous copy.
func (r *repairer) copied(f located) bool {
	copies := func(in *ir.Instr) bool { return in.Row.Effect == isa.Copies }
	return f.Kind == Copy || f.Kind == Race && slices.ContainsFunc(r.sidesOf(f), copies)
}

// copies offers waits for asynchronous copies, each alone and with a barrier behind it, and
// coherent loads instead of those with .nc. A wait is for the thread's own copies, so it may
// precede an existing barrier or a release.
func copies(barriers bool) strategy {
	return func(r *repairer) []action { return r.copies(barriers) }
}

func (r *repairer) copies(barriers bool) []action {
	other := func(f located) bool { return f.Kind != Coherence && !r.copied(f) }
	found := slices.DeleteFunc(slices.Clone(r.found), other)
	if len(found) == 0 {
		return nil
	}
	var out []action
	for _, f := range found {
		if f.Kind == Coherence {
			out = append(out, r.coherent(f)...)
			continue
		}
		places := []Point{}
		for _, in := range Barriers(r.x.k.Func) {
			places = append(places, r.x.where(in))
		}
		for _, b := range r.x.k.Func.Blocks { // before a release, which may announce the copy
			for _, in := range b.Instrs {
				if isStrong(in) {
					places = append(places, r.x.where(in))
				}
			}
		}
		for _, in := range r.sidesOf(f) {
			places = append(places, r.x.near(in)...)
		}
		for _, p := range places {
			out = append(out, r.wait(p, ""))
			if barriers && r.x.flow.uniform[p.Block] {
				out = append(out, r.wait(p, "bar.sync \t0;"))
			}
		}
	}
	if barriers {
		out = append(out, everywhere(true)(r)...)
	}
	return unique(out)
}

// wait returns the action that waits for all copies of the thread at a place; then, if not empty,
// is the instruction behind it.
func (r *repairer) wait(p Point, then string) action {
	a := r.x.barrierAction(r.opt.Cost, p)
	bar := a.cost
	a.key, a.cost = "wait "+a.key, waitCost*bar
	a.what.What, a.what.Cut = strings.TrimSuffix(waitAll, ";"), false
	text := waitAll
	if then != "" {
		a.key, a.cost = a.key+" and barrier", a.cost+bar
		a.what.What += " and a block barrier"
		text += "\n\t" + then
	}
	a.add = func(pl *Plan) { pl.Inserts = append(pl.Inserts, Insert{At: p, Text: text}) }
	return a
}

// coherentLoad begins the text of a load through the generic proxy.
const coherentLoad = "ld."

// coherent offers coherent loads for the sides of a finding: without .nc they see earlier writes.
func (r *repairer) coherent(f located) []action {
	var out []action
	for _, in := range r.sidesOf(f) {
		i := slices.Index(in.Mods, "nc")
		if !in.NonCoherent() {
			continue
		}
		mods := slices.Clone(in.Mods)
		if i >= 0 {
			mods = slices.Delete(mods, i, i+1)
		}
		text := r.respell(in, coherentLoad+strings.Join(mods, "."))
		out = append(out, action{
			key:  fmt.Sprint("coherent ", in.Index),
			cost: waitCost * r.x.pointCost(r.opt.Cost, r.x.where(in)),
			add:  func(pl *Plan) { pl.Texts[in.Index] = text },
			what: Change{
				What: "made a load that is coherent with the kernel's writes", At: in, Old: true,
			},
		})
	}
	return out
}
