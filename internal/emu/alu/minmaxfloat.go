package alu

import "heddle/internal/isa"

// minmaxFloat chooses the function of min and max on floats: PTX ISA 9.7.3.11, 9.7.3.12, 9.7.4.7,
// 9.7.4.8. A form with three inputs is not told from the one with two by its modifiers; see
// Sources.
func minmaxFloat(d *isa.Desc) (Func, error) {
	f := formatOf(d.Type)
	allowed := isa.FTZ | isa.NaNProp | isa.XorSign
	switch {
	case d.Type == isa.F64:
		allowed = 0
	case f == bfloat:
		allowed &^= isa.FTZ
	}
	if f == nil || d.Type == isa.F32x2 || !oneType(d) || !only(d, allowed) {
		return noForm(d)
	}
	k := &chooser{format: f, less: d.Row.Opcode == "min",
		ftz: d.Has(isa.FTZ), nanProp: d.Has(isa.NaNProp), xorsign: d.Has(isa.XorSign)}
	if d.Type == isa.F32 && !k.nanProp && !k.xorsign {
		if k.less {
			return minF32(k.ftz), nil
		}
		return maxF32(k.ftz), nil
	}
	return lane2(packed2(d.Type, k.choose)), nil
}

// ThreeInputs returns the function of min and max of three single-precision inputs: of the first
// two, then of that and the third (PTX ISA 9.7.3.11, 9.7.3.12). With .abs the magnitudes are
// compared.
func ThreeInputs(d *isa.Desc) (Func, error) {
	op := d.Row.Opcode
	if op != "min" && op != "max" || d.Type != isa.F32 || !oneType(d) ||
		!only(d, isa.FTZ|isa.NaNProp|isa.Abs) {
		return noForm(d)
	}
	k := &chooser{format: single, less: op == "min", ftz: d.Has(isa.FTZ), nanProp: d.Has(isa.NaNProp)}
	keep := single.sign<<1 - 1
	if d.Has(isa.Abs) {
		keep = single.sign - 1
	}
	return lane3(func(a, b, c uint64) uint64 { return k.choose(k.choose(a&keep, b&keep), c&keep) }),
		nil
}

// minF32 is the usual minimum of single precision. Go's min orders zeros as PTX does, but yields
// NaN if one operand is NaN, where PTX wants the other.
//
//go:noinline
func minF32(ftz bool) Func {
	return func(o *Ops, mask uint32) {
		d, a, b := o.binary(mask)
		for i := range d {
			x, y := loadF32(a[i], ftz), loadF32(b[i], ftz)
			r := min(x, y)
			if r != r {
				r = number32(x, y)
			}
			d[i] = packF32(r)
		}
		o.done(mask)
	}
}

// maxF32 is the usual maximum.
//
//go:noinline
func maxF32(ftz bool) Func {
	return func(o *Ops, mask uint32) {
		d, a, b := o.binary(mask)
		for i := range d {
			x, y := loadF32(a[i], ftz), loadF32(b[i], ftz)
			r := max(x, y)
			if r != r {
				r = number32(x, y)
			}
			d[i] = packF32(r)
		}
		o.done(mask)
	}
}

// number32 returns the operand that is not NaN, if there is one.
func number32(x, y float32) float32 {
	if x != x {
		return y
	}
	return x
}

// chooser is a min or max of one format.
type chooser struct {
	*format
	less                  bool
	ftz, nanProp, xorsign bool
}

// key maps the bits of a number to an integer of the same order, -0 below +0.
func (k *chooser) key(v uint64) int64 {
	if v&k.sign != 0 {
		return -1 - int64(v&(k.sign-1))
	}
	return int64(v)
}

func (k *chooser) choose(a, b uint64) uint64 {
	keep := k.sign<<1 - 1
	a, b = a&keep, b&keep
	if k.ftz {
		a, b = k.flush(a), k.flush(b)
	}
	xor := (a ^ b) & k.sign
	if k.xorsign {
		a, b = a&^k.sign, b&^k.sign
	}
	an, bn := k.isNaN(a), k.isNaN(b)
	var r uint64
	switch {
	case an && bn, k.nanProp && (an || bn):
		return k.quiet(a, b)
	case an:
		r = b
	case bn:
		r = a
	case k.key(a) < k.key(b) == k.less:
		r = a
	default:
		r = b
	}
	if k.xorsign {
		r = r&^k.sign | xor
	}
	return r
}

// quiet is the NaN result for operands of which at least one is a NaN.
func (k *chooser) quiet(a, b uint64) uint64 {
	if k.format == double {
		return nan64(a, b)
	}
	return k.nan
}
