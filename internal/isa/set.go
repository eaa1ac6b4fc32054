package isa

// set is a set of small enumeration values, a bit for each. The value 0 of the enumerations stands
// for "nothing written", so that the empty set means that nothing may be written, and a set with
// opt means that something may.
type set uint64

// opt allows that nothing is written.
const opt set = 1

// of is the set of those values.
func of[T ~uint8](values ...T) set {
	var s set
	for _, v := range values {
		s |= 1 << v
	}
	return s
}

// has reports whether v is in s; the empty set has only 0.
func (s set) has(v uint8) bool {
	if s == 0 {
		return v == 0
	}
	return s>>v&1 != 0
}

// Sets of types that the syntax of the ISA text uses again and again.
var (
	int163264 = of(U16, U32, U64, S16, S32, S64)
	int3264   = of(U32, U64, S32, S64)
	bits      = of(B16, B32, B64)
	f3264     = of(F32, F64)
	scalars   = bits | int163264 | f3264 // setp, selp, mov
	inMemory  = scalars | of(B8, U8, S8) // ld, st
	halves    = of(F16, F16x2)
	bhalves   = of(BF16, BF16x2)
	ieee      = of(RN, RZ, RM, RP)
	toInt     = of(RNI, RZI, RMI, RPI)
)
