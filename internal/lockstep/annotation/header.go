package annotation

import (
	"maps"
	"slices"

	"heddle/internal/ir"
	"heddle/internal/lockstep/kernel"
	"heddle/internal/lockstep/thread"
	"heddle/internal/smt"
)

// guess handles a candidate of the user's: an invariant of the loop if the search for invariants
// (package invariant) keeps it, and otherwise nothing. A candidate about other threads or about
// accesses, which that search does not know, is ignored.
func (a *Annotations) guess(s Site, cond smt.Term) {
	a.mustBeAtHeader(s.Instr())
	around := a.host.Around()
	a.propose(around[len(around)-1], s.Guard(), a.whereEnabled(a.Now(cond)))
}

// propose adds a candidate for a loop, over its counter.
func (a *Annotations) propose(l *ir.Loop, guard, cond smt.Term) {
	if a.host.Final() && guard == smt.True && !a.speaksOfOther(cond) {
		a.host.Propose(l, cond)
	}
}

// mustBeAtHeader makes sure that an invariant is the first thing that an iteration executes, except
// for other annotations and what computes their conditions.
func (a *Annotations) mustBeAtHeader(in *ir.Instr) {
	const where = "an invariant that is not at the head of a loop; use __assert elsewhere"
	around := a.host.Around()
	if len(around) == 0 || a.began == nil {
		thread.Unsupported(in, where)
	}
	within := false
	for _, b := range a.blocksTo(around[len(around)-1], a.k.BlockOf(a.began)) {
		for _, at := range a.k.Func().Blocks[b].Instrs {
			switch {
			case at == a.began:
				return
			case kernel.IsCallOf(at, ir.AnnotationPrefix+"ghost"):
				within = true
			case at.IsCall() && at.Callee != nil && len(at.Callee.Params) == 2 &&
				len(at.Callee.Results) == 0:
				within = false // a statement with its condition
			case !within && (kernel.IsStore(at) || kernel.IsBlockBarrier(at)):
				thread.Unsupported(in, where)
			}
		}
	}
	thread.Unsupported(in, where)
}

// blocksTo returns the blocks of an iteration of a loop from its header up to a block that each
// iteration reaches before it may leave the loop or continue with the next; nil if there may be
// other blocks between. Compilers make branches of the choices in a condition.
func (a *Annotations) blocksTo(l *ir.Loop, last ir.BlockID) []ir.BlockID {
	found := []ir.BlockID{l.Header}
	var out []ir.BlockID
	for _, b := range a.k.Order() {
		if !slices.Contains(found, b) {
			continue
		}
		out = append(out, b)
		if b == last && len(out) == len(found) { // no path bypasses it
			return out
		}
		at := a.k.Func().Blocks[b]
		ends := len(at.Succs) == 0 || at.Last() != nil && at.Last().Leaves()
		if b == last || ends {
			return nil
		}
		for _, s := range at.Succs {
			if s == l.Header || a.k.LoopOf(s) != l {
				return nil
			}
			if !slices.Contains(found, s) {
				found = append(found, s)
			}
		}
	}
	return nil
}

// functionWide notes an invariant of all loops of a function.
func (a *Annotations) functionWide(s Site, cond smt.Term) {
	in := s.Instr()
	candidate, ok := a.c.Value(s.Argument(1, 32))
	cond = a.whereEnabled(cond)
	if !a.host.Settling() && !a.everywhere(cond) {
		if ok && candidate != 0 {
			return
		}
		thread.Unsupported(in,
			"a function-wide invariant about values other than accesses, indices and arguments")
	}
	a.guesses[in] = ok && candidate != 0
	if a.wide[in] != cond { // it also holds for loops before it, which have it in the next pass
		a.wide[in], a.changed = cond, true
	}
	a.keepLoads(cond)
}

// keepLoads keeps what a condition loads for the next pass, in which earlier loops have it.
func (a *Annotations) keepLoads(cond smt.Term) {
	for _, u := range a.in(cond) {
		l := a.loads.of[u]
		if was, ok := a.loads.wide[u]; !ok || was.addr != l.addr {
			a.changed = true
		}
		a.loads.wide[u] = l
		a.keepLoads(l.addr)
	}
}

// everywhere reports whether a condition means the same wherever a thread is, except for what it
// finds in memory.
func (a *Annotations) everywhere(t smt.Term) bool {
	s := a.c.Substitute()
	for _, u := range a.in(t) {
		if !a.everywhere(a.loads.of[u].addr) {
			return false
		}
		s.Replace(u, a.c.Const(0, a.c.Width(u)))
	}
	if s.Len() > 0 {
		t = s.Apply(t)
	}
	return a.constant(t)
}

// AtHeader states the function-wide invariants at the header of a loop of the function. Site makes
// the site of an instruction of the header.
func (a *Annotations) AtHeader(l *ir.Loop, site func(*ir.Instr) Site) {
	all := slices.SortedFunc(maps.Keys(a.wide), func(v, w *ir.Instr) int { return v.Index - w.Index })
	for _, w := range all {
		for _, in := range a.k.Func().Blocks[l.Header].Instrs {
			if in.Caller != w.Caller {
				continue
			}
			s := site(in)
			later := func(t smt.Term) smt.Term { return a.later(t, s.Memory()) }
			if a.guesses[w] {
				a.propose(l, s.Guard(), later(a.wide[w]))
			} else {
				a.stateWith(s, w, thread.Invariant, a.wide[w], later)
			}
			break
		}
	}
}
