package isa

import "slices"

// AnyType is the type of an operand that the modifiers of an instruction do not determine.
const AnyType = NoType

// opType is a rule for the type of one operand.
type opType uint8

const (
	anyType    opType = iota
	instrType         // the instruction type; AnyType if there is a second one, as in add.f32.f16
	firstType         // the instruction type, or the first of two
	secondType        // the second of two
	wholeType         // the instruction type, if registers have it: not a format of 8 bits
	wideType          // of mul and mad: twice the instruction type for .wide, else as instrType
	predType
	b32Type
	u32Type
	b64Type
	ballotType   // of vote: the mask of .ballot, else a predicate
	countType    // of bar.red: the count of .popc, else a predicate
	casType      // of atom: the second operand of .cas, else a cache policy
	afterCASType // of atom: the cache policy behind the second operand of .cas
	policyType   // a cache policy, if .cache_hint is written
	phaseType    // of a wait at an mbarrier: a parity for .parity, else a state
	pairType     // of cvt: the second of two values, or what follows the first operand
	extraType    // of cvt: the random bits or the scale factor behind two values
)

// opTypes are the types of the destinations, or of the sources, of an opcode.
type opTypes struct {
	set  bool
	list []opType
	rest opType // of those beyond list
}

// types is a list of operands behind which none has a known type.
func types(list ...opType) opTypes { return opTypes{set: true, list: list} }

// all gives all operands one rule.
func all(t opType) opTypes { return opTypes{set: true, rest: t} }

// at is the rule of operand i.
func (o opTypes) at(i int) opType {
	if i < len(o.list) {
		return o.list[i]
	}
	return o.rest
}

// Operand types that several opcodes share.
var (
	maskAndPred  = opTypes{set: true, list: []opType{b32Type}, rest: predType}
	valueAndMask = opTypes{set: true, list: []opType{firstType}, rest: b32Type}
	threeWords   = types(b32Type, b32Type, b32Type)
	productTypes = types(instrType, instrType, wideType)
	loadTypes    = types(anyType, policyType)
	storeTypes   = types(anyType, firstType, policyType)
	atomTypes    = types(anyType, firstType, casType, afterCASType)
)

// defaultTypes gives a row that states no types those of its category. Those of textures, matrices,
// video instructions, the stack and asynchronous copies depend on shapes that are decoded
// elsewhere.
func (r *Row) defaultTypes() {
	if !r.dst.set {
		switch r.Category {
		case Texture, Matrix, Video, Stack, Async, Barrier:
			r.dst = all(anyType)
		default:
			r.dst = types(instrType)
		}
	}
	if !r.src.set && r.Category == Arith {
		r.src = all(instrType)
	}
}

// DstType returns the type of destination i, or AnyType. A vector destination has it for each
// element, that of mov excepted (PTX ISA 9.7.9.4).
func (d *Desc) DstType(i int) Type { return d.operandType(d.Row.dst.at(i)) }

// SrcType returns the type of source i, counted in the order of the text with an address as one, or
// AnyType.
func (d *Desc) SrcType(i int) Type { return d.operandType(d.Row.src.at(i)) }

// operandType applies a rule to the types that the instruction has. AnyType means that the operand
// is not checked, not that every type is correct.
func (d *Desc) operandType(rule opType) Type {
	switch rule {
	case instrType:
		if d.SType == NoType {
			return d.Type
		}
	case firstType:
		return d.Type
	case secondType:
		return d.SType
	case wholeType:
		switch d.Type {
		case E4M3, E5M2, E4M3x2, E5M2x2, E4M3x4, E5M2x4:
			return AnyType
		}
		return d.Type
	case wideType:
		if d.Fn == FnWide {
			return widened(d.Type)
		}
		return d.operandType(instrType)
	case predType:
		return Pred
	case b32Type:
		return B32
	case u32Type:
		return U32
	case b64Type:
		return B64
	case ballotType:
		if d.Fn == FnBallot {
			return B32
		}
		return Pred
	case countType:
		if d.Fn == FnPopc {
			return U32
		}
		return Pred
	case casType:
		if d.Fn == FnCAS {
			return d.Type
		}
		return d.operandType(policyType)
	case afterCASType:
		if d.Fn == FnCAS {
			return d.operandType(policyType)
		}
	case policyType:
		if d.hinted() {
			return B64
		}
	case pairType:
		if d.SType == F32 && !d.fourValues() {
			return d.SType
		}
		return d.operandType(extraType)
	case extraType:
		if d.Has(Scaled) {
			return B16
		}
		return B32
	case phaseType:
		if slices.Contains(d.Mods, "parity") {
			return U32
		}
		return B64
	}
	return AnyType
}

// widened is the type of twice the size: what mul.wide writes.
func widened(t Type) Type {
	switch t {
	case S16:
		return S32
	case U16:
		return U32
	case S32:
		return S64
	case U32:
		return U64
	}
	return AnyType
}

// hinted reports whether a cache policy follows the operands.
func (d *Desc) hinted() bool { return slices.Contains(d.Mods, "L2::cache_hint") }

// Widens reports whether registers may be wider than the instruction type (PTX ISA 9.4.1): the text
// names ld, st and cvt; ldu loads as ld does, and st.async, which stores 8 bits too, as st.
func (d *Desc) Widens() bool {
	if d.Row.Action == ActAsyncStore {
		return d.Row.Effect == Writes
	}
	if kind, access := d.AccessKind(); access {
		return !kind.RMW()
	}
	return d.Operation() == Conversion
}

// Roles returns the roles of the operands of this form. Row.Roles has those of the longest form of
// the opcode; here, operands that the modifiers call for are not optional, and those that they
// exclude are left out. Opcodes that are not executable have the roles of their row.
func (d *Desc) Roles() []Role {
	if !d.Row.Executable || d.Row.narrow == nil {
		return d.Row.Roles
	}
	return d.Row.narrow(d)
}

// lastOptional makes the last role, which is optional, mandatory or drops it.
func lastOptional(r []Role, there bool, as Role) []Role {
	n := len(r) - 1
	if n < 0 || r[n] != SrcOpt {
		return r
	}
	if !there {
		return r[:n:n]
	}
	return append(r[:n:n], as)
}

// barrierRoles: only reductions have a result and a predicate, and an arrival needs a count (PTX
// ISA 9.7.13.1).
func barrierRoles(d *Desc) []Role {
	switch d.Fn {
	case FnSync:
		return []Role{Src, SrcOpt}
	case FnArrive:
		return []Role{Src, Src}
	}
	return d.Row.Roles
}

// combinedRoles: .and, .or and .xor combine the result with a predicate.
func combinedRoles(d *Desc) []Role { return lastOptional(d.Row.Roles, d.Fn != NoFn, PredSrc) }

// extremeRoles: min and max have three inputs with .abs or without it, never with .xorsign.
func extremeRoles(d *Desc) []Role {
	if d.Has(Abs) || d.Has(XorSign) || d.Type != F32 {
		return lastOptional(d.Row.Roles, d.Has(Abs), Src)
	}
	return d.Row.Roles
}

// maskedRoles: the .sync forms have a member mask.
func maskedRoles(d *Desc) []Role { return lastOptional(d.Row.Roles, d.Has(SyncMask), Src) }

// hintedRoles: .L2::cache_hint has a cache policy.
func hintedRoles(d *Desc) []Role { return lastOptional(d.Row.Roles, d.hinted(), Src) }

// atomicRoles: .cas has two operands, others one.
func atomicRoles(d *Desc) []Role {
	out := []Role{Dst, Addr, Src}
	if d.Fn == FnCAS {
		out = append(out, Src)
	}
	if d.hinted() {
		out = append(out, Src)
	}
	return out
}

// packRoles: .b32 as third type is that of a third source, which the other forms do not have.
func packRoles(d *Desc) []Role {
	return lastOptional(d.Row.Roles, d.Type != U16 && d.Type != S16, Src)
}

// fourValues reports whether a conversion has a list of four sources.
func (d *Desc) fourValues() bool { return E4M3x4 <= d.Type && d.Type <= E3M2x4 }

// conversionRoles: two floats are packed into one register by the .x2 forms, four by the .x4 forms,
// which have them as one list; .rs takes random bits, .scaled a scale factor (PTX ISA 9.7.9.21).
func conversionRoles(d *Desc) []Role {
	out := []Role{Dst, Src}
	switch d.Type {
	case F16x2, BF16x2, E4M3x2, E5M2x2, E2M1x2, E2M3x2, E3M2x2, UE8M0x2, S2F6x2:
		if d.SType == F32 {
			out = append(out, Src)
		}
	}
	if d.Round == RS || d.Has(Scaled) {
		out = append(out, Src)
	}
	return out
}
