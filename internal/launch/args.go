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

// maxBuffer bounds the size of one buffer: what one GPU can address is less.
const maxBuffer = 1 << 40

// assigned is an ArgSpec with where it came from.
type assigned struct {
	ArgSpec
	origin Origin
}

// slot collects what was said about one parameter.
type slot struct {
	v      *ir.Var
	whole  *assigned
	fields []assigned // of a struct; later ones override earlier ones at the same offset
	busy   bool       // being resolved: an alias that leads here is a cycle
	done   bool
}

func (r *resolver) args(host *HostLaunch) {
	slots := make([]slot, len(r.k.Params))
	for i, v := range r.k.Params {
		slots[i].v = v
	}
	r.hostArgs(slots, host)
	for _, l := range r.layers {
		for _, a := range l.req.Args {
			i, ok := r.param(a)
			if !ok {
				continue
			}
			if a.Offset >= 0 {
				slots[i].fields = append(slots[i].fields, assigned{a, l.origin})
				continue
			}
			slots[i].whole, slots[i].fields = &assigned{a, l.origin}, nil
		}
	}
	r.cfg.Args = make([]Arg, len(slots))
	for i := range slots {
		r.arg(slots, i)
	}
	for _, s := range slots {
		if s.whole != nil {
			r.given(s.v, *s.whole)
		}
		for _, f := range s.fields {
			r.given(s.v, f)
		}
	}
}

func (r *resolver) given(v *ir.Var, a assigned) {
	a.Param = paramName(v)
	r.cfg.given = append(r.cfg.given, a.ArgSpec)
}

// hostArgs takes over constant arguments of the host launch for parameters that are numbers. A literal that
// does not fit is left out: the host code may convert it.
func (r *resolver) hostArgs(slots []slot, host *HostLaunch) {
	if host == nil || len(host.Args) != len(slots) {
		return
	}
	for i, text := range host.Args {
		v := slots[i].v
		if text == "" || isPointer(v) || isStruct(v) {
			continue
		}
		a, err := ParseArg("p=" + text)
		if err != nil {
			continue
		}
		if _, err := encodeLiteral(a.Text, v.Type, r.readAsFloat(v)); err == nil {
			slots[i].whole = &assigned{a, FromHost}
		}
	}
}

// param finds the parameter that a names.
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

func (r *resolver) paramList() string {
	if len(r.k.Params) == 0 {
		return "it has none"
	}
	names := make([]string, len(r.k.Params))
	for i, v := range r.k.Params {
		names[i] = fmt.Sprintf("%d %s (%s)", i, paramName(v), typeName(v))
	}
	return "it has " + strings.Join(names, ", ")
}

func paramName(v *ir.Var) string {
	if v.Source != "" {
		return v.Source
	}
	return v.Name
}

func isStruct(v *ir.Var) bool { return v.Size != v.Type.Size() }

// isPointer reports whether v is one pointer. An array of 8 bytes, .b8 p[8], is how a struct with one
// pointer looks; its field says so.
func isPointer(v *ir.Var) bool { return v.Pointer && v.Size == 8 }

func typeName(v *ir.Var) string {
	switch {
	case isPointer(v) && v.PtrSpace == event.Shared:
		return "local pointer"
	case isPointer(v):
		return "pointer"
	case isStruct(v):
		return fmt.Sprintf("%d bytes", v.Size)
	}
	return v.Type.String()
}

// readAsFloat reports whether the kernel loads the plain bits of v as a float.
func (r *resolver) readAsFloat(v *ir.Var) bool { return r.code.loads[v][0].IsFloat() }

// arg resolves parameter i, after the parameters that it is an alias of.
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
			e.Span = s.whole.Span
		}
	} else if s.whole == nil {
		r.defaultArg(arg, s.v)
	} else {
		r.cfg.Origins[key] = s.whole.origin
		if err := r.setArg(slots, arg, s); err != nil {
			e := r.errorf("argument %s: %v", arg.Name, err)
			e.Span = s.whole.Span
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

// defaultArg gives a parameter that nobody mentioned: a pointer an unbounded buffer of zeros, an integer a
// guess, a float 1.0.
//
// Zeros, since kernels rely on counters, flags and locks that start there, and would spin forever or address
// memory at random otherwise. The price is that a race behind a branch on input data can stay hidden.
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
		r.cfg.Reasons[key] = "guesses"
		return
	}
	isFloat := arg.Float
	put(arg.Bits[:min(len(arg.Bits), 8)], guessBits(arg.Name, isFloat, v.Size, r.cfg.Geometry))
	r.cfg.Reasons[key] = "guess"
	if !isFloat {
		_, r.cfg.Reasons[key] = guessInteger(arg.Name, r.cfg.Geometry, v.Size)
	}
}

func (r *resolver) defaultFields(arg *Arg, v *ir.Var) {
	for _, off := range v.PtrFields {
		if off >= 0 && off+8 <= v.Size {
			arg.setPointer(off, &Buffer{Name: fieldName(arg.Name, off)})
		}
	}
}

func fieldName(param string, off int) string { return fmt.Sprintf("%s+%d", param, off) }

func (a *Arg) setPointer(off int, b *Buffer) {
	for i := range a.Fields {
		if a.Fields[i].Offset == off {
			a.Fields[i].Buffer = b
			return
		}
	}
	a.Fields = append(a.Fields, PointerField{Offset: off, Buffer: b})
}

// setArg gives a parameter what was said about it.
func (r *resolver) setArg(slots []slot, arg *Arg, s *slot) error {
	v, a := s.v, s.whole.ArgSpec
	switch {
	case a.Kind == ArgLocal:
		return fmt.Errorf("it is %s, and local memory is for a __local pointer", typeName(v))
	case a.Kind == ArgAlias:
		if v.Size != 8 {
			return fmt.Errorf("it is %s, and only a pointer can be an alias", typeName(v))
		}
		b, err := r.alias(slots, a)
		arg.Buffer = b
		return err
	case a.Kind == ArgFunc:
		if v.Size != 8 {
			return fmt.Errorf("it is %s, and only a pointer can be a function", typeName(v))
		}
		arg.Bits, arg.Func = make([]byte, v.Size), a.Text
		return nil
	case isPointer(v), a.Kind == ArgBuffer && v.Size == 8 && !isStruct(v):
		return setPointerArg(arg, a)
	case a.Kind == ArgUnknown:
		arg.Bits, arg.Unknown = make([]byte, v.Size), true
		return nil
	case a.unbounded():
		return fmt.Errorf("it is %s, and bytes that go on (%s) are for a pointer", typeName(v), andZeros)
	case a.Kind == ArgBytes, a.Kind == ArgFile:
		return setBytes(arg, a, v.Size)
	case a.Kind == ArgBuffer && isStruct(v) && a.Fill == FillZero && a.Size == 0:
		arg.Bits = make([]byte, v.Size)
		r.defaultFields(arg, v)
		return nil
	case a.Kind == ArgBuffer:
		return fmt.Errorf("it is %s, not a pointer, and can have no buffer; give a number or unknown", typeName(v))
	case isStruct(v):
		return fmt.Errorf("it is a struct of %d bytes; give its fields by offset (%s+0=u32:7), all bytes (hex:...), or zero", v.Size, arg.Name)
	}
	bits, err := encodeLiteral(a.Text, v.Type, r.readAsFloat(v))
	arg.Bits = bits
	return err
}

func setPointerArg(arg *Arg, a ArgSpec) error {
	if a.Kind == ArgValue {
		if a.Text != "0" {
			return fmt.Errorf("it is a pointer, and %s is no buffer; give zero, random, iota, value:%s, unknown, file:PATH, alias:PARAM or null", a.Text, a.Text)
		}
		arg.Bits = make([]byte, 8)
		return nil
	}
	b, err := newBuffer(arg.Name, a)
	arg.Buffer = b
	return err
}

func newBuffer(name string, a ArgSpec) (*Buffer, error) {
	b := &Buffer{Name: name, Size: a.Size, Fill: a.Fill, Seed: a.Seed, Value: a.Value}
	switch a.Kind {
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
		return nil, fmt.Errorf("a buffer of %d bytes; at most %d are possible", b.Size, uint64(maxBuffer))
	}
	return b, nil
}

// unbounded reports whether a buffer goes on behind its bytes.
func (a *ArgSpec) unbounded() bool { return a.Kind == ArgBytes && strings.HasSuffix(a.Text, andZeros) }

// bytesOf returns the bytes of a file or of hex:: at least a.Size of them, and cut to that.
func bytesOf(a ArgSpec) ([]byte, error) {
	if a.Kind == ArgBytes {
		return parseHexBytes(strings.TrimSuffix(a.Text, andZeros))
	}
	info, err := os.Stat(a.Text)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file", a.Text)
	}
	data, err := os.ReadFile(a.Text)
	if err != nil {
		return nil, err
	}
	switch {
	case uint64(len(data)) < a.Size:
		return nil, fmt.Errorf("file %s has %d bytes, fewer than the %d that were asked for", a.Text, len(data), a.Size)
	case len(data) == 0:
		return nil, fmt.Errorf("file %s is empty", a.Text)
	case a.Size > 0:
		data = data[:a.Size]
	}
	return data, nil
}

// setBytes gives a number or a struct its bytes as they lie in memory.
func setBytes(arg *Arg, a ArgSpec, size int) error {
	data, err := bytesOf(a)
	if err != nil {
		return err
	}
	if len(data) < size || a.Kind == ArgBytes && len(data) != size {
		return fmt.Errorf("%d bytes were given, the parameter has %d", len(data), size)
	}
	arg.Bits = append([]byte(nil), data[:size]...)
	return nil
}

// alias returns the buffer of the parameter that a names.
func (r *resolver) alias(slots []slot, a ArgSpec) (*Buffer, error) {
	other := a
	other.Param = a.Text
	i, ok := r.param(other)
	if !ok {
		return nil, fmt.Errorf("%q is no parameter to be an alias of", a.Text)
	}
	if slots[i].busy {
		return nil, fmt.Errorf("it is an alias of itself, by way of %s", paramName(slots[i].v))
	}
	target := r.arg(slots, i)
	if target.Buffer == nil {
		return nil, fmt.Errorf("%s has no buffer to share", target.Name)
	}
	return target.Buffer, nil
}

// setField gives 8 bytes of a struct a buffer, or some bytes a number.
func (r *resolver) setField(slots []slot, arg *Arg, s *slot, f assigned) error {
	v, off := s.v, f.Offset
	if !isStruct(v) {
		return fmt.Errorf("the parameter is %s, no struct", typeName(v))
	}
	switch f.Kind {
	case ArgValue:
		typ := r.code.loads[v][off]
		if name, _, ok := strings.Cut(f.Text, ":"); ok {
			typ = literalTypes[name]
		}
		if typ == isa.NoType || typ.Size() == 0 {
			return fmt.Errorf("the type of the field is not known; say it, as u32:%s", f.Text)
		}
		bits, err := encodeLiteral(f.Text, typ, false)
		if err != nil {
			return err
		}
		if off+len(bits) > v.Size {
			return fmt.Errorf("%d bytes from there run past the %d bytes of the struct", len(bits), v.Size)
		}
		if len(arg.Bits) != v.Size { // the whole was a mistake, which has been reported
			arg.Bits = make([]byte, v.Size)
		}
		copy(arg.Bits[off:], bits)
		arg.Fields = slices.DeleteFunc(arg.Fields, func(p PointerField) bool { return p.Offset < off+len(bits) && off < p.Offset+8 })
		return nil
	}
	if off+8 > v.Size {
		return fmt.Errorf("a pointer there runs past the %d bytes of the struct", v.Size)
	}
	var b *Buffer
	var err error
	if f.Kind == ArgAlias {
		b, err = r.alias(slots, f.ArgSpec)
	} else {
		b, err = newBuffer(fieldName(arg.Name, off), f.ArgSpec)
	}
	if err != nil {
		return err
	}
	arg.setPointer(off, b)
	return nil
}
