package explore

import (
	"fmt"
	"slices"

	"heddle/internal/memmodel"
)

// A location of Program.Locate is quiet as long as one thread accesses it, or nobody writes to it.
// Its accesses need no events: what the thread reads is what it wrote last (PTX ISA 8.10.5), and
// they order nothing between threads. So a state holds one value for it. An access that ends the
// quiet makes the exploration begin anew, with events for the location. docs/theory/memory-model.md
// says why that misses nothing.

// noThread is the thread of a location that nobody has accessed.
const noThread = -1

// severalThreads is that of a location that several threads have read.
const severalThreads = -2

// own is what a state knows about a location without events.
type own struct {
	known   bool // some thread has accessed it
	quiet   bool
	written bool
	fixed   bool // some load relies on it not to change (Inst.ReadOnly)
	thread  int
	value   value // with the reads that decide it: of value, address and control
}

// Known is what is known of the locations of a program that Program.Locate returns, if
// Options.Restart is set: those whose accesses are events, and the instructions that write to them.
type Known struct {
	cells []Location        // those of the program, then those that Locate returned
	index map[granule][]int // of the latter

	shared  map[int]bool
	writers map[int]map[writer]bool
}

// begin prepares for the locations of a program.
func (k *Known) begin(p *Program) {
	if k.index != nil {
		return
	}
	*k = Known{cells: slices.Clip(p.Locations), index: map[granule][]int{}, shared: map[int]bool{},
		writers: map[int]map[writer]bool{}}
}

// writer is an instruction of a thread that writes to a location.
type writer struct{ thread, pc int }

// granule is 8 aligned bytes of an area.
type granule struct {
	area int
	addr uint64
}

// private reports whether the accesses to a location are no events.
func (st *state) private(loc int) bool { return st.own[loc].quiet }

// quiet reports whether the accesses to a location that no state has touched are to be no events.
func (x *explorer) quiet(loc int) bool {
	if g := x.opt.guide; g != nil {
		return !g.event(&x.cells[loc])
	}
	return !x.shared[loc]
}

// writer takes note of an instruction that writes to a location.
func (x *explorer) writer(st *state, i int, in *Inst, loc int) {
	if x.opt.Restart == nil || in.Kind != Store && in.Kind != Update || loc < len(x.prog.Locations) {
		return
	}
	w := writer{i, st.threads[i].pc}
	if !x.addWriter(w, loc) {
		return
	}
	// A read may have been told that nothing follows, unless a recording names its source.
	x.void = x.void || !st.private(loc) && x.opt.guide == nil
}

// addWriter adds an instruction to those that write to a location, and reports whether it is new.
func (x *explorer) addWriter(w writer, loc int) bool {
	if x.writers[loc][w] {
		return false
	}
	if x.writers[loc] == nil {
		x.writers[loc] = map[writer]bool{}
	}
	x.writers[loc][w] = true
	return true
}

// constant ends the exploration if a load relies on a location that is also written.
func (x *explorer) constant(st *state, in *Inst, loc int) {
	if in.Kind == Fence {
		return
	}
	o := &st.own[loc]
	writes := in.Kind != Load
	if in.ReadOnly && (!o.quiet || o.written) || writes && o.fixed {
		panic(limitError(fmt.Sprintf("%s: %s: a non-coherent load reads %s, which the kernel writes, "+
			"and may return any value that it had", in.At, in.Text, x.cells[loc].Name)))
	}
	o.fixed = o.fixed || in.ReadOnly
}

// accessOwn executes an access to a quiet location. If it is quiet no longer, what happens until
// the attempt ends only serves to find more such locations.
func (x *explorer) accessOwn(st *state, i int, in *Inst, loc int, deps memmodel.Set) {
	t, o := &st.threads[i], &st.own[loc]
	t.private++
	writes := in.Kind != Load
	switch {
	case o.thread == noThread, o.thread == i:
		o.thread = i
	case writes || o.written:
		x.share(loc)
		x.void = true
	default:
		o.thread = severalThreads
	}
	deps.Union(t.ctrl)
	old := o.value
	old.deps.Union(deps)
	if writes {
		o.written = true
		o.value = st.ownWrite(t, in, old)
		o.value.deps.Union(deps)
		before, ok := st.eval(old)
		if after, ok2 := st.eval(o.value); !ok || !ok2 || before != after {
			t.stored++
		}
	}
	if in.Dst >= 0 {
		t.regs[in.Dst] = old
	}
}

// ownWrite returns the value that a store or an atomic operation leaves in a quiet location.
func (st *state) ownWrite(t *thread, in *Inst, old value) value {
	switch {
	case in.Kind == Store, in.Update == Swap:
		return t.operand(in.Args[0])
	case in.Update == CompareAndSwap:
		return st.function(func(a []int64) (int64, bool) {
			if a[0] == a[1] {
				return a[2], true
			}
			return a[0], true
		}, old, t.operand(in.Args[0]), t.operand(in.Args[1]))
	}
	return st.compute(t, in, old)
}
