package isa

// logicRows are logic and shifts: PTX ISA 9.7.8.
var logicRows = []Row{
	{Opcode: "and", Operation: Conjunction, Roles: dst2, Section: "9.7.8.1", Executable: true, forms: logicForms},
	{Opcode: "or", Operation: Disjunction, Roles: dst2, Section: "9.7.8.2", Executable: true, forms: logicForms},
	{Opcode: "xor", Operation: ExclusiveOr, Roles: dst2, Section: "9.7.8.3", Executable: true, forms: logicForms},
	{Opcode: "not", Operation: Complement, Roles: dst1, Section: "9.7.8.4", Executable: true, forms: logicForms},
	{Opcode: "cnot", Roles: dst1, Section: "9.7.8.5", Executable: true, forms: []form{{types: bits}}},
	{Opcode: "lop3", Operation: LogicOfThree, dst: maskAndPred, src: types(b32Type, b32Type, b32Type, b32Type, predType), narrow: combinedRoles, Roles: []Role{Dst, DstPred, Src, Src, Src, Src, SrcOpt}, Section: "9.7.8.6", Executable: true, forms: []form{
		{types: of(B32), fns: opt | of(FnOr, FnAnd)},
	}},
	{Opcode: "shf", src: threeWords, Roles: dst3, Section: "9.7.8.7", Executable: true,
		forms: clampWrap(form{types: of(B32), fns: of(FnLeft, FnRight)})},
	{Opcode: "shl", Operation: LeftShift, src: types(firstType, b32Type), Roles: dst2, Section: "9.7.8.8", Executable: true, forms: []form{{types: bits}}},
	{Opcode: "shr", Operation: RightShift, src: types(firstType, b32Type), Roles: dst2, Section: "9.7.8.9", Executable: true, forms: []form{{types: bits | int163264}}},
}

// logicForms are the types of bitwise logic: untyped bits, and predicates.
var logicForms = []form{{types: bits | of(Pred)}}
