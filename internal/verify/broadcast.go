package verify

import (
	"fmt"
	"slices"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/lockstep/symbol"
	"heddle/internal/lockstep/thread"
	"heddle/internal/smt"
)

// What the leader of a block, thread (0,0,0), tells its block through shared memory: it stores a
// value, all pass a barrier, and then read it. If one store of the leader alone writes the array,
// what they read is what it has stored, in the same iteration of the loops around. The proof is in
// docs/theory/lock-step.md, "What leaders tell their block".

// leadersThatTell returns the leader of the block of a thread, once for each iteration in which it
// has told the thread the result of an addition, and the facts about what it has told. The first
// one has the number n among the further threads.
func (p *prover) leadersThatTell(me *origin, about []smt.Term, n int) (out []*origin,
	facts []smt.Term) {
	c := p.c
	known := map[string]*origin{}
	var seen []smt.Term
	c.Visit(about, func(u smt.Term) {
		if c.Op(u) == smt.OpApp {
			seen = append(seen, u)
		}
	})
	for _, u := range seen {
		w := p.broadcast(u)
		if w == nil {
			continue
		}
		results, tickets := p.th.Slots.For(w.Values)
		iters, told := p.toldAt(w, c.Args(u)[1:])
		if len(results) == 0 || !told {
			continue
		}
		for i := range iters {
			iters[i] = me.rename(iters[i])
		}
		key := fmt.Sprint(w.Instr.Index, iters)
		o := known[key]
		if o == nil {
			rename := symbol.Further(c, me.of+1, n+len(out), true)
			for i, k := range w.Iters {
				rename.Replace(k, iters[i])
			}
			for _, t := range p.th.Tid {
				if _, fixed := c.Value(t); !fixed {
					rename.Replace(t, c.Const(0, 32))
				}
			}
			o = &origin{of: me.of, rename: rename.Apply,
				terms: []smt.Term{w.Guard, w.Offset, w.Values[0]}}
			for _, of := range tickets {
				o.terms = append(o.terms, of.Offset, of.By)
			}
			known[key] = o
			out = append(out, o)
		}
		here := c.Eq(o.rename(w.Offset), me.rename(c.Args(u)[0]))
		facts = append(facts, c.Implies(c.And(o.rename(w.Guard), here),
			c.Eq(me.rename(u), o.rename(w.Values[0]))))
	}
	return out, facts
}

// broadcast returns the store of the leader that alone writes the shared array of which u is the
// contents of an element, as wide as the element; nil if there is none.
func (p *prover) broadcast(u smt.Term) *thread.Access {
	index, _, instances, ok := symbol.ParseMemory(p.c.Name(u))
	if !ok || !instances {
		return nil
	}
	if w := p.onlyStore(index); w != nil && p.c.Width(u) == 8*w.Size {
		return w
	}
	return nil
}

// onlyStore returns the store of the leader that alone writes a shared array; nil if there is none.
// It looks once.
func (p *prover) onlyStore(index int) *thread.Access {
	w, known := p.stores[index]
	if !known {
		w = p.findOnlyStore(index)
		p.stores[index] = w
	}
	return w
}

func (p *prover) findOnlyStore(index int) *thread.Access {
	var only *thread.Access
	for i := range p.th.Accesses {
		w := &p.th.Accesses[i]
		switch {
		case !w.Kind.Writes() || w.Object == nil && w.Space == event.Global ||
			w.Object != nil && w.Object.Index != index:
			continue
		case w.Object == nil || w.Object.Space != event.Shared || only != nil || w.Async ||
			len(w.Values) != 1 || w.Kind != event.Write:
			return nil
		}
		only = w
	}
	if only == nil || !p.always(only.Guard, p.leads()) {
		return nil
	}
	return only
}

// toldAt returns the iterations of the loops around a store, whose value is what the array holds at
// a barrier instance if the store is executed in them; told is false if that is not known.
func (p *prover) toldAt(w *thread.Access, instance []smt.Term) (iters []smt.Term, told bool) {
	number, fixed := p.c.Value(instance[0])
	if !fixed || number == 0 {
		return nil, false
	}
	i := slices.IndexFunc(p.th.Ends, func(e thread.End) bool {
		return e.Instr != nil && e.Instr.Index == int(number)-1
	})
	if i < 0 {
		return nil, false
	}
	e := &p.th.Ends[i]
	n := len(w.Iters)
	if e.Instr.Guard != ir.NoReg || !e.Orders.Covers(event.Shared) || len(e.Iters) < n ||
		!slices.Equal(w.Iters, e.Iters[:n]) || !p.precedes(w, e.Instr) {
		return nil, false
	}
	for _, k := range w.Iters {
		j := slices.Index(e.At.Iters, k)
		if j < 0 {
			return nil, false
		}
		iters = append(iters, instance[1+j])
	}
	return iters, true
}

// precedes reports whether a store, in an iteration of the loops around it, comes before a barrier
// in the same iteration, if both are executed: no path leads from the barrier to the store but to
// another iteration.
func (p *prover) precedes(w *thread.Access, barrier *ir.Instr) bool {
	n := len(w.Iters)
	if n == 0 {
		return !p.routes().Reaches(barrier, w.Instr)
	}
	i := slices.IndexFunc(p.th.Loops, func(l thread.Loop) bool { return l.Counter == w.Iters[n-1] })
	if i < 0 || len(p.th.Loops[i].Header.Instrs) == 0 {
		return false
	}
	header := p.th.Loops[i].Header.Instrs[0]
	return !p.routes().ReachesPast(barrier, w.Instr, func(in *ir.Instr) bool { return in == header })
}
