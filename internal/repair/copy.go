package repair

import (
	"fmt"
	"slices"
	"strings"

	"heddle/internal/ir"
	"heddle/internal/isa"
)

// Asynchronous copies that nobody waits for, and loads past the caches that are kept coherent. Neither is a matter of
// barriers alone: a copy is complete for a thread once that has waited for it (PTX ISA 9.7.9.25.3.3), for others behind a
// barrier after that; and a load with .nc sees what the same kernel writes at no time (9.7.9.9, ld.global.nc).

// waitCost is what a wait costs against a barrier at the same place.
const waitCost = 0.5

const waitAll = "cp.async.wait_all;"

// copied reports whether a finding is about what an asynchronous copy reads or writes.
func (r *repairer) copied(f located) bool {
	return f.Kind == Copy || f.Kind == Race && slices.ContainsFunc(r.sidesOf(f), func(in *ir.Instr) bool { return in.Row.Effect == isa.Copies })
}

// copies offers waits for asynchronous copies, each alone and with a barrier behind it, and plain loads for those with .nc.
// A wait is for the copies of the thread itself, so it may stand before a barrier that is there, or before a release.
func copies(barriers bool) strategy {
	return func(r *repairer) []action { return r.copies(barriers) }
}

func (r *repairer) copies(barriers bool) []action {
	found := slices.DeleteFunc(slices.Clone(r.found), func(f located) bool { return f.Kind != Coherence && !r.copied(f) })
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
		for _, b := range r.x.k.Func.Blocks { // before what may tell others that the copy is there
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

// wait waits for all copies of the thread at a place, and then goes on with what else is said.
func (r *repairer) wait(p Point, then string) action {
	a := r.x.barrierAction(r.opt.Cost, p)
	bar := a.cost
	a.key, a.cost, a.what.What, a.what.Cut = "wait "+a.key, waitCost*bar, strings.TrimSuffix(waitAll, ";"), false
	text := waitAll
	if then != "" {
		a.key, a.cost, a.what.What = a.key+" and barrier", a.cost+bar, a.what.What+" and a block barrier"
		text += "\n\t" + then
	}
	a.add = func(pl *Plan) { pl.Inserts = append(pl.Inserts, Insert{p, text}) }
	return a
}

// coherentLoad begins the text of a load through the generic proxy.
const coherentLoad = "ld."

// coherent offers loads without .nc, which see what was written before them, for the sides of a finding.
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
			key: fmt.Sprint("coherent ", in.Index), cost: waitCost * r.x.pointCost(r.opt.Cost, r.x.where(in)),
			add:  func(pl *Plan) { pl.Texts[in.Index] = text },
			what: Change{What: "as a load that is coherent with the writes of the kernel", At: in, Old: true},
		})
	}
	return out
}
