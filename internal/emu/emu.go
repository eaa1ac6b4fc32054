// Package emu executes kernels of the IR on an emulated SIMT machine, 32 lanes at a time, and sends
// what they do to memory and synchronization to an event.Sink. It detects no races.
//
// It follows the PTX ISA, chapters 3 (machine model) and 9 (instructions). One run is one legal
// execution for one schedule, which the seed fixes. What another schedule would do is not seen; the
// detector behind the sink generalizes over schedules by happens-before.
package emu

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/launch"
	"heddle/internal/order"
	"heddle/internal/source"
)

// Options are the choices of one run.
type Options struct {
	Model event.WarpModel
	Seed  uint64 // fixes the schedule
	// warp instructions after which a run ends; 0: DefaultMaxSteps
	MaxSteps uint64
	// bytes that a run and the consumer of its events may allocate, nearly; 0: DefaultMemory
	Memory uint64
	// DropEvents makes a run go on without the consumer of its events if the two take more than
	// Memory, for callers who need the results. Otherwise the run ends.
	DropEvents bool
	// goroutines that execute independent blocks; 0: one for each core
	Workers int
	// Blocks are the only blocks to run, each once; nil: all. Blocks that wait for others stall.
	Blocks []uint32
	// StopAtFault ends the run at the first invalid access, for callers to whom it is no finding.
	StopAtFault bool
	// blocks that are resident at a time; 0: chosen from the launch
	Resident int
	Progress func(steps uint64, blocksDone, blocks uint64) // called now and then; may be nil
	Printf   func(thread event.Thread, text string)        // output of the kernel's printf; may be nil
	// Touched collects the bytes of global memory that the run accesses; nil: nothing is collected
	Touched *order.Touched

	// Host is what runs beside the kernel; nil: nothing. It is called at the start and the end of the
	// run, between turns of warps, and when all threads only spin: then stuck is set. It returns
	// whether it has changed memory: the run then goes on, although all threads may have waited for
	// just that.
	Host func(mem HostMemory, stuck bool) (changed bool)

	// Outside is called when all threads only spin: it reports whether a program that shares the
	// memory may still change what they read, after it has waited for that a little while; the run
	// then goes on. nil: nothing else changes the memory.
	Outside func() bool

	// Requests is how many requests of a cluster to cancel another one succeed in a trace.
	Requests uint64

	// Round makes a trace of a machine from NewTraceOfRounds execute its loops round by round; nil:
	// it does not. Whenever no thread can go on without beginning another round, it is called with
	// all threads that are about to begin one.
	Round func(*Round)

	// Times is called, with an event sink, for each block that a worker has executed ahead, once its
	// events are sent; nil: nothing is measured.
	Times func(BlockTime)

	// Peek lets the sink read registers; nil: it does not. Blocks then do not run ahead.
	Peek *Peek

	// Grids observes the grids that threads launch; nil: nothing does.
	Grids *Grids

	points uint64 // Result.points of the run with seed 0; policy priorities only
	origin uint32 // of site 0, in Touched
	number uint64 // of the launch in its arena: see mapChanges
}

// BlockTime is what a block took that a worker has executed ahead.
type BlockTime struct {
	Ahead time.Duration // of a worker
	Apply time.Duration // while the workers wait
	Send  time.Duration // beside the workers
	Steps uint64        // warp instructions
	Log   uint64        // bytes
}

// DefaultMaxSteps is the number of warp instructions after which a run ends by default.
const DefaultMaxSteps = 2_000_000_000

// DefaultMemory bounds the memory of a run by default, in bytes.
const DefaultMemory = 1 << 30

// Meter is implemented by consumers of events that count the memory they take.
type Meter interface {
	Memory() uint64 // in bytes
}

// Status says how a run ended.
type Status uint8

// The possible ends of a run.
const (
	Completed Status = iota
	// An error of the kernel, or an unsupported construct, which Result.Stop describes. It ended the
	// run, unless it is the first of Result.Faults: then the run went on to its end.
	Stopped
	Stalled     // some block could not make progress; a Stall event was sent for each
	StepLimit   // the budget was used up
	Interrupted // the context was cancelled
)

// StopKind says why a run stopped.
type StopKind uint8

// The reasons for a stop. All but Unsupported, DependsOnInput, OutsideAssumptions, MemoryLimit,
// Spinning and GridFailed are errors of the kernel or of its launch.
const (
	Unsupported    StopKind = iota // a limit of heddle, never a bug of the user
	DependsOnInput                 // a branch, address or barrier operand needs an unknown value
	OutOfBounds
	Misaligned
	Trap
	AssertFailed
	BadBarrier // id above 15, count that is not a multiple of the warp size, ...
	StackOverflow
	OutsideAssumptions // __requires or __assume is false: the kernel excludes this launch
	MemoryLimit        // the run needs more than Options.Memory
	Spinning           // every remaining thread waits for a change of memory that none of them makes
	// Deadlock: as Spinning, and they wait at mbarriers, perhaps at numbered barriers too:
	// Result.Waits.
	Deadlock
	BytesMismatch         // the same, and nothing but bytes is missing, or too many have arrived
	MBarrierUninitialized // an operation where there is no object
	MBarrierReinit        // initialization of an object that is in use
	MBarrierOverwritten   // an ordinary access to an object
	MBarrierInvalEarly    // invalidation while operations are under way
	MBarrierExcess        // more arrivals than a phase expects
	MBarrierRange         // a count outside of its limits
	MBarrierState         // a wait for a phase that the object does not know
	BulkAlignment         // a size or an address of a bulk copy that is no multiple of 16
	WarpgroupRegister     // of a wgmma that is under way
	WarpgroupFence        // no wgmma.fence before a wgmma
	WarpgroupDivergence   // warps of a warpgroup that do not execute the same instructions
	TensorAllocation      // of tensor memory, or the end of one, that the ISA does not allow
	TensorLeft            // tensor memory that is allocated when its block ends
	TensorRelinquished    // an allocation behind the end of the right to allocate
	TensorNoAllocation    // the end of an allocation that does not exist
	TensorBounds          // an access outside of what is allocated, or of what the warp may access
	TensorFreed           // an access to columns that have been freed
	TensorOperand         // a descriptor or an address of tcgen05 that does not exist
	CancelAfterFailure    // a request to cancel a cluster although one is known to have failed
	RegisterPool          // threads wait for registers that the block will never have
	RemoteAddress         // of another block's memory, for an instruction that reaches its own only
	PeerExited            // an access to the memory of a block of the cluster that has ended
	GridFailed            // an error in a grid that a thread has launched, which Options.Grids sees
)

// Stop describes why a run stopped, and which thread caused it.
type Stop struct {
	Kind         StopKind
	Site         event.Site
	Thread       event.Thread
	Block, Index event.Dim3 // blockIdx and threadIdx of Thread
	Message      string
	AfterFault   bool // Thread had made an invalid access before, at another place: see Result.Faults
	Shared       bool // the access was to shared memory, by an instruction or an operand for it
	Bound        Bound
	Object       *ObjectAt // the mbarrier that a wrong operation is on; nil: none
	In           StopKind  // of GridFailed: the kind of the error in the grid
}

// ObjectAt is an mbarrier of a block.
type ObjectAt struct {
	Block uint32
	Addr  uint64 // an offset into the block's shared memory
}

// Bound says how an access misses an array of one dimension: its element Index does not exist. The
// zero Bound says nothing.
type Bound struct {
	Elements uint64
	Index    int64
}

// Result is the result of one run.
type Result struct {
	Status Status
	Stop   *Stop // for Stopped
	// Faults are the places of invalid accesses, in the order in which they were found, of a run that
	// went on after them. What threads did after an invalid access may be a consequence of it.
	Faults     []Fault
	Steps      uint64 // warp instructions executed
	LaneInstrs uint64
	Blocks     uint64 // blocks of which all threads have exited
	// Dropped says that events were dropped (Options.DropEvents), after Watched blocks had ended.
	Dropped bool
	Watched uint64
	// Annotations of heddle.h that did not hold, in the order in which they failed.
	Annotations []FailedAnnotation
	// Maybe contains the sites of accesses that a trace made on paths which perhaps no input takes.
	Maybe map[event.Site]bool
	// Waits are the phases of mbarriers for which threads wait, if Stop.Kind is Deadlock or
	// BytesMismatch, and the numbered barriers.
	Waits []PhaseWait
	// Leftovers are asynchronous operations that no thread waited for.
	Leftovers []Leftover
	// Starves says, of a trace, that with another schedule a thread may wait for registers for ever.
	Starves bool
	// Requests is, of a trace, the largest number of requests of a cluster to cancel another one.
	Requests uint64
	// Spins are the places at which the remaining threads wait, if Stop.Kind is Spinning.
	Spins []Spin

	mem *memory
	// accesses by which threads synchronize; of the block with the most, if blocks run in order
	points uint64
}

// Machine is one kernel prepared for one launch. It may be run any number of times; runs share no
// memory, unless the machine is one of a Program: then each run changes the memory of its arena.
type Machine struct {
	kernel *ir.Func
	cfg    *launch.Config
	prog   *program

	mu      sync.Mutex
	counted countedPoints
}

// SiteInfo describes a site by its instruction and its places in the source.
type SiteInfo struct {
	Instr *ir.Instr
	// Stack is the position of the instruction, innermost first: its own inline stack, then that of
	// each active call. Entries are nil where there is no line information; Stack[i+1] belongs to
	// Calls[i]. A recursive call is shown with the calls that led to the first activation of the
	// function.
	Stack []*source.Frame
	Calls []*ir.Instr // the call instructions that led here, innermost first
}

// UnsupportedError names a construct that the emulator does not execute. New returns it only for
// constructs that make the entire kernel unusable; an instruction that is not executable stops a
// run when it is reached.
type UnsupportedError struct {
	Span source.Span
	What string
}

// Error returns the message for users.
func (e *UnsupportedError) Error() string { return fmt.Sprintf("unsupported: %s", e.What) }

// Object names a piece of memory for reports.
type Object struct {
	Name  string
	Space event.Space
	Base  uint64
	Size  uint64   // 0: unbounded
	Shape ir.Shape // of the array, if it is known
}

// Run executes the launch and sends its events to sink, which may be nil. It returns an error only
// for a launch that cannot start.
func (m *Machine) Run(ctx context.Context, opt Options, sink event.Sink) (*Result, error) {
	if a := m.prog.arena; a != nil && a.mem == nil {
		return nil, errors.New("the memory of the kernel is not here: it can be described, not run")
	}
	return m.run(ctx, opt, sink)
}
