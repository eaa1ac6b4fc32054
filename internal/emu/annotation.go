package emu

import (
	"math/bits"
	"strings"

	"heddle/internal/event"
	"heddle/internal/ir"
)

// Annotations: calls of the functions that heddle.h declares without a body.
//
// Each thread that reaches an annotation evaluates it, between a call of __heddle_ghost and the
// call that receives its condition. Reads in between are not accesses of the kernel, and no event
// is sent for them. A condition that the execution of one thread cannot decide (it refers to the
// value of another thread, to what has been written so far, or to the result of the function) is
// not checked; proofs check it.

// ghostCall begins an annotation.
const ghostCall = ir.AnnotationPrefix + "ghost"

// AnnotationKind is the kind of statement that an annotation makes.
type AnnotationKind uint8

// The kinds of annotations whose failure is recorded.
const (
	Assertion AnnotationKind = iota
	Invariant
	Precondition // of a function that the kernel calls
	Postcondition
)

var annotationNames = [...]string{Assertion: "assertion", Invariant: "invariant",
	Precondition: "precondition", Postcondition: "postcondition"}

// String names the kind in reports.
func (k AnnotationKind) String() string { return annotationNames[k] }

// FailedAnnotation is an annotation whose condition was false.
type FailedAnnotation struct {
	Kind         AnnotationKind
	Site         event.Site
	Thread       event.Thread // the first
	Block, Index event.Dim3   // blockIdx and threadIdx of Thread
	Count        uint64       // failures over all threads
	AfterFault   bool         // Thread had made an invalid access before: see Result.Faults
}

// conditions maps the calls that end an annotation to what happens if the condition is false.
var conditions = map[string]func(x *exec, in *inst, failed uint32){
	"assert": func(x *exec, in *inst,
		failed uint32) {
		x.annotationFailed(in, Assertion, failed)
	},
	"invariant": func(x *exec, in *inst,
		failed uint32) {
		x.annotationFailed(in, Invariant, failed)
	},
	"ensures": func(x *exec, in *inst,
		failed uint32) {
		x.annotationFailed(in, Postcondition, failed)
	},
	"requires":  requires,
	"assume":    func(x *exec, in *inst, failed uint32) { x.outside(in, "__assume", failed) },
	"candidate": func(*exec, *inst, uint32) {}, // a guess, which may be wrong
	// applies to every loop of the function, not to this place
	"function_wide":     func(*exec, *inst, uint32) {},
	"barrier_invariant": func(*exec, *inst, uint32) {}, // applies at the barrier that follows
	"permission":        func(*exec, *inst, uint32) {},
}

// requires handles __requires: the launch must satisfy the precondition of a kernel, the caller
// that of a function.
func requires(x *exec, in *inst, failed uint32) {
	if loc := in.ir.Loc; x.frame.parent == nil && (loc == nil || loc.Parent == nil) {
		x.outside(in, "__requires", failed)
		return
	}
	x.annotationFailed(in, Precondition, failed)
}

// outside ends a run that the kernel's assumptions exclude.
func (x *exec) outside(in *inst, what string, failed uint32) {
	x.fail(in, OutsideAssumptions, bits.TrailingZeros32(failed), "%s does not hold", what)
}

// annotationFailed records a failure, or counts it if the annotation has failed before.
func (x *exec) annotationFailed(in *inst, kind AnnotationKind, failed uint32) {
	n := uint64(bits.OnesCount32(failed))
	site := x.site(in)
	for i := range x.annotations {
		if x.annotations[i].Site == site {
			x.annotations[i].Count += n
			return
		}
	}
	t := event.ThreadOf(x.warp.id, bits.TrailingZeros32(failed))
	a := FailedAnnotation{Kind: kind, Site: site, Thread: t, Count: n, AfterFault: x.afterFault(t)}
	a.Block, a.Index = x.geo.Index(t)
	x.annotations = append(x.annotations, a)
}

// annotation decodes a call of a function of heddle.h. It reports false for other functions.
func (c *compiler) annotation(in *ir.Instr) bool {
	name, ok := strings.CutPrefix(in.Callee.Name, ir.AnnotationPrefix)
	if !ok {
		return false
	}
	c.p.annotated = true
	d := inst{guard: c.guard(), d: [2]int32{-1, -1}, pd: [2]int32{-1, -1}}
	check, ends := conditions[name]
	switch {
	case in.Callee.Name == ghostCall:
		d.run = func(x *exec, _ *inst) {
			x.warp.ghost |= x.m
			x.warp.undecided &^= x.m
			x.warp.looked &^= x.m
		}
	case ends && name == "ensures" && len(in.Src) > 0 && in.Src[0].Kind == ir.VarVal:
		all := c.fn.Specification() // of a function without a body: nothing is checked
		d.run = func(x *exec, in *inst) {
			if all {
				x.warp.undecided |= x.m
			}
			x.warp.undecided |= x.m & x.warp.looked // it refers to the final contents of memory
			x.condition(in, check)
		}
	case ends && len(in.Src) > 0 && in.Src[0].Kind == ir.VarVal:
		d.run = func(x *exec, in *inst) { x.condition(in, check) }
	case name == "snapshot":
		d.run = func(x *exec, _ *inst) { x.warp.unmodelled |= x.m }
	// any assignment of ranks is valid: each thread handles its own share, and the first one is chosen
	case (name == "share" || name == "choice" || name == "event") && len(in.Dst) == 1 &&
		in.Dst[0].Kind == ir.VarVal && len(in.Src) > 0 && in.Src[0].Kind == ir.VarVal:
		d.run = func(x *exec, in *inst) {
			x.move(place{x.frame, in.ir.Src[0].Var}, place{x.frame, in.ir.Dst[0].Var}, x.m)
		}
	// used by proofs only
	case name == "completes_later", name == "collective", name == "await", name == "awaited":
		d.run = func(*exec, *inst) {}
	case name == "writes_to":
		d.run = func(x *exec, in *inst) {
			x.fail(in, Unsupported, bits.TrailingZeros32(x.m),
				"this function is known only by its specification, which does not say what it writes")
		}
	case name == "enabled":
		d.run = func(x *exec, in *inst) { x.annotationValue(in, 1) }
	default:
		d.run = runUndecided
	}
	c.emit(d)
	return true
}

// runUndecided calls a function whose value the execution of one thread does not determine.
func runUndecided(x *exec, in *inst) {
	if plain := x.m &^ x.warp.ghost; plain != 0 && len(in.ir.Dst) > 0 {
		x.fail(in, Unsupported, bits.TrailingZeros32(plain), "call of %s outside an annotation",
			in.ir.Callee.Demangled)
		return
	}
	x.warp.undecided |= x.m & x.warp.ghost
	x.annotationValue(in, 0)
}

// condition ends the annotation of the current lanes, and passes the lanes for which it is false to
// check.
func (x *exec) condition(in *inst, check func(*exec, *inst, uint32)) {
	p := place{x.frame, in.ir.Src[0].Var}
	failed := uint32(0)
	for t := x.m &^ (x.warp.undecided | x.warp.unmodelled); t != 0; t &= t - 1 {
		l := bits.TrailingZeros32(t) & 31
		if x.unk != nil && p.unknown(l) {
			continue
		}
		if loadParam(p.bytes(l)) == 0 {
			failed |= 1 << l
		}
	}
	x.warp.ghost &^= x.m
	x.warp.undecided &^= x.m
	if failed != 0 {
		check(x, in, failed)
	}
}

// annotationValue sets the result of a function that is called within an annotation.
func (x *exec) annotationValue(in *inst, v uint64) {
	if len(in.ir.Dst) == 0 || in.ir.Dst[0].Kind != ir.VarVal {
		return
	}
	p := place{x.frame, in.ir.Dst[0].Var}
	for t := x.m; t != 0; t &= t - 1 {
		b := p.bytes(bits.TrailingZeros32(t) & 31)
		clear(b)
		storeParam(b, v)
	}
	if x.unk != nil {
		p.setUnknown(0, 0, x.m)
	}
}
