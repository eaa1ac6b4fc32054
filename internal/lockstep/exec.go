package lockstep

import (
	"context"
	"slices"
	"strings"

	"heddle/internal/ir"
	"heddle/internal/lockstep/annotation"
	"heddle/internal/lockstep/compute"
	"heddle/internal/lockstep/join"
	"heddle/internal/lockstep/kernel"
	"heddle/internal/lockstep/loop"
	"heddle/internal/lockstep/memory"
	"heddle/internal/lockstep/symbol"
	"heddle/internal/lockstep/thread"
	"heddle/internal/smt"
)

// exec executes one thread. Its parts live as long as the fixpoint over passes; the rest is of the
// current pass.
type exec struct {
	ctx     context.Context
	c       *smt.Context
	f       *ir.Func
	k       *kernel.Facts
	opt     Options
	mem     *memory.Model
	notes   *annotation.Annotations
	loops   *loop.Table
	uniform *symbol.Uniformity
	eval    *compute.Evaluator
	ops     *operands             // of eval
	exact   map[smt.Term]smt.Term // see signExtend
	approx  map[string]bool       // Thread.Approximate, of all passes

	settling bool // it is not known yet where accesses lead: nothing is given up
	final    bool // accesses and ends are recorded
	th       *Thread
	tickets  *tickets
	shares   []share
	reach    []smt.Term // by block: the thread reaches its end, within the loop around it
	ends     map[*ir.Loop]*loopEnds

	outer  smt.Term   // everything that holds around the innermost loop
	ended  []smt.Term // conditions under which the thread ended within the innermost loop
	around []*ir.Loop // the loops around, outermost first

	at      *ir.Instr // the instruction that is executed
	unknown int       // how many unknown values it has made
	guard   smt.Term  // its guard, as it was before the instruction wrote anything
}

// loopEnds are the states at the entry of a loop, and after an iteration that continues with
// another (nil: none).
type loopEnds struct{ entry, latch *state }

func newExec(ctx context.Context, f *ir.Func, opt Options) (*exec, error) {
	k, err := kernel.Analyze(f, kernel.Options{Lockstep: opt.Lockstep, Merges: opt.Merges})
	if err != nil {
		return nil, err
	}
	x := &exec{
		ctx: ctx, c: smt.New(), f: f, k: k, opt: opt, exact: map[smt.Term]smt.Term{},
		approx: map[string]bool{},
	}
	x.c.Limit(opt.Terms)
	x.ops = &operands{x: x}
	x.eval = compute.New(x.c, x.ops)
	x.uniform = symbol.NewUniformity(x.c)
	x.mem = memory.New(x.c, k, x, memory.Options{
		Adversarial: opt.Adversarial, Unstable: opt.Unstable, Lockstep: opt.Lockstep,
		Pointers: opt.Pointers,
	})
	x.notes = annotation.New(x.c, k, x.mem, x, opt.OnlyAssumptions)
	x.loops = loop.New(x.c, k, x.uniform)
	x.ends = map[*ir.Loop]*loopEnds{}
	return x, nil
}

// pass executes the kernel once with what is known, and reports whether it learned something new.
func (x *exec) pass(settling bool) bool {
	x.settling = settling
	x.th = &Thread{Context: x.c, Func: x.f, Geometry: x.opt.Geometry, Lockstep: x.opt.Lockstep,
		Adversarial: x.opt.Adversarial, Merged: len(x.opt.Merges) > 0}
	x.tickets, x.shares = &tickets{c: x.c}, nil
	x.mem.Begin()
	x.loops.Begin(settling)
	shape(x.th, x.opt)
	x.notes.Begin(x.th)
	st := &state{pred: smt.True, regs: slices.Repeat([]smt.Term{join.Undefined}, len(x.f.Regs)),
		notes: annotation.Entry()}
	st.mem = x.mem.Entry()
	x.around = nil
	x.reach = slices.Repeat([]smt.Term{join.Undefined}, len(x.f.Blocks))
	x.outer, x.ended = smt.True, nil
	x.region(nil, st)
	x.mem.All(func(o *Object) { x.th.Objects = append(x.th.Objects, o) })
	slices.SortFunc(x.th.Objects, func(a, b *Object) int { return strings.Compare(a.Name, b.Name) })
	return x.loops.Changed() || x.mem.Moved() || x.notes.Changed()
}

// stopped carries the error of a context out of the depth of a pass.
type stopped struct{ error }

// Pause ends the execution if there are too many terms, or if its context is done.
func (x *exec) Pause() {
	if x.c.Exceeded() {
		panic(&ErrTerms{Limit: x.opt.Terms})
	}
	if err := x.ctx.Err(); err != nil {
		panic(stopped{err})
	}
}

// state is what is known at a program point.
type state struct {
	pred   smt.Term   // the thread reaches it, within the innermost loop
	regs   []smt.Term // join.Undefined: nothing has written it
	mem    memory.State
	copies []groupCopy // that may be pending; shared between states
	notes  annotation.State
}

func (s *state) clone() *state {
	return &state{pred: s.pred, regs: slices.Clone(s.regs), mem: s.mem.Clone(), copies: s.copies,
		notes: s.notes}
}

// here is what holds if the thread is at a point; bare is the same under a guard, without what
// annotations on the path made known.
func (x *exec) here(st *state) smt.Term                 { return x.notes.Here(&st.notes, st.pred) }
func (x *exec) bare(st *state, guard smt.Term) smt.Term { return x.notes.Bare(st.pred, guard) }

// approximate notes an abstraction that may make counterexamples spurious.
func (x *exec) approximate(why string) { x.approx[why] = true }

// The methods below are what memory.Env and annotation.Host ask for.

// Guard implements memory.Env.
func (x *exec) Guard() smt.Term { return x.guard }

// Counters returns the counters of the loops around.
func (x *exec) Counters() []smt.Term {
	var k []smt.Term
	for _, l := range x.around {
		k = append(k, x.loops.Of(l).Counter)
	}
	return k
}

// Fixed implements memory.Env: preconditions and options fix parameters.
func (x *exec) Fixed(v *ir.Var, off, width int) (smt.Term, bool) {
	if k, ok := x.notes.Given(symbol.ParamName(v, off, width)); ok {
		return k, true
	}
	i := slices.Index(x.f.Params, v)
	if k, ok := x.opt.Args[i]; ok && i >= 0 && off+width/8 <= v.Size { // of at most 8 bytes
		return x.c.Const(k>>(8*off), width), true
	}
	return 0, false
}

// Final implements annotation.Host.
func (x *exec) Final() bool { return x.final }

// Settling implements annotation.Host.
func (x *exec) Settling() bool { return x.settling }

// Outer implements annotation.Host.
func (x *exec) Outer() smt.Term { return x.outer }

// Around implements annotation.Host.
func (x *exec) Around() []*ir.Loop { return x.around }

// Reached implements annotation.Host.
func (x *exec) Reached(b ir.BlockID) smt.Term { return x.reach[b] }

// Entered implements annotation.Host.
func (x *exec) Entered(l *ir.Loop) smt.Term { return x.loops.Of(l).Entry() }

// Last implements annotation.Host.
func (x *exec) Last(l *ir.Loop) smt.Term { return x.loops.Of(l).Last() }

// Propose implements annotation.Host.
func (x *exec) Propose(l *ir.Loop, cond smt.Term) { x.loops.Of(l).Propose(cond) }

// Record implements annotation.Host.
func (x *exec) Record(a thread.Access) { x.th.Accesses = append(x.th.Accesses, a) }

// Place returns where an instruction is.
func (x *exec) Place(in *ir.Instr) thread.Place {
	p := thread.Place{Rank: x.k.Rank(in)}
	for _, l := range x.around {
		p.Loops = append(p.Loops, x.loops.Of(l).Index)
	}
	return p
}

// loopEnds returns the states of memory at the two ends of a loop, for the axioms about memory.
func (x *exec) loopEnds(l *ir.Loop) (entry, latch *memory.State) {
	e := x.ends[l]
	if e.latch == nil {
		return &e.entry.mem, nil
	}
	return &e.entry.mem, &e.latch.mem
}
