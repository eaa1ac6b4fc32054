// Package repair makes a kernel with data races or barrier divergence correct: it chooses where barriers must stand,
// transforms the control flow where no barrier may stand at such a place, and gives the result as edits of the PTX
// text.
//
// What it follows: Wu, Zhang, Liu, Tan and Zhang, "Automating CUDA Synchronization via Program Transformation" (AuCS,
// ASE 2019), section IV.
//
// Where it goes on from there:
//
//   - A place needs no flattening of the whole region between its basic predecessor and its basic successor
//     (Algorithms 1 and 3): labels are given levels, and only edges from one level to another pass a stable block, which
//     holds the barrier. All other edges stay. With a barrier after every label that is the paper's form.
//   - The entry condition of a label (rules 1 and 2, Algorithm 2) is not an expression over branch conditions, which
//     needs SSA form, but the value of one register: the label at which the thread goes on. It is written when the
//     branch is taken. That two labels without a path between them are not both entered (Theorem 1) holds because the
//     register has one value.
//   - A loop whose trip count differs between threads, which the paper leaves open, goes round until no thread is in it,
//     by bar.red.or at the first barrier of the iteration.
//
// The package asks a Judge for races and divergence and takes nothing for repaired that the Judge does not accept.
package repair

import (
	"fmt"

	"heddle/internal/ir"
	"heddle/internal/ptx"
	"heddle/internal/source"
)

// Kernel is what is to be repaired.
type Kernel struct {
	File *source.File // the PTX text
	Tree *ptx.Func    // the kernel's definition in it
	Func *ir.Func
}

// Point is a place of a kernel: before instruction Index of a block, or behind the last one.
type Point struct {
	Block ir.BlockID
	Index int
}

// Plan is a kernel's new synchronization: what the edits are to achieve.
type Plan struct {
	// Barriers are the places for block barriers. Where not all threads of a block come, the control flow is
	// transformed so that all do, unless the place is in Bare.
	Barriers []Point
	// Bare are places for block barriers that are put there and nothing else: all threads come there for a reason that
	// the Judge knows.
	Bare []Point
	// Warps are the places for barriers of a warp.
	Warps []Point
	// Drop are the block barriers of the kernel, by Instr.Index, that go away.
	Drop map[int]bool
	// Split are the block barriers of the kernel, by Instr.Index, to which the control flow is to bring all threads.
	Split map[int]bool
	// Serial brings the places in different branches one after the other, in the order of the source (Algorithm 1);
	// otherwise threads of different branches may meet at one barrier.
	Serial bool
	// Texts replaces instructions, by Instr.Index.
	Texts map[int]string
	// Inserts puts instructions at places.
	Inserts []Insert
}

// Insert is an instruction of a plan.
type Insert struct {
	At   Point
	Text string
}

// An Unsupported error says why a plan cannot be carried out on a kernel.
type Unsupported struct {
	Span source.Span
	What string
}

func (e *Unsupported) Error() string { return e.What }

func unsupported(in *ir.Instr, format string, args ...any) error {
	e := &Unsupported{What: fmt.Sprintf(format, args...)}
	if in != nil {
		e.Span = in.Span
	}
	return e
}
