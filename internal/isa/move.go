package isa

// moveRows are register moves and conversions: the part of PTX ISA 9.7.9 that touches no memory.
var moveRows = []Row{
	{Opcode: "mov", Operation: Move, Roles: dst1, Section: "9.7.9.3", Executable: true, forms: []form{
		{types: scalars | of(Pred)},
		{section: "9.7.9.4", types: of(B128)}, // the packing form shares its other types with the first
	}},
	// mov of a vector register, component by component; other than the packing form, the type is that
	// of a component. The ISA text has it in examples only.
	{Opcode: "mov.vec", Operation: Move, If: []string{"v2", "v4"}, Roles: dst1, Section: "6.4.3", Executable: true, forms: []form{
		{types: scalars, vecs: 1 << 2},
		{types: scalars &^ of(B64, U64, S64, F64), vecs: 1 << 4},
	}},
	{Opcode: "prmt", src: threeWords, Roles: dst3, Section: "9.7.9.7", Executable: true, forms: []form{
		{types: of(B32), fns: opt | of(FnF4E, FnB4E, FnRC8, FnECL, FnECR, FnRC16)},
	}},
	{Opcode: "cvt", Operation: Conversion, dst: types(firstType), src: types(secondType, pairType, extraType), narrow: conversionRoles, Roles: []Role{Dst, Src, SrcOpt, SrcOpt}, Section: "9.7.9.21", Executable: true, forms: cvtForms()},
	{Opcode: "cvt.pack", narrow: packRoles, dst: all(anyType), Roles: dst2opt, Section: "9.7.9.22", Executable: true, forms: []form{
		{types: of(U16, S16), stypes: of(S32), must: Sat},
		{types: of(U8, S8, OtherType), stypes: of(S32), third: of(B32), must: Sat},
	}},
}

// cvtForms are the forms of cvt. A rounding modifier is mandatory where the conversion rounds: from
// float to integer, from integer to float, and to a smaller float (PTX ISA 9.7.9.21). The one
// exception that is accepted here is float to float of one size, where .rni and the like round to
// an integral value.
func cvtForms() []form {
	ints := of(U8, U16, U32, U64, S8, S16, S32, S64)
	sizes := [...]set{2: of(F16, BF16), 4: of(F32), 8: of(F64)}
	f := []form{
		{types: ints, stypes: ints, flags: Sat},
		{types: ints, stypes: of(F16, BF16, F32, F64), rounds: toInt, flags: FTZ | Sat},
		{types: of(F16, BF16, F32, F64), stypes: ints, rounds: ieee, flags: FTZ | Sat},
	}
	for _, to := range []int{2, 4, 8} {
		for _, from := range []int{2, 4, 8} {
			switch {
			case to < from:
				f = append(f, form{types: sizes[to], stypes: sizes[from], rounds: ieee, flags: FTZ | Sat})
			case to == from:
				f = append(f, form{types: sizes[to], stypes: sizes[from], rounds: opt | toInt | ieee,
					flags: FTZ | Sat})
			default:
				f = append(f, form{types: sizes[to], stypes: sizes[from], rounds: opt | ieee, flags: FTZ | Sat})
			}
		}
	}
	return append(f, packedCvtForms()...)
}

// packedCvtForms are the conversions to and from the formats of machine learning.
func packedCvtForms() []form {
	near := of(RN, RZ)
	x2 := of(E4M3x2, E5M2x2, E2M1x2, E2M3x2, E3M2x2)
	x4 := of(E4M3x4, E5M2x4, E2M1x4, E2M3x4, E3M2x4)
	return []form{
		{types: of(F16, BF16), stypes: of(F32), rounds: near, flags: Relu | Satfinite},
		{types: of(F16x2, BF16x2), stypes: of(F32), rounds: near | of(RS), flags: Relu | Satfinite},
		{types: of(TF32), stypes: of(F32), rounds: of(RNA), flags: Satfinite},
		{types: of(TF32), stypes: of(F32), rounds: near, flags: Relu | Satfinite},
		{types: x2, stypes: of(F32, F16x2, BF16x2), rounds: of(RN), flags: Relu, must: Satfinite},
		{types: of(F16x2), stypes: x2, rounds: of(RN), flags: Relu},
		{types: x4, stypes: of(F32), rounds: of(RS), flags: Relu, must: Satfinite},
		{types: of(UE8M0x2), stypes: of(F32, BF16x2), rounds: of(RZ, RP), flags: Satfinite},
		{types: of(BF16x2), stypes: of(UE8M0x2), rounds: of(RN)},
		{types: of(S2F6x2), stypes: of(F32, BF16x2), rounds: of(RN), flags: Relu | Scaled,
			must: Satfinite},
		{types: of(BF16x2), stypes: of(S2F6x2), rounds: of(RN), flags: Relu | Satfinite | Scaled},
	}
}
