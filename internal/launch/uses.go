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
	Sync  bool
	sizes uint // of integer accesses: the union of the sizes, which are powers of two
}

// mostPlaces bounds the pointers of one kernel that are followed, one bit each.
const mostPlaces = 64

// uses is the state of one analysis.
type uses struct {
	k      *ir.Func
	places []Place
	param  map[*ir.Var]int // the index of a parameter
	regs   []uint64        // of each register: the places whose pointer it may hold
	local  uint64          // the places whose pointers local memory may hold
	floats []bool          // of each register: an instruction reads it as a floating-point number
	out    []Use           // one for each place
	// elsewhere is set if an atomic operation may reach any buffer
	elsewhere bool
}

// Uses returns how the kernel k accesses the buffer behind each pointer parameter and each pointer
// in a struct parameter. A pointer through which nothing is accessed has a zero Use. It is nil if
// calls of k cannot be inlined: then nothing is known.
func Uses(k *ir.Func) map[Place]Use {
	k, err := ir.Inline(k)
	if err != nil {
		return nil
	}
	u := &uses{k: k, param: make(map[*ir.Var]int), regs: make([]uint64, len(k.Regs)),
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
	u.spread()
	u.each(u.access)
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

// spread follows the pointers until nothing changes. Each round but the last adds a bit to a
// register or to local memory, and most kernels need two.
func (u *uses) spread() {
	for changed := true; changed; {
		changed = false
		u.each(func(in *ir.Instr) {
			from := u.sources(in)
			if in.Action() == isa.ActStore && in.Space == event.Local && from&^u.local != 0 {
				u.local |= from
				changed = true
			}
			for _, r := range registers(in.Dst) {
				if from&^u.regs[r] != 0 {
					u.regs[r] |= from
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
	switch in.Space {
	case event.Shared, event.Local, event.Param:
		return
	}
	m := &in.Src[0]
	if m.Kind != ir.Mem || m.Var != nil || m.Reg == ir.NoReg {
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
