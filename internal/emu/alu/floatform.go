package alu

import "heddle/internal/isa"

// Which loop or scalar function executes a floating-point instruction.

// ieee checks the rounding of d against the modes that its format has: all four for single and
// double precision, to nearest for the narrow ones.
func ieee(f *format, r isa.Rounding) bool {
	switch r {
	case isa.NoRounding, isa.RN:
		return f != nil
	case isa.RZ, isa.RM, isa.RP:
		return f == single || f == double
	}
	return false
}

// arithFlags are the modifiers of add, sub and mul for a type (PTX ISA 9.7.3.3 to 9.7.3.5, 9.7.4.1
// to 9.7.4.3).
func arithFlags(t isa.Type) isa.Flag {
	switch t {
	case isa.F32, isa.F16, isa.F16x2:
		return isa.FTZ | isa.Sat
	case isa.F32x2:
		return isa.FTZ
	}
	return 0
}

// single-typed instructions carry no source type, or the same one again.
func oneType(d *isa.Desc) bool { return d.SType == isa.NoType || d.SType == d.Type }

// addFloat chooses the function of add and sub.
func addFloat(d *isa.Desc) (Func, error) {
	f := formatOf(d.Type)
	if !ieee(f, d.Round) || !only(d, arithFlags(d.Type)) {
		return noForm(d)
	}
	subtract := d.Row.Opcode == "sub"
	c := newArith(f, d)
	op := c.addScalar
	if subtract {
		op = c.subScalar
	}
	if !oneType(d) {
		return mixed2(d, op)
	}
	switch {
	case f.is16() && subtract:
		op = c.narrowSub
	case f.is16():
		op = c.narrowAdd
	case c.directedSingle(d.Type):
		return c.singleDirected(d.Row.Opcode), nil
	case d.Type == isa.F32 && c.plain() && subtract:
		return subF32, nil
	case d.Type == isa.F32 && c.plain():
		return addF32, nil
	case d.Type == isa.F32 && c.mode == isa.RN && c.sat:
		return addF32Sat(c.ftz, subtract), nil
	case d.Type == isa.F32 && c.mode == isa.RN && subtract:
		return subF32Ftz, nil
	case d.Type == isa.F32 && c.mode == isa.RN:
		return addF32Ftz, nil
	case d.Type == isa.F64 && c.plain() && subtract:
		return subF64, nil
	case d.Type == isa.F64 && c.plain():
		return addF64, nil
	}
	return lane2(packed2(d.Type, op)), nil
}

// mixed2 is the form of add and sub whose first operand is of a narrower type (PTX ISA 9.7.5.1,
// 9.7.5.2).
func mixed2(d *isa.Desc, op scalar2) (Func, error) {
	if d.Type != isa.F32 || d.SType != isa.F16 && d.SType != isa.BF16 || d.Has(isa.FTZ) {
		return noForm(d)
	}
	f := formatOf(d.SType)
	return lane2(func(a, b uint64) uint64 { return op(toSingle(f, a), b) }), nil
}

// toSingle converts a half-precision value to single precision, exactly.
func toSingle(f *format, v uint64) uint64 {
	return single.pack(isa.RN, f.unpack(v&0xffff), false)
}

func mulFloat(d *isa.Desc) (Func, error) {
	f := formatOf(d.Type)
	if !ieee(f, d.Round) || !only(d, arithFlags(d.Type)) || !oneType(d) || d.Fn != isa.NoFn {
		return noForm(d)
	}
	c := newArith(f, d)
	switch {
	case f.is16():
		return lane2(packed2(d.Type, c.narrowMul)), nil
	case c.directedSingle(d.Type):
		return c.singleDirected("mul"), nil
	case d.Type == isa.F32 && c.plain():
		return mulF32, nil
	case d.Type == isa.F32 && c.mode == isa.RN && c.sat:
		return mulF32Sat(c.ftz), nil
	case d.Type == isa.F32 && c.mode == isa.RN:
		return mulF32Ftz, nil
	case d.Type == isa.F64 && c.plain():
		return mulF64, nil
	}
	return lane2(packed2(d.Type, c.mulScalar)), nil
}

// fma follows PTX ISA 9.7.3.6, 9.7.4.4, 9.7.5.3, and 9.7.3.7 for mad, which is the same on sm_20
// and later.
func fma(d *isa.Desc) (Func, error) {
	f := formatOf(d.Type)
	if d.Has(isa.OOB) {
		return nil, unsupported(d, "the bits of an OOB NaN are not documented")
	}
	allowed := arithFlags(d.Type)
	if f.is16() {
		allowed |= isa.Relu
	}
	if !ieee(f, d.Round) || !only(d, allowed) || d.Fn != isa.NoFn {
		return noForm(d)
	}
	c := newArith(f, d)
	if !oneType(d) {
		if d.Type != isa.F32 || d.SType != isa.F16 && d.SType != isa.BF16 || c.ftz {
			return noForm(d)
		}
		f := formatOf(d.SType)
		return lane3(func(a, b, z uint64) uint64 {
			return c.fmaScalar(toSingle(f, a), toSingle(f, b), z)
		}), nil
	}
	switch {
	case f.is16():
		return lane3(packed3(d.Type, c.narrowFma)), nil
	case c.directedSingle(d.Type):
		return c.singleDirected("fma"), nil
	case d.Type == isa.F32 && c.plain():
		return fmaF32, nil
	case d.Type == isa.F32 && c.mode == isa.RN && c.sat:
		return fmaF32Sat(c.ftz), nil
	case d.Type == isa.F32 && c.mode == isa.RN:
		return fmaF32Ftz, nil
	case d.Type == isa.F64 && c.plain():
		return fmaF64, nil
	}
	return lane3(packed3(d.Type, c.fmaScalar)), nil
}

// divFloat follows PTX ISA 9.7.3.8.
func divFloat(d *isa.Desc) (Func, error) {
	f := formatOf(d.Type)
	if !oneType(d) || d.Type != isa.F32 && d.Type != isa.F64 {
		return noForm(d)
	}
	if d.Has(isa.Approx) || d.Has(isa.Full) {
		return divApprox(d)
	}
	if d.Round == isa.NoRounding || !ieee(f, d.Round) || !only(d, arithFlags(d.Type)&isa.FTZ) {
		return noForm(d)
	}
	c := newArith(f, d)
	switch {
	case d.Type == isa.F32 && c.plain():
		return divF32, nil
	case d.Type == isa.F64 && c.plain():
		return divF64, nil
	case c.directedSingle(d.Type):
		return c.singleDirected("div"), nil
	}
	return lane2(c.divScalar), nil
}

// rcp follows PTX ISA 9.7.3.13 and 9.7.3.14.
func rcp(d *isa.Desc) (Func, error) {
	if d.Has(isa.Approx) {
		return rcpApprox(d)
	}
	f := formatOf(d.Type)
	if d.Type != isa.F32 && d.Type != isa.F64 || d.Round == isa.NoRounding || !ieee(f, d.Round) ||
		!only(d, arithFlags(d.Type)&isa.FTZ) {
		return noForm(d)
	}
	c := newArith(f, d)
	switch {
	case d.Type == isa.F32 && c.plain():
		return lane1(func(a uint64) uint64 { return packF32(1 / f32(a)) }), nil
	case d.Type == isa.F64 && c.plain():
		return lane1(rcpF64), nil
	case c.directedSingle(d.Type):
		return c.singleDirected("rcp"), nil
	}
	return lane1(c.rcpScalar), nil
}

// sqrt follows PTX ISA 9.7.3.15.
func sqrt(d *isa.Desc) (Func, error) {
	if d.Has(isa.Approx) {
		return sqrtApprox(d)
	}
	f := formatOf(d.Type)
	if d.Type != isa.F32 && d.Type != isa.F64 || d.Round == isa.NoRounding || !ieee(f, d.Round) ||
		!only(d, arithFlags(d.Type)&isa.FTZ) {
		return noForm(d)
	}
	c := newArith(f, d)
	switch {
	case d.Type == isa.F32 && c.plain():
		return sqrtF32, nil
	case d.Type == isa.F64 && c.plain():
		return lane1(sqrtF64), nil
	case c.directedSingle(d.Type):
		return c.singleDirected("sqrt"), nil
	}
	return lane1(c.sqrtScalar), nil
}
