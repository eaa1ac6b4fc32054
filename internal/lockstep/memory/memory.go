// Package memory says what one thread finds in memory: which arrays its addresses lead to, what it
// has stored itself, and what the kernel's parameters and constant tables hold.
//
// The abstraction of shared and global memory: up to the first race, all threads of a block see the
// memory of the start of their barrier interval, except for what they have stored since. So a load
// is the function "contents of this array at this barrier instance" of the offset, one function for
// all threads, unless the thread itself may have stored there in the interval. This replaces the
// adversarial abstraction of Betts et al. (GPUVerify, TOPLAS 2015, section 4.3), in which each load
// of written memory yields anything, and which Options.Adversarial keeps.
//
// What it assumes: accesses stay within the array that their address is computed from, and pointer
// parameters neither alias each other nor variables.
//
// A Model lives as long as the fixpoint over passes: where accesses lead in one pass decides what
// loads may see in the next. A State is what is known at one program point.
package memory

import (
	"maps"
	"slices"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/lockstep/join"
	"heddle/internal/lockstep/kernel"
	"heddle/internal/lockstep/symbol"
	"heddle/internal/lockstep/thread"
	"heddle/internal/smt"
)

// Env is what a Model asks of the execution of an instruction.
type Env interface {
	// Guard is the guard of the instruction, as it was before the instruction wrote anything.
	Guard() smt.Term
	// Unknown makes a value that nothing is known of, different from all others.
	Unknown(kind string, width int) smt.Term
	// Counters are the counters of the loops around, outermost first.
	Counters() []smt.Term
	// Fixed returns the value of a part of a parameter that is known.
	Fixed(v *ir.Var, off, width int) (smt.Term, bool)
	// SignExtend returns t, of at most 64 bits, in 64 bits with its sign.
	SignExtend(t smt.Term) smt.Term
	// Pause panics if a budget is used up.
	Pause()
}

// Options are how loads are abstracted.
type Options struct {
	// Adversarial takes each load of an array that the kernel writes to be anything.
	Adversarial bool
	// Unstable takes each load of global memory to be anything, also of arrays that the kernel does
	// not write.
	Unstable bool
	// Lockstep takes the lanes of a warp to execute each instruction together.
	Lockstep bool
	// Pointers says where pointers among the parameters point, of those that do not point to the start
	// of an array of their own.
	Pointers map[Pointer]Target
}

// Pointer is a parameter that is a pointer, or the pointer at byte Field of a struct parameter.
type Pointer struct {
	Param *ir.Var
	Field int
}

// Target is a place in the array that another pointer names, or the pointer itself: Offset bytes
// from its start.
type Target struct {
	Of     Pointer
	Offset uint64
}

// Model is what is known of the arrays of a kernel.
type Model struct {
	*Arrays
	c   *smt.Context
	k   *kernel.Facts
	env Env
	opt Options

	targets targets
	dirty   *dirtiness
	snapped map[*ir.Instr]*thread.Object // where each snapshot goes
	// by the name of the function; those of earlier passes are among them
	contents map[string]loopContents
}

// New returns a Model of the arrays of a kernel.
func New(c *smt.Context, k *kernel.Facts, env Env, opt Options) *Model {
	return &Model{
		Arrays: newArrays(c, env), c: c, k: k, env: env, opt: opt,
		targets: targets{of: map[*ir.Instr][]*thread.Object{}}, snapped: map[*ir.Instr]*thread.Object{},
		contents: map[string]loopContents{},
	}
}

// Begin starts a pass, which uses where the accesses of the last pass led. Moved then reports
// whether one led elsewhere in this pass.
func (m *Model) Begin() {
	m.targets.moved = false
	m.dirty = m.findDirty()
}

// Moved reports whether an access, or a snapshot, led elsewhere in this pass than in the last.
func (m *Model) Moved() bool { return m.targets.moved }

// State is what is known of memory at a program point.
type State struct {
	// Tags are the last barrier instances that order each part of memory: kernel.Facts.TagLen terms
	// for each of kernel.Facts.Parts parts.
	Tags    []smt.Term
	scratch map[slot]smt.Term
	local   []*localStore // in program order; shared between states
	view    view
	snaps   map[*thread.Object]*contents // not changed once it is made
}

// Entry is the state at the entry of the kernel.
func (m *Model) Entry() State {
	var s State
	for range m.k.Parts() * m.k.TagLen() {
		s.Tags = append(s.Tags, m.c.Const(0, thread.TagWidth))
	}
	return s
}

// Clone returns a copy.
func (s *State) Clone() State {
	return State{
		Tags: slices.Clone(s.Tags), scratch: maps.Clone(s.scratch), local: s.local, view: s.view.clone(),
		snaps: s.snaps,
	}
}

// part returns the terms of the tag of a part, to be changed in place.
func (m *Model) part(s *State, part int) []smt.Term {
	n := m.k.TagLen()
	return s.Tags[part*n : (part+1)*n]
}

// Tag returns the last barrier that orders some part of memory; with OrdersAll, the last that the
// thread waited at.
func (m *Model) Tag(s *State, by event.Orders) thread.Tag {
	return thread.TagOf(m.part(s, m.k.Part(by)))
}

// SpaceTag returns the last barrier that orders the memory of a space.
func (m *Model) SpaceTag(s *State, space event.Space) thread.Tag {
	return m.Tag(s, kernel.SpaceOrders(space))
}

// WarpTag returns the last barrier of the block or the warp, in lock step the last merge point of
// the warp; the zero Tag if these order nothing.
func (m *Model) WarpTag(s *State) thread.Tag {
	if m.k.WarpPart() == 0 {
		return thread.Tag{}
	}
	return thread.TagOf(m.part(s, m.k.WarpPart()))
}

// GridTag returns the last barrier of the grid; in a kernel without any, the entry of the kernel.
func (m *Model) GridTag(s *State) thread.Tag {
	if m.k.GridPart() == 0 {
		return thread.Tag{Barrier: m.c.Const(0, thread.TagWidth)}
	}
	return thread.TagOf(m.part(s, m.k.GridPart()))
}

// Merge sets the tag of the lanes of a warp to a merge point.
func (m *Model) Merge(s *State, at []smt.Term) { copy(m.part(s, m.k.WarpPart()), at) }

// Pass sets the tags of the parts whose intervals a barrier ends to its instance, under the guard
// of the instruction.
func (m *Model) Pass(s *State, instance []smt.Term, ends func(part int) bool) {
	for p := range m.k.Parts() {
		if !ends(p) {
			continue
		}
		tag := m.part(s, p)
		for i, t := range tag {
			tag[i] = m.c.Ite(m.env.Guard(), instance[i], t)
		}
	}
}

// JoinTags merges the tags of states that meet.
func (m *Model) JoinTags(states []*State, paths []smt.Term) []smt.Term {
	out := make([]smt.Term, len(states[0].Tags))
	for i := range out {
		out[i] = join.Values(m.c, paths, func(p int) smt.Term { return states[p].Tags[i] }, nil)
	}
	return out
}

// Join merges states that meet at block b. JoinTags merges the tags.
func (m *Model) Join(b ir.BlockID, states []*State, paths []smt.Term) State {
	return State{
		scratch: m.joinScratch(b, states, paths),
		local:   m.joinLocal(states, paths),
		view:    m.joinView(states, paths),
		snaps:   m.joinSnaps(states, paths),
	}
}

// Loop is a loop that is being executed, with its counter and those of the loops around.
type Loop struct {
	*kernel.Loop
	Around  []smt.Term
	Counter smt.Term
}

func (l *Loop) iteration() []smt.Term {
	return append(append([]smt.Term(nil), l.Around...), l.Counter)
}

// AtHeader turns the state at the entry of a loop into what is known at its header in any
// iteration. It leaves the tags alone.
func (m *Model) AtHeader(l Loop, s *State) {
	s.scratch = m.headerScratch(l.Loop, s.scratch)
	m.headerLocal(l.Loop, s)
	s.view = m.headerView(l, &s.view)
	s.snaps = m.headerSnaps(l.Loop, s.snaps)
}

// Rename replaces symbols in all that is known.
func (m *Model) Rename(s *State, by *smt.Substitution) {
	for k, v := range s.scratch {
		s.scratch[k] = by.Apply(v)
	}
	s.view = m.renamedView(&s.view, by)
	s.snaps = m.renamedSnaps(s.snaps, by)
	for j, v := range s.Tags {
		s.Tags[j] = by.Apply(v)
	}
	s.local = renamedLocal(s.local, by)
}

// Load is one element of a load.
type Load struct {
	Instr  *ir.Instr
	Places []Place
	Index  int // of the element
	Size   int // of the element in bytes
	// Annotation marks a load within an annotation.
	Annotation bool
}

// only returns the array of a load that leads to one array; nil for others, and for elements of
// more than 8 bytes.
func (l *Load) only() *thread.Object {
	if len(l.Places) != 1 || l.Size > 8 {
		return nil
	}
	return l.Places[0].Object
}

// offset returns the offset of the element in the only array.
func (l *Load) offset(c *smt.Context) smt.Term {
	return c.AddConst(l.Places[0].Offset, uint64(l.Index*l.Size))
}

// Load returns the value of a load of shared or global memory.
func (m *Model) Load(l Load, s *State) smt.Term {
	anything := func() smt.Term { return m.env.Unknown("l", 8*min(l.Size, 8)) }
	o := l.only()
	if l.Instr.Order.Strong() || o == nil || o.Space == event.Local ||
		m.opt.Unstable && o.Space == event.Global {
		return anything()
	}
	off := l.offset(m.c)
	if snap := s.snaps[o]; snap != nil && l.Annotation {
		return m.readOr(snap, off, l.Size, "l")
	}
	never := !m.Written(o)
	if !never && m.dirty.at[l.Instr] {
		if o.Field == Itself || !m.Viewing() {
			return anything()
		}
		v, _ := m.seen(o, off, l.Size, s, anything)
		return v
	}
	if o.Field == Itself {
		return m.paramAt(o, off, l.Size)
	}
	if v, ok := m.table(l); ok {
		return v
	}
	switch {
	case never:
		return m.always(o, off, l.Size)
	case m.opt.Adversarial:
		return anything()
	}
	return m.atStart(o, off, l.Size, s)
}

// ReadLater returns what a weak load of size bytes would find at an address in a state; anything
// makes a value if that is unknown.
func (m *Model) ReadLater(addr smt.Term, size int, s *State, anything func() smt.Term) smt.Term {
	o, off, ok := m.BaseAndOffset(addr)
	if !ok || size > 8 || o.Field == Itself || o.Space != event.Shared && o.Space != event.Global {
		return anything()
	}
	if snap := s.snaps[o]; snap != nil {
		return m.readOr(snap, off, size, "later")
	}
	if !m.Written(o) {
		return m.always(o, off, size)
	}
	if !m.Viewing() {
		return anything()
	}
	v, _ := m.seen(o, off, size, s, anything)
	return v
}

// Behind is a load behind a barrier.
type Behind struct {
	Addr smt.Term
	Size int          // in bytes
	By   event.Orders // the memory that the barrier orders
	Own  bool         // the load is the thread's own, so that it sees the thread's snapshots
}

// ReadBehind returns what memory holds behind a barrier, for any thread of the block. Of memory
// that the barrier does not order, and of which the thread saw something before, it may be
// anything.
func (m *Model) ReadBehind(l Behind, s *State, anything func() smt.Term) smt.Term {
	o, off, ok := m.BaseAndOffset(l.Addr)
	switch {
	case !ok, o.Field == Itself, !kernel.OrdersSpace(l.By, o.Space):
		return anything()
	case s.snaps[o] != nil && l.Own:
		return m.readOr(s.snaps[o], off, l.Size, "behind")
	case s.snaps[o] != nil:
		return anything()
	case !m.Written(o):
		return m.always(o, off, l.Size)
	}
	return m.atStart(o, off, l.Size, s)
}

// always is the contents of an array that the kernel never writes. Shared memory starts
// uninitialized, so blocks need not find the same in it. Its function has a name of its own, since
// a later pass may find that the array is written.
func (m *Model) always(o *thread.Object, off smt.Term, size int) smt.Term {
	name := symbol.MemoryName(symbol.Grid, o.Index, 8*size)
	if o.Space == event.Shared {
		name = symbol.EverName(o.Index, 8*size)
	}
	return symbol.Apply(m.c, name, 8*size, off)
}

// atStart is the contents of an array at the last barrier that orders it.
func (m *Model) atStart(o *thread.Object, off smt.Term, size int, s *State) smt.Term {
	args := append([]smt.Term{off}, m.SpaceTag(s, o.Space).Terms()...)
	return symbol.Apply(m.c, symbol.MemoryName(symbol.Block, o.Index, 8*size), 8*size, args...)
}

// Viewing reports whether what a thread stored itself is known to be what it reads back. Lanes in
// lock step with their warp may write one place in turn without a race; then nothing says what a
// thread reads after its own write. Nor is it known where copies of a group are made: a copy that
// this thread makes here may be another thread's, and so may what a wait for it shows.
func (m *Model) Viewing() bool { return !m.opt.Adversarial && m.owning() }

func (m *Model) owning() bool { return !m.opt.Lockstep && !m.k.GroupCopies() }
