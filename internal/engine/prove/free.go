package prove

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/lockstep"
	"heddle/internal/lockstep/thread"
	"heddle/internal/smt"
	"heddle/internal/smt/sat"
	"heddle/internal/source"
	"heddle/internal/verify"
)

// Limits of Free and of FreeAccesses.Holds, in steps of the embedded solver, the only one that they
// ask. They are small, because a program waits while its modules are loaded and its kernels are
// launched: about a second for a kernel, and a fifth of that for a launch.
const (
	FreeSteps      = 30_000_000
	FreeHoldsSteps = 4_000_000
	freeQuerySteps = 3_000_000
	freeTerms      = 300_000
)

// FreeOptions bound the search for accesses that need no log. Bounds are steps, never times, so
// that what is free does not depend on the machine.
type FreeOptions struct {
	Steps  int64 // for a kernel; 0: FreeSteps
	Launch int64 // for one check of a launch; 0: FreeHoldsSteps
	// Block is the only shape of blocks that matters, where that is known. Its zero value stands for
	// any, but with size 1 in the dimensions of blocks and grid in which the kernel does not ask for
	// its index. A kernel for lines of threads would race with itself otherwise.
	Block event.Dim3
}

// FreeAccesses are the accesses of a kernel that race with nothing, in any launch for which the
// assumptions hold: docs/theory/queues.md, "Fewer records".
type FreeAccesses struct {
	Kernel *ir.Func
	// Instrs has the accesses of the kernel and of the functions that it calls, to memory that threads
	// share. The value says whether every pair of the access and one that may touch the same memory,
	// itself included, is proved to be no race. Strong accesses and copies are never free.
	Instrs map[*ir.Instr]bool
	// All says that nothing of the kernel needs a log: all accesses are free, none is strong, and no
	// barrier diverges.
	All     bool
	Assumes []Assumption
	// The launches that the proof is for.
	Dims   lockstep.Any // dimensions of any size; the others are those of Shape
	Shape  event.Geometry
	Reason string // why no access is free; empty if one is
	Steps  int64  // that the search took

	arrays []array // in global memory, that the kernel accesses
	// adversarial says that loads return anything in the proof: then it holds whatever races the other
	// accesses have
	adversarial bool
	opt         FreeOptions

	mu      sync.Mutex
	checked map[string]string // launches whose bounds were asked for, with what was found
}

// Assumption is something that must be true of a launch.
type Assumption struct {
	Kind AssumptionKind
	// A and B are the arrays that it is about; nil if it is about none, or only one.
	A, B *lockstep.Object
}

// AssumptionKind is the kind of an Assumption.
type AssumptionKind uint8

const (
	// OfShape: the blocks and the grid have FreeAccesses.Shape in the dimensions that are not in Dims;
	// at most 1024 threads in a block, the limits of CUDA in each dimension, less than 2^31 threads in
	// each dimension of the launch, no clusters.
	OfShape AssumptionKind = iota
	// Known: the array begins in memory of which beginning and end are known.
	Known
	// Apart: what the kernel accesses through A and what it accesses through B does not overlap. One
	// of the two is written.
	Apart
	// Within: each access to the array stays in it.
	Within
	// Iterations: no thread executes 2^32 iterations of a loop. A launch cannot be checked for that,
	// but its end can: one that takes less than two seconds does not execute so many, as an iteration
	// has two instructions, and a multiprocessor starts at most one of a warp in a cycle.
	Iterations
)

// String describes the assumption.
func (a Assumption) String() string {
	switch a.Kind {
	case Known:
		return fmt.Sprintf("%s points to memory of known size", a.A.Name)
	case Apart:
		return fmt.Sprintf("%s and %s do not overlap", a.A.Name, a.B.Name)
	case Within:
		return fmt.Sprintf("accesses to %s stay in it", a.A.Name)
	case Iterations:
		return "no thread executes 2^32 iterations of a loop"
	}
	return "the launch has the shape of the proof"
}

// array is one that the kernel accesses, and whether it writes there.
type array struct {
	*lockstep.Object
	writes bool
}

// Some reports whether some access is free.
func (f *FreeAccesses) Some() bool { return f.Reason == "" }

// Free finds the accesses of a kernel that race with nothing: for all launches, arguments and
// contents of memory, with the lanes of a warp independent, and with writes of equal values taken
// for races.
//
// The proof rests on barriers alone. No order by locks, flags or counters is used, no property of
// what atomic operations return, and no contents of global memory, which the host or another kernel
// may change during the launch. It is tried twice. First for the whole kernel, where the contents
// of shared memory are those of a kernel without races, and which counts only if no pair is left.
// Then with loads that return anything: each pair that is decided then is decided whatever races
// the others have.
//
// An error is that of the context.
func Free(ctx context.Context, k *ir.Func, opt FreeOptions) (*FreeAccesses, error) {
	opt.Steps, opt.Launch = cmp.Or(opt.Steps, FreeSteps), cmp.Or(opt.Launch, FreeHoldsSteps)
	f := &FreeAccesses{Kernel: k, opt: opt, checked: map[string]string{}, Instrs: map[*ir.Instr]bool{}}
	if k.Module != nil && k.Module.OpenCL {
		f.Reason = "kernels of OpenCL are not examined"
		return f, nil
	}
	f.shape()
	for _, f.adversarial = range []bool{false, true} {
		done, err := f.attempt(ctx)
		if err != nil {
			return nil, err
		}
		if done {
			break
		}
	}
	if f.Reason != "" {
		clear(f.Instrs)
	}
	return f, nil
}

// shape finds the launches that the proof is for.
func (f *FreeAccesses) shape() {
	one := event.Dim3{X: 1, Y: 1, Z: 1}
	f.Shape = event.Geometry{Grid: one, Block: one, Cluster: one}
	for _, g := range ir.ReachableFuncs(f.Kernel) {
		for _, b := range g.Blocks {
			for _, in := range b.Instrs {
				for i := range in.Src {
					switch in.Src[i].Sreg {
					case ir.TidX:
						f.Dims.Block[0] = true
					case ir.CtaidX:
						f.Dims.Grid[0] = true
					case ir.TidY:
						f.Dims.Block[1] = true
					case ir.TidZ:
						f.Dims.Block[2] = true
					case ir.CtaidY:
						f.Dims.Grid[1] = true
					case ir.CtaidZ:
						f.Dims.Grid[2] = true
					}
				}
			}
		}
	}
	block := f.opt.Block
	if block == (event.Dim3{}) {
		block = f.Kernel.ReqNTID
	}
	if block != (event.Dim3{}) {
		f.Shape.Block, f.Dims.Block = block, [3]bool{}
	}
}

// build describes a thread of the kernel, for the attempt at hand.
func (f *FreeAccesses) build(ctx context.Context, opt lockstep.Options) (*lockstep.Thread, string,
	error) {
	opt.Unstable, opt.Adversarial, opt.Terms = true, f.adversarial, freeTerms
	th, err := lockstep.Build(ctx, f.Kernel, opt)
	var no *lockstep.UnsupportedError
	var terms *lockstep.ErrTerms
	switch {
	case errors.As(err, &no), errors.As(err, &terms):
		return nil, err.Error(), nil
	case err != nil:
		return nil, "", err
	}
	switch {
	case len(th.Extern) > 0:
		return nil, "it calls functions without a body", nil
	case th.Textures:
		return nil, "it reads textures and writes memory", nil
	case th.WritesConst:
		return nil, "it may write constant memory", nil
	case asksRegisters(f.Kernel):
		return nil, "it waits for registers", nil
	case len(th.Given)+len(th.BarrierFacts) > 0 || slices.ContainsFunc(th.Assertions, annotated):
		return nil, "it has annotations", nil
	}
	return th, "", nil
}

// annotated reports whether an assertion is one of the source: the others are checks of a proof.
func annotated(a lockstep.Assertion) bool {
	return a.Kind != thread.KnownTarget && a.Kind != thread.NotEndless
}

// freeSolvers are those of one proof.
func freeSolvers() []smt.Solver { return []smt.Solver{&sat.Solver{Steps: freeQuerySteps}} }

// attempt is one proof. done is false if another one may find more.
func (f *FreeAccesses) attempt(ctx context.Context) (done bool, err error) {
	th, why, err := f.build(ctx, lockstep.Options{Any: f.Dims, Geometry: f.Shape})
	if th == nil {
		f.Reason = why
		return true, err
	}
	strong := func(x *verify.Finding) bool { return x.Kind == verify.Unordered }
	opt := verify.Options{Benign: event.BenignNone, Exists: true, Barriers: true, Rest: true,
		Solvers: freeSolvers(), Ignore: strong}
	// The second attempt may use what the first one has left, and a third of all steps at least.
	opt.Steps = max(f.opt.Steps-f.Steps, f.opt.Steps/3)
	if !f.adversarial {
		opt.Limit = 1
	}
	r := verify.Kernel(ctx, th, opt)
	if err := ctx.Err(); err != nil {
		return true, err
	}
	f.Steps += r.Stats.Steps
	if r.Counters || len(r.Zero) > 0 {
		f.Reason = "the proof assumes contents of memory"
		return true, nil
	}
	if !f.adversarial && !r.Verified() {
		return false, nil
	}
	bad := map[source.Span]bool{}
	for i := range r.Findings {
		x := &r.Findings[i]
		if x.Kind != verify.Race {
			f.Reason = "not proved: " + x.String()
			return true, nil
		}
		bad[x.A.Span], bad[x.B.Span] = true, true
	}
	f.collect(th, bad)
	return true, nil
}

// collect notes which accesses are free, and what that assumes.
func (f *FreeAccesses) collect(th *lockstep.Thread, bad map[source.Span]bool) {
	at := instrsOf(f.Kernel)
	f.All = true
	free := 0
	for i := range th.Accesses {
		a := &th.Accesses[i]
		f.All = f.All && !a.Order.Strong() && !a.Kind.RMW() && !bad[a.Instr.Span]
		in := at[a.Instr.Span]
		if in == nil { // which no site has either
			f.All = false
			continue
		}
		plain := in.Action() == isa.ActLoad || in.Action() == isa.ActStore
		ok := plain && !a.Order.Strong() && !bad[in.Span]
		if was, known := f.Instrs[in]; !known || was {
			f.Instrs[in] = ok
		}
	}
	for _, ok := range f.Instrs {
		if ok {
			free++
		}
	}
	if free == 0 && !f.All {
		f.Reason = "no access is proved to race with nothing"
		return
	}
	f.Assumes = []Assumption{{Kind: OfShape}}
	if len(th.Loops) > 0 {
		f.Assumes = append(f.Assumes, Assumption{Kind: Iterations})
	}
	f.findArrays(th)
}

// instrsOf returns the instructions of the module of a kernel by their places: those of a thread
// may be copies (ir.Inline).
func instrsOf(k *ir.Func) map[source.Span]*ir.Instr {
	out := map[source.Span]*ir.Instr{}
	funcs := []*ir.Func{k}
	if k.Module != nil {
		funcs = append(funcs, k.Module.Funcs...)
	}
	for _, f := range funcs {
		for _, b := range f.Blocks {
			for _, in := range b.Instrs {
				if in.Span.IsValid() && (in.Action() == isa.ActLoad || in.Action() == isa.ActStore ||
					in.Action() == isa.ActAtomic || in.Action() == isa.ActReduce ||
					in.Action() == isa.ActCopy) {
					out[in.Span] = in
				}
			}
		}
	}
	return out
}

// findArrays lists the arrays of the kernel and what is assumed of them.
func (f *FreeAccesses) findArrays(th *lockstep.Thread) {
	known := map[*lockstep.Object]int{}
	for i := range th.Accesses {
		a := &th.Accesses[i]
		o := a.Object
		if o == nil {
			continue
		}
		n, seen := known[o]
		if !seen {
			n = len(f.arrays)
			known[o] = n
			f.arrays = append(f.arrays, array{Object: o})
		}
		f.arrays[n].writes = f.arrays[n].writes || a.Kind.Writes()
	}
	slices.SortFunc(f.arrays, func(a, b array) int { return cmp.Compare(a.Index, b.Index) })
	for i := range f.arrays {
		a := &f.arrays[i]
		if a.Space == event.Global {
			f.Assumes = append(f.Assumes, Assumption{Kind: Known, A: a.Object})
			for j := range i {
				if b := &f.arrays[j]; b.Space == event.Global && (a.writes || b.writes) {
					f.Assumes = append(f.Assumes, Assumption{Kind: Apart, A: b.Object, B: a.Object})
				}
			}
		}
		f.Assumes = append(f.Assumes, Assumption{Kind: Within, A: a.Object})
	}
}

// FreeIn returns, for the module of some kernels, the accesses that need no log in a launch of a
// kernel whose assumptions hold: those that are free in some kernel, and in each kernel of list
// that makes them and whose launches may be logged in part.
func FreeIn(list []*FreeAccesses) func(*ir.Instr) bool {
	return func(in *ir.Instr) bool {
		some := false
		for _, f := range list {
			free, makes := f.Instrs[in]
			if makes && !free {
				return false
			}
			some = some || free
		}
		return some
	}
}
