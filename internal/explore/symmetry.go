package explore

import (
	"fmt"
	"slices"

	"heddle/internal/memmodel"
)

// Symmetric threads. SPORE (Kokologiannakis, Marmanis, Vafeiadis, PLDI 2024) prunes executions that
// a permutation of threads with the same code makes equal to another one. Threads of a kernel have
// the same code and differ in the constants that tell them who they are, so a permutation is shown
// to be a symmetry first (this file): two threads that read the same values do the same, apart from
// the names of locations. Then a state that is the image of one that was visited is left out
// (canonical.go); where SPORE orders the choices of symmetric threads, states are remembered.
// docs/theory/memory-model.md has the argument.
//
// It misses symmetries where a value that tells threads apart decides a branch, a store that others
// read, or an address together with what was read. That costs time, and no execution.

const (
	maxSymmetric = 16     // threads of a program whose symmetries are looked for
	maxGroup     = 720    // permutations that are used
	maxWalk      = 20_000 // instructions of the comparison of two threads
)

// symmetry is a permutation of the threads that turns executions into executions.
type symmetry struct {
	to    []int            // [thread]: its image
	addrs map[access]int64 // of an access at a known address: the address of its image
	loc   map[place]place  // where the images of accesses to a location go
	back  map[place]place  // the inverse
	mixed map[place]bool   // locations whose contents differ from those of their images
}

// access is an access of a thread: its instruction, and the address without the offset.
type access struct {
	thread, pc int
	addr       int64
}

// place identifies a location that Program.Locate returns.
type place struct {
	area int
	addr uint64
	size int
}

// symmetries returns permutations of the threads of a program that are symmetries: exchanges of two
// threads of a CTA, and of two CTAs.
func (x *explorer) symmetries() (out []*symmetry) {
	p := x.prog
	n := len(p.Threads)
	if p.Same == nil || p.Locate == nil || n > maxSymmetric || len(p.Locations) > 0 {
		return nil
	}
	try := func(swap [][2]int) {
		s := &symmetry{to: make([]int, n), addrs: map[access]int64{}, mixed: map[place]bool{}}
		for i := range s.to {
			s.to[i] = i
		}
		for _, q := range swap {
			s.to[q[0]], s.to[q[1]] = q[1], q[0]
		}
		if x.proves(s) {
			out = append(out, s)
		}
	}
	ctas := map[memmodel.Position][]int{}
	var order []memmodel.Position
	for i := range p.Threads {
		at := p.Threads[i].Position
		if ctas[at] == nil {
			order = append(order, at)
		}
		ctas[at] = append(ctas[at], i)
	}
	for i, a := range order {
		for _, b := range order[:i] {
			if len(ctas[a]) == len(ctas[b]) {
				var swap [][2]int
				for k := range ctas[a] {
					swap = append(swap, [2]int{ctas[a][k], ctas[b][k]})
				}
				try(swap)
			}
		}
		for k, t := range ctas[a] {
			for _, u := range ctas[a][:k] {
				try([][2]int{{t, u}})
			}
		}
	}
	return out
}

// proves reports whether a permutation is a symmetry, as far as accesses at known addresses show.
func (x *explorer) proves(s *symmetry) bool {
	p := x.prog
	for i := range p.Threads {
		for j := range p.Threads {
			a, b := p.Threads[i].Position, p.Threads[j].Position
			c, d := p.Threads[s.to[i]].Position, p.Threads[s.to[j]].Position
			if (a == b) != (c == d) || (a.Cluster == b.Cluster) != (c.Cluster == d.Cluster) ||
				(a.GPU == b.GPU) != (c.GPU == d.GPU) {
				return false
			}
		}
		if !x.alike(s, i) {
			return false
		}
	}
	for {
		mixed := len(s.mixed)
		s.loc, s.back = map[place]place{}, map[place]place{}
		for i := range p.Threads {
			w := &walk{x: x, s: s, a: i, b: s.to[i], seen: map[string]bool{}}
			if !w.all() {
				return false
			}
		}
		if len(s.mixed) == mixed {
			return true
		}
	}
}

// alike reports whether a thread and its image have the same code, apart from constants.
func (x *explorer) alike(s *symmetry, i int) bool {
	a, b := &x.prog.Threads[i], &x.prog.Threads[s.to[i]]
	if len(a.Code) != len(b.Code) || len(a.Regs) != len(b.Regs) {
		return false
	}
	same := func(o, q Operand) bool { return o.IsReg == q.IsReg && o.Reg == q.Reg }
	for pc := range a.Code {
		c, d := &a.Code[pc], &b.Code[pc]
		if c.Kind != d.Kind || c.Order != d.Order || c.Scope != d.Scope || c.Loc != d.Loc ||
			c.Offset != d.Offset || c.Size != d.Size || c.Element != d.Element || c.Dst != d.Dst ||
			c.ReadOnly != d.ReadOnly || c.Target != d.Target || c.Update != d.Update ||
			c.Reduce != d.Reduce || c.Arrive != d.Arrive || len(c.Args) != len(d.Args) ||
			(c.Addr == nil) != (d.Addr == nil) || (c.Count == nil) != (d.Count == nil) ||
			len(c.Peers) != len(d.Peers) || !x.prog.Same(c, d) {
			return false
		}
		for k := range c.Args {
			if !same(c.Args[k], d.Args[k]) {
				return false
			}
		}
		if c.Addr != nil && !same(*c.Addr, *d.Addr) || c.Count != nil && !same(*c.Count, *d.Count) ||
			!same(c.Name[0], d.Name[0]) || !same(c.Name[1], d.Name[1]) {
			return false
		}
		for lane, peer := range c.Peers { // by lane, so that masks mean the same
			if s.to[peer] != d.Peers[lane] {
				return false
			}
		}
	}
	return true
}

// pair is what two threads that have read the same values have in a register.
type pair struct {
	kind pairKind
	a, b int64 // of known
	id   int   // of mixed: when it was computed
}

type pairKind uint8

const (
	known pairKind = iota // these values
	equal                 // one value, which depends on what was read
	mixed                 // values that may differ, and depend on what was read
)

// differs reports whether the two threads may have different values.
func (p pair) differs() bool { return p.kind == mixed || p.kind == known && p.a != p.b }

// walk compares two threads along all paths.
type walk struct {
	x     *explorer
	s     *symmetry
	a, b  int // the threads
	seen  map[string]bool
	steps int
	next  []*joint
}

// joint is where both threads are.
type joint struct {
	pc    int
	regs  []pair
	heads map[int][]pair // the registers at the last visit of the head of a loop
}

// all walks along all paths, and reports whether the threads do the same on each.
func (w *walk) all() bool {
	p := w.x.prog
	j := &joint{heads: map[int][]pair{}}
	for r := range p.Threads[w.a].Regs {
		j.regs = append(j.regs, pair{a: p.Threads[w.a].Regs[r], b: p.Threads[w.b].Regs[r]})
	}
	w.next = []*joint{j}
	for len(w.next) > 0 {
		j := w.next[len(w.next)-1]
		w.next = w.next[:len(w.next)-1]
		if !w.path(j) {
			return false
		}
	}
	return true
}

// path walks until a path ends, or meets one that was walked.
func (w *walk) path(j *joint) bool {
	code := w.x.prog.Threads[w.a].Code
	for j.pc < len(code) {
		if w.steps++; w.steps > maxWalk {
			return false
		}
		if w.x.facts[w.a].head[j.pc] {
			if !w.head(j) {
				return false
			}
		}
		if w.x.facts[w.a].head[j.pc] || code[j.pc].Kind == Branch && len(code[j.pc].Args) > 0 {
			key := fmt.Sprint(j.pc, j.regs, j.heads)
			if w.seen[key] {
				return true
			}
			w.seen[key] = true
		}
		more, ok := w.step(j)
		if !ok || !more {
			return ok
		}
	}
	return true
}

// head compares the registers with those of the last visit: whether an iteration changes something
// must be the same for both threads (explorer.idle).
func (w *walk) head(j *joint) bool {
	for r, live := range w.x.facts[w.a].live[j.pc] {
		if !live {
			j.regs[r] = pair{}
			continue
		}
		if old := j.heads[j.pc]; old != nil {
			p, q := j.regs[r], old[r]
			switch {
			case p.kind == known && q.kind == known:
				if (p.a == q.a) != (p.b == q.b) {
					return false
				}
			case (p.kind == mixed || q.kind == mixed) && p != q, p.kind != q.kind && p.differs() != q.differs():
				return false
			}
		}
	}
	heads := map[int][]pair{}
	for k, v := range j.heads {
		heads[k] = v
	}
	heads[j.pc] = slices.Clone(j.regs)
	j.heads = heads
	return true
}

// operand returns an operand of both threads.
func (w *walk) operand(j *joint, a, b Operand) pair {
	if a.IsReg {
		return j.regs[a.Reg]
	}
	return pair{a: a.Value, b: b.Value}
}

// operands returns the arguments of an instruction.
func (w *walk) operands(j *joint, c, d *Inst) (out []pair) {
	for k := range c.Args {
		out = append(out, w.operand(j, c.Args[k], d.Args[k]))
	}
	return out
}

// join returns what a function of these arguments has.
func (w *walk) join(j *joint, args []pair) pair {
	kind, apart := known, false
	for _, p := range args {
		if p.kind != known {
			kind = max(kind, p.kind)
		}
		apart = apart || p.differs()
	}
	if kind != known && apart {
		return pair{kind: mixed, id: w.steps}
	}
	return pair{kind: kind}
}

// step executes one instruction; more is false where the path ends.
func (w *walk) step(j *joint) (more, ok bool) {
	c, d := &w.x.prog.Threads[w.a].Code[j.pc], &w.x.prog.Threads[w.b].Code[j.pc]
	args := w.operands(j, c, d)
	switch c.Kind {
	case Fence:
	case Compute:
		v := w.join(j, args)
		if v.kind == known {
			if v, more = w.eval(c, d, args); !more {
				return false, true // undefined: the exploration ends there
			}
		}
		j.regs[c.Dst] = v
	case Branch:
		return w.branch(j, c, d, args)
	case Fail:
		return false, true
	case Barrier, Exchange:
		for _, o := range [...]pair{w.operand(j, c.Name[0], d.Name[0]), w.operand(j, c.Name[1], d.Name[1])} {
			if o.differs() {
				return false, false
			}
		}
		if c.Count != nil && w.operand(j, *c.Count, *d.Count).differs() {
			return false, false
		}
		if c.Kind == Exchange { // its value is that of other lanes
			if slices.ContainsFunc(args, pair.differs) {
				return false, false
			}
			j.regs[c.Dst] = pair{kind: equal}
		}
	default:
		if more, ok = w.memory(j, c, d, args); !more || !ok {
			return more, ok
		}
	}
	j.pc++
	return true, true
}

// eval computes known values; ok is false if one is undefined.
func (w *walk) eval(c, d *Inst, args []pair) (v pair, ok bool) {
	a, b := make([]int64, len(args)), make([]int64, len(args))
	for k, p := range args {
		a[k], b[k] = p.a, p.b
	}
	var ok2 bool
	v.a, ok = c.Eval(a)
	v.b, ok2 = d.Eval(b)
	return v, ok && ok2
}

// branch follows a branch: where its condition is not known, both ways.
func (w *walk) branch(j *joint, c, d *Inst, args []pair) (more, ok bool) {
	if len(args) == 0 {
		j.pc = c.Target
		return true, true
	}
	switch v := w.join(j, args); v.kind {
	case known:
		v, ok := w.eval(c, d, args)
		if !ok || (v.a != 0) != (v.b != 0) {
			return false, !ok
		}
		if j.pc++; v.a != 0 {
			j.pc = c.Target
		}
	case equal:
		w.next = append(w.next, &joint{pc: c.Target, regs: slices.Clone(j.regs), heads: j.heads})
		j.pc++
	default:
		return false, false
	}
	return true, true
}

// memory executes an access.
func (w *walk) memory(j *joint, c, d *Inst, args []pair) (more, ok bool) {
	if c.Addr == nil {
		return false, false
	}
	addr := w.operand(j, *c.Addr, *d.Addr)
	apart := slices.ContainsFunc(args, pair.differs)
	switch addr.kind {
	case mixed:
		return false, false
	case equal: // its location is compared when it is known; what is stored must be the same
		if apart {
			return false, false
		}
		if c.Dst >= 0 {
			j.regs[c.Dst] = pair{kind: equal}
		}
		return true, true
	}
	la, err := w.x.prog.Locate(w.a, c, addr.a+c.Offset)
	lb, err2 := w.x.prog.Locate(w.b, d, addr.b+d.Offset)
	if err != nil || err2 != nil {
		return false, err != nil && err2 != nil // the exploration ends there
	}
	w.s.addrs[access{w.a, j.pc, addr.a}] = addr.b
	from, ok := w.s.relate(la, lb)
	if !ok {
		return false, false
	}
	if apart && c.Kind != Load || la.Value != lb.Value {
		w.s.mixed[from] = true
	}
	mix := w.s.mixed[from]
	if mix && c.Kind != Load && (c.Update == CompareAndSwap || w.x.facts[w.a].repeatsIn(&w.x.prog.Threads[w.a], j.pc)) {
		return false, false // whether it writes, or changes something, may differ
	}
	if c.Dst >= 0 {
		j.regs[c.Dst] = pair{kind: equal}
		if mix {
			j.regs[c.Dst] = pair{kind: mixed, id: w.steps}
		}
	}
	return true, true
}

// relate takes note that a location is the image of another one, and reports whether it can be.
func (s *symmetry) relate(from, to Location) (place, bool) {
	p, q := place{from.Area, from.Addr, from.Size}, place{to.Area, to.Addr, to.Size}
	if old, ok := s.loc[p]; ok && old != q {
		return p, false
	}
	if old, ok := s.back[q]; ok && old != p {
		return p, false
	}
	s.loc[p], s.back[q] = q, p
	return p, true
}

// repeatsIn reports whether an instruction is part of a loop of its thread.
func (f *facts) repeatsIn(t *Thread, pc int) bool {
	for _, s := range successors(t, pc) {
		if s < len(t.Code) && f.reaches[s].has(pc) {
			return true
		}
	}
	return false
}
