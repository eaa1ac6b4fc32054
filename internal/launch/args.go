package launch

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// Arguments are resolved in two steps. First each parameter collects its specifications over all
// layers in a slot: a later specification of the parameter replaces everything before it, one of a
// field of a struct is added to what precedes it. Then each slot is turned into an Arg, on demand,
// since the target of an alias must be resolved before the alias. Parameters without a
// specification are guessed.

// maxBuffer bounds the bytes of one buffer; it exceeds the memory of any GPU.
const maxBuffer = 1 << 40

// assigned is an ArgSpec with its origin.
type assigned struct {
	ArgSpec
	origin Origin
}

// slot collects the specifications of one parameter.
type slot struct {
	v      *ir.Var
	value  *assigned  // the value of the parameter; nil if unspecified
	fields []assigned // of a struct; later ones override earlier ones at the same offset
	busy   bool       // being resolved: an alias of it now would be a cycle
	done   bool
}

// args collects the specifications of each parameter over all layers, and resolves them.
func (r *resolver) args(p *plan) {
	slots := make([]slot, len(r.k.Params))
	for i, v := range r.k.Params {
		slots[i].v = v
	}
	r.hostArgs(slots, p)
	for _, l := range r.layers {
		for _, a := range l.req.Args {
			if i, ok := r.param(a); ok {
				slots[i].set(assigned{a, l.origin})
			}
		}
	}
	for _, l := range r.layers {
		r.tried(slots, l.req.Guesses, Default)
		r.tried(slots, l.req.Counterexample, FromCounterexample)
	}
	r.hostAddresses(slots, p)
	r.unplaced(slots, p)
	r.cfg.Args = make([]Arg, len(slots))
	for i := range slots {
		r.arg(slots, i)
	}
	r.join(slots, p)
	for _, s := range slots {
		if s.value != nil {
			r.given(s.v, *s.value)
		}
		for _, f := range s.fields {
			r.given(s.v, f)
		}
	}
}

// set adds a specification to those of a parameter.
func (s *slot) set(a assigned) {
	if a.Offset >= 0 {
		s.fields = append(s.fields, a)
		return
	}
	s.value, s.fields = &a, nil
}

// tried adds arguments that heddle chose, unless they are specified: for a number of a counterexample
// by a flag, for others by anything. What is specified as unknown has no value, so any may be tried.
func (r *resolver) tried(slots []slot, args []ArgSpec, origin Origin) {
	for _, a := range args {
		least := FromPTX
		if origin == FromCounterexample && a.Kind == ArgValue {
			least = FromProgram
		}
		if i, ok := r.param(a); ok && !slots[i].given(a.Offset, least) {
			slots[i].set(assigned{a, origin})
		}
	}
}

// given reports whether an origin of at least that precedence specifies the parameter or, if off is
// not negative, the field at this offset or all of the struct.
func (s *slot) given(off int, least Origin) bool {
	by := func(a assigned) bool { return a.origin >= least && a.Kind != ArgUnknown }
	for _, f := range s.fields {
		if by(f) && (off < 0 || f.Offset == off) {
			return true
		}
	}
	return s.value != nil && by(*s.value)
}

// given records a specification for Config.Flags.
func (r *resolver) given(v *ir.Var, a assigned) {
	a.Param = paramName(v)
	r.cfg.given = append(r.cfg.given, a.ArgSpec)
}

// param returns the index of the parameter that a names, or reports an error.
func (r *resolver) param(a ArgSpec) (int, bool) {
	for i, v := range r.k.Params {
		if a.Param == v.Source || a.Param == v.Name {
			return i, true
		}
	}
	if n, err := strconv.Atoi(a.Param); err == nil && n >= 0 && n < len(r.k.Params) {
		return n, true
	}
	e := r.errorf("kernel %s has no parameter %q; %s", r.k.Demangled, a.Param, r.paramList())
	e.Span = a.Span
	return 0, false
}

// paramList lists the parameters of the kernel for an error message.
func (r *resolver) paramList() string {
	if len(r.k.Params) == 0 {
		return "it has no parameters"
	}
	names := make([]string, len(r.k.Params))
	for i, v := range r.k.Params {
		names[i] = fmt.Sprintf("%d %s (%s)", i, paramName(v), typeName(v))
	}
	return "its parameters are " + strings.Join(names, ", ")
}

// paramName returns the name of v in the source, or its PTX name if that is not known.
func paramName(v *ir.Var) string {
	if v.Source != "" {
		return v.Source
	}
	return v.Name
}

// isStruct reports whether v is passed as bytes: a struct or array.
func isStruct(v *ir.Var) bool { return v.Size != v.Type.Size() }

// isPointer reports whether v is a single pointer. A struct that holds one pointer is passed as an
// array of 8 bytes, .b8 p[8]; its PtrFields say that it is a pointer.
func isPointer(v *ir.Var) bool { return v.Pointer && v.Size == 8 }

// typeName names the type of v for a user.
func typeName(v *ir.Var) string {
	switch {
	case isPointer(v) && v.PtrSpace == event.Shared:
		return "local pointer"
	case isPointer(v):
		return "pointer"
	case isStruct(v):
		return fmt.Sprintf("struct of %d bytes", v.Size)
	}
	return v.Type.String()
}

// readAsFloat reports whether the kernel loads an untyped parameter as a float.
func (r *resolver) readAsFloat(v *ir.Var) bool { return r.code.loads[v][0].IsFloat() }

// arg resolves parameter i, and before it the parameters that it aliases.
func (r *resolver) arg(slots []slot, i int) *Arg {
	s, arg := &slots[i], &r.cfg.Args[i]
	if s.done {
		return arg
	}
	s.busy = true
	defer func() { s.busy, s.done = false, true }()
	arg.Name = paramName(s.v)
	arg.Float = !isStruct(s.v) && (s.v.Type.IsFloat() || r.readAsFloat(s.v))
	key := "arg " + arg.Name
	if s.v.PtrSpace == event.Shared && isPointer(s.v) {
		if err := r.localArg(arg, s); err != nil {
			e := r.errorf("argument %s: %v", arg.Name, err)
			e.Span = s.value.Span
		}
	} else if s.value == nil {
		r.defaultArg(arg, s.v)
	} else {
		r.cfg.Origins[key] = s.value.origin
		if err := r.setArg(slots, arg, s); err != nil {
			e := r.errorf("argument %s: %v", arg.Name, err)
			e.Span = s.value.Span
		}
	}
	for _, f := range s.fields {
		if err := r.setField(slots, arg, s, f); err != nil {
			e := r.errorf("argument %s+%d: %v", arg.Name, f.Offset, err)
			e.Span = f.Span
		}
		r.cfg.Origins[key] = max(r.cfg.Origins[key], f.origin)
	}
	return arg
}

// defaultArg guesses an unspecified parameter: an unbounded buffer of zeros for a pointer,
// guessInteger for an integer, 1.0 for a float.
//
// Buffers start with zeros because kernels rely on counters, flags and locks that are initialized
// to zero; with random contents they would spin forever or access random addresses. The price: a
// race behind a branch on input data can stay hidden.
func (r *resolver) defaultArg(arg *Arg, v *ir.Var) {
	key := "arg " + arg.Name
	r.cfg.Origins[key] = Default
	if isPointer(v) {
		arg.Buffer = &Buffer{Name: arg.Name}
		return
	}
	arg.Bits = make([]byte, max(v.Size, 0))
	if isStruct(v) {
		r.code.fillGuess(v, arg.Bits, r.cfg.Geometry)
		r.defaultFields(arg, v)
		r.cfg.Reasons[key] = "each field by its type"
		return
	}
	isFloat := arg.Float
	put(arg.Bits[:min(len(arg.Bits), 8)], guessBits(arg.Name, isFloat, v.Size, r.cfg.Geometry))
	r.cfg.Reasons[key] = "1 for a float"
	if !isFloat {
		_, r.cfg.Reasons[key] = guessInteger(arg.Name, r.cfg.Geometry, v.Size)
	}
	if n, ok := r.code.factors[v]; ok && n < len(r.code.factors)-1 {
		var small uint64
		small, r.cfg.Reasons[key] = smallFactor(n)
		put(arg.Bits, small)
	}
}

// defaultFields gives each pointer in a struct an unbounded buffer of zeros. The compiler's output
// says at which offsets a struct has pointers; a struct of plain PTX has none that are known.
func (r *resolver) defaultFields(arg *Arg, v *ir.Var) {
	for _, off := range v.PtrFields {
		if off >= 0 && off+8 <= v.Size {
			arg.setPointer(off, &Buffer{Name: fieldName(arg.Name, off)}, 0)
		}
	}
}

// fieldName names the buffer of a pointer in a struct, as --arg does.
func fieldName(param string, off int) string { return fmt.Sprintf("%s+%d", param, off) }

// setPointer makes the pointer at byte off of a struct point to byte at of b.
func (a *Arg) setPointer(off int, b *Buffer, at uint64) {
	for i := range a.Fields {
		if a.Fields[i].Offset == off {
			a.Fields[i].Buffer, a.Fields[i].At = b, at
			return
		}
	}
	a.Fields = append(a.Fields, PointerField{Offset: off, Buffer: b, At: at})
}

// setArg sets a parameter to its specification, or returns why the two do not fit.
func (r *resolver) setArg(slots []slot, arg *Arg, s *slot) error {
	v, a := s.v, s.value.ArgSpec
	switch {
	case a.Kind == ArgSaved:
		arg.Bits, arg.Buffer, arg.Offset = a.Saved.Bits, a.Saved.Buffer, a.Saved.Offset
		arg.Fields = slices.Clone(a.Saved.Fields)
		if isStruct(v) {
			arg.Parts = []Part{{0, v.Size, s.value.origin}}
		}
		return nil
	case a.Kind == ArgLocal:
		return fmt.Errorf("its type is %s; local:BYTES is only for a __local pointer", typeName(v))
	case a.At > 0 && (v.Size != 8 || isStruct(v) && !isPointer(v)):
		return fmt.Errorf("its type is %s; only a pointer can point into a buffer (+%d)", typeName(v),
			a.At)
	case a.Kind == ArgAlias:
		if v.Size != 8 {
			return fmt.Errorf("its type is %s; only a pointer can be an alias", typeName(v))
		}
		b, at, err := r.alias(slots, a)
		arg.Buffer, arg.Offset = b, at
		return err
	case a.Kind == ArgFunc:
		if v.Size != 8 {
			return fmt.Errorf("its type is %s; only a pointer can be the address of a function",
				typeName(v))
		}
		arg.Bits, arg.Func = make([]byte, v.Size), a.Text
		return nil
	case isPointer(v), a.Kind == ArgBuffer && v.Size == 8 && !isStruct(v):
		return setPointerArg(arg, a, r.elem(v, 0))
	case a.Kind == ArgUnknown:
		arg.Bits, arg.Unknown = make([]byte, v.Size), true
		return nil
	case a.unbounded():
		return fmt.Errorf("its type is %s; only a pointer can have an unbounded buffer (%s at the "+
			"end of hex:)", typeName(v), andZeros)
	case a.Kind == ArgBytes, a.Kind == ArgFile:
		if isStruct(v) {
			arg.Parts = []Part{{0, v.Size, s.value.origin}}
		}
		return setBytes(arg, a, v.Size)
	case a.Kind == ArgBuffer && isStruct(v) && a.Fill == FillZero && a.Size == 0:
		arg.Bits = make([]byte, v.Size)
		r.defaultFields(arg, v)
		return nil
	case a.Kind == ArgBuffer:
		return fmt.Errorf("its type is %s, not a pointer, so it cannot have a buffer; give a "+
			"number or unknown", typeName(v))
	case isStruct(v):
		return fmt.Errorf("the parameter is a struct of %d bytes; give its fields by offset "+
			"(%s+0=u32:7), all its bytes (hex:...), or zero", v.Size, arg.Name)
	}
	bits, err := encodeLiteral(a.Text, v.Type, r.readAsFloat(v))
	arg.Bits = bits
	return err
}

// elem returns a function for the bytes of the integers behind the pointer at byte off of v, as the
// kernel accesses them; 0 if it does so in several sizes, or not at all. The function analyses the
// kernel, so it is called only if some contents depend on it.
func (r *resolver) elem(v *ir.Var, off int) func() uint8 {
	return func() uint8 {
		if r.uses == nil {
			r.uses = Uses(r.k)
		}
		return r.uses[Place{slices.Index(r.k.Params, v), off}].Elem
	}
}

// setPointerArg sets a pointer to null or to a new buffer. Any other address is an error: no buffer
// would be there.
func setPointerArg(arg *Arg, a ArgSpec, elem func() uint8) error {
	if a.Kind == ArgValue {
		if a.Text != "0" {
			return fmt.Errorf("the parameter is a pointer, and %s is a number; give zero, random, iota, "+
				"ints:%s, unknown, file:PATH, alias:PARAM or null", a.Text, a.Text)
		}
		arg.Bits = make([]byte, 8)
		return nil
	}
	b, err := newBuffer(arg.Name, a, elem)
	arg.Buffer, arg.Offset = b, a.At
	return err
}

// newBuffer returns the buffer that a specifies. elem returns the bytes of an element as the kernel
// accesses the buffer; 0 if that is not known. It fails if a file cannot be read or is too short,
// if the buffer is too large, if a number does not fit in an element, or if the pointer would be
// beyond the end.
func newBuffer(name string, a ArgSpec, elem func() uint8) (*Buffer, error) {
	b := &Buffer{Name: name, Size: a.Size, Fill: a.Fill, Seed: a.Seed, Value: a.Value}
	switch a.Kind {
	case ArgBuffer:
		if b.HasElements() {
			if err := b.setElements(a, elem()); err != nil {
				return nil, err
			}
		}
	case ArgUnknown:
		b.Fill = FillUnknown
	case ArgFile, ArgBytes:
		data, err := bytesOf(a)
		if err != nil {
			return nil, err
		}
		b.Fill, b.Data = FillFile, data
		if b.Size == 0 && !a.unbounded() {
			b.Size = uint64(len(data))
		}
	}
	if b.Size > maxBuffer {
		return nil, fmt.Errorf("a buffer of %d bytes is too large; the limit is %d bytes", b.Size,
			uint64(maxBuffer))
	}
	return b, b.pointedAt(a.At)
}

// unbounded reports whether zeros follow the bytes of a buffer without end.
func (a *ArgSpec) unbounded() bool {
	return a.Kind == ArgBytes && strings.HasSuffix(a.Text, andZeros)
}

// bytesOf returns the bytes of a file or of hex:. If a.Size is set, a file must have at least that
// many bytes, and is cut to that size.
func bytesOf(a ArgSpec) ([]byte, error) {
	if a.Kind == ArgBytes {
		return parseHexBytes(strings.TrimSuffix(a.Text, andZeros))
	}
	info, err := os.Stat(a.Text)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", a.Text)
	}
	data, err := os.ReadFile(a.Text)
	if err != nil {
		return nil, err
	}
	switch {
	case uint64(len(data)) < a.Size:
		return nil, fmt.Errorf("file %s has %d bytes, fewer than the requested %d", a.Text, len(data),
			a.Size)
	case len(data) == 0:
		return nil, fmt.Errorf("file %s is empty", a.Text)
	case a.Size > 0:
		data = data[:a.Size]
	}
	return data, nil
}

// setBytes sets a number or a struct of the given size to bytes in memory order.
func setBytes(arg *Arg, a ArgSpec, size int) error {
	data, err := bytesOf(a)
	if err != nil {
		return err
	}
	if len(data) < size || a.Kind == ArgBytes && len(data) != size {
		return fmt.Errorf("found %d bytes; the parameter has %d bytes", len(data), size)
	}
	arg.Bits = append([]byte(nil), data[:size]...)
	return nil
}

// alias returns the buffer of the parameter that a names as the other one, and the byte of it that
// the alias points to.
func (r *resolver) alias(slots []slot, a ArgSpec) (*Buffer, uint64, error) {
	other := a
	other.Param = a.Text
	i, ok := r.param(other)
	if !ok {
		return nil, 0, fmt.Errorf("there is no parameter %q to be an alias of", a.Text)
	}
	if slots[i].busy {
		return nil, 0, fmt.Errorf("the aliases form a cycle through %s", paramName(slots[i].v))
	}
	target := r.arg(slots, i)
	if target.Buffer == nil {
		return nil, 0, fmt.Errorf("%s has no buffer to share", target.Name)
	}
	at := target.Offset + a.At
	return target.Buffer, at, target.Buffer.pointedAt(at)
}

// pointedAt returns an error if byte at is beyond the end of the buffer. A pointer to the end is
// valid in C++.
func (b *Buffer) pointedAt(at uint64) error {
	if b.Size > 0 && at > b.Size {
		return fmt.Errorf("it points to byte %d of %s, which has %d bytes", at, b.Name, b.Size)
	}
	return nil
}

// setField sets a field of a struct, at byte f.Offset, to a number or to a pointer with a buffer.
func (r *resolver) setField(slots []slot, arg *Arg, s *slot, f assigned) error {
	v, off := s.v, f.Offset
	if !isStruct(v) {
		return fmt.Errorf("its type is %s, not a struct, so it has no fields", typeName(v))
	}
	switch f.Kind {
	case ArgValue:
		typ := r.code.loads[v][off]
		if name, _, ok := strings.Cut(f.Text, ":"); ok {
			typ = literalTypes[name]
		}
		if typ == isa.NoType || typ.Size() == 0 {
			return fmt.Errorf("the type of the field is not known; specify it, for example u32:%s", f.Text)
		}
		bits, err := encodeLiteral(f.Text, typ, false)
		if err != nil {
			return err
		}
		if off+len(bits) > v.Size {
			return fmt.Errorf("%d bytes at this offset run past the end of the struct, which has %d bytes",
				len(bits), v.Size)
		}
		if len(arg.Bits) != v.Size { // the value of the struct was invalid, which has been reported
			arg.Bits = make([]byte, v.Size)
		}
		copy(arg.Bits[off:], bits)
		arg.Parts = append(arg.Parts, Part{off, len(bits), f.origin})
		arg.Fields = slices.DeleteFunc(arg.Fields,
			func(p PointerField) bool { return p.Offset < off+len(bits) && off < p.Offset+8 })
		return nil
	}
	if off+8 > v.Size {
		return fmt.Errorf("a pointer at this offset runs past the end of the struct, which has %d bytes",
			v.Size)
	}
	var b *Buffer
	var err error
	at := f.At
	if f.Kind == ArgAlias {
		b, at, err = r.alias(slots, f.ArgSpec)
	} else {
		b, err = newBuffer(fieldName(arg.Name, off), f.ArgSpec, r.elem(v, off))
	}
	if err != nil {
		return err
	}
	arg.setPointer(off, b, at)
	return nil
}
