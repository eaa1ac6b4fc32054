// Package thread describes everything that one arbitrary thread of a kernel may do: guarded
// accesses, ends of barrier intervals, loops and assertions, over hash-consed terms. Package
// lockstep makes such a description; packages invariant and verify reason about it. Two renamed
// instances (symbol.Instance) are the two threads of the lock-step form (Collingbourne et al., ESOP
// 2013, sections 4.1 and 4.2).
//
// The description is the contract between its maker and its users. It over-approximates: each
// execution of the kernel, up to its first race, corresponds to values of the symbols for which all
// axioms hold. So a formula without a model proves something about the kernel, and a model may be
// spurious (Thread.Approximate, Thread.Free).
package thread

import (
	"fmt"
	"slices"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/smt"
)

// Object is an array: a variable, or what a pointer parameter points to.
type Object struct {
	Name  string
	Space event.Space
	Var   *ir.Var // the variable, or the parameter that points to it
	Field int     // byte offset of the pointer in a struct parameter
	Index int     // in the names of symbols; dense, in the order in which objects were met
}

// Trap is a trap, which a thread executes if Guard holds.
type Trap struct {
	Instr *ir.Instr
	Guard smt.Term
}

// Access is what one memory instruction does, if Guard holds.
type Access struct {
	Instr  *ir.Instr
	Guard  smt.Term
	Object *Object  // nil: may be any of its space
	Offset smt.Term // in bytes, 64 bits, from the start of Object; without an Object the address
	Size   int      // in bytes
	Space  event.Space
	Kind   event.Kind
	Order  event.Order
	Scope  event.Scope
	Values []smt.Term // the elements that a store writes; nil for other accesses
	// Result is what an atomic on one word returns; smt.False for other accesses.
	Result smt.Term
	// Update says what an atomic on one word does with its Operands; nil for other accesses.
	Update   Update
	Operands []smt.Term
	// Loaded is what a strong load of one element returns; smt.False for other accesses.
	Loaded smt.Term
	// Last are the iterations in which the thread leaves the loops around an access with a Result or
	// with Loaded, outermost first; nil for other accesses.
	Last  []smt.Term
	Start Tag // the last barrier that orders the memory that is accessed
	// the last barrier of the block or the warp, if there are WarpEnds; in lock step the last barrier
	// of the block or merge point of the warp, if Merged
	Warp Tag
	Grid Tag // the last barrier of the grid
	// Together is the condition under which a thread in lock step with its warp executes the access
	// together with all lanes of its warp that execute it in the same iterations.
	Together smt.Term
	// Once says that lanes of a warp which execute the access in the same iterations execute it
	// together, unless one of them is held up by an operation of the warp (Thread.HeldUp).
	Once bool
	// Async marks an access that happens at some time between the instruction and the thread's wait
	// for it.
	Async bool
	// Unsettled marks an asynchronous access that may outlast a barrier of the warp, which then does
	// not order it.
	Unsettled bool
	// Pending are the copies that the thread itself may not have waited for yet.
	Pending []*ir.Instr
	Iters   []smt.Term // the counters of all loops around, outermost first
	Place   Place
}

// Update is the operation of an atomic on one word, as far as proofs know it.
type Update uint8

// The operations.
const (
	OtherUpdate    Update = iota
	Add                   // of one integer
	Increment             // atom.inc: 0 after the operand is reached
	CompareAndSwap        // the operands are the expected and the new value
	Exchange
)

// End is the end of a barrier interval: a barrier, or the exit of the thread.
type End struct {
	Instr *ir.Instr // nil for the end of the kernel
	Guard smt.Term
	// Guard without what annotations made known, which may not be known yet where threads part
	Bare  smt.Term
	Start Tag // of the interval
	At    Tag // the barrier that ends it
	// Orders is the memory that the barrier orders: none for what only waits.
	Orders event.Orders
	Iters  []smt.Term // the counters of all loops around, outermost first
	Place  Place
}

// Place orders what a thread does within one iteration of the loops that two places share.
type Place struct {
	Loops []int // the loops around, outermost first
	Rank  int   // the position, with all of a loop before what follows the loop
}

// Thread is everything that one arbitrary thread may do.
type Thread struct {
	Context  *smt.Context
	Func     *ir.Func // with all calls inlined
	Accesses []Access
	Ends     []End
	// WarpEnds are the ends of intervals between barriers of the warp; their starts are as in
	// Access.Warp. If lanes of one warp cannot diverge at them, accesses of these lanes with different
	// Warp are ordered.
	WarpEnds []End
	// Waits are the barriers of the block and the operations of a warp, in the order of the text.
	Waits []Wait
	// Merges are the merge points at which all lanes of a warp in lock step may be together. Merged
	// says that Build was told which of them surely are (lockstep.Options.Merges).
	Merges []Merge
	Merged bool
	// Gathered has the results of operations of a warp, by the names of their symbols.
	Gathered map[string]Gathered
	// Shuffles has what lanes receive from each other, by the names of the symbols.
	Shuffles map[string]Shuffle
	// HeldUp says that an operation of a warp may wait for lanes that never reach it.
	HeldUp bool
	// Own are accesses to memory that only the thread itself writes, or no thread: local and constant
	// memory. They cannot race, but may lie outside their array.
	Own []Access
	// GridEnds are the ends of intervals between barriers of the grid; their starts are as in
	// Access.Grid.
	GridEnds []End
	// Fences are the fences without a guard. Those of OpenCL may order some memory only.
	Fences   []*ir.Instr
	Objects  []*Object // by name
	Tid      [3]smt.Term
	Ctaid    [3]smt.Term
	Ntid     [3]smt.Term // constants, except in dimensions that are arbitrary
	Nctaid   [3]smt.Term
	Geometry event.Geometry // the largest launch, if a dimension is arbitrary
	Assumed  []smt.Term     // holds for every thread
	Axioms   *Axioms

	Assertions   []Assertion
	Traps        []Trap
	BarrierFacts []BarrierFact
	Others       map[string]Other // by the symbols in conditions that they explain
	// Taken maps each symbol for "an atomic of this thread has returned a value before" to the array
	// of the atomic. The last two arguments of such a symbol are the offset and the value, 64 bits
	// each.
	Taken map[string]*Object
	// parameters, by symbol.ParamName, that preconditions fix: they have no symbol
	Given    map[string]uint64
	Extern   []string // sorted: functions without a body that the thread may call
	Textures bool     // reads textures or surfaces, and writes memory that may be behind them
	// WritesConst says that a store may go to constant memory or to a parameter, where stores are
	// invalid. What such memory holds is taken to be what it was.
	WritesConst bool
	Slots       *Slots
	Loops       []Loop // outer loops before inner ones
	Lockstep    bool   // lanes of a warp execute each instruction together
	// Adversarial is set if each load of an array that the kernel writes returns anything.
	Adversarial bool
	// Approximate lists the abstractions that were needed: reasons why a counterexample may be
	// spurious.
	Approximate []string
}

// Linear is the index of the thread in its block, x fastest: warps are cut from it (PTX ISA 10.4).
func (t *Thread) Linear() smt.Term {
	c := t.Context
	r := c.Add(t.Tid[0], c.Mul(t.Tid[1], t.Ntid[0]))
	return c.Add(r, c.Mul(t.Tid[2], c.Mul(t.Ntid[0], t.Ntid[1])))
}

// Loop is what a proof by induction over the iterations of a loop needs. Every term is over the
// counters of the loops around (Around) and the loop's own (Counter).
type Loop struct {
	Header *ir.Block
	// Joint says that lanes in lock step which begin an iteration begin it together.
	Joint   bool
	Around  []smt.Term
	Counter smt.Term
	Entry   smt.Term // the thread reaches the header from outside
	Act     smt.Term // the thread executes iteration Counter, if it entered
	Back    smt.Term // it does, and continues with the next iteration
	Exits   []smt.Term
	Last    smt.Term // the iteration in which the thread leaves, if it entered
	Slots   []Slot
	Guesses []smt.Term // invariants that the user proposes
	// Kept is what annotations have told a thread at the end of iteration Counter, if it continues
	// with the next one.
	Kept smt.Term
}

// Slot is something that a loop may change: a register, a part of the tag, or the number of strides
// that a register has moved.
type Slot struct {
	Name string
	At   smt.Term // at the header, in iteration Counter
	// unless Closed: stands for it in At and everywhere else, a function of the iteration vector
	Symbol smt.Term
	Init   smt.Term // in iteration 0
	Next   smt.Term // after this iteration
	Closed bool     // At is a closed form, without a symbol of the loop
	Tag    bool     // a part of the tag
	Own    bool     // with Tag: the iteration of this very loop in which the last barrier was passed
}

// UnsupportedError names the construct of a kernel that has no lock-step form.
type UnsupportedError struct {
	Instr *ir.Instr // nil if it is not one instruction
	What  string
}

// Error names the construct, without its position.
func (e *UnsupportedError) Error() string { return "unsupported: " + e.What }

// Unsupported ends the description of a thread. It panics with an *UnsupportedError, which
// lockstep.Build returns: symbolic execution is too deep for every step to return an error.
func Unsupported(in *ir.Instr, format string, args ...any) {
	panic(&UnsupportedError{Instr: in, What: fmt.Sprintf(format, args...)})
}

// ErrTerms reports that a kernel needs more terms than its budget.
type ErrTerms struct{ Limit int }

// Error does not name the limit, which no flag sets.
func (e *ErrTerms) Error() string { return "the term budget is exhausted" }

// AssumesAligned reports whether some access is aligned to its size by assumption (see Aligned):
// its address does not show it.
func (t *Thread) AssumesAligned() bool {
	assumed := func(a Access) bool {
		zeros, _ := t.Context.KnownBits(a.Offset)
		low := uint64(a.Size - 1)
		return a.Size&(a.Size-1) == 0 && zeros&low != low
	}
	return slices.ContainsFunc(t.Accesses, assumed) || slices.ContainsFunc(t.Own, assumed)
}

// Aligned reports whether n bytes from a and m bytes from b either coincide or are disjoint.
// Accesses are aligned to their size (PTX ISA 5.1), so two of one size do not overlap partly. An
// access that is known to be misaligned is taken as it is.
func Aligned(c *smt.Context, a smt.Term, n int, b smt.Term, m int) bool {
	_, onesA := c.KnownBits(a)
	_, onesB := c.KnownBits(b)
	return n == m && n&(n-1) == 0 && (onesA|onesB)&uint64(n-1) == 0
}
