// Package annotation executes the calls of the functions that heddle.h declares: assertions,
// assumptions, invariants, contracts, and what their conditions may ask.
//
// Their meaning follows GPUVerify (Betts et al., TOPLAS 2015, and its annotation manual): two
// threads in lock step reach an annotation together, in one iteration of the loops around. A
// condition is about one of them, and about the other by __other, __uniform, __distinct, __all
// and __exclusive. Barrier invariants follow Chong et al., "Barrier invariants", OOPSLA 2013
// (barrier.go).
//
// A checked annotation becomes a thread.Assertion. The condition of every annotation, assumptions
// included, is known on the path behind it for the thread itself: it strengthens the guards of what
// follows, never of what came before. It is no part of the reach condition, since it does not
// decide where the thread goes.
//
// What this misses: candidates and assumptions about the accesses made so far are ignored, and so
// are barrier invariants about pairs of threads. Ignoring them loses proofs, not bugs.
package annotation

import (
	"maps"
	"slices"
	"strings"

	"heddle/internal/ir"
	"heddle/internal/lockstep/join"
	"heddle/internal/lockstep/kernel"
	"heddle/internal/lockstep/memory"
	"heddle/internal/lockstep/thread"
	"heddle/internal/smt"
)

// Host is what annotations ask of the execution as a whole.
type Host interface {
	// Final reports whether assertions are recorded in this pass; Settling, whether it is too early to
	// give up.
	Final() bool
	Settling() bool
	// Unknown makes a value that nothing is known of.
	Unknown(kind string, width int) smt.Term
	// Outer is everything that holds around the innermost loop.
	Outer() smt.Term
	// Around are the loops around, outermost first, and Counters their counters.
	Around() []*ir.Loop
	Counters() []smt.Term
	Place(in *ir.Instr) thread.Place
	// Reached is the condition under which the thread reaches the end of a block within the loop
	// around it, and Entered that it enters a loop in iterations of the loops around.
	Reached(b ir.BlockID) smt.Term
	Entered(l *ir.Loop) smt.Term
	// Last is the iteration in which the thread leaves a loop that it enters.
	Last(l *ir.Loop) smt.Term
	// Propose adds a candidate invariant of a loop; Record, an access.
	Propose(l *ir.Loop, cond smt.Term)
	Record(a thread.Access)
}

// Site is an instruction, with the state in which it is executed.
type Site interface {
	Instr() *ir.Instr
	// Guard is the guard of the instruction, and Reach the condition to reach it within the innermost
	// loop.
	Guard() smt.Term
	Reach() smt.Term
	Notes() *State
	Memory() *memory.State
	// Argument returns argument i of a call in width bits, and SetResult gives the call its result.
	Argument(i, width int) smt.Term
	SetResult(v smt.Term)
	// Access describes an access of an instruction to an array here, except for its guard, offset,
	// size and kind.
	Access(in *ir.Instr, o *thread.Object) thread.Access
}

// State is what is known of annotations at a program point.
type State struct {
	ghost smt.Term // the thread is within an annotation, whose loads are no accesses
	known smt.Term // assumed or checked on the path, in this iteration of the innermost loop

	threads []smt.Term     // whom the current barrier invariant is for, 64 bits each
	pending []*pendingFact // barrier invariants since which the thread has stored nothing
}

// Entry is the state at the entry of the kernel.
func Entry() State { return State{ghost: smt.False, known: smt.True} }

// Ghost is the condition under which the thread is within an annotation.
func (s *State) Ghost() smt.Term { return s.ghost }

// Known is what annotations have made known on the path, in this iteration of the innermost loop.
func (s *State) Known() smt.Term { return s.known }

// Stored notes that the thread writes memory: barrier invariants before it say nothing of what is
// there now.
func (s *State) Stored() { s.pending = nil }

// Annotations executes annotations. It lives as long as the fixpoint over passes.
type Annotations struct {
	c    *smt.Context
	k    *kernel.Facts
	mem  *memory.Model
	host Host
	th   *thread.Thread // of this pass

	onlyAssumed bool // annotations that are checked mean nothing

	changed  bool     // this pass learned something that the next needs
	assumed  smt.Term // known around the innermost loop
	required smt.Term // by the kernel, at its entry
	given    map[string]smt.Term
	began    *ir.Instr // the first instruction of the annotation

	wide    map[*ir.Instr]smt.Term // function-wide invariants, of the last pass
	guesses map[*ir.Instr]bool     // those of them that are candidates
	global  bool                   // some annotation is also about threads that do not reach it

	meanings
	loads
	contracts
}

// New returns the annotations of a kernel; with onlyAssumed, those that are checked mean nothing.
func New(c *smt.Context, k *kernel.Facts, mem *memory.Model, host Host,
	onlyAssumed bool) *Annotations {
	return &Annotations{
		c: c, k: k, mem: mem, host: host, onlyAssumed: onlyAssumed,
		given: map[string]smt.Term{}, wide: map[*ir.Instr]smt.Term{},
		guesses: map[*ir.Instr]bool{}, meanings: meanings{c: c, logs: map[smt.Term]thread.Log{}},
		loads: loads{c: c, mem: mem, host: host, wide: map[smt.Term]load{}},
	}
}

// Begin starts a pass, which fills in th.
func (a *Annotations) Begin(th *thread.Thread) {
	a.th, a.changed = th, false
	a.assumed, a.required = smt.True, smt.True
	a.meanings.reset()
	a.loads.of, a.aged = maps.Clone(a.loads.wide), map[string]bool{}
	a.contracts = newContracts()
}

// Changed reports whether this pass learned something that the next needs.
func (a *Annotations) Changed() bool { return a.changed }

// Global reports whether some annotation is also about threads that do not reach it.
func (a *Annotations) Global() bool { return a.global }

// Given returns the value that a precondition fixes a parameter to, by symbol.ParamName.
func (a *Annotations) Given(name string) (smt.Term, bool) {
	v, ok := a.given[name]
	return v, ok
}

// AllGiven returns the values that preconditions fix.
func (a *Annotations) AllGiven() map[string]uint64 {
	out := map[string]uint64{}
	for name, v := range a.given {
		out[name], _ = a.c.Value(v)
	}
	return out
}

// Here is what holds if the thread is at a point that it reaches within the innermost loop under
// reach.
func (a *Annotations) Here(s *State, reach smt.Term) smt.Term {
	return a.c.And(a.host.Outer(), a.assumed, reach, s.known)
}

// Bare is Here under a guard, without what annotations on the path made known.
func (a *Annotations) Bare(reach, guard smt.Term) smt.Term {
	return a.c.And(a.host.Outer(), a.required, reach, guard)
}

func (a *Annotations) here(s Site) smt.Term { return a.Here(s.Notes(), s.Reach()) }

// arrives is the condition under which the thread executes the instruction, from the entry of the
// kernel on.
func (a *Annotations) arrives(s Site) smt.Term {
	return a.c.And(a.host.Outer(), s.Reach(), s.Guard())
}

// Join merges states that meet. The caller passes the states in the order of the paths.
func (a *Annotations) Join(states []*State, paths []smt.Term) State {
	r := *states[0]
	r.ghost = join.Values(a.c, paths, func(p int) smt.Term { return states[p].ghost }, nil)
	r.known = join.Values(a.c, paths, func(p int) smt.Term { return states[p].known }, nil)
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

// EnterLoop turns the state at the entry of a loop into the one at its header. The result is for
// LeaveLoop.
func (a *Annotations) EnterLoop(s *State) (around smt.Term) {
	around = a.assumed
	a.assumed = a.c.And(around, s.known)
	s.known, s.threads, s.pending = smt.True, nil, nil
	return around
}

// LeaveLoop ends the execution of the loop that EnterLoop began.
func (a *Annotations) LeaveLoop(around smt.Term) { a.assumed = around }

// Exit turns the state at an edge that leaves a loop, in any iteration, into the one in the
// iteration that s puts in.
func (a *Annotations) Exit(st, entry *State, s *smt.Substitution) {
	st.known = a.c.And(entry.known, s.Apply(st.known))
	st.ghost = s.Apply(st.ghost)
	st.threads, st.pending = nil, nil
}

// Call executes a call of the function name, less its prefix.
func (a *Annotations) Call(s Site, name string) {
	in, st := s.Instr(), s.Notes()
	if name == "ghost" {
		st.ghost, st.threads, a.began = a.c.Or(st.ghost, s.Guard()), nil, in
		return
	}
	if do, ok := statements[name]; ok {
		if !a.onlyAssumed || assumes(name, in) {
			do(a, s, a.c.Not(a.c.Eq(s.Argument(0, 32), a.c.Const(0, 32))))
		}
		st.ghost = a.c.And(st.ghost, a.c.Not(s.Guard()))
		return
	}
	base := name
	for _, space := range []string{"_global", "_local", "_private", "_constant"} {
		base = strings.TrimSuffix(base, space)
	}
	if v, ok := values[base]; ok {
		if s.Notes().ghost == smt.False && (base == "read_offset" || base == "write_offset") {
			// no condition asks which access is meant: it is the offset of any
			s.SetResult(a.host.Unknown("offset", 64))
			return
		}
		a.mustBeWithin(s, base)
		s.SetResult(v(a, s))
		return
	}
	switch {
	case strings.HasPrefix(base, "return_"):
		a.returnVector(s)
	case base == "reads_from", base == "writes_to":
		a.specified(s, base == "writes_to")
	case base == "snapshot":
		a.snapshot(s)
	case base == "completes_later":
		thread.Unsupported(in, "copies that complete on a barrier object")
	case base == "instance": // whom a barrier invariant is for behind the barrier
		st.threads = append(slices.Clip(st.threads), a.Now(s.Argument(0, 64)))
	case base == "fresh": // distinct pointers do not alias: that is assumed of all of them
		if _, _, ok := a.mem.BaseAndOffset(s.Argument(0, 64)); !ok && !a.host.Settling() {
			thread.Unsupported(in, "__requires_fresh_array of a pointer that is not an argument")
		}
	default:
		thread.Unsupported(in, "%s in proofs", shown(base))
	}
}

// assumes reports whether a statement is taken for granted: an assumption, or what the kernel
// requires.
func assumes(name string, in *ir.Instr) bool {
	return name == "assume" || name == "requires" && ofKernel(in)
}

// mustBeWithin refuses a function of conditions that is called elsewhere.
func (a *Annotations) mustBeWithin(s Site, base string) {
	if a.c.And(s.Guard(), a.c.Not(s.Notes().ghost)) != smt.False {
		thread.Unsupported(s.Instr(), "%s outside an annotation", shown(base))
	}
}

// shown is the annotation as the user wrote it.
func shown(name string) string {
	for _, p := range [][2]string{
		{"read_offset", "__read_offset_bytes"}, {"write_offset", "__write_offset_bytes"},
		{"ptr_offset", "__ptr_offset_bytes"},
		{"taken", "__atomic_has_taken_value"}, {"return", "__return_val"},
		{"instance", "__barrier_invariant"},
	} {
		if strings.HasPrefix(name, p[0]) {
			return p[1]
		}
	}
	return "__" + name
}

// snapshot executes __array_snapshot.
func (a *Annotations) snapshot(s Site) {
	in := s.Instr()
	to, toOff, ok := a.mem.BaseAndOffset(a.Now(s.Argument(0, 64)))
	from, fromOff, known := a.mem.BaseAndOffset(a.Now(s.Argument(1, 64)))
	switch {
	case a.host.Settling() && !(ok && known):
		return
	case !ok || !known:
		thread.Unsupported(in, "__array_snapshot of a pointer whose array is unknown")
	case !a.host.Settling() && a.mem.Written(to):
		thread.Unsupported(in, "__array_snapshot to an array that the kernel writes")
	case s.Guard() != smt.True:
		thread.Unsupported(in, "a guarded __array_snapshot")
	}
	a.mem.Snapshot(in, memory.Place{Object: to, Offset: toOff},
		memory.Place{Object: from, Offset: fromOff}, s.Memory())
}
