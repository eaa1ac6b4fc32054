package isa

import (
	"slices"
	"strings"

	"heddle/internal/event"
)

// TensorMapUse is what tensormap.replace or tensormap.cp_fenceproxy does (PTX ISA 9.7.9.28,
// 9.7.13.16). Both are weak accesses of the generic proxy to all 128 bytes of the map.
type TensorMapUse struct {
	// Copies says that it is cp_fenceproxy: a copy of the map at operand 1, in shared memory, to the
	// one at operand 0, in global memory, and then a release fence of Scope between the generic proxy
	// and that of tensor maps.
	Copies bool
	Scope  event.Scope
	// Of replace: the name of the field, as the ISA writes it, the space of the map, Generic if none
	// is written, and the operands with the dimension (-1 of a field that has none) and the value.
	Field          string
	Space          event.Space
	Ordinal, Value int
	// Constant says that the value must be a constant.
	Constant bool
}

// TensorMap returns what the instruction does to a tensor map, and false if it does nothing to one,
// or in a form that the ISA does not have.
func (d *Desc) TensorMap() (TensorMapUse, bool) {
	if d.Action() != ActTensorMap {
		return TensorMapUse{}, false
	}
	if strings.HasSuffix(d.Row.Opcode, "cp_fenceproxy") {
		ok := d.Order == event.Release && d.Scope != event.NoScope &&
			slices.Contains(d.Mods, "global") && slices.Contains(d.Mods, "shared::cta") &&
			d.fencedProxy() == TensorMapProxy
		return TensorMapUse{Copies: true, Scope: d.Scope, Ordinal: -1, Value: -1}, ok
	}
	u := TensorMapUse{Space: d.Space, Ordinal: -1, Value: 1}
	wide := false
	switch u.Field = d.mapField(); u.Field {
	case "global_address":
		wide = true
	case "rank":
	case "global_stride":
		u.Ordinal, u.Value, wide = 1, 2, true
	case "box_dim", "global_dim", "element_stride":
		u.Ordinal, u.Value = 1, 2
	case "elemtype", "interleave_layout", "swizzle_mode", "swizzle_atomicity", "fill_mode":
		u.Constant = true
	default:
		return TensorMapUse{}, false
	}
	if u.Space == event.NoSpace {
		u.Space = event.Generic
	}
	typ := "b32"
	if wide {
		typ = "b64"
	}
	return u, slices.Contains(d.Mods, "tile") && slices.Contains(d.Mods, "b1024") &&
		slices.Contains(d.Mods, typ) && u.Space != event.Const &&
		!slices.Contains(d.Mods, inCluster[0])
}

// Resizes reports whether the size of a box in shared memory may be another one afterwards.
func (u *TensorMapUse) Resizes() bool {
	switch u.Field {
	case "rank", "box_dim", "element_stride", "elemtype", "interleave_layout":
		return true
	}
	return false
}

// mapField is the modifier that names a field: it is behind the mode.
func (d *Desc) mapField() string {
	if i := slices.Index(d.Mods, "tile"); i >= 0 && i+1 < len(d.Mods) {
		return d.Mods[i+1]
	}
	return ""
}
