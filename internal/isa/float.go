package isa

// floatForms are the floating-point forms of add, sub and mul. Without a rounding modifier they
// round to nearest even, and the optimizer may contract them (PTX ISA 9.7.3.3): the emulator does
// not.
func floatForms(section, half string) []form {
	return []form{
		{section: section, types: of(F32), rounds: opt | ieee, defRound: RN, flags: FTZ | Sat},
		{section: section, types: of(F32x2), rounds: opt | ieee, defRound: RN, flags: FTZ},
		{section: section, types: of(F64), rounds: opt | ieee, defRound: RN},
		{section: half, types: halves, rounds: opt | of(RN), defRound: RN, flags: FTZ | Sat},
		{section: half, types: bhalves, rounds: opt | of(RN), defRound: RN},
	}
}

// signForms are the floating-point forms of abs and neg.
func signForms(section, half string) []form {
	return []form{
		{section: section, types: of(F32), flags: FTZ},
		{section: section, types: of(F64)},
		{section: half, types: halves, flags: FTZ},
		{section: half, types: bhalves},
	}
}

// minForms are the forms of min and max. The form with .abs alone has three sources.
func minForms(section, half string) []form {
	return []form{
		{types: int163264 | of(U16x2, S16x2)},
		{types: of(S16x2, S32), must: Relu},
		{section: section, types: of(F32), flags: FTZ | NaNProp},
		{section: section, types: of(F32), flags: FTZ | NaNProp, must: XorSign, mustMarks: markAbs},
		{section: section, types: of(F32), flags: FTZ | NaNProp, mustMarks: markAbs, implied: Abs},
		{section: section, types: of(F64)},
		{section: half, types: halves, flags: FTZ | NaNProp},
		{section: half, types: halves, flags: FTZ | NaNProp, must: XorSign, mustMarks: markAbs},
		{section: half, types: bhalves, flags: NaNProp},
		{section: half, types: bhalves, flags: NaNProp, must: XorSign, mustMarks: markAbs},
	}
}

// floatRows are the opcodes that only floating point has: PTX ISA 9.7.3 to 9.7.5.
var floatRows = []Row{
	{Opcode: "testp", dst: all(predType), Roles: dst1, Section: "9.7.3.1", Executable: true, forms: []form{
		{types: f3264, fns: of(FnFinite, FnInfinite, FnNumber, FnNotANumber, FnNormal, FnSubnormal)},
	}},
	{Opcode: "copysign", Roles: dst2, Section: "9.7.3.2", Executable: true, forms: []form{{types: f3264}}},
	{Opcode: "fma", Roles: dst3, Section: "9.7.3.6", Executable: true, forms: []form{
		{types: of(F32), rounds: ieee, flags: FTZ | Sat},
		{types: of(F32x2), rounds: ieee, flags: FTZ},
		{types: of(F64), rounds: ieee},
		{section: "9.7.4.4", types: halves, rounds: of(RN), flags: FTZ | Sat},
		{section: "9.7.4.4", types: halves, rounds: of(RN), flags: FTZ, must: Relu},
		{section: "9.7.4.4", types: bhalves, rounds: of(RN), flags: Relu},
		{section: "9.7.4.4", types: halves | bhalves, rounds: of(RN), flags: Relu, must: OOB},
		{section: "9.7.5.3", types: of(F32), stypes: of(F16, BF16), rounds: ieee, flags: Sat},
	}},
	{Opcode: "rcp", Roles: dst1, Section: "9.7.3.13", Executable: true, forms: append(rootForms(),
		form{section: "9.7.3.14", types: of(F64), must: Approx | FTZ})},
	{Opcode: "sqrt", Roles: dst1, Section: "9.7.3.15", Executable: true, forms: rootForms()},
	{Opcode: "rsqrt", Roles: dst1, Section: "9.7.3.16", Executable: true, forms: []form{
		{types: of(F32), must: Approx, flags: FTZ},
		{types: of(F64), must: Approx},
		{section: "9.7.3.17", types: of(F64), must: Approx | FTZ},
	}},
	{Opcode: "sin", Roles: dst1, Section: "9.7.3.18", Executable: true, forms: approxF32},
	{Opcode: "cos", Roles: dst1, Section: "9.7.3.19", Executable: true, forms: approxF32},
	{Opcode: "lg2", Roles: dst1, Section: "9.7.3.20", Executable: true, forms: approxF32},
	{Opcode: "ex2", Roles: dst1, Section: "9.7.3.21", Executable: true, forms: []form{
		{types: of(F32), must: Approx, flags: FTZ},
		{section: "9.7.4.10", types: halves, must: Approx},
		{section: "9.7.4.10", types: bhalves, must: Approx | FTZ},
	}},
	{Opcode: "tanh", Roles: dst1, Section: "9.7.3.22", Executable: true, forms: []form{
		{types: of(F32), must: Approx},
		{section: "9.7.4.9", types: halves | bhalves, must: Approx},
	}},
}

// approxF32 is the one form of the transcendental functions: approximate, in binary32.
var approxF32 = []form{{types: of(F32), must: Approx, flags: FTZ}}

// rootForms are the forms of rcp and sqrt: approximate, or correctly rounded (PTX ISA 9.7.3.13,
// 9.7.3.15).
func rootForms() []form {
	return []form{
		{types: of(F32), must: Approx, flags: FTZ},
		{types: of(F32), rounds: ieee, flags: FTZ},
		{types: of(F64), rounds: ieee},
	}
}
