// Package explore enumerates the executions that the PTX memory model (memmodel) allows for a small
// program, each once, without a schedule: an execution is the choice of a write for each read and
// of the orders that the model leaves open. docs/theory/memory-model.md has the algorithm and why
// it misses and repeats nothing.
package explore

import (
	"heddle/internal/event"
	"heddle/internal/memmodel"
)

// Program is a program of a few threads over a fixed set of locations.
type Program struct {
	Threads   []Thread
	Locations []Location
	// Locate returns the location that an address names, for instructions with an Addr. Those that no
	// access has named before need not be among Locations. It is nil if no instruction has an Addr.
	// The error is that of the access, a clause: it ends the program there (Fault).
	Locate func(thread int, in *Inst, addr int64) (Location, error)
	// Same reports whether two instructions of different threads compute the same from the same
	// operands. nil: threads are not compared, and none are symmetric.
	Same func(a, b *Inst) bool
	// OneWarp says that the launch that is meant, if it is known, has one warp. The one that is explored
	// may have fewer threads.
	OneWarp bool
	// Silent says that nobody reads the registers when a thread has ended.
	Silent bool
}

// Location is a cell of memory that every access to it reads or writes as one value.
type Location struct {
	Name  string
	Value int64 // initially

	// Of those that Locate returns: locations of one area that share bytes are one location, or an
	// error. Area tells memories apart whose addresses are unrelated.
	Area int
	Addr uint64
	Size int
}

// Thread is the program of one thread.
type Thread struct {
	Name     string
	Position memmodel.Position
	Warp     int // a number of its warp, among all warps
	Code     []Inst
	Regs     []int64 // initial values
}

// Kind is the kind of an instruction.
type Kind uint8

// The instructions.
const (
	Load     Kind = iota // Dst = memory
	Store                // memory = Args[0]
	Update               // an atomic read-modify-write
	Fence                //
	Barrier              //
	Compute              // Dst = Eval(Args)
	Branch               // to Target if Eval(Args) is not 0
	Exchange             // among the lanes of a warp: Dst = Eval(members, Args[1:], Args[0] of each lane)
	Fail                 // ends the program with an error, which Why names
)

// Inst is one instruction. Which fields it uses follows from Kind.
type Inst struct {
	Kind   Kind
	Order  event.Order
	Scope  event.Scope
	Loc    int
	Addr   *Operand // of an access whose location depends on registers; Loc is not used then
	Offset int64    // added to Addr
	Size   int      // bytes, with an Addr
	// Element numbers, from 1, the elements of one vector access, which are executed in an unspecified
	// order (PTX ISA 8.2.2). They follow each other in the code; 0: not part of a vector.
	Element int
	// ReadOnly is set for a load that may return an old value if any thread writes to its location
	// (ld.global.nc).
	ReadOnly bool
	Dst      int // register, or -1
	Args     []Operand
	Target   int

	// Eval computes a value from those of Args; ok is false where it has none, such as a division by
	// zero. For an Update, the value in memory precedes those of Args.
	Eval func(args []int64) (v int64, ok bool)
	// Update is what an Update does besides.
	Update UpdateKind
	Reduce bool // red: the value read goes nowhere
	// Commutes names the function of a Modify if updates of one name leave the same value in any
	// order.
	Commutes string

	// Barriers of one CTA are the same if both values of Name are equal. Count is the number of
	// threads that take part; nil means those of the CTA that can still arrive.
	Name   [2]Operand
	Count  *Operand
	Arrive bool // does not wait

	// Peers are the threads of the warp of an Exchange or of a barrier of a warp, by lane. Name[0] is
	// the mask of those that take part; Args[0] of others is 0 for Eval. Exchanges with one Text are
	// one operation.
	Peers []int

	// Input is set for a Compute that returns a parameter: constant in a launch, and not in the code.
	Input bool

	Why  string // of a Fail, a clause: "fails an assertion"
	Text string // for people: the instruction
	At   string // and where it is
	Site any    // of whoever made the program
}

// UpdateKind distinguishes atomic operations by what decides the value written.
type UpdateKind uint8

// The kinds of updates.
const (
	Modify         UpdateKind = iota // Eval, from the value read
	Swap                             // Args[0], whatever was read
	CompareAndSwap                   // Args[1], and nothing unless Args[0] was read
)

// Operand is a register or a constant.
type Operand struct {
	IsReg bool
	Reg   int
	Value int64
}

// Const returns a constant operand.
func Const(v int64) Operand { return Operand{Value: v} }

// Reg returns a register operand.
func Reg(r int) Operand { return Operand{IsReg: true, Reg: r} }

// value is a value that may depend on reads without a source yet.
type value struct {
	known int64
	from  *node // nil: known
	deps  memmodel.Set
}

// node computes a value later: what event read has read, or a function.
type node struct {
	read int // -1: Eval(args)
	eval func([]int64) (int64, bool)
	args []value
}
