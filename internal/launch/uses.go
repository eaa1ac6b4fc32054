package launch

import (
	"math/bits"
	"slices"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// How a kernel uses the buffers behind its parameters: the size of their elements, and which of
// them hold floats, or what threads synchronize with. The analysis follows pointers forwards
// through registers and local memory without regard to the order of instructions, so an access may
// be attributed to more buffers than it reaches. It misses accesses through pointers that were
// loaded from global memory. Nothing here decides a verdict: the results select contents to try.

// Place is a parameter that is a pointer, or the pointer at byte Offset of a struct parameter.
type Place struct{ Param, Offset int }

// Use is how a kernel accesses one buffer.
type Use struct {
	// Elem is the size in bytes of the integers that the buffer holds; 0 if they have several sizes,
	// or if no access has integers.
	Elem  uint8
	Float bool // some access has floating-point numbers
	Read  bool
	// Sync is set if the buffer holds locks, flags or counters: an access is atomic, or it is volatile
	// or otherwise strong (PTX ISA 8.6).
	Sync bool
	// Index is set if a value from the buffer is part of an address. Rows is set if, besides, two such
	// values are compared with each other, as for (j = row[v]; j < row[v+1]; j++) does.
	Index, Rows bool
	// Bound is set if a value from the buffer is compared with a number that depends on the thread.
	Bound bool
	// Compared are the constants, ascending, with which values from the buffer are compared, as signed
	// numbers of the comparison; Args are the indices of the parameters with which they are.
	Compared []int64
	Args     []int
	sizes    uint // of integer accesses: the union of the sizes, which are powers of two
}

// mostPlaces bounds the pointers of one kernel that are followed, one bit each.
const mostPlaces = 64

// uses is the state of one analysis.
type uses struct {
	k      *ir.Func
	places []Place
	param  map[*ir.Var]int // the index of a parameter
	regs   []uint64        // of each register: the places whose pointer it may hold
	values []uint64        // of each register: the places from which it may hold a value
	args   []uint64        // of each register: the parameters that it may depend on, and ofThread
	local  uint64          // the places whose pointers local memory may hold
	floats []bool          // of each register: an instruction reads it as a floating-point number
	out    []Use           // one for each place
	// elsewhere is set if an atomic operation may reach any buffer
	elsewhere bool
}

// ofThread is a bit of a set of parameters: a number that differs between threads. It is the last
// one, which leaves 63 for parameters.
const ofThread = 1 << (mostPlaces - 1)

// Uses returns how the kernel k accesses the buffer behind each pointer parameter and each pointer
// in a struct parameter. A pointer through which nothing is accessed has a zero Use. It is nil if
// calls of k cannot be inlined or the analysis takes too long: then nothing is known.
func Uses(k *ir.Func) map[Place]Use {
	k, err := ir.Inline(k)
	if err != nil {
		return nil
	}
	u := &uses{k: k, param: make(map[*ir.Var]int), regs: make([]uint64, len(k.Regs)),
		values: make([]uint64, len(k.Regs)), args: make([]uint64, len(k.Regs)),
		floats: make([]bool, len(k.Regs))}
	for i, v := range k.Params {
		u.param[v] = i
		if isPointer(v) && v.PtrSpace != event.Shared {
			u.places = append(u.places, Place{i, 0})
		} else {
			for _, off := range v.PtrFields {
				u.places = append(u.places, Place{i, off})
			}
		}
	}
	u.places = u.places[:min(len(u.places), mostPlaces)]
	u.out = make([]Use, len(u.places))
	if !u.spread() {
		return nil
	}
	u.each(u.access)
	u.each(u.compare)
	out := make(map[Place]Use, len(u.places))
	for i, p := range u.places {
		use := u.out[i]
		use.Sync = use.Sync || u.elsewhere
		if bits.OnesCount(use.sizes) == 1 {
			use.Elem = uint8(use.sizes)
		}
		out[p] = use
	}
	return out
}

// each visits the instructions of the kernel.
func (u *uses) each(visit func(*ir.Instr)) {
	for _, b := range u.k.Blocks {
		for _, in := range b.Instrs {
			visit(in)
		}
	}
}

// mostRounds bounds the rounds of spread. Compilers write blocks in an order in which two or three
// suffice; with blocks in reverse order, each of them may need one.
const mostRounds = 32

// spread follows pointers and values until nothing changes. It returns false if that takes too many
// rounds: each is linear in the kernel.
func (u *uses) spread() bool {
	changed := true
	for round := 0; changed; round++ {
		if round == mostRounds {
			return false
		}
		changed = false
		u.each(func(in *ir.Instr) {
			from := u.sources(in)
			if in.Action() == isa.ActStore && in.Space == event.Local && from&^u.local != 0 {
				u.local |= from
				changed = true
			}
			values, args := u.computed(in)
			for _, r := range registers(in.Dst) {
				if from&^u.regs[r]|values&^u.values[r]|args&^u.args[r] != 0 {
					u.regs[r] |= from
					u.values[r] |= values
					u.args[r] |= args
					changed = true
				}
			}
		})
	}
	u.each(func(in *ir.Instr) {
		for i := range in.Src {
			if o := &in.Src[i]; o.Kind == ir.Register && in.Row != nil && in.SrcType(i).IsFloat() {
				u.floats[o.Reg] = true
			}
		}
	})
	return true
}

// sources returns the places whose pointers the results of an instruction may hold, or that it
// stores to local memory.
func (u *uses) sources(in *ir.Instr) uint64 {
	switch in.Action() {
	case isa.ActCompute, isa.ActConvertAddress:
	case isa.ActLoad:
		switch in.Space {
		case event.Param:
			return u.parameter(in)
		case event.Local:
			return u.local
		}
		return 0
	case isa.ActStore:
		if in.Space != event.Local || len(in.Src) < 2 {
			return 0
		}
		return u.held(in.Src[1:])
	default:
		return 0
	}
	return u.held(in.Src)
}

// computed returns the places and the parameters from whose values the results of an instruction
// may be computed. What a comparison yields is none of them.
func (u *uses) computed(in *ir.Instr) (values, args uint64) {
	switch in.Action() {
	case isa.ActLoad:
		if len(in.Src) == 0 || in.Src[0].Kind != ir.Mem {
			return 0, 0
		}
		m := &in.Src[0]
		if i, ok := u.param[m.Var]; ok && i < mostPlaces-1 && in.Space == event.Param {
			return 0, 1 << i
		}
		if m.Reg != ir.NoReg && in.Space != event.Local && in.Space != event.Param {
			return u.regs[m.Reg], 0
		}
		return 0, 0
	case isa.ActCompute, isa.ActConvertAddress:
		if op := in.Operation(); op == isa.Comparison || op == isa.ComparisonValue {
			return 0, 0
		}
		return u.operands(in.Src)
	}
	return values, args
}

// operands returns the places and the parameters on whose values some operands may depend.
func (u *uses) operands(ops []ir.Operand) (values, args uint64) {
	for _, r := range registers(ops) {
		values |= u.values[r]
		args |= u.args[r]
	}
	for i := range ops {
		switch s := ops[i].Sreg; {
		case ops[i].Kind != ir.Special:
		case s >= ir.TidX && s <= ir.TidZ, s >= ir.CtaidX && s <= ir.CtaidZ, s == ir.LaneID:
			args |= ofThread
		}
	}
	return values, args
}

// compare records with what an instruction compares values from buffers.
func (u *uses) compare(in *ir.Instr) {
	if op := in.Operation(); op != isa.Comparison && op != isa.ComparisonValue {
		return
	}
	values, args := u.operands(in.Src)
	both := ^uint64(0)
	for i := range in.Src {
		v, _ := u.operands(in.Src[i : i+1])
		both &= v
	}
	for ; values != 0; values &= values - 1 {
		i := bits.TrailingZeros64(values)
		use := &u.out[i]
		use.Bound = use.Bound || args&ofThread != 0
		use.Rows = use.Rows || use.Index && both>>i&1 != 0
		for i := range in.Src {
			if o := &in.Src[i]; o.Kind == ir.Imm && !in.SrcType(i).IsFloat() {
				shift := 64 - 8*max(min(in.SrcType(i).Size(), 8), 1)
				use.Compared = insert(use.Compared, int64(o.Val<<shift)>>shift)
			}
		}
		for a := args &^ ofThread; a != 0; a &= a - 1 {
			use.Args = insert(use.Args, bits.TrailingZeros64(a))
		}
	}
}

// insert adds n to an ascending list, once.
func insert[T int | int64](list []T, n T) []T {
	if i, found := slices.BinarySearch(list, n); !found {
		return slices.Insert(list, i, n)
	}
	return list
}

// held returns the places whose pointers some registers may hold.
func (u *uses) held(ops []ir.Operand) uint64 {
	var out uint64
	for _, r := range registers(ops) {
		out |= u.regs[r]
	}
	return out
}

// parameter returns the places whose pointers a load from a parameter may read.
func (u *uses) parameter(in *ir.Instr) uint64 {
	if len(in.Src) == 0 || in.Src[0].Kind != ir.Mem {
		return 0
	}
	m := &in.Src[0]
	var out uint64
	for i, p := range u.places {
		size := in.Type.Size() * max(int(in.Vec), 1)
		off := int(m.Val)
		here := m.Var != nil && u.k.Params[p.Param] == m.Var &&
			(m.Reg != ir.NoReg || off < p.Offset+8 && p.Offset < off+size)
		if here || m.Var == nil { // a computed place in some parameter
			out |= 1 << i
		}
	}
	return out
}

// access records an access to a buffer.
func (u *uses) access(in *ir.Instr) {
	if !in.AccessesMemory() || len(in.Src) == 0 {
		return
	}
	m := &in.Src[0]
	if m.Kind != ir.Mem || m.Var != nil || m.Reg == ir.NoReg {
		return
	}
	for v := u.values[m.Reg]; v != 0; v &= v - 1 {
		u.out[bits.TrailingZeros64(v)].Index = true
	}
	switch in.Space {
	case event.Shared, event.Local, event.Param:
		return
	}
	places := u.regs[m.Reg]
	atomic := in.Action() == isa.ActAtomic || in.Action() == isa.ActReduce
	if places == 0 && atomic && in.Space != event.Const {
		u.elsewhere = true
	}
	for ; places != 0; places &= places - 1 {
		use := &u.out[bits.TrailingZeros64(places)]
		use.Sync = use.Sync || atomic || in.Order.Strong()
		use.Read = use.Read || in.ReadsMemory()
		if in.Type.IsFloat() || slices.ContainsFunc(registers(in.Dst), u.isFloat) ||
			in.Type.Class() == isa.Bits && slices.ContainsFunc(registers(in.Src[1:]), u.isFloat) {
			use.Float = true
		} else {
			use.sizes |= uint(in.Type.Size())
		}
	}
}

// isFloat reports whether an instruction reads register r as a floating-point number.
func (u *uses) isFloat(r ir.RegID) bool { return u.floats[r] }

// registers lists the registers among some operands, those of addresses and vectors included.
func registers(ops []ir.Operand) []ir.RegID {
	var out []ir.RegID
	for i := range ops {
		switch o := &ops[i]; o.Kind {
		case ir.Register:
			out = append(out, o.Reg)
		case ir.Mem:
			if o.Reg != ir.NoReg {
				out = append(out, o.Reg)
			}
			out = append(out, registers(o.Elems)...)
		case ir.Vector:
			out = append(out, registers(o.Elems)...)
		}
	}
	return out
}
