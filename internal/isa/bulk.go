package isa

import (
	"slices"
	"strings"

	"heddle/internal/event"
)

// Of the two spaces of a bulk copy, Desc.Space has the destination's, which is written first, and
// the source's is a mark.

// bulkTypes are the types of a bulk copy's operands: two addresses, the size, an mbarrier or a
// cache policy.
var bulkTypes = types(anyType, anyType, u32Type)

// bulkForms are those of cp.async.bulk (PTX ISA 9.7.9.25.4.1): from global memory, to several
// blocks of a cluster, to another block, and to global memory.
func bulkForms() []form {
	return []form{
		{spaces: of(event.Shared), mustMarks: markFromGlobal | markBytes, marks: cacheHint},
		{spaces: of(event.Global), mustMarks: markFromShared | markBulkGroup, marks: cacheHint},
		{spaces: of(event.Shared), mustMarks: markFromShared | markBytes},
		{spaces: of(event.Shared), mustMarks: markFromGlobal | markBytes | markMulticast,
			marks: cacheHint},
		{spaces: of(event.Global), mustMarks: markFromShared | markBulkGroup | markCopyMask,
			marks: cacheHint},
	}
}

// bulkReduceForms are those of cp.reduce.async.bulk (PTX ISA 9.7.9.25.4.2): to global memory, the
// same of half precision, and to another block.
func bulkReduceForms() []form {
	ops := of(FnAnd, FnOr, FnXor, FnAdd, FnInc, FnDec, FnMin, FnMax)
	global := form{spaces: of(event.Global), mustMarks: markFromShared | markBulkGroup,
		marks: cacheHint,
		fns:   ops, types: of(F16, BF16, B32, U32, S32, B64, U64, S64, F32, F64)}
	half := global
	half.fns, half.types, half.must = of(FnAdd), of(F16, BF16), NoFtz
	remote := form{spaces: of(event.Shared), mustMarks: markFromShared | markBytes, fns: ops,
		types: of(B32, U32, S32, B64, U64)}
	return []form{global, half, remote}
}

// multimemReduceForms are those of multimem.cp.reduce.async.bulk (PTX ISA 9.7.9.27).
func multimemReduceForms() []form {
	forms := bulkReduceForms()[:2]
	for i := range forms {
		forms[i].marks = 0
	}
	return forms
}

// bulkRoles: the completion mechanism and the hints decide what follows the size.
func bulkRoles(d *Desc) []Role {
	out := []Role{Addr, Addr, Src}
	if d.bulkTracking() == BarrierBytes {
		out = append(out, Addr)
	}
	if d.multicast() {
		out = append(out, Src)
	}
	if d.hinted() {
		out = append(out, Src)
	}
	if slices.Contains(d.Mods, "cp_mask") {
		out = append(out, Src)
	}
	return out
}

// BulkUse is what a bulk copy does, or a store or reduction of one value by st.async or red.async.
type BulkUse struct {
	To, From event.Space
	// Reduce is the operation of a reduction, whose elements are of Desc.Type, or of the type that a
	// tensor map has; NoFn of a copy.
	Reduce Fn
	// Size is the operand with the number of bytes; -1 of a copy of a tensor, whose tensor map in
	// global memory, instead of an address there, has the size of a box (PTX ISA 9.7.9.27.1.2).
	Size int
	// Boxes is how many boxes a copy of a tensor copies: four with .tile::gather4 and
	// .tile::scatter4 (5.5.3.4.1), else one. 0 of other operations.
	Boxes uint64
	// Mode is how a copy of a tensor reads its coordinates.
	Mode TensorMode
	// Offsets is the operand with the offsets of im2col; -1 without.
	Offsets int
	// Barrier is the operand with the mbarrier that counts the bytes; -1: a bulk group tracks it.
	Barrier int
	// Remote says that the destination, and the mbarrier, may be in the shared memory of another
	// block of the cluster. Both are in the same block.
	Remote bool
	// Pair says that the mbarrier may also be in the other block of the pair (.cta_group::2). With a
	// mask, each destination or its other block has one, as the rank of the block with the given one
	// is even or odd (PTX ISA 9.7.9.27.1.2).
	Pair bool
	// Mask is the operand with the ranks of the blocks to which a copy goes; -1 without .multicast.
	// Destination and mbarrier are at the same offset in each.
	Mask int
	// Value is the operand with the value of st.async or red.async, which has no source in memory; -1
	// of others.
	Value int
	// Answer says that 16 bytes are written that say which cluster was canceled (try_cancel); with
	// EachBlock at the same offset in every block of the cluster (PTX ISA 9.7.13.17).
	Answer, EachBlock bool
}

// Bulk returns what cp.async.bulk, cp.reduce.async.bulk, cp.async.bulk.tensor, st.async, red.async
// or clusterlaunchcontrol.try_cancel does, and false for the forms that leave bytes out, or are not
// tracked.
func (d *Desc) Bulk() (BulkUse, bool) {
	u := BulkUse{Reduce: d.Fn, Size: 2, Offsets: -1, Barrier: -1, Mask: -1, Value: -1}
	u.Remote = slices.Contains(d.Mods, inCluster[0])
	switch {
	case d.Action() == ActAsyncStore && d.bulkTracking() == BarrierBytes:
		u.To, u.Size, u.Barrier, u.Value, u.Remote = event.Shared, -1, 2, 1, true
		return u, true
	case d.Action() == ActCancel:
		u.To, u.Size, u.Barrier, u.Answer = event.Shared, -1, 1, true
		u.EachBlock = slices.Contains(d.Mods, "multicast::cluster::all")
		return u, true
	case d.Action() != ActBulkCopy || slices.Contains(d.Mods, "cp_mask"):
		return BulkUse{}, false
	}
	switch {
	case d.copiesTensor():
		u.Size, u.Boxes, u.Mode = -1, 1, d.tensorMode()
		if strings.Contains(d.Row.Opcode, "reduce") {
			if u.Reduce = d.tensorReduction(); u.Reduce == NoFn {
				return BulkUse{}, false
			}
		}
		if u.Mode == RowsMode {
			u.Boxes = 4
		}
	case !d.Row.Executable:
		return BulkUse{}, false
	}
	u.To, u.From = d.copySpaces()
	if d.bulkTracking() == BarrierBytes {
		u.Barrier = d.bulkBarrier()
		if u.Mode == ColumnMode || u.Mode.Wide() {
			u.Offsets = u.Barrier + 1
		}
	}
	if d.multicast() {
		if slices.Contains(d.Mods, "multicast::cluster::all") {
			return BulkUse{}, false
		}
		u.Mask = max(u.Barrier, u.Offsets) + 1
	}
	u.Pair = d.TensorGroup() == 2
	return u, d.TensorGroup() == 0 || u.Barrier >= 0 && d.copiesTensor()
}

// TensorMode is how a copy of a tensor reads its coordinates: the .load_mode of PTX ISA
// 9.7.9.27.1.2.
type TensorMode uint8

// The modes. A store in ColumnMode (.im2col_no_offs) has no offsets.
const (
	TileMode          TensorMode = iota
	RowsMode                     // .tile::gather4, .tile::scatter4
	ColumnMode                   // .im2col, .im2col_no_offs
	WideColumnMode               // .im2col::w
	WideColumn128Mode            // .im2col::w::128
)

// Wide reports whether a copy in the mode has the operands {wHalo, wOffset}.
func (m TensorMode) Wide() bool { return m == WideColumnMode || m == WideColumn128Mode }

// tensorMode returns the mode of a copy or a prefetch of a tensor. The syntax has .im2col_no_offs
// for reductions, and an example of theirs .im2col.
func (d *Desc) tensorMode() TensorMode {
	for _, m := range d.Mods {
		switch m {
		case "tile::gather4", "tile::scatter4":
			return RowsMode
		case "im2col", "im2col_no_offs":
			return ColumnMode
		case "im2col::w":
			return WideColumnMode
		case "im2col::w::128":
			return WideColumn128Mode
		}
	}
	return TileMode
}

// PrefetchedTensor returns the mode of a prefetch of a tensor, and the operand with the offsets of
// im2col, which is -1 without; false for other instructions.
func (d *Desc) PrefetchedTensor() (mode TensorMode, offsets int, ok bool) {
	if d.Action() != ActBulkPrefetch {
		return 0, -1, false
	}
	if mode = d.tensorMode(); mode == ColumnMode || mode.Wide() {
		return mode, 1, true
	}
	return mode, -1, true
}

// copiesTensor reports whether the instruction copies or reduces a box of a tensor.
func (d *Desc) copiesTensor() bool { return slices.Contains(d.Mods, "tensor") }

// tensorReduction returns the operation of a reduction of a tensor.
func (d *Desc) tensorReduction() Fn {
	for _, m := range d.Mods {
		for i := range words[m] {
			if w := &words[m][i]; w.kind == kFn {
				return Fn(w.val)
			}
		}
	}
	return NoFn
}
