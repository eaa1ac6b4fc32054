// Package lockstep runs one arbitrary thread of a kernel symbolically, once, in predicated form:
// control flow is flattened except for loops, values that meet become choices, and what the thread
// does to memory and at barriers becomes guarded accesses and ends of barrier intervals (package
// thread). Two renamed instances of the result are the two threads of the lock-step form
// (Collingbourne et al., "Interleaving and lock-step semantics for analysis and verification of GPU
// kernels", ESOP 2013, sections 4.1 and 4.2).
//
// What it follows: the paper's predication of reducible control flow, with the reach condition of a
// block as a term in place of the variable v_active, and a loop's counter v_L as a free variable k.
//
// Deviations: in place of the paper's lock-step execution of a loop it describes an arbitrary
// iteration k (package loop). Barriers are no assertions in the program but tags: each access
// carries the barrier instance that its thread passed last, (barrier, iteration vector), and two
// accesses of one block can race only if their tags are equal.
//
// What it can miss: nothing within the stated assumptions. Loops are assumed to run at most 2^32
// times; an access behind a loop assumes that the loop terminates; accesses stay within the array
// that their address is computed from, and pointer parameters neither alias each other nor
// variables. Loads see the memory of the start of their barrier interval (package memory), which
// holds up to the first race.
//
// The parts, each a package with an interface of its own, and below them the contract with the
// users of the result:
//
//	kernel      facts of the control-flow graph, computed once
//	memory      what a thread finds in memory
//	annotation  assertions, assumptions and contracts
//	loop        closed forms, and axioms of loops
//	compute     terms of arithmetic instructions
//	join        merging of paths
//	thread      the result: accesses, ends, loops, axioms
//	symbol      the names of symbols
//
// This package executes: blocks in the order of ir.LoopForest.Order (region.go), instructions
// (insn.go), accesses (access.go) and barriers (barrier.go), in passes until nothing new is learned
// (Build).
package lockstep

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/lockstep/memory"
	"heddle/internal/lockstep/symbol"
	"heddle/internal/lockstep/thread"
)

// Options are what is fixed about a launch, and the abstractions to use.
type Options struct {
	Geometry event.Geometry
	Any      Any // the dimensions that Geometry does not fix
	// Args holds the values of scalar parameters that are known, by index.
	Args map[int]uint64
	// Pointers says where pointers among the parameters point, of those that do not point to the start
	// of an array of their own.
	Pointers map[Pointer]Target
	// Adversarial takes each load of an array that the kernel writes to be anything. Otherwise loads
	// of one place in one barrier interval agree, between threads too, which holds up to the first
	// race.
	Adversarial bool
	// Unstable takes each load of global memory to be anything, also of an array that the kernel does
	// not write: the host or another kernel may write there while the kernel runs.
	Unstable bool
	// NoWrap takes sums and products of 32 bits that are extended as signed numbers to have their
	// exact value: the result describes only executions in which none of them wraps.
	NoWrap bool
	// PureExtern assumes that functions without a body return, touch no memory but the thread's own,
	// and synchronize nothing. Their results may be anything, at each call.
	PureExtern bool
	// Lockstep takes the lanes of a warp to execute each instruction together, until they diverge at a
	// branch.
	Lockstep bool
	// Merges are merge points of Thread.Merges, of an earlier Build with Lockstep, that all lanes of
	// a warp pass in the same iterations (verify.Merges): they order the lanes of the warp.
	Merges []ir.BlockID
	// OnlyAssumptions leaves out the annotations that are checked, and what they would make known.
	OnlyAssumptions bool
	// Terms bounds the number of terms; 0: DefaultTerms.
	Terms int
}

// DefaultTerms is the default of Options.Terms.
const DefaultTerms = 3_000_000

// The result of Build is described in package thread. These are the names that users of Build need.
type (
	Thread           = thread.Thread
	Object           = thread.Object
	Any              = thread.Any
	Assertion        = thread.Assertion
	Log              = thread.Log
	UnsupportedError = thread.UnsupportedError
	ErrTerms         = thread.ErrTerms
	Pointer          = memory.Pointer
	Target           = memory.Target
)

// Assumed is the kind of an assertion that is not checked.
const Assumed = thread.Assumed

// NotEndless is the kind of an assertion that no thread reaches a loop that nothing leaves.
const NotEndless = thread.NotEndless

// ParamName is the name of the variable for the w bits at a byte offset of a parameter: a model
// gives them by it.
func ParamName(v *ir.Var, off, w int) string { return symbol.ParamName(v, off, w) }

// HostName is the name of the variable for a value of the host code: it is the same for the grid.
func HostName(name string) string { return symbol.Grid + "host:" + name }

// maxPasses bounds the fixpoint over what is known of loops, until they are given up. Each pass
// settles at least one register of a loop.
const maxPasses = 24

// Build runs one thread of f symbolically. Its error is an *UnsupportedError, an *ErrTerms, or that
// of ctx.
//
// It executes the kernel in passes, each with what the previous one learned about loops, about
// where accesses lead, and from preconditions, until a pass learns nothing new. Then it executes it
// once more, and records accesses and ends. That last pass also verifies: had it learned anything,
// its result would rest on facts that do not hold.
func Build(ctx context.Context, f *ir.Func, opt Options) (th *Thread, err error) {
	opt.Geometry = opt.Any.Widest(opt.Geometry, f.Module != nil && f.Module.OpenCL)
	if opt.Terms == 0 {
		opt.Terms = DefaultTerms
	}
	f, err = ir.Inline(f)
	if no := (*ir.InlineError)(nil); errors.As(err, &no) {
		return nil, &UnsupportedError{Instr: no.Instr, What: no.What}
	}
	defer func() {
		switch e := recover().(type) {
		case nil:
		case *UnsupportedError:
			th, err = nil, e
		case *ErrTerms:
			th, err = nil, e
		case stopped:
			th, err = nil, e.error
		default:
			panic(e)
		}
	}()
	x, err := newExec(ctx, f, opt)
	if err != nil {
		return nil, err
	}
	x.fixpoint()
	x.final = true
	if x.pass(false) {
		thread.Unsupported(nil, "loops whose analysis does not converge")
	}
	if err := cmp.Or(noncoherent(x.th), betweenHalves(x.th)); err != nil {
		return nil, err
	}
	return x.result(), nil
}

// fixpoint executes passes until nothing new is learned.
func (x *exec) fixpoint() {
	for pass := 0; ; pass++ {
		settling := pass < 2
		if learned := x.pass(settling); !learned && !settling {
			return
		}
		switch pass {
		case maxPasses:
			x.loops.GiveUp()
		case 4 * maxPasses:
			thread.Unsupported(nil, "loops whose analysis does not converge")
		}
	}
}

// result completes the description of the thread after the final pass.
func (x *exec) result() *Thread {
	th := x.th
	x.tickets.resolve(th, x.mem, x.loops, x.opt)
	x.distinctShares()
	th.Loops = x.loops.Describe()
	th.Axioms = thread.NewAxioms(x.c)
	x.loops.Define(th.Axioms)
	x.mem.Axioms(th.Axioms, x.loopEnds)
	th.HeldUp = slices.ContainsFunc(th.Waits, func(w thread.Wait) bool {
		return w.Warp && !x.uniform.Of(w.Bare)
	})
	th.Given = x.notes.AllGiven()
	th.Textures = th.Textures && slices.ContainsFunc(th.Accesses, writesOutside)
	for a := range x.approx {
		th.Approximate = append(th.Approximate, a)
	}
	slices.Sort(th.Approximate)
	return th
}

// writesOutside reports whether an access changes memory that a texture may be bound to.
func writesOutside(a thread.Access) bool {
	space := a.Space
	if a.Object != nil {
		space = a.Object.Space
	}
	return a.Kind != event.Read && space != event.Shared
}
