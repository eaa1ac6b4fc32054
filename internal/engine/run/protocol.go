package run

import (
	"slices"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/emu"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/lazyregexp"
	"heddle/internal/race"
	"heddle/internal/source"
)

// Two strong accesses that nothing orders may be a mistake, or part of a protocol: a flag, a lock,
// a counter. Which of the two it is depends on the use of the location in the run, which the
// detector knows (race.Exchange), and on the code around the load and the store, which is looked at
// here.
//
// The exchange is an error if a thread reads a value that another thread stores, and nothing below
// says that the code is prepared for reading another one. Everything else is a warning, and two
// pairs are not reported: a flag that works, and two stores of one constant. Nor is a warning in a
// kernel of a library, such as CUB's decoupled look-back, in which words hold both flag and value.

// excuse is why two strong accesses that nothing orders are no error.
type excuse uint8

const (
	noExcuse    excuse = iota // lanes exchange data: an error
	worksAsFlag               // a spin loop that observes a release pattern: nothing to report
	sameValue                 // two stores of one constant: nothing to report
	isInternal                // a protocol of a library's own kernel: nothing that a user could change
	isPolled                  // a loop repeats a load of the location until the value ends it
	isAtomic                  // an atomic operation updates the location
	isOrdered                 // an acquire or a release operation accesses the location
	isRaised                  // the store writes a constant: that it happened is the message
	lastWins                  // two stores: one of them is the last, whatever the order
	isGlobal                  // threads of different warps, through global memory
)

// reported reports whether there is anything to say about the pair.
func (e excuse) reported() bool { return e != worksAsFlag && e != sameValue && e != isInternal }

// excuseTexts say why a pair is a warning only.
var excuseTexts = map[excuse]string{
	isPolled: "a loop repeats a load of the location until the value ends it, so it may be a flag",
	isAtomic: "an atomic operation updates the same location, so it may be a lock or a counter",
	isOrdered: "an acquire or release operation accesses the same location, so it may belong to a " +
		"protocol",
	isRaised: "the store writes a constant, so the location may be a flag",
	lastWins: "both are stores, and a program may be right whichever is the last",
	isGlobal: "the threads are of different warps and use global memory, as protocols do",
}

// protocols looks at the code around strong accesses of one kernel.
type protocols struct {
	machine *emu.Machine
	in      map[*ir.Instr]*ir.Func // of every instruction that may run; nil before the first use
	kernel  *ir.Func
	loops   map[*ir.Func]*ir.LoopForest
	polls   map[*ir.Instr]poll
}

// poll says whether the value of a load decides how often a loop repeats it.
type poll struct {
	polled bool
	spins  bool // and the loop writes nothing to memory: it only waits
}

func newProtocols(k *ir.Func, m *emu.Machine) *protocols {
	return &protocols{
		machine: m, kernel: k, loops: map[*ir.Func]*ir.LoopForest{}, polls: map[*ir.Instr]poll{},
	}
}

// Mistakes returns the exchanges of a report that are errors, as races.
func Mistakes(k *ir.Func, m *emu.Machine, rep *race.Report) []race.Race {
	var out []race.Race
	p := newProtocols(k, m)
	for i := range rep.Exchanges {
		if x := &rep.Exchanges[i]; p.excuse(x) == noExcuse {
			out = append(out, x.Race)
		}
	}
	return out
}

// excuse judges a pair.
func (p *protocols) excuse(x *race.Exchange) excuse {
	one, two := p.machine.Site(x.First.Site), p.machine.Site(x.Second.Site)
	why := p.anywhere(x)
	if why != noExcuse && why.reported() && driver.LibraryAlone(one.Instr, one.Calls...) &&
		driver.LibraryAlone(two.Instr, two.Calls...) {
		return isInternal
	}
	return why
}

// anywhere is excuse for code that is the user's own. The order of the cases matters only for the
// text.
func (p *protocols) anywhere(x *race.Exchange) excuse {
	one, two := p.machine.Site(x.First.Site), p.machine.Site(x.Second.Site)
	if x.First.Kind == event.Write && x.Second.Kind == event.Write {
		a, known := p.stored(one.Instr)
		if b, also := p.stored(two.Instr); known && also && a == b {
			return sameValue
		}
		return lastWins
	}
	load, store := one, two
	if x.First.Kind == event.Write {
		load, store = two, one
	}
	poll := p.polled(load)
	_, constant := p.stored(store.Instr)
	switch {
	case poll.spins && x.Observed:
		return worksAsFlag
	case poll.polled, x.Polled:
		return isPolled
	case x.Atomic:
		return isAtomic
	case x.Ordered:
		return isOrdered
	case constant:
		return isRaised
	case x.Space == event.Global && x.Apart:
		return isGlobal
	}
	return noExcuse
}

// owner returns the function of an instruction.
func (p *protocols) owner(in *ir.Instr) *ir.Func {
	if p.in == nil {
		p.in = map[*ir.Instr]*ir.Func{}
		for _, f := range ir.ReachableFuncs(p.kernel) {
			for _, b := range f.Blocks {
				for _, in := range b.Instrs {
					p.in[in] = f
				}
			}
		}
	}
	return p.in[in]
}

// stored returns the constant that a store writes: an immediate, or a register that one move of an
// immediate sets. A register that is set at several places is not looked at.
func (p *protocols) stored(in *ir.Instr) (val uint64, known bool) {
	f := p.owner(in)
	if f == nil || in.Action() != isa.ActStore || len(in.Src) == 0 {
		return 0, false
	}
	v := &in.Src[len(in.Src)-1]
	if v.Kind == ir.Imm {
		return v.Val, true
	}
	if v.Kind != ir.Register {
		return 0, false
	}
	var set *ir.Instr
	for _, b := range f.Blocks {
		for _, d := range b.Instrs {
			if !slices.ContainsFunc(d.Dst, func(o ir.Operand) bool { return uses(&o, v.Reg) }) {
				continue
			}
			if set != nil {
				return 0, false
			}
			set = d
		}
	}
	if set == nil || set.Operation() != isa.Move || len(set.Src) != 1 || set.Src[0].Kind != ir.Imm {
		return 0, false
	}
	return set.Src[0].Val, true
}

// uses reports whether an operand names a register, as its value or in its address.
func uses(o *ir.Operand, r ir.RegID) bool {
	if (o.Kind == ir.Register || o.Kind == ir.Mem) && o.Reg == r {
		return true
	}
	return slices.ContainsFunc(o.Elems, func(e ir.Operand) bool { return uses(&e, r) })
}

// polled decides for a load, or for the call of the function that loads. A first look before the
// loop counts as well: a load of the same place in the source, since a compiler may peel the first
// iteration, and one whose result goes where that of the load in the loop goes.
func (p *protocols) polled(site emu.SiteInfo) poll {
	at := append([]*ir.Instr{site.Instr}, site.Calls...)
	for _, in := range at {
		f := p.owner(in)
		if f == nil {
			continue
		}
		best := p.poll(f, in)
		for _, b := range f.Blocks {
			for _, other := range b.Instrs {
				if best.polled || other == in || !other.IsCall() &&
					(!other.ReadsMemory() || !other.Order.Strong()) {
					continue
				}
				o := p.poll(f, other)
				switch {
				case !o.polled:
				case other.Action() == in.Action() && in.Loc != nil && sameFrame(other.Loc, in.Loc):
					best = o
				case moved(f, in).joined(moved(f, other)):
					best.polled = true
				}
			}
		}
		if best.polled {
			return best
		}
	}
	return poll{}
}

// moved returns what holds the result of an instruction, also after moves.
func moved(f *ir.Func, from *ir.Instr) *holders {
	held := newHolders(f)
	for i := range from.Dst {
		held.add(&from.Dst[i])
	}
	for changed := true; changed; {
		changed = false
		for _, b := range f.Blocks {
			for _, in := range b.Instrs {
				moves := in.Operation() == isa.Move || in.ReadsMemory() && in.Space == event.Param
				if moves && len(in.Src) == 1 && len(in.Dst) == 1 && held.read(in.Src[0]) {
					changed = held.add(&in.Dst[0]) || changed
				}
			}
		}
	}
	return held
}

// sameFrame reports whether two positions are equal, with all that was inlined around them.
func sameFrame(a, b *source.Frame) bool {
	for a != nil && b != nil && a.Pos == b.Pos && a.Func == b.Func {
		a, b = a.Parent, b.Parent
	}
	return a == nil && b == nil
}

// poll decides for one instruction: some loop around it ends by a branch on its result.
func (p *protocols) poll(f *ir.Func, load *ir.Instr) poll {
	if have, ok := p.polls[load]; ok {
		return have
	}
	forest := p.loops[f]
	if forest == nil {
		forest = ir.FindLoops(f, ir.Dominators(f))
		p.loops[f] = forest
	}
	var out poll
	for _, b := range f.Blocks {
		if !slices.Contains(b.Instrs, load) {
			continue
		}
		for l := forest.Of[b.ID]; l != nil && !out.polled; l = l.Parent {
			out = pollIn(f, l, load)
		}
	}
	p.polls[load] = out
	return out
}

// pollIn decides for one loop. What the result of the load flows to is followed through registers.
func pollIn(f *ir.Func, l *ir.Loop, load *ir.Instr) poll {
	tainted := newHolders(f)
	for changed := true; changed; {
		changed = false
		for _, id := range l.Blocks {
			for _, in := range f.Blocks[id].Instrs {
				flows := in == load || in.Guard != ir.NoReg && tainted.regs[in.Guard] ||
					slices.ContainsFunc(in.Src, tainted.read)
				for i := range in.Dst {
					changed = flows && tainted.add(&in.Dst[i]) || changed
				}
			}
		}
	}
	out := poll{spins: true}
	for _, id := range l.Blocks {
		b := f.Blocks[id]
		for _, in := range b.Instrs {
			if in.WritesMemory() && in.Space != event.Local || in.IsCall() && in != load {
				out.spins = false
			}
		}
		last := b.Last()
		leaves := last != nil && (last.Leaves() ||
			slices.ContainsFunc(b.Succs, func(s ir.BlockID) bool { return !l.Contains(s) }))
		if leaves && (last.Guard != ir.NoReg && tainted.regs[last.Guard] ||
			last.Action() == isa.ActIndexedBranch && tainted.read(last.Src[0])) {
			out.polled = true
		}
	}
	out.spins = out.spins && out.polled
	return out
}

// holders are where a value is: in registers, and in variables that pass results of calls.
type holders struct {
	regs []bool
	vars map[*ir.Var]bool
}

func newHolders(f *ir.Func) *holders {
	return &holders{make([]bool, len(f.Regs)), map[*ir.Var]bool{}}
}

// read reports whether an operand reads one of the holders.
func (h *holders) read(o ir.Operand) bool {
	if (o.Kind == ir.Register || o.Kind == ir.Mem) && o.Reg != ir.NoReg && h.regs[o.Reg] ||
		o.Var != nil && h.vars[o.Var] {
		return true
	}
	return slices.ContainsFunc(o.Elems, h.read)
}

// add adds what an operand writes, and reports whether it is new.
func (h *holders) add(o *ir.Operand) bool {
	added := false
	switch {
	case o.Kind == ir.Register && o.Reg != ir.NoReg && !h.regs[o.Reg]:
		h.regs[o.Reg], added = true, true
	case o.Kind == ir.VarVal && !h.vars[o.Var]:
		h.vars[o.Var], added = true, true
	}
	for i := range o.Elems {
		added = h.add(&o.Elems[i]) || added
	}
	return added
}

// joined reports whether h and g have a register in common.
func (h *holders) joined(g *holders) bool {
	for i := range h.regs {
		if h.regs[i] && g.regs[i] {
			return true
		}
	}
	return false
}

// hasExchanges reports whether a kernel has strong loads or stores, of which two may be unordered.
func hasExchanges(k *ir.Func) bool {
	return ir.MayExecute(k, func(in *ir.Instr) bool {
		kind, ok := in.AccessKind()
		return ok && in.Order == event.Relaxed && !kind.RMW()
	})
}

// exchangeKey identifies the finding of a pair: as a race, by its two sites.
func exchangeKey(x *race.Exchange) Key {
	a, b := x.First.Site, x.Second.Site
	return Key{diag.CodeRaceUnorderedStrong, min(a, b), max(a, b)}
}

// samePlace reports whether two sites are one place of the source: the compiler duplicates code.
func samePlace(a, b emu.SiteInfo) bool {
	return slices.EqualFunc(driver.Stack(a.Instr, a.Calls...), driver.Stack(b.Instr, b.Calls...),
		func(x, y source.Frame) bool { return x.Pos == y.Pos && x.Func == y.Func })
}

// protocols looks at the code of the run's kernel.
func (r *Run) protocols() *protocols {
	if r.protocol == nil {
		r.protocol = newProtocols(r.Job.Kernel, r.Machine)
	}
	return r.protocol
}

// split reports whether threads met at barriers that are different places of the source. In PTX,
// and thus in assembly, instructions with one barrier number may meet (PTX ISA 9.7.13.1). In CUDA
// C++ and in OpenCL C all threads of the block must reach the same barrier (CUDA C++ Programming
// Guide, "Synchronization Functions"; OpenCL C 3.0, 6.15.8).
func (r *Run) split(be *race.BarrierError) bool {
	if !r.Job.Module.FromSource() {
		return false
	}
	first := r.Machine.Site(be.Groups[0].Site)
	for _, g := range be.Groups {
		info := r.Machine.Site(g.Site)
		if at := r.Job.SourceAt(place(info).Start); assembly.MatchString(at) {
			return false
		}
		if !samePlace(first, info) {
			return true
		}
	}
	return false
}

// assembly matches the beginning of an inline assembly statement.
var assembly = lazyregexp.New(`^(__)?asm\b`)
