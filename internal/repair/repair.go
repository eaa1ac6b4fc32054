// Package repair makes a kernel with data races or barrier divergence correct. It chooses where
// barriers must be, transforms the control flow where not all threads reach such a place, and
// returns the result as edits of the PTX text.
//
// It follows Wu, Zhang, Liu, Tan and Zhang, "Automating CUDA Synchronization via Program
// Transformation" (AuCS, ASE 2019), section IV, and differs from it as follows.
//
//   - A place needs no flattening of the whole region between its basic predecessor and its basic
//     successor (Algorithms 1 and 3): labels are given levels, and only edges from one level to
//     another pass through a stable block, which holds the barrier. All other edges remain. With a
//     barrier after every label the result is the paper's form.
//   - The entry condition of a label (rules 1 and 2, Algorithm 2) is not an expression over branch
//     conditions, which needs SSA form, but the value of one register: the label at which the
//     thread continues. It is written when the branch is taken. Two labels without a path between them are
//     never both entered (Theorem 1), because the register has one value.
//   - A loop whose trip count differs between threads, which the paper leaves open, iterates until
//     no thread remains in it, by bar.red.or at the first barrier of the iteration.
//
// The package asks a Judge for races and divergence, and never calls a kernel repaired that the
// Judge does not accept. What the Judge misses stays unrepaired. The search is not exhaustive: a
// kernel may be repairable although no plan is found.
package repair

import (
	"fmt"

	"heddle/internal/ir"
	"heddle/internal/ptx"
	"heddle/internal/source"
)

// Kernel is a kernel to repair.
type Kernel struct {
	File *source.File // the PTX text
	Tree *ptx.Func    // the kernel's definition in it
	Func *ir.Func
}

// Point is a place in a kernel: before instruction Index of a block, or behind its last
// instruction.
type Point struct {
	Block ir.BlockID
	Index int
}

// Plan is a kernel's new synchronization: what the edits achieve.
type Plan struct {
	// Barriers are the places for block barriers. Where not all threads of a block reach one, the
	// control flow is transformed so that they do, unless the place is in Bare.
	Barriers []Point
	// Bare are places for block barriers that need no transformation: all threads reach them for a
	// reason that the Judge knows.
	Bare []Point
	// Warps are the places for warp barriers.
	Warps []Point
	// Drop holds the block barriers of the kernel to remove, by Instr.Index.
	Drop map[int]bool
	// Split holds the block barriers of the kernel that all threads must reach after the
	// transformation, by Instr.Index.
	Split map[int]bool
	// Serial executes the places in different branches one after another, in source order (Algorithm
	// 1); otherwise threads of different branches may share one barrier.
	Serial bool
	// Texts replaces the text of instructions, by Instr.Index.
	Texts map[int]string
	// Uses say what the instructions of Texts do with mbarriers then, by Instr.Index, if they do.
	Uses map[int]*Tracked
	// Inserts adds instructions at places.
	Inserts []Insert
}

// Insert is an instruction that a plan adds.
type Insert struct {
	At   Point
	Text string
	Use  *Tracked // what it does with an mbarrier; nil: nothing
	// Moved is the instruction of the kernel that this is, which the plan removes where it was; nil:
	// it is new.
	Moved *ir.Instr
}

// TrackedKind is what an instruction does with an mbarrier.
type TrackedKind uint8

// The kinds of instructions that a plan adds or changes.
const (
	WaitFor  TrackedKind = iota // waits for a phase, by parity
	ArriveAt                    // arrives
	Announce                    // announces bytes; it may arrive too
)

// Tracked is what an instruction that a plan adds or changes does with an mbarrier, for a text in
// which registers have no names.
type Tracked struct {
	Kind TrackedKind
	Op   string // the opcode: mbarrier.arrive.shared::cta.b64
	// Names are instructions of the kernel that name the object, by whatever register.
	Names   []*ir.Instr
	Parity  *Parity // of WaitFor
	Bytes   int64   // of Announce; -1: as many as the instruction has
	Arrives bool    // of Announce
	Count   int     // of ArriveAt; 0: 1
	// Guarded says that it is executed under a predicate, and Guard is the instruction that writes that,
	// if there is one alone.
	Guarded bool
	Guard   *ir.Instr
	Lanes   Lanes // whose predicate is new; 0: it is one of the kernel
}

// Lanes are the lanes that execute an instruction.
type Lanes uint8

const (
	_           Lanes = iota
	FirstLane         // lane 0 of each warp
	FirstThread       // thread 0 of the block
)

// String names the lanes.
func (l Lanes) String() string {
	return [...]string{"", "by lane 0 of each warp", "by thread 0"}[l]
}

// Parity is a parity: a number, that of a wait of the kernel, or a bit of a loop's counter.
type Parity struct {
	Number  int
	Of      *ir.Instr // a wait with this parity
	Counter *ir.Instr // that steps the counter
	Shift   int       // of the counter
	Inverse bool      // of all but Number
}

// An Unsupported error is the reason why a plan cannot be carried out on a kernel.
type Unsupported struct {
	Span source.Span
	What string
}

// Error is the reason alone; Span is where it applies.
func (e *Unsupported) Error() string { return e.What }

func unsupported(in *ir.Instr, format string, args ...any) error {
	e := &Unsupported{What: fmt.Sprintf(format, args...)}
	if in != nil {
		e.Span = in.Span
	}
	return e
}
