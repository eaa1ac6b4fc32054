// Package lockstep runs one arbitrary thread of a kernel symbolically, once, in predicated form: control flow
// is flattened but for loops, joins become choices, and what the thread does to memory and at barriers comes
// out as guarded accesses and interval ends over hash-consed terms. Two renamed instances of the result are
// the two threads of the lock-step form (Collingbourne et al., ESOP 2013, sections 4.1 and 4.2).
//
// What it follows: the paper's predication of reducible control flow, with the enabling predicate of a block
// as a term instead of the variable v_active, and a loop's counter v_L as a free variable k. Instead of the
// paper's lock-step execution of a loop it describes an arbitrary iteration k: registers at the header are
// closed forms of k, or functions of the iteration vector that an Axiom ties to iteration k-1 (one-step
// history). Barriers are not assertions on the way but tags: each access carries the barrier instance that
// its thread passed last, (barrier, iteration vector), and two accesses of one block can race only if their
// tags are equal.
//
// What it can miss: nothing within the stated assumptions. Loops are taken to run at most 2^32 times; an
// access after a loop assumes that the loop ends; accesses stay within the object that they are computed
// from, and pointer parameters do not alias each other or variables. Loads see the memory of the start of their barrier interval,
// which holds up to the first race.
package lockstep

import (
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/smt"
)

// Options are what is fixed of a launch.
type Options struct {
	Geometry event.Geometry
	Any      Any // dimensions of which Geometry says nothing
	// Args holds the values of scalar parameters that are known, by index.
	Args map[int]uint64
	// Adversarial takes each load of an array that the kernel writes to be anything. Else loads of one place in one barrier
	// interval agree, between threads too, which holds up to the first race.
	Adversarial bool
	// NoWrap takes sums and products of 32 bits that are extended as signed numbers to have their exact value: what
	// follows speaks only of executions in which none of them wraps.
	NoWrap bool
	// PureExtern takes functions without a body to return, to touch no memory but the thread's own, and to synchronize
	// nothing. What they return may be anything, at each call.
	PureExtern bool
	// Lockstep takes the lanes of a warp to execute each instruction together, as far as they have not parted at a branch.
	Lockstep bool
	// Terms bounds the number of terms; 0: DefaultTerms.
	Terms int
}

// DefaultTerms is the default of Options.Terms.
const DefaultTerms = 3_000_000

// Object is an array: what a pointer parameter points to, or a variable.
type Object struct {
	Name  string
	Space event.Space
	Var   *ir.Var // the variable, or the parameter that points to it
	Field int     // offset of the pointer in a struct parameter
	index int
}

// Tag names the barrier instance that a thread passed last, or is about to pass: the barrier instruction (0:
// kernel entry, Exit: the end) and the iteration of each loop with barriers that it stands in.
type Tag struct {
	Barrier smt.Term
	Iters   []smt.Term // by barrier loop; 0 outside
}

// Access is what one memory instruction does, if Guard holds.
type Access struct {
	Instr  *ir.Instr
	Guard  smt.Term
	Object *Object  // nil: may be any of its space
	Offset smt.Term // 64 bits, from the start of Object; without an Object the address
	Size   int
	Space  event.Space // Shared or Global; Generic if Object is nil and nothing said which
	Kind   event.Kind
	Order  event.Order
	Scope  event.Scope
	Values []smt.Term // the elements that a store writes; nil if it is none
	// Result is what an atomic on one word returns; smt.False if it is none.
	Result smt.Term
	Start  Tag
	Warp   Tag // the last barrier of the block or the warp, if there are WarpEnds
	Grid   Tag // the last barrier of the grid
	// Together, of a thread in lock step with its warp: it comes to the place of the access together with all lanes of its warp that
	// come there.
	Together smt.Term
	// Async says that the access is made at some time from the instruction on, until the thread waits for it.
	Async bool
	// Unsettled says of such an access that it may last beyond a barrier of the warp, which then does not end it.
	Unsettled bool
	// Pending are the copies whose accesses the thread itself may not have waited for when it makes this one.
	Pending []*ir.Instr
	Iters   []smt.Term // of all loops around, outermost first
	Place   Place
}

// End is the end of a barrier interval: a barrier, or the exit of the thread.
type End struct {
	Instr *ir.Instr // nil for the end of the kernel
	Guard smt.Term
	Bare  smt.Term // Guard without what annotations made known: the thread may be on its way here before it is known
	Start Tag
	At    Tag
}

// Thread is the result: everything that one arbitrary thread may do.
type Thread struct {
	Context  *smt.Context
	Func     *ir.Func
	Accesses []Access
	Ends     []End
	// WarpEnds are the ends of intervals between barriers of the warp, with Access.Warp as their start. If lanes of one warp cannot come
	// to different ones, accesses of theirs with different Warp are ordered. Empty if there are none.
	WarpEnds []End
	// Waits says that operations of a warp wait for lanes, beyond those that WarpEnds are about.
	Waits bool
	// GridEnds are the ends of intervals between barriers of the grid, at which the threads of all blocks wait for each other, with
	// Access.Grid as their start. Empty if there are none.
	GridEnds []End
	Objects  []*Object
	Tid      [3]smt.Term
	Ctaid    [3]smt.Term
	Ntid     [3]smt.Term // the launch: constants, but for dimensions that are arbitrary
	Nctaid   [3]smt.Term
	Geometry event.Geometry // the largest launch, if some are
	Assumed  []smt.Term     // of every thread
	Axioms   *Axioms

	Assertions []Assertion
	// BarrierFacts are barrier invariants on which guards rest where they are trusted.
	BarrierFacts []BarrierFact
	Others       map[string]Other // what symbols in conditions stand for
	// Taken are the symbols for "an atomic of this thread has returned a value before", with the array of the atomic. Their last arguments
	// are the offset and the value, 64 bits each.
	Taken    map[string]*Object
	Given    map[string]uint64 // parameters, by ParamName, whose values preconditions fix: they have no symbol
	Extern   []string          // functions without a body that the thread may call, as Options.PureExtern takes them; sorted
	Slots    *Slots
	Loops    []Loop
	Lockstep bool // Options.Lockstep
	// Approximate lists what was taken to be more than it is: reasons why a counterexample may be spurious.
	Approximate []string
}

// Linear is the index of the thread in its block, x fastest: warps are cut from it (PTX ISA 10.4).
func (t *Thread) Linear() smt.Term {
	c := t.Context
	r := c.Add(t.Tid[0], c.Mul(t.Tid[1], t.Ntid[0]))
	return c.Add(r, c.Mul(t.Tid[2], c.Mul(t.Ntid[0], t.Ntid[1])))
}

// UnsupportedError says which construct of a kernel has no lock-step form.
type UnsupportedError struct {
	Instr *ir.Instr // nil if it is not one instruction
	What  string
}

func (e *UnsupportedError) Error() string { return "unsupported: " + e.What }

// ErrTerms says that the terms of a kernel went beyond the budget.
type ErrTerms struct{ Limit int }

func (e *ErrTerms) Error() string { return "term budget used up" }
