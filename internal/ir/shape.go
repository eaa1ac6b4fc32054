package ir

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Shape is how the source declares an array, for messages: float s[24][25] has elements of 4 bytes
// and the dimensions 24 and 25. A pointer has one open dimension. The zero Shape is unknown.
type Shape struct {
	Elem int   // bytes
	Dims []int // elements; the first is 0 if it is open; none for a variable that is no array
}

// Element names the element of the array name that the bytes from off to off+size are in:
// "s[2][16]", and for a part of an element "p[3], bytes 4-7". After the end of an array the index
// of the first dimension is beyond its bound. ok is false if the bytes are not in one element.
func (s Shape) Element(name string, off, size uint64) (text string, ok bool) {
	if s.Elem <= 0 || size == 0 {
		return "", false
	}
	elem := uint64(s.Elem)
	n, in := off/elem, off%elem
	if in+size > elem || len(s.Dims) == 0 && n > 0 {
		return "", false
	}
	index := make([]uint64, len(s.Dims))
	for i := len(s.Dims) - 1; i > 0; i-- {
		if s.Dims[i] <= 0 {
			return "", false
		}
		index[i] = n % uint64(s.Dims[i])
		n /= uint64(s.Dims[i])
	}
	if len(index) > 0 {
		index[0] = n
	}
	var b strings.Builder
	b.WriteString(name)
	for _, i := range index {
		fmt.Fprintf(&b, "[%d]", i)
	}
	switch {
	case size == elem:
	case size == 1:
		fmt.Fprintf(&b, ", byte %d", in)
	default:
		fmt.Fprintf(&b, ", bytes %d-%d", in, in+size-1)
	}
	return b.String(), true
}

// Declared says how the array name is declared: "s has 128 elements", "s is declared as s[16][17]".
// It is empty for a variable that is no array, and for one that is open.
func (s Shape) Declared(name string) string {
	if len(s.Dims) == 0 || s.Dims[0] <= 0 {
		return ""
	}
	if len(s.Dims) == 1 {
		return fmt.Sprintf("%s has %d elements", name, s.Dims[0])
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s is declared as %s", name, name)
	for _, n := range s.Dims {
		fmt.Fprintf(&b, "[%d]", n)
	}
	return b.String()
}

// pointedSizes are the sizes of CUDA's types by their names in demangled signatures.
var pointedSizes = map[string]int{
	"bool": 1, "char": 1, "signed char": 1, "unsigned char": 1, "short": 2, "unsigned short": 2,
	"int": 4, "unsigned int": 4, "long": 8, "unsigned long": 8, "long long": 8,
	"unsigned long long": 8, "float": 4, "double": 8, "__half": 2, "__nv_bfloat16": 2,
	"__half2": 4, "__nv_bfloat162": 4,
}

// vectorBases are the elements of CUDA's vector types: int4 has four of 4 bytes.
var vectorBases = map[string]int{
	"char": 1, "uchar": 1, "short": 2, "ushort": 2, "int": 4, "uint": 4, "long": 8, "ulong": 8,
	"longlong": 8, "ulonglong": 8, "float": 4, "double": 8,
}

// ParamShapes returns what the pointers among the parameters of a function refer to, from its
// demangled name; nil if that has no list of n parameters. A type that is not one of CUDA's is
// unknown.
func ParamShapes(demangled string, n int) []Shape {
	types, ok := paramTypes(demangled)
	if !ok || len(types) != n {
		return nil
	}
	out := make([]Shape, n)
	for i, t := range types {
		out[i] = pointedShape(t)
	}
	return out
}

// paramTypes splits the parameter list at the end of a demangled name.
func paramTypes(name string) ([]string, bool) {
	if !strings.HasSuffix(name, ")") {
		return nil, false
	}
	depth, end := 0, len(name)-1
	var commas []int
	for i := end; i >= 0; i-- {
		switch name[i] {
		case ')', '>', ']':
			depth++
		case '(', '<', '[':
			depth--
		case ',':
			if depth == 1 {
				commas = append(commas, i)
			}
		}
		if depth > 0 {
			continue
		}
		var out []string
		from := i + 1
		slices.Reverse(commas)
		for _, c := range append(commas, end) {
			out = append(out, strings.TrimSpace(name[from:c]))
			from = c + 1
		}
		return out, true
	}
	return nil, false
}

// pointedShape returns what a pointer of the given type refers to: "float const*", "float4*",
// "float (*) [16]".
func pointedShape(t string) Shape {
	dims := []int{0}
	if base, rows, ok := strings.Cut(t, "(*)"); ok {
		for rows = strings.TrimSpace(rows); rows != ""; {
			text, rest, closed := strings.Cut(strings.TrimPrefix(rows, "["), "]")
			n, err := strconv.Atoi(text)
			if !closed || err != nil || n <= 0 {
				return Shape{}
			}
			dims, rows = append(dims, n), rest
		}
		t = base + "*"
	}
	base, ok := strings.CutSuffix(strings.TrimSuffix(t, " restrict"), "*")
	if !ok {
		return Shape{}
	}
	if strings.HasSuffix(base, "*") {
		return Shape{8, dims}
	}
	for _, q := range []string{" const", " volatile"} {
		base = strings.ReplaceAll(base, q, "")
	}
	base = strings.TrimSpace(base)
	if n := pointedSizes[base]; n > 0 {
		return Shape{n, dims}
	}
	if last := len(base) - 1; last > 0 && base[last] >= '1' && base[last] <= '4' {
		if n := vectorBases[base[:last]]; n > 0 {
			return Shape{n * int(base[last]-'0'), dims}
		}
	}
	return Shape{}
}
