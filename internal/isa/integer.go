package isa

// Role lists that many rows share.
var (
	dst1    = []Role{Dst, Src}
	dst2    = []Role{Dst, Src, Src}
	dst3    = []Role{Dst, Src, Src, Src}
	dst4    = []Role{Dst, Src, Src, Src, Src}
	dst2opt = []Role{Dst, Src, Src, SrcOpt}
)

// integerRows are integer, extended-precision and bit-field arithmetic: PTX ISA 9.7.1 and 9.7.2.
// Opcodes that floating point has too come with all of their forms.
var integerRows = []Row{
	{Opcode: "add", Operation: Sum, Roles: dst2, Section: "9.7.1.1", Executable: true, forms: addForms(
		[]form{{types: int163264 | of(U16x2, S16x2)}, {types: of(S32), must: Sat}},
		"9.7.2.1", "9.7.3.3", "9.7.4.1", "9.7.5.1")},
	{Opcode: "sub", Operation: Difference, Roles: dst2, Section: "9.7.1.2", Executable: true, forms: addForms(
		[]form{{types: int163264}, {types: of(S32), must: Sat}},
		"9.7.2.3", "9.7.3.4", "9.7.4.2", "9.7.5.2")},
	{Opcode: "mul", Operation: Product, dst: types(wideType), Roles: dst2, Section: "9.7.1.3", Executable: true, forms: append([]form{
		{types: int163264, fns: of(FnHi, FnLo)},
		{types: of(U16, U32, S16, S32), fns: of(FnWide)},
	}, floatForms("9.7.3.5", "9.7.4.3")...)},
	{Opcode: "mad", Operation: ProductSum, dst: types(wideType), src: productTypes, Roles: dst3, Section: "9.7.1.4", Executable: true, forms: []form{
		{types: int163264, fns: of(FnHi, FnLo)},
		{types: of(U16, U32, S16, S32), fns: of(FnWide)},
		{types: of(S32), fns: of(FnHi), must: Sat},
		{section: "9.7.2.5", types: int3264, fns: of(FnHi, FnLo), must: CC},
		// Without a rounding modifier mad.f32 is an instruction of sm_1x.
		{section: "9.7.3.7", types: of(F32), rounds: opt | ieee, flags: FTZ | Sat},
		{section: "9.7.3.7", types: of(F64), rounds: ieee},
	}},
	{Opcode: "mul24", Operation: ShortProduct, Roles: dst2, Section: "9.7.1.5", Executable: true, forms: []form{
		{types: of(U32, S32), fns: of(FnHi, FnLo)},
	}},
	{Opcode: "mad24", Operation: ShortProductSum, Roles: dst3, Section: "9.7.1.6", Executable: true, forms: []form{
		{types: of(U32, S32), fns: of(FnHi, FnLo)},
		{types: of(S32), fns: of(FnHi), must: Sat},
	}},
	{Opcode: "sad", Roles: dst3, Section: "9.7.1.7", Executable: true, forms: []form{{types: int163264}}},
	{Opcode: "div", Operation: Quotient, Roles: dst2, Section: "9.7.1.8", Executable: true, forms: []form{
		{types: int163264},
		{section: "9.7.3.8", types: of(F32), must: Approx, flags: FTZ},
		{section: "9.7.3.8", types: of(F32), must: Full, flags: FTZ},
		{section: "9.7.3.8", types: of(F32), rounds: ieee, flags: FTZ},
		{section: "9.7.3.8", types: of(F64), rounds: ieee},
	}},
	{Opcode: "rem", Operation: Remainder, Roles: dst2, Section: "9.7.1.9", Executable: true, forms: []form{{types: int163264}}},
	{Opcode: "abs", Operation: Magnitude, Roles: dst1, Section: "9.7.1.10", Executable: true, forms: append([]form{
		{types: of(S16, S32, S64)},
	}, signForms("9.7.3.9", "9.7.4.6")...)},
	{Opcode: "neg", Operation: Negation, Roles: dst1, Section: "9.7.1.11", Executable: true, forms: append([]form{
		{types: of(S16, S32, S64)},
	}, signForms("9.7.3.10", "9.7.4.5")...)},
	{Opcode: "min", Operation: Minimum, narrow: extremeRoles, Roles: dst2opt, Section: "9.7.1.12", Executable: true, forms: minForms("9.7.3.11", "9.7.4.7")},
	{Opcode: "max", Operation: Maximum, narrow: extremeRoles, Roles: dst2opt, Section: "9.7.1.13", Executable: true, forms: minForms("9.7.3.12", "9.7.4.8")},
	{Opcode: "popc", dst: all(b32Type), Roles: dst1, Section: "9.7.1.14", Executable: true, forms: []form{{types: of(B32, B64)}}},
	{Opcode: "clz", dst: all(b32Type), Roles: dst1, Section: "9.7.1.15", Executable: true, forms: []form{{types: of(B32, B64)}}},
	{Opcode: "bfind", dst: all(b32Type), Roles: dst1, Section: "9.7.1.16", Executable: true, forms: []form{{types: int3264, flags: Shiftamt}}},
	{Opcode: "fns", Operation: NthSetBit, src: threeWords, Roles: dst3, Section: "9.7.1.17", Executable: true, forms: []form{{types: of(B32)}}},
	{Opcode: "brev", Roles: dst1, Section: "9.7.1.18", Executable: true, forms: []form{{types: of(B32, B64)}}},
	{Opcode: "bfe", Operation: BitField, src: types(firstType, b32Type, b32Type), Roles: dst3, Section: "9.7.1.19", Executable: true, forms: []form{{types: int3264}}},
	{Opcode: "bfi", src: types(firstType, firstType, b32Type, b32Type), Roles: dst4, Section: "9.7.1.20", Executable: true, forms: []form{{types: of(B32, B64)}}},
	{Opcode: "szext", src: types(firstType, b32Type), Roles: dst2, Section: "9.7.1.21", Executable: true, forms: clampWrap(form{types: of(U32, S32)})},
	{Opcode: "bmsk", src: threeWords, Roles: dst2, Section: "9.7.1.22", Executable: true, forms: clampWrap(form{types: of(B32)})},
	{Opcode: "dp4a", dst: all(b32Type), src: threeWords, Roles: dst3, Section: "9.7.1.23", Executable: true, forms: []form{
		{types: of(U32, S32), stypes: of(U32, S32)},
	}},
	{Opcode: "dp2a", dst: all(b32Type), src: threeWords, Roles: dst3, Section: "9.7.1.24", Executable: true, forms: []form{
		{types: of(U32, S32), stypes: of(U32, S32), fns: of(FnLo, FnHi)},
	}},
	{Opcode: "addc", Operation: Sum, Carry: true, Roles: dst2, Section: "9.7.2.2", Executable: true, forms: []form{{types: int3264, flags: CC}}},
	{Opcode: "subc", Operation: Difference, Carry: true, Roles: dst2, Section: "9.7.2.4", Executable: true, forms: []form{{types: int3264, flags: CC}}},
	{Opcode: "madc", Operation: ProductSum, Carry: true, Roles: dst3, Section: "9.7.2.6", Executable: true, forms: []form{
		{types: int3264, fns: of(FnHi, FnLo), flags: CC},
	}},
}

// addForms are the forms of add and sub.
func addForms(ints []form, cc, float, half, mixed string) []form {
	f := append(ints, form{section: cc, types: int3264, must: CC})
	f = append(f, floatForms(float, half)...)
	return append(f, form{section: mixed, types: of(F32), stypes: of(F16, BF16), rounds: opt | ieee,
		defRound: RN, flags: Sat})
}

// clampWrap makes f two forms: shf, szext and bmsk want one of .clamp and .wrap.
func clampWrap(f form) []form {
	clamp, wrap := f, f
	clamp.mustMarks, wrap.must = markClamp, Wrap
	return []form{clamp, wrap}
}
