// Package loop describes loops without unrolling them: by an arbitrary iteration k, instead of the
// lock-step execution of all iterations in Collingbourne et al. (ESOP 2013, section 4.2).
//
// A register at the header of a loop is a closed form of k and its value at the entry, found by
// looking at what one iteration makes of it; or else a function of the iteration vector that an
// axiom ties to iteration k-1. Forms are guesses at first: each pass over the kernel executes the
// body with the forms of the last pass, and Learn keeps a form only if the body turns its value at
// k into its value at k+1. So when a pass changes nothing, all forms hold, by induction over k. A
// register that was wrong once gets no second form, so the passes end.
//
// What it assumes: loops run at most 2^32 times, and terminate (the axiom of the last iteration).
package loop

import (
	"fmt"
	"slices"

	"heddle/internal/ir"
	"heddle/internal/lockstep/join"
	"heddle/internal/lockstep/kernel"
	"heddle/internal/lockstep/symbol"
	"heddle/internal/lockstep/thread"
	"heddle/internal/smt"
)

// Table is what is known of the loops of a kernel.
type Table struct {
	c        *smt.Context
	k        *kernel.Facts
	uniform  *symbol.Uniformity
	info     map[*ir.Loop]*Info
	changed  bool // this pass learned something
	settling bool // values are not final yet: nothing is given up
}

// form is what is known of a register at the header of a loop, at iteration k.
type form uint8

const (
	unknown   form = iota // a function of the iteration vector, tied to the previous step by an axiom
	invariant             // its value at the entry
	additive              // entry + step*k
	leftShift             // entry << step*k
	rightShift
	arithShift
	quotient // entry / 2^(step*k), rounded toward zero as signed division is
	direct   // k = 0: the entry's; else what the body computes at k-1, which needs no header value
	cyclic   // one of a few values in turn: buffers that are swapped or rotated, a parity that flips
	offset   // entry + stride*q(k), where q is a function of the iteration vector as in unknown
)

// slot is a register, or a part of the tag, that a loop may change.
type slot struct {
	form    form
	step    smt.Term // additive: as wide as the register; shifts: how far, a constant
	private bool     // a symbol of the slot differs between threads of a block
	// the form was found in this pass, with that of another register: nothing to check yet
	recent     bool
	hopeless   bool       // a closed form was tried and did not hold
	body       smt.Term   // direct: what an iteration computes; offset: q after it
	turns      []smt.Term // cyclic: the values, beginning with the one at the entry
	stride     uint64     // offset
	init, next smt.Term   // of the last pass: at the entry, and after one iteration
	width      int
}

// Info is what is known of one loop.
type Info struct {
	*kernel.Loop
	Counter smt.Term

	t       *Table
	around  []smt.Term    // counters of the loops around
	slots   map[int]*slot // by register; the parts of the tag follow the registers
	guesses []smt.Term    // proposed by the user
	changes []Slot
	// Whether act and the last iteration differ between threads of a block.
	privateAct, privateExit bool

	// Of the last pass.
	entry smt.Term // the thread enters the loop, everything around included
	iter  Iteration
}

// Slot is a register (Index), or part Index - len(Func.Regs) of the tag, that a loop may change.
type Slot struct{ Index, Width int }

// New returns a table of the loops of a kernel, in which every register is a function of the
// iteration.
func New(c *smt.Context, k *kernel.Facts, uniform *symbol.Uniformity) *Table {
	t := &Table{c: c, k: k, uniform: uniform, info: map[*ir.Loop]*Info{}}
	for _, l := range k.Loops() {
		info := &Info{Loop: k.Loop(l), t: t, slots: map[int]*slot{}}
		info.Counter = c.Var(fmt.Sprintf("%s%d", symbol.Counter, info.Index), 32)
		info.findSlots()
		t.info[l] = info
	}
	return t
}

// Of returns what is known of a loop.
func (t *Table) Of(l *ir.Loop) *Info { return t.info[l] }

// Begin starts a pass. While settling, forms are found but none is given up.
func (t *Table) Begin(settling bool) { t.changed, t.settling = false, settling }

// Changed reports whether this pass learned something that the next needs.
func (t *Table) Changed() bool { return t.changed }

// GiveUp makes every register that may still change unknown and private, which always holds.
func (t *Table) GiveUp() {
	for _, info := range t.info {
		info.privateAct, info.privateExit = true, true
		for _, r := range info.slots {
			if r.form != invariant {
				r.form, r.hopeless, r.private = unknown, true, true
			}
		}
	}
}

// Slots returns what a loop changes: the registers that are live at its header, and the tag if it has
// a barrier.
func (i *Info) Slots() []Slot { return i.changes }

// findSlots computes Slots.
func (i *Info) findSlots() {
	k := i.t.k
	n := len(k.Func().Regs)
	for r := range n {
		if i.Written.Has(r) && k.Live(i.Header, r) {
			i.changes = append(i.changes, Slot{r, k.Width(r)})
		}
	}
	if i.Barriers {
		for j := range k.Parts() * k.TagLen() {
			i.changes = append(i.changes, Slot{n + j, thread.TagWidth})
		}
	}
}

// Enter sets the counters of the loops around, and the condition to enter the loop.
func (i *Info) Enter(around []smt.Term, entry smt.Term) { i.around, i.entry = around, entry }

// Around returns the counters of the loops around, outermost first.
func (i *Info) Around() []smt.Term { return slices.Clone(i.around) }

// Entry returns the condition under which the thread enters the loop.
func (i *Info) Entry() smt.Term { return i.entry }

// Iterations are the counters of the loops around, and the loop's own.
func (i *Info) Iterations() []smt.Term { return append(slices.Clone(i.around), i.Counter) }

// Propose adds a candidate invariant.
func (i *Info) Propose(cond smt.Term) { i.guesses = append(i.guesses, cond) }

// At returns the value of a slot at the header in iteration Counter, if it is init at the entry.
func (i *Info) At(s Slot, init smt.Term) smt.Term {
	r := i.slots[s.Index]
	if r == nil {
		r = &slot{width: s.Width}
		i.slots[s.Index] = r
	}
	r.init = init
	return i.value(s.Index, r, i.Counter)
}

// Act is the symbol for "the thread executes iteration Counter, if it enters the loop".
func (i *Info) Act() smt.Term {
	return symbol.Apply(i.t.c, i.name("act", i.privateAct), 0, i.Iterations()...)
}

// Last is the symbol for the iteration in which the thread leaves, if it enters the loop.
func (i *Info) Last() smt.Term {
	return symbol.Apply(i.t.c, i.name("kx", i.privateExit), 32, i.around...)
}

// symbol is the function of the iteration vector that stands for a register without a closed form.
func (i *Info) symbol(n int, r *slot) smt.Term {
	return symbol.Apply(i.t.c, i.name(fmt.Sprintf("h%d.", n), r.private), r.width, i.Iterations()...)
}

// name returns the name of a symbol of the loop.
func (i *Info) name(kind string, private bool) string {
	scope := symbol.Block
	if private {
		scope = symbol.Private
	}
	return fmt.Sprintf("%s%s%d", scope, kind, i.Index)
}

// Iteration is what one execution of the body does.
type Iteration struct {
	Back  smt.Term   // it continues with the next iteration
	Exits []smt.Term // it leaves the loop
	Ends  []smt.Term // the thread ends in it
	Next  func(slot int) smt.Term
	Kept  smt.Term // what annotations have made known in it, if it continues
}

// leaves are the ways to leave the loop.
func (it *Iteration) leaves() []smt.Term {
	return append(append([]smt.Term(nil), it.Exits...), it.Ends...)
}

// Learn takes from one execution of the body what it says of the loop.
func (i *Info) Learn(it Iteration) {
	t := i.t
	i.iter = it
	t.demote(&i.privateAct, it.Back)
	t.demote(&i.privateExit, append([]smt.Term{it.Back}, it.leaves()...)...)
	slots := i.Slots()
	for _, s := range slots {
		r := i.slots[s.Index]
		r.next, r.recent = it.Next(s.Index), false
	}
	for _, s := range slots {
		r := i.slots[s.Index]
		i.classify(s.Index, r)
		if r.form == offset {
			t.demote(&r.private, r.body)
		}
		if r.form == unknown {
			t.demote(&r.private, r.next, r.init)
		}
	}
}

// demote sets a flag if the terms may differ between the threads of a block.
func (t *Table) demote(private *bool, ts ...smt.Term) {
	if *private || t.settling {
		return
	}
	for _, x := range ts {
		if x == join.Undefined || !t.uniform.Of(x) {
			*private, t.changed = true, true
			return
		}
	}
}

// varies reports whether a term may change from one iteration of the loop to the next.
func (i *Info) varies(t smt.Term) bool { return symbol.Mentions(i.t.c, i.t.c.Name(i.Counter), t) }

// ownSymbols reports whether a term needs the unknown header value of a register of the loop, or of
// a loop inside, which may depend on one of this loop.
func (i *Info) ownSymbols(t smt.Term) bool {
	c, own := i.t.c, false
	c.Visit([]smt.Term{t}, func(u smt.Term) {
		if c.Op(u) != smt.OpApp {
			return
		}
		var reg, n int
		name := c.Name(u)[len(symbol.Private):]
		if k, _ := fmt.Sscanf(name, "h%d.%d", &reg, &n); k == 2 && inside(i.t.k.Loops()[n], i.Loop.Loop) {
			own = true
		}
	})
	return own
}

// inside reports whether l is outer, or lies in it.
func inside(l, outer *ir.Loop) bool {
	for ; l != nil; l = l.Parent {
		if l == outer {
			return true
		}
	}
	return false
}
