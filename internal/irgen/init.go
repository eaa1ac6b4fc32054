package irgen

import (
	"encoding/binary"
	"strconv"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/ptx"
)

// maxInit bounds the bytes that an initialiser makes us hold.
const maxInit = 1 << 28

// initialisers evaluates the pending initialisers (PTX ISA 5.4.4): those of the module when all its
// names are known, those of a body at the declaration. Only .global and .const variables can have
// one; a dimension left open takes its length from the initialiser.
func (g *gen) initialisers() {
	for _, p := range g.inits {
		if p.v.Space != event.Global && p.v.Space != event.Const {
			g.errorf(p.name.Span, "%s: only .global and .const variables can be initialised (PTX ISA 5.4.4)",
				p.name.Name)
			continue
		}
		if p.v.Extern {
			g.errorf(p.name.Span, "%s: an .extern variable cannot be initialised (PTX ISA 5.4.4)",
				p.name.Name)
			continue
		}
		dims := append([]int64(nil), p.name.Dims...)
		if p.decl.Vec > 0 {
			dims = append(dims, int64(p.decl.Vec))
		}
		if len(dims) > 0 && dims[0] == -1 {
			dims[0] = initCount(p.name.Init)
		}
		w := initWriter{g: g, v: p.v, in: p.in, name: p.name}
		w.write(p.name.Init, dims, 0)
	}
	g.inits = nil
}

// initWriter fills one variable, v, from the initialiser that name has. Names in it are looked up
// from scope in.
type initWriter struct {
	g    *gen
	v    *ir.Var
	in   *scope
	name *ptx.VarName
}

// write stores an initialiser for an element of dimensions dims at byte offset at. The recursion
// follows the braces: each level consumes one dimension. A list that is too short leaves the rest
// zero, as in C; one that is too long is an error.
func (w *initWriter) write(in *ptx.Init, dims []int64, at int) {
	elem := w.v.Type.Size()
	if in.Value.Kind() != ptx.NoOperand {
		if s := in.Value; s.Kind() == ptx.String && elem == 1 && len(dims) == 1 {
			w.text(s, dims[0], at)
			return
		}
		if len(dims) > 0 {
			w.g.errorf(in.Value.Span(), "%s: expected a list in braces for an array of %d", w.name.Name,
				dims[0])
			return
		}
		w.value(in.Value, at)
		return
	}
	if len(dims) == 0 {
		if len(in.List) == 1 { // {x} for a scalar, as in C
			w.write(in.List[0], nil, at)
			return
		}
		w.g.errorf(in.Span, "%s: a list of %d values where one value is expected", w.name.Name,
			len(in.List))
		return
	}
	if int64(len(in.List)) > dims[0] {
		w.g.errorf(in.List[dims[0]].Span, "%s: %d values for %d elements", w.name.Name, len(in.List),
			dims[0])
		return
	}
	stride := elem
	for _, d := range dims[1:] {
		stride *= int(d)
	}
	for i, e := range in.List {
		w.write(e, dims[1:], at+i*stride)
	}
}

// text stores the bytes of a string. The rest of the array stays zero, which terminates the string.
// Like C, it accepts a string that fills the array and leaves no room for the zero.
func (w *initWriter) text(s ptx.Operand, room int64, at int) {
	val := s.Str()
	if int64(len(val)) > room {
		w.g.errorf(s.Span(), "%s: a string of %d bytes for %d elements", w.name.Name, len(val), room)
		return
	}
	if b := w.room(at, len(val)); b != nil {
		copy(b, val)
	}
}

// room returns n bytes at offset at, growing the initialiser as far as needed.
func (w *initWriter) room(at, n int) []byte {
	if at+n > maxInit {
		w.g.errorf(w.name.Span, "%s: an initialiser of more than %d bytes", w.name.Name, maxInit)
		return nil
	}
	if grow := at + n - len(w.v.Init); grow > 0 {
		w.v.Init = append(w.v.Init, make([]byte, grow)...)
	}
	return w.v.Init[at : at+n]
}

// value stores one constant at byte offset at, little endian, in the width of the element type. A
// negative integer in a .b128 element is sign-extended; other constants have at most 64 bits, and
// the upper half stays zero.
func (w *initWriter) value(e ptx.Operand, at int) {
	c, ok := w.g.eval(w.in, nil, e)
	if !ok {
		return
	}
	size := w.v.Type.Size()
	if c.sym != nil {
		w.reloc(e, &c, at, size)
		return
	}
	bits, bad := c.bits(w.v.Type)
	if bad != "" {
		w.g.errorf(e.Span(), "%s: %s where a value of type .%s is expected", w.name.Name, bad, w.v.Type)
		return
	}
	var buf [16]byte
	binary.LittleEndian.PutUint64(buf[:], bits)
	if size == 16 && !c.float && !c.unsigned && int64(c.n) < 0 {
		binary.LittleEndian.PutUint64(buf[8:], ^uint64(0))
	}
	if b := w.room(at, size); b != nil {
		copy(b, buf[:size])
	}
}

// reloc stores the address of a variable or function as a relocation, since the launch decides
// where objects are. A mask operator stores one byte of it, in an element of one byte; otherwise
// the element must be able to hold an address, of 4 or 8 bytes.
func (w *initWriter) reloc(e ptx.Operand, c *constant, at, size int) {
	r := ir.Reloc{Offset: at, Size: size, Addend: int64(c.n), Generic: c.generic}
	if c.sym.kind == symFunc {
		r.Func = c.sym.fn
	} else {
		r.Target = c.sym.v
		r.Generic = r.Generic || w.g.legacyAddresses()
		if sp := r.Target.Space; sp != event.Global && sp != event.Const {
			w.g.errorf(e.Span(),
				"%s: only addresses of .global and .const variables and of functions can be initial values (PTX ISA 5.4.4)", w.name.Name)
			return
		}
	}
	switch {
	case c.mask != 0:
		shift, ok := maskShift(c.mask)
		if !ok || size != 1 {
			w.g.errorf(e.Span(),
				"%s: a mask operator takes one byte of an address, for an element of one byte (PTX ISA 5.4.4)", w.name.Name)
			return
		}
		r.Shift = shift
	case size != 4 && size != 8:
		w.g.errorf(e.Span(), "%s: an address needs a type of 4 or 8 bytes, not .%s (PTX ISA 5.4.4)",
			w.name.Name, w.v.Type)
		return
	}
	if w.room(at, size) != nil {
		w.v.Relocs = append(w.v.Relocs, r)
	}
}

// rangeName is the name of element i of name<n>, counted from 0 (PTX ISA 5.4.6).
func rangeName(prefix string, i int) string { return prefix + strconv.Itoa(i) }

// legacyAddresses reports whether the module is older than PTX 3.1, where the name of a variable in
// an initialiser is its generic address (PTX ISA 5.4.4, note).
func (g *gen) legacyAddresses() bool {
	v, err := strconv.ParseFloat(g.mod.Version, 64)
	return err == nil && v < 3.1
}
