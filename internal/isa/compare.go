package isa

// Comparison operators by the class of the operands (PTX ISA 9.3.1).
var (
	equality = of(EQ, NE)
	signedOp = equality | of(LT, LE, GT, GE)
	// Unsigned integers have two spellings of an order: .lt and .lo (PTX ISA 9.3.1.1).
	unsignedOp = signedOp | of(LO, LS, HI, HS)
	floatOp    = signedOp | of(EQU, NEU, LTU, LEU, GTU, GEU, NUM, NAN)

	boolean = opt | of(FnAnd, FnOr, FnXor) // combines with a third source
)

// compareRows are comparison and selection: PTX ISA 9.7.6 and 9.7.7.
var compareRows = []Row{
	{Opcode: "set", Operation: ComparisonValue, dst: types(firstType), src: types(secondType, secondType, predType), narrow: combinedRoles, Roles: []Role{Dst, Src, Src, SrcOpt}, Section: "9.7.6.1", Executable: true, forms: setForms()},
	{Opcode: "setp", Operation: Comparison, dst: all(predType), src: types(firstType, firstType, predType), narrow: combinedRoles, Roles: []Role{Dst, DstPred, Src, Src, SrcOpt}, Section: "9.7.6.2", Executable: true, forms: []form{
		{types: bits, cmps: equality, fns: boolean},
		{types: of(S16, S32, S64), cmps: signedOp, fns: boolean},
		{types: of(U16, U32, U64), cmps: unsignedOp, fns: boolean},
		{types: of(F32), cmps: floatOp, fns: boolean, flags: FTZ},
		{types: of(F64), cmps: floatOp, fns: boolean},
		{section: "9.7.7.2", types: halves, cmps: floatOp, fns: boolean, flags: FTZ},
		{section: "9.7.7.2", types: bhalves, cmps: floatOp, fns: boolean},
	}},
	{Opcode: "selp", Operation: Selection, src: types(firstType, firstType, predType), Roles: []Role{Dst, Src, Src, PredSrc}, Section: "9.7.6.3", Executable: true, forms: []form{{types: scalars}}},
	{Opcode: "slct", dst: types(firstType), src: types(firstType, firstType, secondType), Roles: dst3, Section: "9.7.6.4", Executable: true, forms: []form{
		{types: scalars, stypes: of(S32)},
		{types: scalars, stypes: of(F32), flags: FTZ},
	}},
}

// setForms are the forms of set: the comparison goes by the source type.
func setForms() []form {
	const half = "9.7.7.1"
	d := of(U32, S32, F32)
	dh := of(U16, S16, U32, S32)
	f := []form{
		{types: d, stypes: bits, cmps: equality, fns: boolean},
		{types: d, stypes: of(S16, S32, S64), cmps: signedOp, fns: boolean},
		{types: d, stypes: of(U16, U32, U64), cmps: unsignedOp, fns: boolean},
		{types: d, stypes: of(F32), cmps: floatOp, fns: boolean, flags: FTZ},
		{types: d, stypes: of(F64), cmps: floatOp, fns: boolean},
		{section: half, types: dh, stypes: of(F16), cmps: floatOp, fns: boolean, flags: FTZ},
		{section: half, types: dh, stypes: of(BF16), cmps: floatOp, fns: boolean},
		{section: half, types: of(F16x2, U32, S32), stypes: of(F16x2), cmps: floatOp, fns: boolean,
			flags: FTZ},
		{section: half, types: of(BF16x2, U32, S32), stypes: of(BF16x2), cmps: floatOp, fns: boolean},
	}
	for _, d := range []Type{F16, BF16} {
		var ftz Flag
		if d == F16 {
			ftz = FTZ
		}
		f = append(f,
			form{section: half, types: of(d), stypes: bits, cmps: equality, fns: boolean, flags: ftz},
			form{section: half, types: of(d), stypes: of(S16, S32, S64), cmps: signedOp, fns: boolean,
				flags: ftz},
			form{section: half, types: of(d), stypes: of(U16, U32, U64), cmps: signedOp, fns: boolean,
				flags: ftz},
			form{section: half, types: of(d), stypes: of(d, F16, F32, F64), cmps: floatOp, fns: boolean,
				flags: ftz})
	}
	return f
}
