package emu

import "heddle/internal/isa"

// Instructions on forms. Each falls back to runLanes where a source has no form, lanes are missing,
// or the result is no form.

func runAffineAdd(x *exec, in *inst) {
	op := in.affine
	a, b := x.form(&op.src[0]), x.form(&op.src[1])
	if a.state == lanesOnly || b.state == lanesOnly || !x.whole() {
		runLanes(x, in)
		return
	}
	x.setForm(in, form(a.b+b.b, a.kx+b.kx, a.ky+b.ky))
}

func runAffineSub(x *exec, in *inst) {
	op := in.affine
	a, b := x.form(&op.src[0]), x.form(&op.src[1])
	if a.state == lanesOnly || b.state == lanesOnly || !x.whole() {
		runLanes(x, in)
		return
	}
	x.setForm(in, form(a.b-b.b, a.kx-b.kx, a.ky-b.ky))
}

// setForm makes f the form of the destination.
func (x *exec) setForm(in *inst, f affine) {
	if in.affine.narrow {
		f.cut()
	}
	x.forms[in.d[0]] = f
}

// runAffineMul is mul.lo and mad.lo, of which one factor must be uniform.
func runAffineMul(x *exec, in *inst) {
	op := in.affine
	a, b, c := x.form(&op.src[0]), x.form(&op.src[1]), x.form(&op.src[2])
	if b.kx|b.ky != 0 {
		a, b = b, a
	}
	if a.state == lanesOnly || b.state == lanesOnly || c.state == lanesOnly || b.kx|b.ky != 0 ||
		!x.whole() {
		runLanes(x, in)
		return
	}
	x.setForm(in, form(a.b*b.b+c.b, a.kx*int64(b.b)+c.kx, a.ky*int64(b.b)+c.ky))
}

// runAffineWide is mul.wide and mad.wide of 32-bit factors.
func runAffineWide(x *exec, in *inst) {
	op := in.affine
	a, b, c := x.form(&op.src[0]), x.form(&op.src[1]), x.form(&op.src[2])
	if b.kx|b.ky != 0 {
		a, b = b, a
	}
	if a.state == lanesOnly || b.state == lanesOnly || c.state == lanesOnly || b.kx|b.ky != 0 ||
		!x.whole() {
		runLanes(x, in)
		return
	}
	f, ok := x.widened(a, op.signed)
	if !ok {
		runLanes(x, in)
		return
	}
	u := uint64(uint32(b.b))
	if op.signed {
		u = uint64(int32(b.b))
	}
	x.forms[in.d[0]] = form(f.b*u+c.b, f.kx*int64(u)+c.kx, f.ky*int64(u)+c.ky)
}

// widened returns a form read as 32-bit numbers as one of 64 bits, if no lane wraps around.
func (x *exec) widened(a *affine, signed bool) (affine, bool) {
	f := form(a.b, a.kx, a.ky)
	f.cut()
	if !f.uniform() {
		if _, _, ok := x.prog.shape.range32(&f, signed); !ok {
			return f, false
		}
	}
	if signed {
		f.b = uint64(int32(f.b))
	}
	return f, true
}

func runAffineShl(x *exec, in *inst) {
	op := in.affine
	a, b := x.form(&op.src[0]), x.form(&op.src[1])
	if a.state == lanesOnly || b.state == lanesOnly || b.kx|b.ky != 0 || !x.whole() {
		runLanes(x, in)
		return
	}
	n := uint32(b.b) // amounts beyond the width give zero, as Go's shifts and cut do
	x.setForm(in, form(a.b<<n, a.kx<<n, a.ky<<n))
}

func runAffineMov(x *exec, in *inst) {
	a := x.form(&in.affine.src[0])
	if a.state == lanesOnly || !x.whole() {
		runLanes(x, in)
		return
	}
	x.setForm(in, form(a.b, a.kx, a.ky))
}

// runAffineExtend is cvt from 32 to 64 bits.
func runAffineExtend(x *exec, in *inst) {
	a := x.form(&in.affine.src[0])
	if a.state == lanesOnly || !x.whole() {
		runLanes(x, in)
		return
	}
	f, ok := x.widened(a, in.affine.signed)
	if !ok {
		runLanes(x, in)
		return
	}
	x.forms[in.d[0]] = f
}

// Special registers.

func runAffineTidX(x *exec, in *inst) { x.setSreg(in, form(x.warp.tid[0][0], 1, 0)) }
func runAffineTidY(x *exec, in *inst) { x.setSreg(in, form(x.warp.tid[1][0], 0, 1)) }
func runAffineTidZ(x *exec, in *inst) { x.setSreg(in, form(x.warp.tid[2][0], 0, 0)) }
func runAffineLane(x *exec, in *inst) { x.setSreg(in, form(0, 1, x.prog.shape.row)) }

func runAffineSreg(x *exec, in *inst) {
	v := &x.tmp[0]
	in.misc.sreg(x, v, 1)
	x.setSreg(in, form(v[0], 0, 0))
}

func (x *exec) setSreg(in *inst, f affine) {
	if !x.whole() {
		runLanes(x, in)
		return
	}
	if x.prog.shape.xmax == 0 {
		f.kx = 0
	}
	if x.prog.shape.ymax == 0 {
		f.ky = 0
	}
	x.forms[in.d[0]] = f
}

// runAffineUniform executes any other instruction whose sources are uniform, for one lane.
func runAffineUniform(x *exec, in *inst) {
	op := in.affine
	o := &x.ops
	for i := range in.sources {
		f := x.form(&op.src[i])
		if f.state == lanesOnly || f.kx|f.ky != 0 {
			runLanes(x, in)
			return
		}
		x.tmp[i][0] = f.b
		o.S[i] = &x.tmp[i]
	}
	if !x.whole() {
		runLanes(x, in)
		return
	}
	o.D[0] = &x.tmp[3]
	in.alu(o, 1)
	x.forms[in.d[0]] = form(x.tmp[3][0], 0, 0)
}

// comparison is setp of integers as one of two questions, asked of a and b or of b and a, and the
// answer negated.
type comparison struct {
	less         bool // else equal
	swap, negate bool
}

// comparisonOf returns false for an operator that integers do not have.
func comparisonOf(c isa.Cmp) (comparison, bool) {
	switch c {
	case isa.EQ:
		return comparison{}, true
	case isa.NE:
		return comparison{negate: true}, true
	case isa.LT, isa.LO:
		return comparison{less: true}, true
	case isa.GT, isa.HI:
		return comparison{less: true, swap: true}, true
	case isa.GE, isa.HS:
		return comparison{less: true, negate: true}, true
	case isa.LE, isa.LS:
		return comparison{less: true, swap: true, negate: true}, true
	}
	return comparison{}, false
}

// runAffineSetp compares ranges: where these do not overlap, all lanes have one answer.
func runAffineSetp(x *exec, in *inst) {
	op := in.affine
	a, b := x.form(&op.src[0]), x.form(&op.src[1])
	if a.state == lanesOnly || b.state == lanesOnly {
		runLanes(x, in)
		return
	}
	if op.cmp.swap {
		a, b = b, a
	}
	yes, known := x.compare(op, a, b)
	if !known {
		runLanes(x, in)
		return
	}
	v := uint32(0)
	if yes != op.cmp.negate {
		v = full
	}
	if in.pd[0] >= 0 {
		x.setPred(in.pd[0], v, x.m)
	}
	if in.pd[1] >= 0 {
		x.setPred(in.pd[1], ^v, x.m)
	}
}

// compare returns whether a is less than b, or equal, in all lanes or in none.
func (x *exec) compare(op *affineOp, a, b *affine) (yes, known bool) {
	if !op.narrow {
		switch {
		case a.kx|a.ky|b.kx|b.ky != 0:
			return false, false
		case !op.cmp.less:
			return a.b == b.b, true
		case op.signed:
			return int64(a.b) < int64(b.b), true
		}
		return a.b < b.b, true
	}
	f, g := *a, *b
	f.cut()
	g.cut()
	alo, ahi, ok := x.prog.shape.range32(&f, op.signed)
	blo, bhi, ok2 := x.prog.shape.range32(&g, op.signed)
	switch {
	case !ok || !ok2:
		return false, false
	case op.cmp.less:
		return ahi < blo, ahi < blo || alo >= bhi
	}
	return alo == bhi, alo == ahi && blo == bhi || ahi < blo || bhi < alo
}
