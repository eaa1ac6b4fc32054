package alu

import "heddle/internal/isa"

// Bitwise and logical operations: PTX ISA 9.7.8. On predicates they work on the masks of all lanes
// at once.

// andBits, orBits, xorBits and notBits cut their results to the width of U, since operands may be
// wider registers.
func andBits[U unsigned](o *Ops, mask uint32) {
	d, a, b := o.binary(mask)
	for i := 0; i < len(d); i += 4 {
		d[i] = uint64(U(a[i] & b[i]))
		d[i+1] = uint64(U(a[i+1] & b[i+1]))
		d[i+2] = uint64(U(a[i+2] & b[i+2]))
		d[i+3] = uint64(U(a[i+3] & b[i+3]))
	}
	o.done(mask)
}

// orBits, xorBits and notBits have the same loop as andBits.
func orBits[U unsigned](o *Ops, mask uint32) {
	d, a, b := o.binary(mask)
	for i := 0; i < len(d); i += 4 {
		d[i] = uint64(U(a[i] | b[i]))
		d[i+1] = uint64(U(a[i+1] | b[i+1]))
		d[i+2] = uint64(U(a[i+2] | b[i+2]))
		d[i+3] = uint64(U(a[i+3] | b[i+3]))
	}
	o.done(mask)
}

func xorBits[U unsigned](o *Ops, mask uint32) {
	d, a, b := o.binary(mask)
	for i := 0; i < len(d); i += 4 {
		d[i] = uint64(U(a[i] ^ b[i]))
		d[i+1] = uint64(U(a[i+1] ^ b[i+1]))
		d[i+2] = uint64(U(a[i+2] ^ b[i+2]))
		d[i+3] = uint64(U(a[i+3] ^ b[i+3]))
	}
	o.done(mask)
}

func notBits[U unsigned](o *Ops, mask uint32) {
	d, a := o.unary(mask)
	for i := range d {
		d[i] = uint64(^U(a[i]))
	}
	o.done(mask)
}

// cnotBits is logical negation: 1 for zero, else 0.
func cnotBits[U unsigned](o *Ops, mask uint32) {
	d, a := o.unary(mask)
	for i := range d {
		d[i] = uint64(b2u(U(a[i]) == 0))
	}
	o.done(mask)
}

// logic follows PTX ISA 9.7.8.1 to 9.7.8.3. Predicate sources are PS[0] and PS[1], the destination
// PD[0].
func logic(d *isa.Desc) (Func, error) {
	if d.Flags != 0 {
		return noForm(d)
	}
	switch d.Row.Opcode {
	case "and":
		if d.Type == isa.Pred {
			return func(o *Ops, mask uint32) { setBits(o.PD[0], o.PS[0]&o.PS[1], mask) }, nil
		}
		return byWidth(d, andBits[uint16], andBits[uint32], andBits[uint64])
	case "or":
		if d.Type == isa.Pred {
			return func(o *Ops, mask uint32) { setBits(o.PD[0], o.PS[0]|o.PS[1], mask) }, nil
		}
		return byWidth(d, orBits[uint16], orBits[uint32], orBits[uint64])
	case "xor":
		if d.Type == isa.Pred {
			return func(o *Ops, mask uint32) { setBits(o.PD[0], o.PS[0]^o.PS[1], mask) }, nil
		}
		return byWidth(d, xorBits[uint16], xorBits[uint32], xorBits[uint64])
	}
	return noForm(d)
}

// not follows PTX ISA 9.7.8.4.
func not(d *isa.Desc) (Func, error) {
	if d.Flags != 0 {
		return noForm(d)
	}
	if d.Type == isa.Pred {
		return func(o *Ops, mask uint32) { setBits(o.PD[0], ^o.PS[0], mask) }, nil
	}
	return byWidth(d, notBits[uint16], notBits[uint32], notBits[uint64])
}

// cnot follows PTX ISA 9.7.8.5.
func cnot(d *isa.Desc) (Func, error) {
	if d.Flags != 0 {
		return noForm(d)
	}
	return byWidth(d, cnotBits[uint16], cnotBits[uint32], cnotBits[uint64])
}

// lop3 follows PTX ISA 9.7.8.6. The table is source 3, an immediate, so that lane 0 holds it. The
// destination may be absent in the forms with a predicate.
func lop3(d *isa.Desc) (Func, error) {
	if d.Type != isa.B32 || d.Flags != 0 {
		return noForm(d)
	}
	var join func(t, c uint32) uint32
	switch d.Fn {
	case isa.NoFn:
		return func(o *Ops, mask uint32) {
			lop3Lanes(o.dst(mask), o, uint8(o.S[3][0]))
			o.done(mask)
		}, nil
	case isa.FnAnd, isa.FnOr:
		join = combiner(d.Fn)
	default:
		return noForm(d)
	}
	return func(o *Ops, mask uint32) {
		// Use scratch: the predicate needs the results of all lanes, and there may be no destination.
		lop3Lanes(&o.tmp, o, uint8(o.S[3][0]))
		var t uint32
		for i := range o.tmp {
			t |= b2u(o.tmp[i] != 0) << i
		}
		if o.D[0] != nil {
			blend(o.D[0], &o.tmp, mask)
		}
		setBits(o.PD[0], join(t, o.PS[0]), mask)
	}, nil
}

// lop3Lanes computes the function with table lut: bit 4a+2b+c of lut is the result for the bits a,
// b, c. It selects by c, then by b, then by a, among words that replicate the bits of the table.
func lop3Lanes(d *Lanes, o *Ops, lut uint8) {
	a, b, c := o.S[0], o.S[1], o.S[2]
	// t[i] is bit i of the table in every position.
	var t [8]uint32
	for i := range t {
		t[i] = -uint32(lut >> i & 1)
	}
	for i := range d {
		x, y, z := uint32(a[i]), uint32(b[i]), uint32(c[i])
		m0 := t[0] ^ (t[0]^t[1])&z
		m1 := t[2] ^ (t[2]^t[3])&z
		m2 := t[4] ^ (t[4]^t[5])&z
		m3 := t[6] ^ (t[6]^t[7])&z
		lo := m0 ^ (m0^m1)&y
		hi := m2 ^ (m2^m3)&y
		d[i] = uint64(lo ^ (lo^hi)&x)
	}
}
