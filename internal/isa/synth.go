package isa

// Instructions that transformations put into a program. They are decoded from their text, so that
// they have all that a reader of the same text would get.

// must decodes an instruction of the table.
func must(opcode string, mods ...string) Desc {
	d, err := Decode(opcode, mods)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return d
}

// NewBranch is bra.
func NewBranch() Desc { return must("bra") }

// NewReturn is ret.
func NewReturn() Desc { return must("ret") }

// NewExit is exit.
func NewExit() Desc { return must("exit") }

// NewMove is mov of a type.
func NewMove(t Type) Desc { return must("mov", t.String()) }

// NewAdd is add of a type.
func NewAdd(t Type) Desc { return must("add", t.String()) }

// NewMul is mul.lo of a type.
func NewMul(t Type) Desc { return must("mul", "lo", t.String()) }

// NewMulWide is mul.wide of a type.
func NewMulWide(t Type) Desc { return must("mul", "wide", t.String()) }

// NewEqual is setp.eq of a type.
func NewEqual(t Type) Desc { return must("setp", "eq", t.String()) }

// NewLoadParam is ld.param of a type.
func NewLoadParam(t Type) Desc { return must("ld", "param", t.String()) }

// NewStoreParam is st.param of a type.
func NewStoreParam(t Type) Desc { return must("st", "param", t.String()) }

// NewBlockBarrier is bar.sync, whose operand is the number of the barrier.
func NewBlockBarrier() Desc { return must("bar", "sync") }

// NewWarpBarrier is bar.warp.sync, whose operand is a mask of lanes.
func NewWarpBarrier() Desc { return must("bar", "warp", "sync") }

// BitsOf returns the untyped type of a size in bytes: .b32 of 4.
func BitsOf(size int) Type {
	switch size {
	case 1:
		return B8
	case 2:
		return B16
	case 4:
		return B32
	case 8:
		return B64
	case 16:
		return B128
	}
	return NoType
}
