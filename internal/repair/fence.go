package repair

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// Release and acquire patterns (PTX ISA 8.8): a flag, a lock, a counter of finished blocks. One of
// these may be missing: a fence on either side, a scope that includes the other thread, or strong
// accesses to the flag. All of them are offered around the strong accesses of the kernel, and the
// search drops those that are not needed.

// fenceCost is the cost of a fence relative to a block barrier at the same place.
const fenceCost = 0.5

// widenCost is the relative cost of a wider scope: less than a fence, because no instruction is
// added.
const widenCost = 0.4

// fences offers fences around strong accesses, wider scopes, and strong accesses to flags in wait
// loops. It returns nil where fences cannot help: for anything but a race, and in a kernel without
// strong accesses, where nothing could synchronize with them. Besides the places next to a strong
// access, the exits of the loops around it are offered, since a fence behind a wait loop runs once.
// With sc, the fences are sequentially consistent: two threads that each write and then read what
// the other writes need them, and only all executions of the model show it.
func fences(sc bool) strategy {
	return func(r *repairer) []action { return r.fences(sc) }
}

func (r *repairer) fences(sc bool) []action {
	if sc && !r.knowsFence() {
		return nil // a membar is sequentially consistent
	}
	out := []action{}
	far := false
	for _, f := range r.found {
		if f.Shown && f.Kind != Race {
			return nil
		}
		far = far || f.Reach == AcrossBlocks
	}
	strong := r.flags(far, &out)
	for _, b := range r.x.k.Func.Blocks {
		for _, in := range b.Instrs {
			if isStrong(in) {
				strong = append(strong, in)
			}
			if far && in.Row.Category != isa.Barrier && in.Scope != event.NoScope && in.Scope < event.GPU {
				out = append(out, r.widen(in))
			}
		}
	}
	if len(strong) == 0 {
		return nil
	}
	for _, in := range strong {
		p := r.x.where(in)
		var places []Point
		// In a wait loop, a fence orders no more than one behind it, and runs in each iteration.
		if !r.spins(in) {
			places = []Point{p, {p.Block, p.Index + 1}}
		}
		for l := r.x.flow.loops.Of[p.Block]; l != nil; l = l.Parent {
			for _, b := range l.Blocks {
				for _, s := range r.x.k.Func.Block(b).Succs {
					if !l.Contains(s) {
						places = append(places, Point{Block: s})
					}
				}
			}
		}
		for _, at := range places {
			out = append(out, r.fence(at, far, sc))
		}
	}
	return unique(out)
}

// isStrong reports whether an access is strong or atomic.
func isStrong(in *ir.Instr) bool {
	return in.Row.Category == isa.Memory && in.Order.Strong()
}

// fence returns the action that puts a fence at a place. Threads of one block need the scope cta
// only; membar is what targets before sm_70 have instead of fence.
func (r *repairer) fence(p Point, far, sc bool) action {
	scope, old := "cta", "cta"
	if far {
		scope, old = "gpu", "gl"
	}
	order := "acq_rel"
	if sc {
		order = "sc"
	}
	text := "fence." + order + "." + scope + ";" // 9.7.13.4, from sm_70 and PTX 6.0 on
	if !r.knowsFence() {
		text = "membar." + old + ";"
	}
	a := r.x.barrierAction(r.opt.Cost, p)
	a.key = "fence " + a.key
	a.cost = fenceCost * r.x.aloneCost(r.opt.Cost, p)
	a.what.What, a.what.Cut = text[:len(text)-1], false
	a.add = func(pl *Plan) { pl.Inserts = append(pl.Inserts, Insert{At: p, Text: text}) }
	if sc {
		a.weaker = append(a.weaker, r.fence(p, false, false))
	}
	if sc && far {
		a.weaker = append(a.weaker, r.fence(p, true, false))
	}
	if far {
		a.weaker = append(a.weaker, r.fence(p, false, sc))
	}
	return a
}

// knowsFence reports whether the module's target supports fence and scopes.
func (r *repairer) knowsFence() bool {
	m := r.x.k.Func.Module
	digits := strings.TrimRight(strings.TrimPrefix(m.Target, "sm_"), "abcdefghijklmnopqrstuvwxyz")
	arch, err := strconv.Atoi(digits)
	major, _, _ := strings.Cut(m.Version, ".")
	version, err2 := strconv.Atoi(major)
	return err == nil && err2 == nil && arch >= 70 && version >= 6
}

// widen returns the action that widens the scope of an operation to the GPU. The scope must include
// both threads for two operations to be morally strong (PTX ISA 8.7.1).
func (r *repairer) widen(in *ir.Instr) action {
	mods := append([]string{}, in.Mods...)
	for i, m := range mods {
		switch m {
		case "cta", "cluster":
			// By name, since this is how to write it: the level of a membar is .gl.
			if mods[i] = "gpu"; in.Op() == "membar" {
				mods[i] = "gl"
			}
		}
	}
	text := r.respell(in, strings.Join(append([]string{first(in.Op())}, mods...), "."))
	return action{
		key: fmt.Sprint("widen ", in.Index), cost: widenCost * r.x.aloneCost(r.opt.Cost, r.x.where(in)),
		add:  func(pl *Plan) { pl.Texts[in.Index] = text },
		what: Change{What: "scope widened to gpu", At: in, Old: true},
	}
}

func first(op string) string {
	w, _, _ := strings.Cut(op, ".")
	return w
}

// respell returns the text of an instruction with another opcode.
func (r *repairer) respell(in *ir.Instr, opcode string) string {
	start, _ := r.x.k.File.Offset(in.Span.Start)
	end, _ := r.x.k.File.Offset(in.Span.End)
	text := string(r.x.k.File.Content[start:end])
	i := strings.Index(text, in.Text())
	if i < 0 {
		return text
	}
	return text[:i] + opcode + text[i+len(in.Text()):]
}

// weakOnly are the modifiers that a relaxed access cannot have.
var weakOnly = []string{"weak", "ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc"}

// flags finds races between a wait loop and plain accesses, and offers strong accesses instead of
// the plain ones: of a flag, or of the store that releases a lock. It returns those accesses. Cache
// operators and .nc are dropped with .weak: relaxed accesses have none (PTX ISA 9.7.9.8, 9.7.9.11).
func (r *repairer) flags(far bool, out *[]action) []*ir.Instr {
	var list []*ir.Instr
	for _, f := range r.found {
		if f.Kind != Race || f.a == nil || f.b == nil || !r.spins(f.a) && !r.spins(f.b) {
			continue
		}
		for _, in := range []*ir.Instr{f.a, f.b} {
			if in.Order.Strong() || in.Row.Category != isa.Memory ||
				!in.IsPlainLoad() && in.Action() != isa.ActStore || !r.knowsFence() {
				continue
			}
			list = append(list, in)
			act := r.relaxed(in, "cta")
			if far {
				near := act
				act = r.relaxed(in, "gpu")
				act.weaker = []action{near}
			}
			*out = append(*out, act)
		}
	}
	return list
}

// relaxed returns the action that makes a weak access a relaxed one.
func (r *repairer) relaxed(in *ir.Instr, scope string) action {
	mods := []string{first(in.Op()), "relaxed", scope}
	for _, m := range in.Mods {
		if !slices.Contains(weakOnly, m) {
			mods = append(mods, m)
		}
	}
	text := r.respell(in, strings.Join(mods, "."))
	return action{
		key: fmt.Sprint("strong ", in.Index), cost: fenceCost,
		add:  func(pl *Plan) { pl.Texts[in.Index] = text },
		what: Change{What: "made a relaxed access", At: in, Old: true},
	}
}

// spins reports whether a loop that stores nothing else waits for the result of a load or an atomic
// operation: the value decides whether the loop continues. Dependence is followed through registers
// to a fixpoint. A wait loop that writes memory, or calls a function, is not recognized.
func (r *repairer) spins(in *ir.Instr) bool {
	if !in.IsPlainLoad() && in.Action() != isa.ActAtomic {
		return false
	}
	l := r.x.flow.loops.Of[r.x.where(in).Block]
	if l == nil {
		return false
	}
	from := map[ir.RegID]bool{}
	for _, d := range in.Dst {
		for _, e := range append(slices.Clone(d.Elems), d) { // a vector has no register itself
			from[e.Reg] = true
		}
	}
	delete(from, ir.NoReg)
	for changed := true; changed; {
		changed = false
		for _, b := range l.Blocks {
			for _, x := range r.x.k.Func.Block(b).Instrs {
				if x == in {
					continue
				}
				if x.Row.Effect == isa.Writes || x.Row.Effect == isa.ReadsWrites || x.IsCall() {
					return false
				}
				for _, s := range x.Src {
					if s.Kind == ir.Register && from[s.Reg] &&
						len(x.Dst) > 0 && x.Dst[0].Kind == ir.Register && !from[x.Dst[0].Reg] {
						from[x.Dst[0].Reg], changed = true, true
					}
				}
			}
		}
	}
	for _, b := range l.Blocks {
		if t := r.x.k.Func.Block(b).Terminator(); t != nil && from[t.Guard] {
			for _, s := range r.x.k.Func.Block(b).Succs {
				if !l.Contains(s) {
					return true
				}
			}
		}
	}
	return false
}

// fencesAndBarriers offers fences and block barriers.
func fencesAndBarriers(r *repairer) []action {
	f := r.fences(false)
	if f == nil {
		return nil
	}
	return unique(append(f, everywhere(true)(r)...))
}
