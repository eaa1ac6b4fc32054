package lower

import (
	"fmt"
	"strings"
)

// The built-in functions of OpenCL C are overloaded on element type, vector length and address
// space, about 20,000 functions. heddle generates only those that a file names, all overloads of a
// name at once. Most come from a table (clmath.go), whose rows contain the types and the scalar
// expression; the overloads for vectors work component by component (OpenCL C 3.0, 6.15.2 to
// 6.15.7). The others have a function each (clbuiltin.go).

// clType is an element type of OpenCL C.
type clType struct {
	name   string
	size   int // bytes
	float  bool
	signed bool // also set for floats
}

// The element types, and the numbers of components of scalars and vectors.
var (
	clInts = []clType{
		{"char", 1, false, true}, {"uchar", 1, false, false}, {"short", 2, false, true},
		{"ushort", 2, false, false},
		{"int", 4, false, true}, {"uint", 4, false, false}, {"long", 8, false, true},
		{"ulong", 8, false, false},
	}
	clFloats = []clType{{"float", 4, true, true}, {"double", 8, true, true}, {"half", 2, true, true}}
	clAll    = append(append([]clType{}, clInts...), clFloats...)
	clWidths = []int{1, 2, 3, 4, 8, 16}
)

// clInteger returns the integer type of a size in bytes.
func clInteger(size int, signed bool) clType {
	for _, t := range clInts {
		if t.size == size && t.signed == signed {
			return t
		}
	}
	panic(fmt.Sprintf("BUG: no integer of %d bytes", size))
}

// vec returns the name of the vector type with n elements; the scalar type for n = 1.
func (t clType) vec(n int) string {
	if n == 1 {
		return t.name
	}
	return fmt.Sprintf("%s%d", t.name, n)
}

// clComponent returns component i of the expression v, which has n components.
func clComponent(v string, n, i int) string {
	if n == 1 {
		return v
	}
	return fmt.Sprintf("%s.s%x", v, i)
}

// clGen collects definitions of functions.
type clGen struct {
	strings.Builder
	generic bool // the language has the generic address space (2.0 and later)
}

// function writes one definition. params have the form "type name".
func (g *clGen) function(ret, name string, params []string, body string) {
	fmt.Fprintf(g, "__heddle_cl %s %s(%s) { %s }\n", ret, name, strings.Join(params, ", "), body)
}

// clVector returns the expression of a value of n components, where component i is f(i).
func clVector(typ string, n int, f func(i int) string) string {
	if n == 1 {
		return f(0)
	}
	parts := make([]string, n)
	for i := range parts {
		parts[i] = f(i)
	}
	return "(" + typ + ")(" + strings.Join(parts, ", ") + ")"
}

// spaces returns the address spaces for which overloads with pointers exist. The generic address
// space covers all but the constant one.
func (g *clGen) spaces(constant bool) []string {
	out := []string{"__private", "__global", "__local"}
	if g.generic {
		out = []string{"__generic"}
	}
	if constant {
		out = append(out, "__constant")
	}
	return out
}

// clRow is one built-in function, or several that differ only in their names.
type clRow struct {
	names string   // separated by spaces
	types []clType // element types
	// sigs are signatures, with a letter each for the result and the parameters:
	//	T  the type, or its vector		s  the scalar type, in vector forms too
	//	R  the result of a comparison	I  int, or its vector
	//	i  int, in vector forms too		U  the unsigned integer of the size, or its vector
	//	N  the signed one				P  a pointer to T (the expression uses a local variable)
	//	J  a pointer to I				W  the integer of twice the size
	// The first signature is for scalars and vectors, the others are only for vectors.
	sigs string
	// expr is the scalar value. a, b, c and d are the parameters, NAME is the name of the function,
	// SHORT the same without native_ or half_, and $ is f for float and half, and empty for double.
	// TYPE, BITS, UNSIGNED, WIDE, LONG, LOWEST and HIGHEST are the type, its size in bits, its
	// unsigned type, the type of twice the size, the 64-bit type, and the limits of the type.
	expr string
}

// write defines all overloads of one name of the row.
func (r *clRow) write(g *clGen, name string) {
	for k, sig := range strings.Fields(r.sigs) {
		for _, t := range r.types {
			for _, n := range clWidths {
				if n == 1 && k > 0 {
					continue // these signatures combine scalars with vectors
				}
				r.form(g, clOverload{name, sig, t, n})
			}
		}
	}
}

// clOverload is one overload of a function.
type clOverload struct {
	name string
	sig  string // a signature of clRow.sigs
	t    clType // element type
	n    int    // components; 1 for scalars
}

// form defines an overload for each address space of its pointers.
func (r *clRow) form(g *clGen, o clOverload) {
	if !strings.ContainsAny(o.sig[1:], "PJ") {
		r.overload(g, o, "")
		return
	}
	for _, space := range g.spaces(false) {
		r.overload(g, o, space)
	}
}

// overload defines one overload. Those for vectors call the one for scalars.
func (r *clRow) overload(g *clGen, o clOverload, space string) {
	name, sig, t, n := o.name, o.sig, o.t, o.n
	ret := clTypeOf(sig[0], t, n)
	var params, locals, stores []string
	for i, letter := range sig[1:] {
		v := string(rune('a' + i))
		if p := clPointee(letter, t); p != nil {
			params = append(params, fmt.Sprintf("%s %s *%s_", space, p.vec(n), v))
			locals = append(locals, fmt.Sprintf("%s %s;", p.vec(n), v))
			stores = append(stores, fmt.Sprintf("*%s_ = %s;", v, v))
			continue
		}
		params = append(params, clTypeOf(byte(letter), t, n)+" "+v)
	}
	if n == 1 {
		body := r.scalar(name, t)
		if len(stores) > 0 {
			g.function(ret, name, params,
				strings.Join(locals, " ")+" "+ret+" r = "+body+"; "+strings.Join(stores, " ")+" return r;")
			return
		}
		g.function(ret, name, params, "return "+body+";")
		return
	}
	if len(stores) > 0 {
		o.outVector(g, params, locals, stores)
		return
	}
	sign := ""
	if sig[0] == 'R' {
		sign = "-" // true is -1 in vectors (6.15.6)
	}
	g.function(ret, name, params, "return "+clVector(ret, n, func(i int) string {
		return sign + name + "(" + strings.Join(clArguments(sig, t, n, i), ", ") + ")"
	})+";")
}

// outVector defines an overload for vectors that returns results through pointers. locals declare a
// variable for each of these results, and stores copy them to their destinations.
func (o clOverload) outVector(g *clGen, params, locals, stores []string) {
	name, sig, t, n := o.name, o.sig, o.t, o.n
	var b strings.Builder
	ret := clTypeOf(sig[0], t, n)
	fmt.Fprintf(&b, "%s r; %s ", ret, strings.Join(locals, " "))
	for i := range n {
		args := clArguments(sig, t, n, i)
		b.WriteString("{ ")
		after := ""
		for k, letter := range sig[1:] {
			if p := clPointee(letter, t); p != nil {
				v := string(rune('a' + k))
				fmt.Fprintf(&b, "%s %s_e; ", p.name, v)
				args[k] = "&" + v + "_e"
				after += fmt.Sprintf("%s = %s_e; ", clComponent(v, n, i), v)
			}
		}
		fmt.Fprintf(&b, "%s = %s(%s); %s} ", clComponent("r", n, i), name, strings.Join(args, ", "),
			after)
	}
	g.function(ret, name, params, b.String()+strings.Join(stores, " ")+" return r;")
}

// clArguments returns the arguments of the scalar call for component i.
func clArguments(sig string, t clType, n, i int) []string {
	var args []string
	for k, letter := range sig[1:] {
		v := string(rune('a' + k))
		if letter == 's' || letter == 'i' {
			args = append(args, v)
			continue
		}
		args = append(args, clComponent(v, n, i))
	}
	return args
}

// clPointee returns the type that a pointer parameter points to; nil for other parameters.
func clPointee(letter rune, t clType) *clType {
	switch letter {
	case 'P':
		return &t
	case 'J':
		i := clInteger(4, true)
		return &i
	}
	return nil
}

// clTypeOf returns the type that a letter of a signature means.
func clTypeOf(letter byte, t clType, n int) string {
	switch letter {
	case 'T':
		return t.vec(n)
	case 's':
		return t.name
	case 'R':
		if n == 1 {
			return "int"
		}
		return clInteger(t.size, true).vec(n)
	case 'I':
		return clInteger(4, true).vec(n)
	case 'i':
		return "int"
	case 'U':
		return clInteger(t.size, false).vec(n)
	case 'N':
		return clInteger(t.size, true).vec(n)
	case 'W':
		return clInteger(2*t.size, t.signed).vec(n)
	}
	panic(fmt.Sprintf("BUG: signature letter %q", letter))
}

// scalar returns the row's expression for a type.
func (r *clRow) scalar(name string, t clType) string {
	suffix := "f"
	if t.size == 8 {
		suffix = ""
	}
	unsigned := clInteger(t.size, false).name
	wide := t.name
	if !t.float && t.size < 8 {
		wide = clInteger(2*t.size, t.signed).name
	}
	long := "ulong"
	if t.signed {
		long = "long"
	}
	short := strings.TrimPrefix(strings.TrimPrefix(name, "native_"), "half_")
	e := strings.NewReplacer("NAME", name, "SHORT", short, "LONG", long, "$", suffix, "TYPE", t.name,
		"BITS", fmt.Sprint(8*t.size), "UNSIGNED", unsigned, "WIDE", wide,
		"LOWEST", clLimit(t, false), "HIGHEST", clLimit(t, true)).Replace(r.expr)
	return "(" + e + ")"
}

// clLimit returns the smallest or largest value of an integer type; "0" for a float, whose rows do
// not use it.
func clLimit(t clType, high bool) string {
	if t.float {
		return "0"
	}
	bits := 8 * t.size
	switch {
	case !t.signed && !high:
		return "0"
	case !t.signed:
		return fmt.Sprintf("(%s)-1", t.name)
	case high:
		return fmt.Sprintf("(%s)0x%x", t.name, uint64(1)<<(bits-1)-1)
	}
	return fmt.Sprintf("(-(%s)0x%xL - 1)", t.name, uint64(1)<<(bits-1)-1)
}
