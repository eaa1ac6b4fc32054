// Package emu executes kernels of the IR on an emulated SIMT machine, 32 lanes at a time, and sends what
// they do to memory and synchronization to an event.Sink. It detects no races.
//
// What it follows: PTX ISA 3 (machine model), 9 (instructions).
package emu

import (
	"context"
	"fmt"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/launch"
	"heddle/internal/source"
)

// WarpModel says how the lanes of a warp are scheduled against each other.
type WarpModel uint8

const (
	// Independent is sm_70 and later: every path of a divergent warp makes progress.
	Independent WarpModel = iota
	// Lockstep is the SIMT stack: one path of a branch runs to reconvergence, then the other.
	Lockstep
)

// Options are the choices of one run.
type Options struct {
	Model    WarpModel
	Seed     uint64                                        // fixes the schedule
	MaxSteps uint64                                        // warp instructions; 0: a default of DefaultMaxSteps
	Workers  int                                           // goroutines for independent blocks; 0: all cores
	Block    *uint32                                       // the only block to run; nil: all
	Resident int                                           // blocks that run at a time; 0: chosen from the launch
	Progress func(steps uint64, blocksDone, blocks uint64) // called now and then; may be nil
	Printf   func(thread event.Thread, text string)        // output of the kernel's printf; may be nil
}

// DefaultMaxSteps is the step budget when none is given.
const DefaultMaxSteps = 2_000_000_000

// Status says how a run ended.
type Status uint8

const (
	Completed   Status = iota
	Stopped            // by an error of the kernel or a construct that is not supported: Result.Stop says why
	Stalled            // some block could not make progress; a Stall event was sent for each
	StepLimit          // the budget was used up
	Interrupted        // the context was cancelled
)

// StopKind says why a run stopped.
type StopKind uint8

const (
	Unsupported    StopKind = iota // a limit of heddle, never a bug of the user
	DependsOnInput                 // a branch, address or barrier operand needs an unknown value
	OutOfBounds
	Misaligned
	Trap
	AssertFailed
	BadBarrier // id above 15, count that is no multiple of the warp size, ...
	StackOverflow
	OutsideAssumptions // __requires or __assume does not hold: the kernel is not meant for this run
)

// Stop is the reason for which a run stopped.
type Stop struct {
	Kind         StopKind
	Site         event.Site
	Thread       event.Thread
	Block, Index event.Dim3 // blockIdx and threadIdx of Thread
	Message      string
}

// Result is what one run came to.
type Result struct {
	Status     Status
	Stop       *Stop  // for Stopped
	Steps      uint64 // warp instructions executed
	LaneInstrs uint64
	Blocks     uint64 // blocks that ran to their end
	// Annotations of heddle.h that did not hold, in the order in which they failed.
	Annotations []FailedAnnotation
	// Maybe has the accesses of a trace that it made on paths that perhaps no input takes.
	Maybe map[event.Site]bool

	mem *memory
}

// Machine is one kernel prepared for one launch. It may be run many times; runs do not share memory.
type Machine struct {
	kernel *ir.Func
	cfg    *launch.Config
	prog   *program
}

// SiteInfo turns a site into places.
type SiteInfo struct {
	Instr *ir.Instr
	// Stack is where the instruction is, innermost first: its own inline stack, then that of each call
	// that is on the call stack. Entries are nil where there is no line information; Stack[i+1] belongs to
	// Calls[i]. A recursive call is shown with the calls that led to the function's first activation.
	Stack []*source.Frame
	Calls []*ir.Instr // the call instructions that led here, innermost first
}

// UnsupportedError says which construct of a kernel the emulator does not execute. New returns it only for
// what makes the whole kernel unusable; an instruction that is not executable stops a run when reached.
type UnsupportedError struct {
	Span source.Span
	What string
}

func (e *UnsupportedError) Error() string { return fmt.Sprintf("unsupported: %s", e.What) }

// Object names a piece of memory for reports.
type Object struct {
	Name  string
	Space event.Space
	Base  uint64
	Size  uint64 // 0: unbounded
}

// Run executes the launch and sends its events to sink, which may be nil. It returns an error only for a
// launch that cannot start.
func (m *Machine) Run(ctx context.Context, opt Options, sink event.Sink) (*Result, error) {
	return m.run(ctx, opt, sink)
}
