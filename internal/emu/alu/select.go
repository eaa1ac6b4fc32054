package alu

import "heddle/internal/isa"

func selpBits[U unsigned](o *Ops, mask uint32) {
	p := o.PS[0]
	d, a, b := o.binary(mask)
	for i := range d {
		k := -uint64(p & 1)
		p >>= 1
		d[i] = uint64(U(a[i]&k | b[i]&^k))
	}
	o.done(mask)
}

// selp follows PTX ISA 9.7.6.3.
func selp(d *isa.Desc) (Func, error) {
	if d.Flags != 0 {
		return noForm(d)
	}
	return bySize(d, selpBits[uint16], selpBits[uint32], selpBits[uint64])
}

// slct follows PTX ISA 9.7.6.4: source 0 if source 2 is at least zero, else source 1. A NaN selects
// source 1; .ftz makes no difference but to negative subnormals, which then select source 0.
func slct(d *isa.Desc) (Func, error) {
	var first func(c uint64) bool
	switch {
	case d.SType == isa.S32 && d.Flags == 0:
		first = func(c uint64) bool { return int32(c) >= 0 }
	case d.SType == isa.F32 && only(d, isa.FTZ):
		ftz := d.Has(isa.FTZ)
		first = func(c uint64) bool {
			x := uint32(c)
			if ftz {
				x = flush32(x)
			}
			return x <= 0x7f800000 || x == 0x80000000 // not NaN and without sign, or -0
		}
	default:
		return noForm(d)
	}
	size := d.Type.Size()
	if _, err := bySize(d, nil, nil, nil); err != nil {
		return nil, err
	}
	keep := ones(uint64(8 * size))
	return lane3(func(a, b, c uint64) uint64 {
		if first(c) {
			return a & keep
		}
		return b & keep
	}), nil
}

func movBits[U unsigned](o *Ops, mask uint32) {
	d, a := o.unary(mask)
	for i := 0; i < len(d); i += 4 {
		d[i] = uint64(U(a[i]))
		d[i+1] = uint64(U(a[i+1]))
		d[i+2] = uint64(U(a[i+2]))
		d[i+3] = uint64(U(a[i+3]))
	}
	o.done(mask)
}

func mov64(o *Ops, mask uint32) {
	if mask == full {
		*o.D[0] = *o.S[0]
		return
	}
	blend(o.D[0], o.S[0], mask)
}

// mov follows PTX ISA 9.7.9.3 for registers, immediates and predicates. Addresses and special
// registers come in as values; packing and unpacking of vectors (9.7.9.4) is not done here.
func mov(d *isa.Desc) (Func, error) {
	if d.Flags != 0 {
		return noForm(d)
	}
	if d.Type == isa.Pred {
		return func(o *Ops, mask uint32) { setBits(o.PD[0], o.PS[0], mask) }, nil
	}
	return bySize(d, movBits[uint16], movBits[uint32], mov64)
}

// bySize chooses by the bytes of the type, whatever its class.
func bySize(d *isa.Desc, w16, w32, w64 Func) (Func, error) {
	switch d.Type.Size() {
	case 2:
		return w16, nil
	case 4:
		return w32, nil
	case 8:
		return w64, nil
	}
	return noForm(d)
}
