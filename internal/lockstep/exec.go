package lockstep

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/smt"
)

// maxPasses bounds the fixpoint over what is known of loops. Each pass settles at least one loop register.
const maxPasses = 24

// counterPrefix begins the names of loop counters, which are private to a thread, and no other names.
const counterPrefix = private + "#"

// exec is the state of building one Thread.
type exec struct {
	ctx     context.Context
	c       *smt.Context
	f       *ir.Func
	opt     Options
	dom     *ir.DomTree
	loops   *ir.LoopForest
	rpo     []ir.BlockID
	live    []bitset     // registers live at the start of each block
	whole   []ir.BlockID // see rejoins
	reach   []smt.Term   // in this pass, by block: the thread comes to its end
	info    map[*ir.Loop]*loopInfo
	slots   []*ir.Loop // the loops that contain barriers, by slot of Tag.Iters
	parts   int        // of memory that barriers order each for itself
	partial bool       // partShared and partGlobal are among them
	warp    bool       // partWarp is
	// Which of the parts is that of barriers of the grid; 0: the kernel has none.
	partGrid int
	joint    bitset // blocks: see findJoint
	// The asynchronous copies that may be under way at an instruction.
	pending   map[*ir.Instr][]*ir.Instr
	unsettled map[*ir.Instr]bool // copies that may be under way at a barrier of the warp
	atomics   []atomicUse        // of the final pass
	shares    []share            // of the final pass
	dirty     *dirtiness
	waits     map[*ir.Instr]bool // barriers that are waits for copies of the work-group
	// The kernel makes copies of a group: stores of a thread may be those of another.
	groupCopies bool

	annotations
	kernelParam map[*ir.Var]bool

	outer  smt.Term   // everything that holds around the innermost of them
	gone   []smt.Term // how the thread may have ended within the innermost loop
	around []*ir.Loop // the loops that execution is in, outermost first

	th          *Thread
	objects     map[array]*Object
	bases       map[smt.Term]*Object    // by base address
	target      map[*ir.Instr][]*Object // where each memory instruction went in the last pass; absent: anywhere
	moved       bool                    // in this pass one went elsewhere
	changed     bool                    // this pass learned something of a loop
	settling    bool                    // it is not known yet where accesses go: nothing is given up
	final       bool                    // accesses and ends are recorded
	at          *ir.Instr               // the instruction that is executed
	drawn       int                     // unknown values that it drew so far
	guard       smt.Term                // its guard, as it was before the instruction wrote anything
	approx      map[string]bool
	uniformMemo map[smt.Term]bool
	exactMemo   map[smt.Term]smt.Term
	// By the name of the function. Those of earlier passes are among them.
	loopMemories map[string]loopMemory
}

// state is what is known at a program point.
type state struct {
	pred    smt.Term // the thread is here
	regs    []smt.Term
	tags    []smt.Term // the last barrier that orders each part of memory, as exec.tag reads them
	scratch map[slot]smt.Term
	own     []*ownStore // in the order of the program; shared between states
	copies  []groupCopy // that may be under way; shared between states
	view    view
	snaps   map[*Object]*memory // see snapshot.go; not changed once it is made
	annotating
}

// undef stands for a register that nothing has written.
const undef = ^smt.Term(0)

func (s *state) clone() *state {
	return &state{
		pred: s.pred, regs: slices.Clone(s.regs), tags: slices.Clone(s.tags),
		scratch: maps.Clone(s.scratch), view: s.view.clone(), snaps: s.snaps, own: s.own, copies: s.copies, annotating: s.annotating,
	}
}

// edge is a state on its way to a block.
type edge struct {
	to ir.BlockID
	st *state
}

// Build runs one thread of f symbolically.
// Its error is an *UnsupportedError, an *ErrTerms, or that of ctx.
func Build(ctx context.Context, f *ir.Func, opt Options) (th *Thread, err error) {
	opt.Geometry = opt.Any.widest(opt.Geometry)
	if opt.Terms == 0 {
		opt.Terms = DefaultTerms
	}
	f, err = ir.Inline(f)
	if no := (*ir.InlineError)(nil); errors.As(err, &no) {
		return nil, &UnsupportedError{Instr: no.Instr, What: no.What}
	}
	x := &exec{
		ctx: ctx, c: smt.New(), f: f, opt: opt, info: map[*ir.Loop]*loopInfo{}, objects: map[array]*Object{}, bases: map[smt.Term]*Object{},
		target: map[*ir.Instr][]*Object{}, approx: map[string]bool{}, uniformMemo: map[smt.Term]bool{}, exactMemo: map[smt.Term]smt.Term{},
		loopMemories: map[string]loopMemory{},
	}
	x.c.Limit(opt.Terms)
	defer func() {
		switch e := recover().(type) {
		case nil:
		case *UnsupportedError:
			th, err = nil, e
		case *ErrTerms:
			th, err = nil, e
		case errStopped:
			th, err = nil, e.error
		default:
			panic(e)
		}
	}()
	if err := x.prepare(); err != nil {
		return nil, err
	}
	for pass := 0; ; pass++ {
		x.changed, x.moved, x.settling = false, false, pass < 2
		x.pass()
		if !x.changed && !x.moved && !x.settling {
			break
		}
		switch pass {
		case maxPasses:
			x.giveUpOnLoops()
		case 4 * maxPasses:
			x.unsupported(nil, "loops of which nothing settles")
		}
	}
	x.final = true
	x.pass()
	if x.changed || x.moved {
		x.unsupported(nil, "loops of which nothing settles")
	}
	if err := x.th.noncoherent(); err != nil {
		return nil, err
	}
	x.distinctSlots()
	x.distinctShares()
	x.th.Loops = x.describe()
	x.th.Axioms = x.axioms()
	x.th.Given = map[string]uint64{}
	for name, v := range x.given {
		x.th.Given[name], _ = x.c.Value(v)
	}
	for a := range x.approx {
		x.th.Approximate = append(x.th.Approximate, a)
	}
	slices.Sort(x.th.Approximate)
	return x.th, nil
}

func (x *exec) unsupported(in *ir.Instr, format string, args ...any) {
	panic(&UnsupportedError{Instr: in, What: fmt.Sprintf(format, args...)})
}

// errStopped carries the error of a context out of the depth of a pass.
type errStopped struct{ error }

// pause gives up if there are too many terms, or if nobody waits any more.
func (x *exec) pause() {
	if x.c.Exceeded() {
		panic(&ErrTerms{x.opt.Terms})
	}
	if err := x.ctx.Err(); err != nil {
		panic(errStopped{err})
	}
}

func (x *exec) prepare() error {
	if x.f.Blocks == nil {
		return &UnsupportedError{What: "a function without a body"}
	}
	x.dom = ir.Dominators(x.f)
	x.findParts()
	x.loops = ir.FindLoops(x.f, x.dom)
	if !x.loops.Reducible {
		return &UnsupportedError{What: ir.ExplainIrreducible(x.f, x.dom)}
	}
	x.rpo = ir.ReversePostorder(x.f)
	x.kernelParam = map[*ir.Var]bool{}
	for _, v := range x.f.Params {
		x.kernelParam[v] = true
	}
	x.annotations.init(x.f, x.rpo)
	x.groupCopies = x.calls(shareCall)
	x.findWaits()
	x.pending = findPending(x.f)
	x.unsettled = x.findUnsettled()
	x.live = liveness(x.f)
	if x.opt.Lockstep {
		x.findJoint()
	}
	x.whole = x.rejoins()
	for _, l := range x.loops.Loops {
		x.info[l] = x.newLoop(l)
		if x.info[l].barriers {
			x.info[l].slot = len(x.slots)
			x.slots = append(x.slots, l)
		}
	}
	return nil
}

// pass executes the kernel once with what is known of its loops.
func (x *exec) pass() {
	x.th = &Thread{Context: x.c, Func: x.f, Geometry: x.opt.Geometry, Lockstep: x.opt.Lockstep}
	x.atomics, x.shares = nil, nil
	x.dirty = findDirty(x)
	x.shape()
	st := &state{pred: smt.True, regs: make([]smt.Term, len(x.f.Regs)), annotating: annotating{ghost: smt.False, known: smt.True}}
	x.annotations.reset()
	for i := range st.regs {
		st.regs[i] = undef
	}
	for range x.parts * x.tagLen() {
		st.tags = append(st.tags, x.c.Const(0, tagWidth))
	}
	x.around = nil
	x.reach = slices.Repeat([]smt.Term{undef}, len(x.f.Blocks))
	x.outer, x.gone = smt.True, nil
	x.region(nil, st)
	for _, o := range x.objects {
		x.th.Objects = append(x.th.Objects, o)
	}
	slices.SortFunc(x.th.Objects, func(a, b *Object) int { return cmpString(a.Name, b.Name) })
}

func cmpString(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// region executes the blocks of a loop, or those of the function outside loops, once. It returns the edges
// that go back to the loop's header, and those that leave the loop.
func (x *exec) region(l *ir.Loop, in *state) (back, exits []edge) {
	first := ir.BlockID(0)
	if l != nil {
		first = l.Header
	}
	waiting := map[ir.BlockID][]*state{first: {in}}
	deliver := func(e edge) {
		switch {
		case e.st.pred == smt.False:
		case l != nil && e.to == l.Header:
			back = append(back, e)
		case l != nil && !l.Contains(e.to):
			exits = append(exits, e)
		default:
			waiting[e.to] = append(waiting[e.to], e.st)
		}
	}
	for _, b := range x.rpo {
		states := waiting[b]
		if len(states) == 0 {
			continue
		}
		inner := x.loops.Of[b]
		if inner != l && (inner == nil || inner.Parent != l || inner.Header != b) {
			continue
		}
		delete(waiting, b)
		st := x.join(b, states)
		x.pause()
		if inner != l {
			for _, e := range x.loop(inner, st) {
				deliver(e)
			}
			continue
		}
		for _, e := range x.block(x.f.Blocks[b], st) {
			deliver(e)
		}
	}
	return back, exits
}

// join merges the states that reach a block, the header of a loop from outside: at most one of them holds.
func (x *exec) join(b ir.BlockID, states []*state) *state {
	r := x.meet(b, states)
	if d := x.whole[b]; len(states) > 1 && d != ir.NoBlock && x.reach[d] != undef {
		r.pred = x.reach[d]
	}
	return r
}

// meet merges the states that reach a block.
func (x *exec) meet(b ir.BlockID, states []*state) *state {
	st := states[0]
	if len(states) == 1 {
		return st.clone()
	}
	r := st.clone()
	preds := make([]smt.Term, len(states))
	for i, s := range states {
		preds[i] = s.pred
	}
	var ways []smt.Term
	r.pred, ways = x.either(preds)
	for reg := range r.regs {
		if !x.live[b].has(reg) {
			r.regs[reg] = undef
			continue
		}
		r.regs[reg] = x.merge(states, ways, func(s *state) smt.Term { return s.regs[reg] }, func() smt.Term {
			return x.apply(fmt.Sprintf("%sj%d.%d", private, b, reg), width(x.f.Regs[reg].Type), x.counters())
		})
	}
	for i := range r.tags {
		r.tags[i] = x.merge(states, ways, func(s *state) smt.Term { return s.tags[i] }, nil)
	}
	r.ghost = x.merge(states, ways, func(s *state) smt.Term { return s.ghost }, nil)
	r.known = x.merge(states, ways, func(s *state) smt.Term { return s.known }, nil)
	r.scratch = x.joinScratch(b, states, ways)
	r.own = x.joinOwn(states, ways)
	r.copies = joinCopies(states)
	r.view = x.joinView(states, ways)
	r.snaps = x.joinSnaps(states, ways)
	for _, s := range states {
		if !slices.Equal(s.threads, r.threads) {
			r.threads = nil
		}
		if !slices.Equal(s.pending, r.pending) {
			r.pending = nil
		}
	}
	return r
}

// merge chooses among the values of one thing, by what tells the ways to it apart. An undefined one may be anything,
// unless all are.
func (x *exec) merge(states []*state, ways []smt.Term, get func(*state) smt.Term, anything func() smt.Term) smt.Term {
	defined := func(v, other smt.Term) smt.Term {
		if v == undef && other != undef {
			return anything()
		}
		return v
	}
	r := get(states[len(states)-1])
	for i := len(states) - 2; i >= 0; i-- {
		v := get(states[i])
		v, r = defined(v, r), defined(r, v)
		if v != r {
			r = x.c.Ite(ways[i], v, r)
		}
	}
	return r
}

// block executes one block and returns its successors' states.
func (x *exec) block(b *ir.Block, st *state) []edge {
	for _, in := range b.Instrs {
		x.at, x.drawn = in, 0
		x.guard = x.condition(in, st)
		if in.IsTerminator() && in == b.Last() {
			x.reach[b.ID] = st.pred
			return x.terminator(b, in, st)
		}
		x.instr(in, st)
	}
	var out []edge
	for _, s := range b.Succs {
		out = append(out, edge{s, st})
	}
	x.reach[b.ID] = st.pred
	if len(b.Succs) == 0 {
		x.exit(nil, st)
	}
	return out
}

func (x *exec) terminator(b *ir.Block, in *ir.Instr, st *state) []edge {
	taken, rest := st, (*state)(nil)
	if in.Guard != ir.NoReg {
		p := x.guard
		taken, rest = st.clone(), st
		taken.pred = x.c.And(st.pred, p)
		rest.pred = x.c.And(st.pred, x.c.Not(p))
	}
	var out []edge
	switch in.Op() {
	case "bra":
		out = append(out, edge{b.Succs[0], taken})
	case "brx.idx":
		index := x.read(in.Src[0], 32, taken)
		n := len(in.Src) - 1
		for i := range n { // an index beyond the table is undefined behaviour
			s := taken.clone()
			s.pred = x.c.And(taken.pred, x.c.Eq(index, x.c.Const(uint64(i), 32)))
			out = append(out, edge{b.Succs[i], s})
		}
	case "ret", "exit":
		x.exit(in, taken)
	case "trap": // ends the whole grid: nothing happens after it
		x.gone = append(x.gone, taken.pred)
	case "call": // does not return
		if in.Callee == nil || in.Callee.Name != "__assertfail" {
			x.unsupported(in, "a call of %s, of which nothing is known", calleeName(in))
		}
		x.state(in, Asserted, smt.False, taken)
		x.gone = append(x.gone, taken.pred)
	default:
		x.unsupported(in, "%s at the end of a block", in.Text())
	}
	if rest != nil {
		out = append(out, edge{b.Succs[len(b.Succs)-1], rest})
	}
	return out
}

func (x *exec) exit(in *ir.Instr, st *state) {
	if in != nil {
		x.ended(in, st)
	}
	x.gone = append(x.gone, st.pred)
	if !x.final {
		return
	}
	at := Tag{Barrier: x.c.Const(exitTag, tagWidth)}
	for range x.slots {
		at.Iters = append(at.Iters, x.c.Const(0, tagWidth))
	}
	end := End{Guard: x.here(st), Bare: x.bare(st, smt.True), Start: x.tag(st, event.OrdersAll), At: at}
	x.th.Ends = append(x.th.Ends, end)
	if x.warp {
		end.Start = x.warpTag(st)
		x.th.WarpEnds = append(x.th.WarpEnds, end)
	}
	if x.partGrid > 0 {
		end.Start = x.gridTag(st)
		x.th.GridEnds = append(x.th.GridEnds, end)
	}
}
