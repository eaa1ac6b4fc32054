package launch

import (
	"math"
	"slices"
	"strings"
)

// A value is what heddle knows of the value of a variable or an expression in host code.
type value struct {
	kind valueKind
	// unsigned: anInteger of an unsigned type that an int is converted to
	unsigned bool
	// size is the bytes of the type: of anInteger after promotion, 4 or 8, and 0 if the type is
	// unknown; of aFloat 4 if it is a float, else it is a double
	size   int64
	narrow bool // anInteger: the type itself is bool or narrower than int
	// cast marks an unknown number that a conversion may have changed: it is the expression if that
	// fits, and is not compared with itself.
	cast  bool
	n     *Expr     // anInteger; aFraction: the numerator; aMemory: the bytes, may be nil
	den   *Expr     // aFraction: the denominator
	f     float64   // aFloat
	dim   [3]*Expr  // aDim
	root  *root     // aPointer: what it points into
	off   *Expr     // aPointer: bytes from the start of root; nil if unknown
	elem  int64     // aPointer, anObject: bytes of what it points to; 0 if unknown
	obj   *object   // anObject
	set   []setting // anObject: the members that the code assigned, by path
	real  bool      // anObject: a floating-point number
	class bool      // anObject of a class that the file defines
	// at is where an element lies that was read with an index; its root is nil otherwise.
	at address
	// data are the first bytes of aMemory, and fill is each later byte; a fill below 0 means that
	// the contents are unknown.
	data []byte
	fill int
	// left is the "<<<" of the last launch that may have changed the contents, which nothing else has
	// set since: the index of the token plus 1; 0 if there is none. Two values that differ in nothing
	// else are the same.
	left int
}

// A valueKind is the kind of a value.
type valueKind uint8

const (
	nothing   valueKind = iota // not understood
	anInteger                  // an integer, perhaps with unknowns
	aFraction                  // the quotient of two integers as a floating-point number
	aFloat                     // a floating-point constant
	aDim                       // a dim3
	aPointer                   // a pointer
	anObject                   // a variable whose value is unknown, or an object of any class
	aMemory                    // the state of a root
)

// address is a place in memory.
type address struct {
	root *root
	off  *Expr
	elem int64
}

// A root is memory that pointers point into: an allocation, an array, or whatever an unknown
// pointer points to.
type root struct {
	name   string
	symbol string  // a module variable of the device, whose address the host asked for
	mem    *cell   // its size and contents
	obj    *object // what is read through pointers to its start
	// unknown: it is where a pointer of unknown value points, which may be other memory as well
	unknown bool
}

// An object identifies something unknown. Members that are read have a name that derives from the
// object's, and are equal while the object is not changed.
type object struct {
	name    string
	members map[string]value
}

// A setting is a member that host code assigned.
type setting struct {
	path string
	val  value
}

// noted reports whether anything is known about the contents of memory.
func (v value) noted() bool { return v.fill >= 0 || v.left > 0 }

// integer returns the value of an expression; nothing for nil.
func integer(e *Expr) value {
	if e == nil {
		return value{}
	}
	return value{kind: anInteger, n: e}
}

// of returns an integer as one of a type, given by its size in bytes; nothing if it is a constant that
// the type does not have.
func (v value) of(size int64, unsigned bool) value {
	v.size, v.unsigned, v.narrow = size, unsigned, false
	t := ctype{class: classInteger, size: size, unsigned: unsigned}
	if size == 0 { // whatever the type is: int holds it, and so does unsigned
		t.size = 4
	}
	if n, ok := v.n.Constant(); ok && (!t.holds(n) || size == 0 && n < 0) {
		return value{}
	}
	return v
}

// same reports whether two values are the same whatever the unknowns are.
func (v value) same(w value) bool {
	if v.kind != w.kind || v.elem != w.elem || v.root != w.root || v.obj != w.obj ||
		v.fill != w.fill || v.f != w.f || v.cast != w.cast || v.size != w.size || v.unsigned != w.unsigned {
		return false
	}
	for i := range v.dim {
		if !sameExpr(v.dim[i], w.dim[i]) {
			return false
		}
	}
	return v.kind != nothing && sameExpr(v.n, w.n) && sameExpr(v.den, w.den) &&
		sameExpr(v.off, w.off) && slices.Equal(v.data, w.data) &&
		slices.EqualFunc(v.set, w.set,
			func(a, b setting) bool { return a.path == b.path && a.val.same(b.val) })
}

// sameExpr is Expr.Equal for expressions that may be nil.
func sameExpr(e, f *Expr) bool { return e == f || e != nil && f != nil && e.Equal(f) }

// integer returns v as an integer; nil if it is none. An object stands for the unknown number that
// it holds.
func (v value) integer() *Expr {
	switch {
	case v.kind == anInteger:
		return v.n
	case v.kind == anObject && !v.real:
		return unknown(v.obj.name)
	}
	return nil
}

// fraction returns a number as a quotient; false if it is none or has no small denominator.
func (v value) fraction() (value, bool) {
	switch v.kind {
	case aFraction:
		return v, true
	case aFloat:
		for k := range 20 {
			if m := v.f * float64(int64(1)<<k); m == math.Trunc(m) && math.Abs(m) < 1<<50 {
				return value{kind: aFraction, n: number(int64(m)), den: number(1 << k)}, true
			}
		}
		return value{}, false
	}
	n := v.integer()
	return value{kind: aFraction, n: n, den: number(1)}, n != nil
}

// float returns a floating-point constant; false if v is none.
func (v value) float() (float64, bool) {
	switch v.kind {
	case aFloat:
		return v.f, true
	case aFraction, anInteger:
		n, ok := v.n.Constant()
		d := int64(1)
		if v.kind == aFraction && ok {
			d, ok = v.den.Constant()
		}
		return float64(n) / float64(d), ok && d != 0
	}
	return 0, false
}

// truncated returns a number as an integer, rounded toward zero as a cast in C does.
func (v value) truncated() value {
	switch v.kind {
	case aFloat:
		if math.Abs(v.f) < 1<<62 {
			return integer(number(int64(v.f)))
		}
	case aFraction:
		return integer(operation(OpDiv, v.n, v.den))
	case anInteger, anObject:
		return integer(v.integer())
	}
	return value{}
}

// pointer returns v as a pointer; false if it is none. An object may hold a pointer, whose root is
// then named like it.
func (v value) pointer() (address, bool) {
	switch {
	case v.kind == aPointer:
		return address{v.root, v.off, v.elem}, true
	case v.kind == anObject && !v.real:
		if m, ok := v.obj.members["*"]; ok {
			return address{m.root, number(0), v.elem}, true
		}
		r := newRoot(v.obj.name)
		r.unknown = true
		v.obj.members["*"] = value{kind: aPointer, root: r, off: number(0)}
		return address{r, number(0), v.elem}, true
	}
	return address{}, false
}

// newRoot returns memory of unknown size and contents.
func newRoot(name string) *root {
	return &root{name: name, obj: &object{name: name, members: map[string]value{}},
		mem: &cell{name: name, val: value{kind: aMemory, fill: -1}}}
}

// member returns the value that the code assigned to a member; false if it assigned none.
func (v value) member(path string) (value, bool) {
	for _, s := range v.set {
		if s.path == path {
			return s.val, true
		}
	}
	return value{}, false
}

// changed returns an object of which a member was assigned: its methods may return something else.
func (v value) changed() value {
	o := &object{name: v.obj.name, members: make(map[string]value)}
	for path, m := range v.obj.members {
		if !strings.HasSuffix(path, "()") {
			o.members[path] = m
		}
	}
	v.obj = o
	return v
}

// with returns v with a member assigned.
func (v value) with(path string, m value) value {
	set := slices.DeleteFunc(slices.Clone(v.set), func(s setting) bool { return s.path == path })
	v.set = append(set, setting{path, m})
	return v
}
