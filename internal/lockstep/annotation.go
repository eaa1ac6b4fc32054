package lockstep

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"heddle/internal/ir"
	"heddle/internal/smt"
)

// Annotations: calls of the functions that heddle.h declares. What they mean is GPUVerify's: two threads in lock
// step come to an annotation together, in one iteration of the loops around; a condition speaks of one of them,
// and of the other by __other, __uniform, __distinct, __all and __exclusive.
//
// An annotation that is to be checked becomes an Assertion. Whatever it says, an assumption too, is known on the
// way from there on, for the thread itself: it strengthens the guards of what comes later, never of what came
// before, and it is no part of the predicate, since it says nothing of where the thread goes.

// AssertionKind says what an Assertion was in the source.
type AssertionKind uint8

const (
	Asserted AssertionKind = iota
	Invariant
	Precondition // of a called function
	Postcondition
	BarrierInvariant
	KnownTarget // an indirect call leads to no function that is not known
	Assumed     // not checked: only whether it can hold, and whether anything is left if it does
)

var assertionNames = [...]string{"assertion", "invariant", "precondition", "postcondition", "barrier invariant", "list of functions that may be called", "assumption"}

func (k AssertionKind) String() string { return assertionNames[k] }

// Assertion is a condition that must hold for every thread that comes to it.
type Assertion struct {
	Instr *ir.Instr
	Kind  AssertionKind
	Guard smt.Term
	Cond  smt.Term
	Iters []smt.Term // of all loops around, outermost first
	Place Place
	Logs  []Log // the symbols in Cond that stand for an access
	// Reads are what the condition reads of memory, as if they were accesses of the thread: what it finds there is right if
	// no other thread writes it in the same barrier interval.
	Reads []Access
}

// Place orders what a thread does within one iteration of the loops that two places share.
type Place struct {
	Loops []int // around, outermost first
	Rank  int   // in the order of the text with loops cut open
}

// Log is what a condition asks of the accesses that the thread has made since the last barrier: whether there was
// one (Has), and its offset in bytes. The condition must hold for each of them and for none.
type Log struct {
	Object *Object
	Writes bool
	Has    smt.Term
	Offset smt.Term
	Start  Tag // of the barrier interval, for the memory that the array is in
}

// Other says what a symbol of the other thread stands for: Value, where the other thread is there (Here), else
// Absent. Loops are the counters of the loops around, which are the symbol's arguments.
//
// Known is what the other thread has come by, if it is there: both come to an annotation together, and so have passed
// the same ones before it.
type Other struct {
	Here, Known, Value, Absent smt.Term
	Loops                      []smt.Term
}

// SameBlock is true if the two threads are of one block.
const SameBlock = private + "same"

// annotating is what a state knows of annotations.
type annotating struct {
	ghost smt.Term // within an annotation: what is read is no access
	known smt.Term // assumed or checked on the way, in this iteration of the innermost loop

	threads []smt.Term     // that the barrier invariant which is being stated is for, 64 bits each
	pending []*pendingFact // barrier invariants since which the thread has stored nothing
}

// annotations are what a pass collects.
type annotations struct {
	assumed  smt.Term // known around the innermost loop
	required smt.Term // by the kernel, at its entry
	given    map[string]smt.Term
	rank     map[*ir.Instr]int
	blockOf  map[*ir.Instr]ir.BlockID
	began    *ir.Instr              // the annotation
	wide     map[*ir.Instr]smt.Term // function-wide invariants, of the last pass
	guesses  map[*ir.Instr]bool     // those that are candidates
	// What they load.
	wideLoads map[smt.Term]ghostLoad
	logs      map[smt.Term]Log // by Has and by Offset
	enabled   map[smt.Term]smt.Term
	// Symbols for \"the thread came to where the ways to this place part\", with what that is.
	dominated map[smt.Term]smt.Term
	snapped   map[*ir.Instr]*Object // where a snapshot goes
	takens    map[smt.Term]bool     // see taken.go
	global    bool                  // some are meant for threads too that do not come to them
	ghosts    map[smt.Term]ghostLoad
	aged      map[string]bool // values of the other thread, by their symbols, that are what memory held when they were asked for
	contracts
}

func (a *annotations) init(f *ir.Func, rpo []ir.BlockID) {
	a.given, a.rank, a.blockOf = map[string]smt.Term{}, map[*ir.Instr]int{}, map[*ir.Instr]ir.BlockID{}
	a.logs, a.wide, a.wideLoads, a.guesses = map[smt.Term]Log{}, map[*ir.Instr]smt.Term{}, map[smt.Term]ghostLoad{}, map[*ir.Instr]bool{}
	a.snapped = map[*ir.Instr]*Object{}
	for _, b := range rpo {
		for _, in := range f.Blocks[b].Instrs {
			a.rank[in], a.blockOf[in] = len(a.rank), b
		}
	}
}

func (a *annotations) reset() {
	a.assumed, a.required, a.enabled, a.dominated = smt.True, smt.True, map[smt.Term]smt.Term{}, map[smt.Term]smt.Term{}
	a.ghosts, a.aged, a.takens = maps.Clone(a.wideLoads), map[string]bool{}, map[smt.Term]bool{}
	a.contracts = contracts{promised: map[*ir.Instr][]promise{}, effects: map[*ir.Instr][]effect{}, old: map[smt.Term]smt.Term{}}
}

// here is what holds if the thread is at this point.
func (x *exec) here(st *state) smt.Term {
	return x.c.And(x.outer, x.assumed, st.pred, st.known)
}

// bare is here, and guard, without what annotations on the way made known.
func (x *exec) bare(st *state, guard smt.Term) smt.Term {
	return x.c.And(x.outer, x.required, st.pred, guard)
}

// place returns where the current instruction is.
func (x *exec) place(in *ir.Instr) Place {
	p := Place{Rank: x.rank[in]}
	for _, l := range x.around {
		p.Loops = append(p.Loops, x.info[l].index)
	}
	return p
}

const annotationPrefix = "__heddle_"

func calleeName(in *ir.Instr) string {
	if in.Callee == nil {
		return "a function by its address"
	}
	return in.Callee.Demangled
}

// call executes a call that was not inlined: annotations, and functions without a body that have no effect.
func (x *exec) call(in *ir.Instr, st *state) {
	switch {
	case in.Callee == nil:
		x.state(in, KnownTarget, smt.False, st)
		x.anyResult(in, st)
		return
	case in.Callee.Blocks != nil: // inlined before: here it returns
		x.returned(in, st)
		return
	}
	name, ok := strings.CutPrefix(in.Callee.Name, annotationPrefix)
	switch {
	case in.Callee.Uninterpreted():
		x.uninterpreted(in, in.Callee.Name, st)
		return
	case !ok:
		x.extern(in, st)
		return
	}
	if f, ok := strings.CutPrefix(name, "uf_"); ok {
		x.uninterpreted(in, f, st)
		return
	}
	if name == "ghost" {
		st.ghost, st.threads, x.began = x.c.Or(st.ghost, x.guard), nil, in
		return
	}
	if do, ok := statements[name]; ok {
		cond := x.c.Not(x.c.Eq(x.argument(in, 0, 32, st), x.c.Const(0, 32)))
		do(x, in, cond, st)
		st.ghost = x.c.And(st.ghost, x.c.Not(x.guard))
		return
	}
	base := name
	for _, space := range []string{"_global", "_local", "_private", "_constant"} {
		base = strings.TrimSuffix(base, space)
	}
	if v, ok := values[base]; ok {
		if x.c.And(x.guard, x.c.Not(st.ghost)) != smt.False {
			x.unsupported(in, "%s outside an annotation", shownAnnotation(base))
		}
		x.result(in, v(x, in, st), st)
		return
	}
	if x.copying(name, in, st) {
		return
	}
	if strings.HasPrefix(base, "return_") {
		x.returnVector(in, st)
		return
	}
	if base == "reads_from" || base == "writes_to" {
		x.specified(in, base == "writes_to", st)
		return
	}
	if base == "snapshot" {
		x.snapshot(in, st)
		return
	}
	if base == "completes_later" {
		x.unsupported(in, "proofs about copies that a barrier object completes")
	}
	if base == "instance" { // for whom a barrier invariant is wanted behind the barrier
		st.threads = append(slices.Clip(st.threads), x.now(x.argument(in, 0, 64, st)))
		return
	}
	if base == "fresh" { // distinct pointers do not alias: that is assumed of all of them
		if _, _, ok := x.baseAndOffset(x.argument(in, 0, 64, st)); !ok && !x.settling {
			x.unsupported(in, "__requires_fresh_array of a pointer that is no argument")
		}
		return
	}
	x.unsupported(in, "%s in proofs", shownAnnotation(base))
}

// extern executes a call of a function without a body that is none of ours.
func (x *exec) extern(in *ir.Instr, st *state) {
	name := calleeName(in)
	if !x.opt.PureExtern {
		x.unsupported(in, "a call of %s, of which nothing is known", name)
	}
	if i, found := slices.BinarySearch(x.th.Extern, name); !found {
		x.th.Extern = slices.Insert(x.th.Extern, i, name)
	}
	x.anyResult(in, st)
}

// anyResult says that what a call returns may be anything.
func (x *exec) anyResult(in *ir.Instr, st *state) {
	st.own = nil // the function may have pointers to memory of the thread
	for i := range in.Dst {
		if o := in.Dst[i]; o.Kind == ir.Register {
			x.set(in, o, x.fresh("called", width(x.f.Regs[o.Reg].Type)), false, st)
		} else if x.isScratch(&o) {
			x.forgetScratch(slot{o.Var, 0, o.Var.Size}, st)
		}
	}
}

// shownAnnotation is how the user wrote it.
func shownAnnotation(name string) string {
	for _, p := range [][2]string{
		{"read_offset", "__read_offset_bytes"}, {"write_offset", "__write_offset_bytes"}, {"ptr_offset", "__ptr_offset_bytes"},
		{"taken", "__atomic_has_taken_value"}, {"return", "__return_val"}, {"instance", "__barrier_invariant"},
	} {
		if strings.HasPrefix(name, p[0]) {
			return p[1]
		}
	}
	return "__" + name
}

// uninterpreted is a function of its arguments, declared by DECLARE_UF or known by its name.
func (x *exec) uninterpreted(in *ir.Instr, name string, st *state) {
	var args []smt.Term
	for i := range in.Src {
		args = append(args, x.argument(in, i, 64, st))
	}
	if len(in.Dst) == 0 {
		return
	}
	w := 64
	if d := in.Dst[0]; d.Kind == ir.VarVal {
		w = 8 * min(d.Var.Size, 8)
	}
	x.result(in, x.pure("uf_"+name, w, args...), st)
}

// statements are the calls that end an annotation.
var statements = map[string]func(x *exec, in *ir.Instr, cond smt.Term, st *state){
	"assert": func(x *exec, in *ir.Instr, cond smt.Term, st *state) { x.stated(in, Asserted, cond, st) },
	"invariant": func(x *exec, in *ir.Instr, cond smt.Term, st *state) {
		x.atLoopHead(in)
		x.stated(in, Invariant, cond, st)
	},
	"assume": func(x *exec, in *ir.Instr, cond smt.Term, st *state) { x.assume(in, cond, st) },
	"requires": func(x *exec, in *ir.Instr, cond smt.Term, st *state) {
		if in.Caller == nil && (in.Loc == nil || in.Loc.Parent == nil) {
			x.precondition(x.now(cond), st)
			x.assume(in, cond, st)
			return
		}
		x.stated(in, Precondition, cond, st)
	},
	"ensures":           func(x *exec, in *ir.Instr, cond smt.Term, st *state) { x.promise(in, cond, st) },
	"function_wide":     func(x *exec, in *ir.Instr, cond smt.Term, st *state) { x.functionWide(in, cond, st) },
	"candidate":         func(x *exec, in *ir.Instr, cond smt.Term, st *state) { x.guess(in, cond, st) },
	"barrier_invariant": func(x *exec, in *ir.Instr, cond smt.Term, st *state) { x.barrierInvariant(in, cond, st) },
	"permission":        func(*exec, *ir.Instr, smt.Term, *state) {}, // to read or write within barrier invariants: whatever they read is asked for
}

// guess handles a candidate of the user's: an invariant of the loop if the search for invariants keeps it, else nothing. Where it
// speaks of other threads or of accesses, of which that search knows nothing, it is nothing.
func (x *exec) guess(in *ir.Instr, cond smt.Term, st *state) {
	x.atLoopHead(in)
	x.propose(x.info[x.around[len(x.around)-1]], x.whereEnabled(x.now(cond)))
}

// propose adds a candidate for a loop, in the iteration that its counter says.
func (x *exec) propose(info *loopInfo, cond smt.Term) {
	if x.final && x.guard == smt.True && !x.speaksOfOther(cond) {
		info.guesses = append(info.guesses, cond)
	}
}

// atLoopHead makes sure that an invariant is the first thing that an iteration comes to, other annotations and what
// computes them aside.
func (x *exec) atLoopHead(in *ir.Instr) {
	const where = "an invariant that does not stand at the head of a loop; elsewhere it is an __assert"
	if len(x.around) == 0 || x.began == nil {
		x.unsupported(in, where)
	}
	within := false
	for _, b := range x.toFirst(x.blockOf[x.began]) {
		for _, at := range x.f.Blocks[b].Instrs {
			switch {
			case at == x.began:
				return
			case at.Op() == "call" && at.Callee != nil && at.Callee.Name == annotationPrefix+"ghost":
				within = true
			case at.Op() == "call" && at.Callee != nil && len(at.Callee.Params) == 2 && len(at.Callee.Results) == 0:
				within = false // a statement with its condition
			case !within && (isStore(at) || isBlockBarrier(at)):
				x.unsupported(in, where)
			}
		}
	}
	x.unsupported(in, where)
}

// toFirst returns the blocks of an iteration of the innermost loop from its header up to a block that each iteration comes to before
// it may leave the loop or go round; nothing if there may be more between. Compilers make branches of the choices in a condition.
func (x *exec) toFirst(last ir.BlockID) []ir.BlockID {
	l := x.around[len(x.around)-1]
	found := []ir.BlockID{l.Header}
	var out []ir.BlockID
	for _, b := range x.rpo {
		if !slices.Contains(found, b) {
			continue
		}
		out = append(out, b)
		if b == last && len(out) == len(found) { // nothing leads past it
			return out
		}
		at := x.f.Blocks[b]
		if b == last || len(at.Succs) == 0 || at.Last() != nil && (at.Last().Op() == "ret" || at.Last().Op() == "exit") {
			return nil
		}
		for _, s := range at.Succs {
			if s == l.Header || x.loops.Of[s] != l {
				return nil
			}
			if !slices.Contains(found, s) {
				found = append(found, s)
			}
		}
	}
	return nil
}

// forAll reports whether an annotation is meant for disabled threads too (the global forms).
func (x *exec) forAll(in *ir.Instr, st *state) bool {
	if len(in.Src) < 2 || strings.HasSuffix(in.Callee.Name, "barrier_invariant") {
		return false
	}
	v, ok := x.c.Value(x.argument(in, 1, 32, st))
	all := !ok || v != 0
	if all && !x.global {
		x.global, x.changed = true, true
	}
	return all
}

// stated handles a condition that is checked where the thread is; in a global form, also for threads that are not.
func (x *exec) stated(in *ir.Instr, kind AssertionKind, cond smt.Term, st *state) {
	x.state(in, kind, cond, st)
	if x.forAll(in, st) {
		x.statedOfAbsent(in, in, kind, cond, st)
	}
}

// statedOfAbsent checks a condition for threads that do not come to it where another thread does. What their registers would hold
// there is not known: it must speak of things that are the same everywhere.
func (x *exec) statedOfAbsent(at, in *ir.Instr, kind AssertionKind, cond smt.Term, st *state) {
	absent := x.c.Not(x.c.And(x.outer, st.pred, x.guard))
	if absent == smt.False || !x.final {
		return
	}
	cond = x.disabled(cond)
	if cond == smt.True {
		return
	}
	if !x.constant(cond) {
		x.unsupported(in, "a global annotation about values of threads that do not come to it")
	}
	cond = x.replaced(cond, x.dominated)
	x.addAssertion(at, in, kind, x.c.And(absent, x.c.BoolVar(SameBlock), x.otherIsHere(at, st)), cond, st)
}

// otherIsHere is a symbol for "the other thread comes to this place".
func (x *exec) otherIsHere(in *ir.Instr, st *state) smt.Term {
	sym := x.apply(fmt.Sprintf("%spresent%d", private, in.Index), 0, x.counters())
	x.setOther(sym, Other{Here: x.c.And(x.outer, st.pred, x.guard), Known: x.ownFacts(st), Value: smt.True, Absent: smt.False, Loops: x.counters()})
	return sym
}

func (x *exec) setOther(sym smt.Term, o Other) {
	if x.th.Others == nil {
		x.th.Others = map[string]Other{}
	}
	x.th.Others[x.c.Name(sym)] = o
}

// state records an assertion, and goes on with what it says.
func (x *exec) state(in *ir.Instr, kind AssertionKind, cond smt.Term, st *state) {
	x.stateAt(in, in, kind, cond, st)
}

// stateAt is state for an annotation that stands elsewhere than at the instruction where it is checked.
func (x *exec) stateAt(at, in *ir.Instr, kind AssertionKind, cond smt.Term, st *state) {
	x.stateWith(at, in, kind, cond, x.now, st)
}

// stateWith is stateAt of a condition whose loads are those of the moment that read puts in.
func (x *exec) stateWith(at, in *ir.Instr, kind AssertionKind, cond smt.Term, read func(smt.Term) smt.Term, st *state) {
	loading := cond
	cond = x.whereEnabled(read(cond))
	if x.final {
		n := len(x.th.Assertions)
		x.addAssertion(at, in, kind, x.c.And(x.here(st), x.guard), cond, st)
		if len(x.th.Assertions) > n {
			x.th.Assertions[n].Reads, _ = x.readsOf(at, loading, read, st)
		}
	}
	x.know(cond, st)
}

func (x *exec) addAssertion(at, in *ir.Instr, kind AssertionKind, guard, cond smt.Term, st *state) {
	if cond == smt.True || guard == smt.False {
		return
	}
	a := Assertion{Instr: in, Kind: kind, Guard: guard, Cond: cond, Iters: x.counters(), Place: x.place(at)}
	seen := map[smt.Term]bool{}
	x.c.Visit([]smt.Term{cond}, func(t smt.Term) {
		if l, ok := x.logs[t]; ok && !seen[l.Has] {
			seen[l.Has] = true
			l.Start = x.tag(st, orders(l.Object.Space))
			a.Logs = append(a.Logs, l)
		}
	})
	x.th.Assertions = append(x.th.Assertions, a)
}

// assume goes on with what an assumption says. One that asks for the accesses so far says nothing that is used.
func (x *exec) assume(in *ir.Instr, cond smt.Term, st *state) { x.assumeThat(in, x.now(cond), st) }

func (x *exec) assumeThat(in *ir.Instr, cond smt.Term, st *state) {
	cond = x.whereEnabled(cond)
	if x.final && cond != smt.True {
		x.addAssertion(in, in, Assumed, x.c.And(x.here(st), x.guard), cond, st)
	}
	x.know(cond, st)
}

// know adds a condition to what is known on the way.
func (x *exec) know(cond smt.Term, st *state) {
	logs := false
	x.c.Visit([]smt.Term{cond}, func(t smt.Term) { logs = logs || x.logs[t].Has != 0 })
	if !logs {
		st.known = x.c.And(st.known, x.c.Implies(x.guard, cond))
	}
}

// precondition takes what a kernel requires for known from the entry on, if every thread comes to it. Where it says
// what value a parameter has, everything is executed with this value.
func (x *exec) precondition(cond smt.Term, st *state) {
	if x.outer != smt.True || st.pred != smt.True || x.guard != smt.True {
		return
	}
	cond = x.whereEnabled(cond)
	x.required = x.c.And(x.required, cond)
	conds := []smt.Term{cond}
	if x.c.Op(cond) == smt.OpAnd {
		conds = x.c.Args(cond)
	}
	for _, t := range conds {
		v, by, ok := x.c.Solved(t)
		if !ok || x.c.Op(v) != smt.OpVar || !strings.HasPrefix(x.c.Name(v), paramPrefix) {
			continue
		}
		if k, isConst := x.c.Value(by); isConst && !x.knows(x.c.Name(v)) {
			x.given[x.c.Name(v)] = x.c.Const(k, x.c.Width(v))
			x.changed = true
		}
	}
}

func (x *exec) knows(name string) bool {
	_, ok := x.given[name]
	return ok
}

// constant reports whether a term is the same wherever a thread is: it speaks of its index, of parameters and of
// the launch, of accesses, and of nothing that changes on the way.
func (x *exec) constant(t smt.Term) bool {
	ok := true
	x.c.Visit([]smt.Term{t}, func(u smt.Term) {
		if op := x.c.Op(u); op != smt.OpVar && op != smt.OpApp || x.logs[u].Has != 0 {
			return
		}
		name := x.c.Name(u)
		switch {
		case strings.HasPrefix(name, paramPrefix), strings.HasPrefix(name, private+"tid."), strings.HasPrefix(name, inBlock+"ctaid."), strings.HasPrefix(name, base), strings.HasPrefix(name, opPrefix):
		case strings.HasPrefix(name, private+"dominated"), strings.HasPrefix(name, private+"taken"), strings.HasPrefix(name, private+"log"), strings.HasPrefix(name, counterPrefix) && x.underLog(t, u):
		default:
			ok = false
		}
	})
	return ok
}

// underLog reports whether a counter occurs in t only as an argument of the symbols of accesses, and of those for where the thread came.
func (x *exec) underLog(t, counter smt.Term) bool {
	s := x.c.Substitute()
	for u := range x.logs {
		if w := x.c.Width(u); w > 0 {
			s.Replace(u, x.c.Const(0, w))
		} else {
			s.Replace(u, smt.True)
		}
	}
	for u := range x.dominated {
		s.Replace(u, smt.True)
	}
	for u := range x.takens {
		s.Replace(u, smt.True)
	}
	return !x.mentions(x.c.Name(counter), s.Apply(t))
}

// whereEnabled is a condition for a thread that comes to it.
func (x *exec) whereEnabled(cond smt.Term) smt.Term { return x.withEnabled(cond, smt.True) }

// disabled is a condition for a thread that does not.
func (x *exec) disabled(cond smt.Term) smt.Term { return x.withEnabled(cond, smt.False) }

func (x *exec) withEnabled(cond, v smt.Term) smt.Term {
	by := map[smt.Term]smt.Term{}
	for e := range x.enabled {
		by[e] = v
	}
	if v == smt.True {
		for d := range x.dominated {
			by[d] = v
		}
	}
	return x.replaced(cond, by)
}

// replaced puts terms in the place of symbols.
func (x *exec) replaced(t smt.Term, by map[smt.Term]smt.Term) smt.Term {
	if len(by) == 0 {
		return t
	}
	s := x.c.Substitute()
	for sym, v := range by {
		s.Replace(sym, v)
	}
	return s.Apply(t)
}

// values are the functions that a condition may ask.
var values = map[string]func(x *exec, in *ir.Instr, st *state) smt.Term{
	"enabled":           func(x *exec, in *ir.Instr, st *state) smt.Term { return x.number(x.isEnabled(in, st), 32) },
	"dominator_enabled": func(x *exec, in *ir.Instr, _ *state) smt.Term { return x.number(x.isDominated(in), 32) },
	"same_group":        func(x *exec, _ *ir.Instr, _ *state) smt.Term { return x.number(x.c.BoolVar(SameBlock), 32) },
	"other": func(x *exec, in *ir.Instr, st *state) smt.Term {
		return x.other(in, x.argument(in, 0, 64, st), st)
	},
	"uniform": func(x *exec, in *ir.Instr, st *state) smt.Term {
		v := x.argument(in, 0, 64, st)
		return x.number(x.c.Eq(v, x.other(in, v, st)), 32)
	},
	"distinct": func(x *exec, in *ir.Instr, st *state) smt.Term {
		v := x.argument(in, 0, 64, st)
		return x.number(x.c.Not(x.c.Eq(v, x.other(in, v, st))), 32)
	},
	"all": func(x *exec, in *ir.Instr, st *state) smt.Term {
		v := x.argument(in, 0, 32, st)
		return x.number(x.c.And(x.truth(v), x.truth(x.other(in, v, st))), 32)
	},
	"taken": func(x *exec, in *ir.Instr, st *state) smt.Term { return x.number(x.taken(in, st), 32) },
	"exclusive": func(x *exec, in *ir.Instr, st *state) smt.Term {
		v := x.argument(in, 0, 32, st)
		return x.number(x.c.Not(x.c.And(x.truth(v), x.truth(x.other(in, v, st)))), 32)
	},
	"read":         func(x *exec, in *ir.Instr, st *state) smt.Term { return x.number(x.log(in, false, st).Has, 32) },
	"write":        func(x *exec, in *ir.Instr, st *state) smt.Term { return x.number(x.log(in, true, st).Has, 32) },
	"read_offset":  func(x *exec, in *ir.Instr, st *state) smt.Term { return x.log(in, false, st).Offset },
	"write_offset": func(x *exec, in *ir.Instr, st *state) smt.Term { return x.log(in, true, st).Offset },
	"old":          func(x *exec, in *ir.Instr, st *state) smt.Term { return x.oldValue(in, st) },
	"return":       func(x *exec, in *ir.Instr, st *state) smt.Term { return x.returnValue(in) },
	"ptr_base": func(x *exec, in *ir.Instr, st *state) smt.Term {
		return x.ofPointer(in, st, func(o *Object, _ smt.Term) smt.Term { return x.c.Const(uint64(o.index)+1, 64) })
	},
	"ptr_offset": func(x *exec, in *ir.Instr, st *state) smt.Term {
		return x.ofPointer(in, st, func(_ *Object, off smt.Term) smt.Term { return off })
	},
}

func (x *exec) truth(v smt.Term) smt.Term { return x.c.Not(x.c.Eq(v, x.c.Const(0, x.c.Width(v)))) }

func (x *exec) number(b smt.Term, w int) smt.Term {
	return x.c.Ite(b, x.c.Const(1, w), x.c.Const(0, w))
}

// isEnabled is a symbol for "the thread comes to this place", which is true or false by who asks.
func (x *exec) isEnabled(in *ir.Instr, st *state) smt.Term {
	e := x.apply(fmt.Sprintf("%sen%d", private, in.Index), 0, x.counters())
	x.enabled[e] = x.c.And(x.outer, st.pred, x.guard)
	return e
}

// isDominated is a symbol for "the thread came to the block that dominates this place": at the head of a loop, that in front of the loop.
func (x *exec) isDominated(in *ir.Instr) smt.Term {
	at := x.blockOf[in]
	if x.began != nil { // the annotation may have branches
		at = x.blockOf[x.began]
	}
	from := x.dom.IDom(at)
	d := x.apply(fmt.Sprintf("%sdominated%d", private, in.Index), 0, x.counters())
	if from == ir.NoBlock { // the entry
		x.dominated[d] = smt.True
		return d
	}
	around := smt.True
	for l := x.loops.Of[at]; l != x.loops.Of[from]; l = l.Parent {
		if l == nil {
			x.unsupported(in, "__dominator_enabled behind a loop")
		}
	}
	if l := x.loops.Of[from]; l != nil {
		around = x.info[l].entry
	}
	x.dominated[d] = x.c.And(around, x.reach[from])
	return d
}

// other is a value that the other thread has at this place.
func (x *exec) other(in *ir.Instr, v smt.Term, st *state) smt.Term {
	sym := x.apply(fmt.Sprintf("%sother%d", private, in.Index), x.c.Width(v), x.counters())
	if len(x.loadsIn(v)) > 0 {
		x.aged[x.c.Name(sym)] = true
	}
	v = x.now(v)
	o := Other{Here: x.c.And(x.outer, st.pred, x.guard), Known: x.ownFacts(st), Value: x.whereEnabled(v), Loops: x.counters()}
	o.Absent = x.fresh("absent", x.c.Width(v))
	if absent := x.disabled(v); absent != x.whereEnabled(v) && x.c.Op(absent) == smt.OpConst {
		o.Absent = absent // it asks whether the thread is here
	}
	x.setOther(sym, o)
	return sym
}

// ownFacts is what is known on the way that speaks of the thread alone.
func (x *exec) ownFacts(st *state) smt.Term {
	all := x.c.And(x.assumed, st.known)
	facts := []smt.Term{all}
	if x.c.Op(all) == smt.OpAnd {
		facts = slices.Clone(x.c.Args(all))
	}
	return x.c.And(slices.DeleteFunc(facts, func(t smt.Term) bool {
		other := false
		x.c.Visit([]smt.Term{t}, func(u smt.Term) {
			if op := x.c.Op(u); op == smt.OpVar || op == smt.OpApp {
				_, is := x.th.Others[x.c.Name(u)]
				other = other || is || x.c.Name(u) == SameBlock
			}
		})
		return other
	})...)
}

// log is the access to an array that a condition asks for. The same question twice in one annotation is about one
// access, whichever it is.
func (x *exec) log(in *ir.Instr, writes bool, st *state) Log {
	o, _, ok := x.baseAndOffset(x.now(x.argument(in, 0, 64, st)))
	if !ok {
		if x.settling || !x.final {
			return Log{Has: x.c.BoolVar(private + "log?"), Offset: x.c.Var(private+"log?offset", 64)}
		}
		x.unsupported(in, "an annotation about accesses by a pointer of which the array is not known")
	}
	kind := "r"
	if writes {
		kind = "w"
	}
	name := fmt.Sprintf("%slog%s%d", private, kind, o.index)
	l := Log{Object: o, Writes: writes, Has: x.c.BoolVar(name), Offset: x.c.Var(name+".offset", 64)}
	x.logs[l.Has], x.logs[l.Offset] = l, l
	return l
}

// ofPointer chooses by where a pointer leads.
func (x *exec) ofPointer(in *ir.Instr, st *state, value func(o *Object, off smt.Term) smt.Term) smt.Term {
	r := x.fresh("ptr", 64)
	places := x.resolve(x.now(x.argument(in, 0, 64, st)))
	for i := len(places) - 1; i >= 0; i-- {
		if p := places[i]; p.object != nil {
			r = x.c.Ite(p.cond, value(p.object, p.offset), r)
		}
	}
	return r
}
