package irgen

import (
	"slices"

	"heddle/internal/isa"
)

// A row of the instruction table gives the roles of the longest form of its opcode. rolesOf narrows them to
// those of one instruction: what its modifiers call for is no longer optional, and what they exclude is
// gone. Opcodes that are not executable keep the row's.
func rolesOf(d *isa.Desc) []isa.Role {
	r := d.Row.Roles
	if !d.Row.Executable {
		return r
	}
	hint := slices.Contains(d.Mods, "L2::cache_hint")
	switch d.Row.Opcode {
	case "bar", "barrier": // PTX ISA 9.7.13.1
		switch d.Fn {
		case isa.FnSync:
			return []isa.Role{isa.Src, isa.SrcOpt}
		case isa.FnArrive:
			return []isa.Role{isa.Src, isa.Src}
		}
	case "setp", "set", "lop3": // a predicate to combine with: .and, .or, .xor
		return lastOptional(r, d.Fn != isa.NoFn, isa.PredSrc)
	case "min", "max": // three inputs: with .abs, or without it; never with .xorsign
		if d.Has(isa.Abs) || d.Has(isa.XorSign) || d.Type != isa.F32 {
			return lastOptional(r, d.Has(isa.Abs), isa.Src)
		}
	case "shfl", "vote": // the member mask
		return lastOptional(r, d.Has(isa.SyncMask), isa.Src)
	case "ld", "ldu", "st", "red":
		return lastOptional(r, hint, isa.Src)
	case "atom":
		out := []isa.Role{isa.Dst, isa.Addr, isa.Src}
		if d.Fn == isa.FnCAS {
			out = append(out, isa.Src)
		}
		if hint {
			out = append(out, isa.Src)
		}
		return out
	case "cvt":
		return cvtRoles(d)
	}
	return r
}

// lastOptional makes the last role, which is optional, mandatory or drops it.
func lastOptional(r []isa.Role, there bool, as isa.Role) []isa.Role {
	n := len(r) - 1
	if n < 0 || r[n] != isa.SrcOpt {
		return r
	}
	if !there {
		return r[:n:n]
	}
	return append(r[:n:n], as)
}

// cvtRoles: two floats are packed into one register by the .x2 forms, and .rs takes random bits (PTX ISA
// 9.7.9.21).
func cvtRoles(d *isa.Desc) []isa.Role {
	out := []isa.Role{isa.Dst, isa.Src}
	switch d.Type {
	case isa.F16x2, isa.BF16x2, isa.E4M3x2, isa.E5M2x2:
		if d.SType == isa.F32 {
			out = append(out, isa.Src)
		}
	case isa.OtherType:
		return d.Row.Roles
	}
	if d.Round == isa.RS {
		out = append(out, isa.Src)
	}
	return out
}
