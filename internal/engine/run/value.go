package run

import (
	"math"
	"slices"
	"strconv"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/race"
)

// The values that the two accesses of a race write and read, for reports. They are read in the run
// that is repeated for the loop counters (iteration.go), and belong to this one schedule. Values of
// vectors, atomic operations and asynchronous copies are left out, as are those of registers whose
// type does not say how to print them (.b32 may be a float).

// value returns the value that an access writes or reads in a lane, as text; empty if it is not
// known.
func (m *moments) value(e *event.Access, in *ir.Instr, lane int) string {
	if e.Size != e.Elem && e.Elem != 0 || e.Size > 8 || in == nil || in.Vec > 1 {
		return ""
	}
	switch in.Action() {
	case isa.ActStore:
		if e.Data == nil {
			return ""
		}
		return valueText(in.Type, e.Data[0][lane])
	case isa.ActLoad:
		if len(in.Dst) != 1 || in.Dst[0].Kind != ir.Register {
			return ""
		}
		v, ok := m.peek.Register(m.kernel, in.Dst[0].Reg, lane)
		if !ok {
			return ""
		}
		return valueText(in.Type, v)
	}
	return ""
}

// valueText prints the bits of a value of a type. An unsigned type is printed as a signed number if
// that is small and negative: compilers use it for both.
func valueText(t isa.Type, bits uint64) string {
	size := t.Size()
	switch {
	case t == isa.F32:
		return strconv.FormatFloat(float64(math.Float32frombits(uint32(bits))), 'g', 6, 32)
	case t == isa.F64:
		return strconv.FormatFloat(math.Float64frombits(bits), 'g', 6, 64)
	case size < 1 || size > 8 || t.Class() != isa.Signed && t.Class() != isa.Unsigned:
		return ""
	}
	shift := 64 - 8*size
	const small = 1 << 20
	signed := int64(bits<<shift) >> shift
	if t.Signed() || size >= 4 && signed > -small && signed < 0 {
		return strconv.FormatInt(signed, 10)
	}
	return strconv.FormatUint(bits<<shift>>shift, 10)
}

// values returns the values of the two accesses of a race, to end a sentence: ", value 3". They are
// empty if one of them is not known, or if they are equal, as those of memory that heddle filled
// are.
func (r *Run) values(rc *race.Race) (first, second string) {
	w := r.momentOf(rc)
	if w == nil || slices.Contains(w.value[:], "") || w.value[0] == w.value[1] {
		return "", ""
	}
	return ", value " + w.value[0], ", value " + w.value[1]
}
