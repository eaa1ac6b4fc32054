package explore

import (
	"fmt"
	"slices"

	"heddle/internal/memmodel"
)

// status is what a thread does.
type status uint8

const (
	running status = iota // may continue, or needs a value that is not known yet
	waiting               // at a barrier
	ended
	spinning  // in a loop whose last iteration changed nothing
	truncated // in a loop that was unrolled often enough
	failed    // it has ended the program with an error
)

// thread is a thread of a state.
type thread struct {
	pc      int
	status  status
	regs    []value
	ctrl    memmodel.Set // the reads that decided its branches
	loops   []visit
	spin    memmodel.Set // while spinning: the reads of the last iteration
	done    pcs          // the instructions that it has executed, of those that are events or could be
	pending *pending     // while it waits for the other lanes
	vector  int          // the number of its last vector access
	stored  int          // how often it changed a location of its own
	private int          // how often it accessed a quiet location
	polls   bool         // while spinning: the last iteration was one read
	error   string       // of a failed thread: what it did, a clause
}

// visit is the last time that a thread reached the head of a loop.
type visit struct {
	pc, events int
	regs       []value
	ctrl       memmodel.Set
	stored     int // thread.stored then
	private    int // thread.private then
	trips      int // how often
	times      int // how often, not counting iterations that no read decided
}

// arrival is an arrival at a barrier whose generation is not complete.
type arrival struct {
	event, thread int
	name          [2]int64
	count         int   // 0: the threads that can still arrive
	peers         []int // Inst.Peers
	// later holds the arrivals that may not be the rest of its generation: the choice was that one
	// that comes later takes part.
	later memmodel.Set
}

// state is a part of an execution.
type state struct {
	graph    memmodel.Graph
	own      []own // by the number of the location
	threads  []thread
	sites    []int          // [event]: the instruction
	written  []value        // [event]: the value that it writes
	not      []memmodel.Set // [event]: writes that the read does not read from
	maybe    memmodel.Set   // compare-and-swaps that may fail or succeed
	arrivals []arrival
	complete int     // generations
	order    [][]int // the reads that have sources, in the order in which they got them
}

// clone returns a copy that can be changed.
func (st *state) clone() *state {
	c := *st
	c.graph = st.graph.Clone()
	c.threads = slices.Clone(st.threads)
	for i := range c.threads {
		c.threads[i].regs = slices.Clone(c.threads[i].regs)
		c.threads[i].loops = slices.Clone(c.threads[i].loops)
		c.threads[i].done = slices.Clone(c.threads[i].done)
	}
	c.own = slices.Clone(st.own)
	c.sites = slices.Clone(st.sites)
	c.written = slices.Clone(st.written)
	c.not = slices.Clone(st.not)
	c.arrivals = slices.Clone(st.arrivals)
	return &c
}

// start returns the state before the first instruction: the initial writes.
func start(p *Program) *state {
	st := &state{}
	for i := range p.Threads {
		t := &p.Threads[i]
		st.graph.Threads = append(st.graph.Threads, t.Position)
		th := thread{regs: make([]value, len(t.Regs)), done: make(pcs, len(t.Code)/64+1)}
		for r, v := range t.Regs {
			th.regs[r] = value{known: v}
		}
		st.threads = append(st.threads, th)
	}
	if len(p.Locations) >= memmodel.MaxEvents {
		panic(limitError(fmt.Sprintf("more than %d locations", memmodel.MaxEvents)))
	}
	st.own = make([]own, len(p.Locations))
	for l := range p.Locations {
		st.own[l].known = true
		st.add(memmodel.Event{Thread: memmodel.Initial, Op: memmodel.Write, Loc: l}, -1,
			value{known: p.Locations[l].Value})
	}
	return st
}

// locate returns the number of the location that an instruction accesses, and the reads that decide
// it; ok is false while its address is unknown.
func (x *explorer) locate(st *state, i int, in *Inst) (loc int, deps memmodel.Set, ok bool) {
	if in.Addr == nil {
		return in.Loc, deps, true
	}
	v := st.threads[i].operand(*in.Addr)
	addr, ok := st.eval(v)
	if !ok {
		return 0, deps, false
	}
	cell, err := x.prog.Locate(i, in, addr+in.Offset)
	if err != nil {
		st.threads[i].fail(err.Error())
		return 0, deps, false
	}
	loc = x.number(in, cell)
	x.touch(st, loc)
	x.mirror(st, i, addr)
	return loc, v.deps, true
}

// fail ends a thread, and with it the program. The thread neither exits nor arrives at barriers.
func (t *thread) fail(why string) { t.status, t.error = failed, why }

// number returns the number of a location, the same in all states.
func (x *explorer) number(in *Inst, loc Location) int {
	// Accesses are aligned and have at most 8 bytes, so those that overlap share 8 aligned bytes.
	key := granule{loc.Area, loc.Addr / 8}
	for _, l := range x.index[key] {
		c := &x.cells[l]
		if c.Addr+uint64(c.Size) <= loc.Addr || loc.Addr+uint64(loc.Size) <= c.Addr {
			continue
		}
		if c.Addr != loc.Addr || c.Size != loc.Size {
			panic(limitError(fmt.Sprintf("%s: accesses of %d and of %d bytes overlap at %s (mixed "+
				"sizes, PTX ISA 8.7.2)", in.At, c.Size, loc.Size, loc.Name)))
		}
		return l
	}
	x.cells = append(x.cells, loc)
	l := len(x.cells) - 1
	x.index[key] = append(x.index[key], l)
	return l
}

// touch makes a location part of a state.
func (x *explorer) touch(st *state, loc int) {
	for len(st.own) <= loc {
		st.own = append(st.own, own{})
	}
	o := &st.own[loc]
	switch {
	case o.known:
	case x.opt.Restart != nil && x.quiet(loc):
		*o = own{known: true, quiet: true, thread: noThread, value: value{known: x.cells[loc].Value}}
	default:
		*o = own{known: true}
		st.add(memmodel.Event{Thread: memmodel.Initial, Op: memmodel.Write, Loc: loc}, -1,
			value{known: x.cells[loc].Value})
	}
}

// room ends the exploration if the graph has no room for another event.
func (st *state) room() {
	if len(st.graph.Events) == memmodel.MaxEvents {
		panic(limitError(fmt.Sprintf("an execution has more than %d memory accesses, fences and "+
			"barriers, initial values included", memmodel.MaxEvents)))
	}
}

// add appends an event.
func (st *state) add(e memmodel.Event, pc int, written value) int {
	st.room()
	if e.Thread >= 0 {
		e.Deps.Union(st.threads[e.Thread].ctrl)
		e.Data = written.deps
	}
	st.sites = append(st.sites, pc)
	st.written = append(st.written, written)
	st.not = append(st.not, memmodel.Set{})
	return st.graph.Add(e)
}

// limitError is why a program cannot be explored.
type limitError string

// eval returns a value, if the reads that it depends on have their sources. Values that depend on
// themselves have none; axiom No-Thin-Air excludes them.
func (st *state) eval(v value) (int64, bool) { return st.evalIn(v, memmodel.Set{}) }

func (st *state) evalIn(v value, pending memmodel.Set) (int64, bool) {
	if v.from == nil {
		return v.known, true
	}
	if r := v.from.read; r >= 0 {
		if r == len(st.graph.Events) || pending.Has(r) { // an update that is being added
			return 0, false
		}
		w := st.graph.RF[r]
		if w == memmodel.Open {
			return 0, false
		}
		pending.Add(r)
		return st.evalIn(st.written[w], pending)
	}
	args := make([]int64, len(v.from.args))
	for i, a := range v.from.args {
		n, ok := st.evalIn(a, pending)
		if !ok {
			return 0, false
		}
		args[i] = n
	}
	n, ok := v.from.eval(args)
	if !ok {
		panic(limitError("a division by zero, or a shfl.sync from a lane that takes no part, whose value " +
			"the PTX ISA leaves unspecified (9.7.1, 9.7.9.6)"))
	}
	return n, true
}

// operand returns the value of an operand.
func (t *thread) operand(o Operand) value {
	if o.IsReg {
		return t.regs[o.Reg]
	}
	return value{known: o.Value}
}

// compute returns the value of a function of operands.
func (st *state) compute(t *thread, in *Inst, first ...value) value {
	args := first
	for _, o := range in.Args {
		args = append(args, t.operand(o))
	}
	return st.function(in.Eval, args...)
}

// function returns the value of a function of values.
func (st *state) function(eval func([]int64) (int64, bool), args ...value) value {
	v := value{from: &node{read: -1, eval: eval, args: args}}
	for _, a := range args {
		v.deps.Union(a.deps)
	}
	if n, ok := st.eval(v); ok {
		v.known, v.from = n, nil
	}
	return v
}

// readBy returns the value that an event reads.
func readBy(event int) value {
	v := value{from: &node{read: event}}
	v.deps.Add(event)
	return v
}
