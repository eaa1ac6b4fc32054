package thread

import (
	"heddle/internal/ir"
	"heddle/internal/smt"
)

// AssertionKind says what an Assertion was in the source.
type AssertionKind uint8

// The kinds of assertions.
const (
	Asserted AssertionKind = iota
	Invariant
	Precondition // of a called function
	Postcondition
	BarrierInvariant
	KnownTarget // an indirect call reaches known functions only
	NotEndless  // no thread reaches a loop that nothing leaves
	Assumed     // not checked, except that it can hold
)

var assertionNames = [...]string{"assertion", "invariant", "precondition", "postcondition",
	"barrier invariant", "list of callees", "end of each loop", "assumption"}

// String names the kind in messages.
func (k AssertionKind) String() string { return assertionNames[k] }

// Assertion is a condition that must hold for every thread that reaches it.
type Assertion struct {
	Instr *ir.Instr
	Kind  AssertionKind
	Guard smt.Term
	Cond  smt.Term
	Iters []smt.Term // the counters of all loops around, outermost first
	Place Place
	Logs  []Log // the symbols in Cond that stand for an access
	// Reads are the loads of the condition, as accesses of the thread. The condition is about the
	// values that other threads see only if none of them writes these places in the same barrier
	// interval.
	Reads []Access
}

// Log is a question of a condition about the accesses that the thread has made since the last
// barrier: whether there was one (Has), and its offset in bytes. The condition must hold for each
// of them, and for none.
type Log struct {
	Object *Object
	Writes bool
	Has    smt.Term
	Offset smt.Term
	Start  Tag // of the barrier interval, for the memory that the array is in
}

// Other explains a symbol that stands for a value of the other thread of a pair: it is Value where
// the other thread reaches the place (Here), else Absent. Loops are the counters of the loops
// around, which are the symbol's arguments.
//
// Known is what the annotations on its path have told the other thread, if it is here: both threads
// reach an annotation together, and so have passed the same ones before.
type Other struct {
	Here, Known, Value, Absent smt.Term
	Loops                      []smt.Term
}

// BarrierFact is a barrier invariant that is used behind its barrier, if Trusted holds.
type BarrierFact struct {
	Trusted smt.Term
	Reads   []Access // the loads of the invariant, as accesses of the thread
}
