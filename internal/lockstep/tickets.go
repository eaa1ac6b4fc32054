package lockstep

import (
	"math"
	"math/bits"
	"slices"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/lockstep/loop"
	"heddle/internal/lockstep/memory"
	"heddle/internal/lockstep/thread"
	"heddle/internal/smt"
)

// tickets collects the atomics of the final pass, and finds those that take slots (thread.Slots).
type tickets struct {
	c       *smt.Context
	atomics []atomicUse
	signs   []sign
}

// sign is an addition to an array whose sign is to be proved.
type sign struct {
	object *Object
	use    *atomicUse
}

// atomicUse is an atomic.
type atomicUse struct {
	places   []memory.Place
	size     int
	add      uint64   // how much it adds, at most; 0: not known, or another operation
	by       smt.Term // how much it adds, if that is not constant; else smt.False
	down     bool
	result   *smt.Term // nil: none
	start    thread.Tag
	warp     thread.Tag
	grid     thread.Tag
	counters []smt.Term
	around   []*ir.Loop
	space    event.Space
	guard    smt.Term // of the threads that execute it
}

// noteAtomic collects an atomic.
func (x *exec) noteAtomic(in *ir.Instr, places []memory.Place, result *smt.Term, st *state) {
	if !x.final {
		return
	}
	use := atomicUse{
		places: places, size: in.Type.Size(), result: result, space: in.Space,
		counters: x.Counters(), around: slices.Clone(x.around),
		grid: x.mem.GridTag(&st.mem), guard: x.c.And(x.here(st), x.guard),
	}
	if len(places) == 1 && places[0].Object != nil {
		use.start = x.mem.SpaceTag(&st.mem, places[0].Object.Space)
		if use.warp = use.start; x.k.WarpPart() > 0 {
			use.warp = x.mem.WarpTag(&st.mem)
		}
	}
	use.add, use.by, use.down = x.addend(in, st)
	x.tickets.atomics = append(x.tickets.atomics, use)
}

// ones is the largest number of w bits, of at most 64.
func ones(w int) uint64 { return ^uint64(0) >> max(64-w, 0) }

// addend is the constant that an atomic adds, or subtracts; or what it adds, and how much that is
// at most. add is 0 for other operations, and if what is added may be negative, as far as its bits
// say.
func (x *exec) addend(in *ir.Instr, st *state) (add uint64, by smt.Term, down bool) {
	class := in.Type.Class()
	if class != isa.Unsigned && class != isa.Signed || in.Type == isa.U16x2 || in.Type == isa.S16x2 {
		return 0, smt.False, false
	}
	if in.Vec > 1 || len(in.Src) < 2 || in.Type.Size() < 4 {
		return 0, smt.False, false
	}
	w := 8 * in.Type.Size()
	by = x.read(in.Src[1], w, st)
	v, ok := x.c.Value(by)
	switch {
	case !ok && in.Fn == isa.FnAdd:
		if most := x.most(by); most <= ones(w)>>1 {
			return most, by, false
		}
		return 0, by, false
	case !ok:
		return 0, smt.False, false
	// wraps as an addition does (PTX ISA 9.7.13.5)
	case (in.Fn == isa.FnInc || in.Fn == isa.FnDec) && v == ones(w):
		return 1, smt.False, in.Fn == isa.FnDec
	case in.Fn != isa.FnAdd || v == 0:
		return 0, smt.False, false
	case v > ones(w)>>1:
		return -v & ones(w), smt.False, true
	}
	return v, smt.False, false
}

// most is an upper bound of a term, as an unsigned number: by its bits, or as a sum.
func (x *exec) most(t smt.Term) uint64 {
	zeros, _ := x.c.KnownBits(t)
	w := x.c.Width(t)
	bound := ones(w) &^ zeros
	if x.c.Op(t) != smt.OpSum {
		return bound
	}
	total, coef := x.c.SumParts(t)
	for i, a := range x.c.Args(t) {
		var carry uint64
		if total, carry = bits.Add64(total, times(coef[i], x.most(a)), 0); carry != 0 {
			return bound
		}
	}
	return min(bound, max(total, 1))
}

// counting is what the atomics of a kernel do to one array.
type counting struct {
	size int
	down bool
	bad  bool
	uses []*atomicUse
	sum  *sum
}

// sum is an upper bound of the sum of all additions to one counter; it saturates. It is not known
// if the number of threads or of iterations is not: then it counts one of each.
type sum struct {
	total uint64
	known bool
}

// resolve adds to th the tickets: the results of additions to arrays on which all atomics are
// additions in one direction.
func (t *tickets) resolve(th *Thread, arrays *memory.Model, loops *loop.Table, opt Options) {
	th.Slots = thread.NewSlots(t.c)
	of := map[*Object]*counting{}
	for i := range t.atomics {
		t.count(of, &t.atomics[i], arrays)
	}
	for _, s := range t.signs {
		th.Slots.Doubt(s.object, s.use.guard, s.use.by)
	}
	for o, n := range of {
		if slices.ContainsFunc(n.uses, (*atomicUse).adds) {
			n.sum = t.add(n, o, th, loops, opt)
			th.Slots.SetSum(o, n.sum.total, n.sum.known)
		}
	}
	for _, u := range t.atomics {
		if u.result == nil || !u.adds() || len(u.places) != 1 || u.places[0].Object == nil ||
			of[u.places[0].Object].bad {
			continue
		}
		o := u.places[0].Object
		stored, resets, ok := t.storedTo(th, o)
		if !ok {
			continue
		}
		n := of[o]
		total := n.sum.total
		if total >= ones(8*u.size) { // where it saturates, with 64 bits
			continue // what wraps around returns the same values again
		}
		if !n.sum.known || total > ones(8*u.size)/2 {
			total = 0
		}
		th.Slots.Wrap = th.Slots.Wrap || !n.sum.known
		th.Slots.Add(*u.result, u.counters, thread.Ticket{
			Object: o, Offset: u.places[0].Offset, Start: u.start, Warp: u.warp, Grid: u.grid, Add: u.add,
			By: u.by, Guard: u.guard, Down: u.down, Stored: stored, Resets: resets,
			Ordered: opt.Lockstep, Total: total,
		})
	}
}

// adds reports whether an atomic is an addition.
func (u *atomicUse) adds() bool { return u.add != 0 || u.by != smt.False }

// add sums up all additions to one counter of an array.
func (t *tickets) add(n *counting, o *Object, th *Thread, loops *loop.Table, opt Options) *sum {
	blocks, threads := opt.Geometry.Grid.Count(), opt.Geometry.Block.Count()
	if o.Space == event.Shared {
		blocks = 1
	}
	known := !opt.Any.Is()
	if !known {
		blocks, threads = 1, 1
	}
	byOne := make([]uint64, len(n.uses)) // thread
	for i, u := range n.uses {
		byOne[i] = max(u.add, 1)
		known = known && (u.add != 0 || u.by == smt.False)
		for _, l := range u.around {
			trips, ok := loops.Of(l).Trips()
			known = known && ok
			byOne[i] = times(byOne[i], max(trips, 1))
		}
	}
	total := func(executing func(*atomicUse) uint64) uint64 {
		total := uint64(0)
		for i, u := range n.uses {
			next, carry := bits.Add64(total, times(byOne[i], times(blocks, executing(u))), 0)
			if carry != 0 {
				return math.MaxUint64
			}
			total = next
		}
		return total
	}
	all := total(func(*atomicUse) uint64 { return threads })
	if all > ones(8*n.size)/2 && !opt.Any.Is() {
		all = total(func(u *atomicUse) uint64 { return t.executing(u, th, opt.Geometry.Block) })
	}
	return &sum{all, known}
}

// times is a product that saturates.
func times(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	if high != 0 {
		return math.MaxUint64
	}
	return low
}

// executing is how many threads of a block may execute an atomic, as far as that follows from their
// indices.
func (t *tickets) executing(u *atomicUse, th *Thread, block event.Dim3) uint64 {
	n := uint64(0)
	for z := range block.Z {
		for y := range block.Y {
			for x := range block.X {
				sub := t.c.Substitute()
				for i, v := range []uint32{x, y, z} {
					if t.c.Op(th.Tid[i]) != smt.OpConst {
						sub.Replace(th.Tid[i], t.c.Const(uint64(v), 32))
					}
				}
				if sub.Apply(u.guard) != smt.False {
					n++
				}
			}
		}
	}
	return n
}

// count adds one atomic to what is known of the arrays that it may access.
func (t *tickets) count(of map[*Object]*counting, u *atomicUse, arrays *memory.Model) {
	var objects []*Object
	for _, p := range u.places {
		if p.Object != nil {
			objects = append(objects, p.Object)
			continue
		}
		arrays.All(func(o *Object) { // anywhere
			if u.space == o.Space || u.space != event.Shared && u.space != event.Global {
				objects = append(objects, o)
			}
		})
	}
	for _, o := range objects {
		n := of[o]
		if n == nil {
			n = &counting{size: u.size, down: u.down}
			of[o] = n
		}
		n.bad = n.bad || !u.adds() || n.size != u.size || n.down != u.down || len(u.places) != 1
		n.uses = append(n.uses, u)
		if u.add == 0 && u.by != smt.False {
			t.signs = append(t.signs, sign{o, u})
		}
	}
}

// storedTo reports whether an array may be written by other instructions than atomics, and behind
// which barriers strong stores do; ok is false if the barrier of a strong store is not known, or if
// another block may make it, at any time.
func (t *tickets) storedTo(th *Thread, o *Object) (stored bool, resets []smt.Term, ok bool) {
	for i := range th.Accesses {
		a := &th.Accesses[i]
		elsewhere := a.Object != nil || a.Space != o.Space &&
			(a.Space == event.Shared || a.Space == event.Global)
		if a.Kind != event.Write || a.Object != o && elsewhere {
			continue
		}
		stored = true
		if !a.Order.Strong() {
			continue
		}
		_, fixed := t.c.Value(a.Start.Barrier)
		if !fixed || o.Space != event.Shared && !t.oneBlock(th) {
			return true, nil, false
		}
		resets = append(resets, a.Start.Barrier)
	}
	return stored, resets, true
}

// oneBlock reports whether the grid surely is one block.
func (t *tickets) oneBlock(th *Thread) bool {
	return !slices.ContainsFunc(th.Nctaid[:], func(n smt.Term) bool {
		size, fixed := t.c.Value(n)
		return !fixed || size != 1
	})
}
