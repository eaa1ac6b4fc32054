package lower

import (
	"fmt"
	"strings"
)

// The built-in functions of OpenCL C are overloaded on element type, vector length and address space: some
// 20,000 functions. Only those are written that a file names, all overloads of a name at once, from a
// table of rows (clcomponent.go, clmath.go). A row says the types and the scalar expression; the forms for vectors work
// component by component (6.15.2 to 6.15.7).

// clType is an element type of OpenCL C.
type clType struct {
	name   string
	size   int // bytes
	float  bool
	signed bool
}

var (
	clInts = []clType{
		{"char", 1, false, true}, {"uchar", 1, false, false}, {"short", 2, false, true}, {"ushort", 2, false, false},
		{"int", 4, false, true}, {"uint", 4, false, false}, {"long", 8, false, true}, {"ulong", 8, false, false},
	}
	clFloats = []clType{{"float", 4, true, true}, {"double", 8, true, true}, {"half", 2, true, true}}
	clAll    = append(append([]clType{}, clInts...), clFloats...)
	clWidths = []int{1, 2, 3, 4, 8, 16}
)

// integer returns the integer type of a size.
func clInteger(size int, signed bool) clType {
	for _, t := range clInts {
		if t.size == size && t.signed == signed {
			return t
		}
	}
	panic(fmt.Sprintf("BUG: no integer of %d bytes", size))
}

// vec is the name of the vector of n elements; a scalar for n = 1.
func (t clType) vec(n int) string {
	if n == 1 {
		return t.name
	}
	return fmt.Sprintf("%s%d", t.name, n)
}

// clComponent selects component i of an expression of n components.
func clComponent(v string, n, i int) string {
	if n == 1 {
		return v
	}
	return fmt.Sprintf("%s.s%x", v, i)
}

// clGen writes definitions.
type clGen struct {
	strings.Builder
	generic bool // the language has the generic address space (2.0 and later)
}

// function writes one definition; params are "type name".
func (g *clGen) function(ret, name string, params []string, body string) {
	fmt.Fprintf(g, "__heddle_cl %s %s(%s) { %s }\n", ret, name, strings.Join(params, ", "), body)
}

// vector builds the value of n components of which part i is f(i).
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

// spaces are the address spaces that pointers of overloads have. With the generic space one overload does for all
// but the constant one.
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

// clRow is one built-in function, or several that differ in their names.
type clRow struct {
	names string // separated by blanks
	types []clType
	// sigs are the forms, a letter each for the result and the parameters:
	//	T  the type, or its vector		s  the scalar type, in vector forms too
	//	R  the result of a comparison	I  int, or its vector
	//	i  int, in vector forms too		U  the unsigned integer of the size, or its vector
	//	N  the signed one				P  a pointer to T (of which the expression sees a local, *c)
	//	J  a pointer to I				W  the integer of twice the size
	// The first form is for scalars and vectors, the others are for vectors only.
	sigs string
	// expr is the scalar value: a, b, c, d are the parameters, NAME the function's name (SHORT without native_ or
	// half_), $ is f for float and half and nothing for double; TYPE, BITS, UNSIGNED, WIDE, LONG, LOWEST and HIGHEST are
	// the type, its size in bits, its unsigned type, the one of twice the size, the 64-bit one, its limits.
	expr string
}

// write writes all overloads of one name of the row.
func (r *clRow) write(g *clGen, name string) {
	for k, sig := range strings.Fields(r.sigs) {
		for _, t := range r.types {
			for _, n := range clWidths {
				if n == 1 && k > 0 {
					continue // later forms mix scalars into vectors
				}
				r.form(g, name, sig, t, n)
			}
		}
	}
}

func (r *clRow) form(g *clGen, name, sig string, t clType, n int) {
	if !strings.ContainsAny(sig[1:], "PJ") {
		r.overload(g, name, sig, t, n, "")
		return
	}
	for _, space := range g.spaces(false) {
		r.overload(g, name, sig, t, n, space)
	}
}

// overload writes one overload. The vector forms call the scalar one.
func (r *clRow) overload(g *clGen, name, sig string, t clType, n int, space string) {
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
			g.function(ret, name, params, strings.Join(locals, " ")+" "+ret+" r = "+body+"; "+strings.Join(stores, " ")+" return r;")
			return
		}
		g.function(ret, name, params, "return "+body+";")
		return
	}
	if len(stores) > 0 {
		r.outVector(g, name, sig, t, n, params, locals, stores)
		return
	}
	sign := ""
	if sig[0] == 'R' {
		sign = "-" // of vectors, true is -1 (6.15.6)
	}
	g.function(ret, name, params, "return "+clVector(ret, n, func(i int) string {
		return sign + name + "(" + strings.Join(clArguments(sig, t, n, i), ", ") + ")"
	})+";")
}

// outVector is overload for a vector form with results behind pointers.
func (r *clRow) outVector(g *clGen, name, sig string, t clType, n int, params, locals, stores []string) {
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
		fmt.Fprintf(&b, "%s = %s(%s); %s} ", clComponent("r", n, i), name, strings.Join(args, ", "), after)
	}
	g.function(ret, name, params, b.String()+strings.Join(stores, " ")+" return r;")
}

// clArguments are the arguments of the scalar call for component i.
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

// clPointee is what a pointer parameter points to; nil for another parameter.
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

// clTypeOf is the type that a letter stands for.
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

// scalar is the row's expression for a type.
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
	e := strings.NewReplacer("NAME", name, "SHORT", short, "LONG", long, "$", suffix, "TYPE", t.name, "BITS", fmt.Sprint(8*t.size), "UNSIGNED", unsigned, "WIDE", wide,
		"LOWEST", clLimit(t, false), "HIGHEST", clLimit(t, true)).Replace(r.expr)
	return "(" + e + ")"
}

// clLimit is the smallest or largest value of an integer type.
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
