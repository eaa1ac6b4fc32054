package ir

import (
	"slices"
	"strings"

	"heddle/internal/isa"
)

// AnyType marks an operand whose type the instruction type does not determine: nothing is checked, and an
// immediate keeps 64 bits.
const AnyType = isa.NoType

// DstType returns the type of destination i of an instruction, or AnyType. A vector destination has it
// for each element, that of mov excepted (PTX ISA 9.7.9.4).
func DstType(d *isa.Desc, i int) isa.Type {
	switch d.Row.Category {
	case isa.Texture, isa.Matrix, isa.Video, isa.Stack, isa.Async:
		return AnyType
	case isa.Barrier:
		return barrierDst(d)
	}
	switch d.Row.Opcode {
	case "popc", "clz", "bfind", "dp4a", "dp2a", "getctarank":
		return sizedBits(4)
	case "setp", "testp", "isspacep", "istypep":
		return isa.Pred
	case "mul", "mad":
		if d.Fn == isa.FnWide {
			return widened(d.Type)
		}
	case "vote", "vote.sync":
		if d.Fn != isa.FnBallot {
			return isa.Pred
		}
		return isa.B32
	case "match", "match.sync", "activemask":
		return second(i, isa.B32)
	case "elect", "elect.sync":
		return second(i, isa.B32)
	case "shfl", "shfl.sync", "lop3":
		return second(i, isa.B32)
	case "createpolicy":
		return isa.B64
	case "call", "cvt.pack":
		return AnyType
	}
	if i > 0 || mixed(d) {
		return AnyType
	}
	return d.Type
}

// second is t for the first destination and .pred for the second: d|p.
func second(i int, t isa.Type) isa.Type {
	if i > 0 {
		return isa.Pred
	}
	return t
}

// mixed reports whether an instruction has a second type that is not one of a conversion: add.f32.f16.
func mixed(d *isa.Desc) bool {
	switch d.Row.Opcode {
	case "cvt", "set", "slct":
		return false
	}
	return d.SType != isa.NoType
}

// SrcType returns the type of source i of an instruction, counted in the order of the text with the
// address as one, or AnyType.
func SrcType(d *isa.Desc, i int) isa.Type {
	switch d.Row.Category {
	case isa.Texture, isa.Matrix, isa.Video, isa.Stack, isa.Async:
		return AnyType
	case isa.Memory:
		return memorySrc(d, i)
	case isa.WarpOp:
		return warpSrc(d, i)
	case isa.Control:
		if d.Row.Opcode == "brx.idx" && i == 0 {
			return isa.U32
		}
		return AnyType
	case isa.Address, isa.FenceCat, isa.Barrier:
		return AnyType
	}
	return arithSrc(d, i)
}

func arithSrc(d *isa.Desc, i int) isa.Type {
	at := func(types ...isa.Type) isa.Type {
		if i < len(types) {
			return types[i]
		}
		return AnyType
	}
	t := d.Type
	switch d.Row.Opcode {
	case "cvt":
		return d.SType
	case "set":
		return at(d.SType, d.SType, isa.Pred)
	case "setp":
		return at(t, t, isa.Pred)
	case "selp":
		return at(t, t, isa.Pred)
	case "slct":
		return at(t, t, d.SType)
	case "shl", "shr", "szext":
		return at(t, isa.B32)
	case "shf":
		return at(isa.B32, isa.B32, isa.B32)
	case "bfe":
		return at(t, isa.B32, isa.B32)
	case "bfi":
		return at(t, t, isa.B32, isa.B32)
	case "bmsk", "fns", "prmt":
		return at(isa.B32, isa.B32, isa.B32)
	case "lop3":
		return at(isa.B32, isa.B32, isa.B32, isa.B32, isa.Pred)
	case "dp4a", "dp2a":
		return at(isa.B32, isa.B32, isa.B32)
	case "mad":
		if d.Fn == isa.FnWide {
			return at(t, t, widened(t))
		}
	case "nanosleep", "pmevent", "setmaxnreg", "heddle.point":
		return isa.B32
	}
	if d.Row.Category != isa.Arith || mixed(d) {
		return AnyType
	}
	return t
}

// memorySrc: the address first, then data of the instruction type; a cache policy that may follow is
// 64 bits whatever the type is.
func memorySrc(d *isa.Desc, i int) isa.Type {
	data := 0
	switch strings.TrimSuffix(d.Row.Opcode, ".shared::cluster") {
	case "st", "red":
		data = 1
	case "atom":
		data = 1
		if d.Fn == isa.FnCAS {
			data = 2
		}
	}
	switch {
	case i == 0 || i > data+1:
		return AnyType
	case i <= data:
		return d.Type
	}
	for _, m := range d.Mods {
		if strings.HasSuffix(m, "cache_hint") {
			return isa.B64
		}
	}
	return AnyType
}

// barrierDst: bar.red writes a count or a predicate. What mbarrier operations write is not checked.
func barrierDst(d *isa.Desc) isa.Type {
	switch {
	case d.Row.Opcode != "bar" && d.Row.Opcode != "barrier" && !strings.HasSuffix(d.Row.Opcode, ".red"):
		return AnyType
	case slices.Contains(d.Mods, "popc"):
		return isa.U32
	}
	return isa.Pred
}

func warpSrc(d *isa.Desc, i int) isa.Type {
	first := d.Type
	if strings.HasPrefix(d.Row.Opcode, "vote") {
		first = isa.Pred
	}
	if d.Row.Opcode == "bar.warp.sync" || strings.HasPrefix(d.Row.Opcode, "elect") {
		first = isa.B32
	}
	if i == 0 {
		return first
	}
	return isa.B32
}

// widened is the type of twice the size: what mul.wide writes.
func widened(t isa.Type) isa.Type {
	switch t {
	case isa.S16:
		return isa.S32
	case isa.U16:
		return isa.U32
	case isa.S32:
		return isa.S64
	case isa.U32:
		return isa.U64
	}
	return AnyType
}

func sizedBits(size int) isa.Type {
	switch size {
	case 1:
		return isa.B8
	case 2:
		return isa.B16
	case 4:
		return isa.B32
	case 8:
		return isa.B64
	case 16:
		return isa.B128
	}
	return AnyType
}
