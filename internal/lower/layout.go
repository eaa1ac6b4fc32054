package lower

import (
	"strconv"
	"strings"
)

// The text of LLVM IR contains types but no offsets. Expanding a copy and initializing a variable
// need the offset and the type of every scalar in a struct or array.

// element is one scalar in the layout of a type.
type element struct {
	off, size int64  // bytes
	typ       string // of LLVM
}

// maxElements bounds the scalars that a copy is expanded to; a larger one stays a call.
const maxElements = 64

// maxDepth bounds the nesting of a type: two levels for each struct, of which tensors of CuTe have
// a dozen. A type that contains itself, which LLVM rejects, ends there.
const maxDepth = 200

// layouts computes the scalars of LLVM types by the NVPTX data layout: natural alignment, and 8
// bytes for i64 and pointers, which have 4 in a module for 32-bit addresses (claddress.go).
type layouts struct {
	named map[string]string // "%struct.P" -> "{ i32, float }"
	ptr   int64             // bytes of a pointer
	most  int64             // bound for the elements of a type
	wide  bool              // treat i128 as two i64; otherwise it is not supported
}

// newLayouts reads the named types of a module.
func newLayouts(head []string) *layouts {
	l := &layouts{named: make(map[string]string), ptr: 8, most: maxElements}
	for _, line := range head {
		if strings.HasPrefix(line, narrowLayout) {
			l.ptr = narrowBits / 8
		}
		if name, def, ok := strings.Cut(line, " = type "); ok {
			l.named[name] = def
		}
	}
	return l
}

// scalars returns the elements of a type in order, and its size and alignment in bytes. ok is false
// for a type that is not supported or has too many elements.
func (l *layouts) scalars(typ string) (elems []element, size, align int64, ok bool) {
	return l.walk(strings.TrimSpace(typ), 0)
}

// walk is scalars with the nesting depth.
func (l *layouts) walk(typ string, depth int) (elems []element, size, align int64, ok bool) {
	if depth > maxDepth || typ == "" {
		return nil, 0, 0, false
	}
	if n := scalarSize(typ); n > 0 {
		return []element{{0, n, typ}}, n, n, true
	}
	switch {
	case pointerType(typ):
		return []element{{0, l.ptr, typ}}, l.ptr, l.ptr, true
	case typ == "i128" && l.wide:
		return []element{{0, 8, "i64"}, {8, 8, "i64"}}, 16, 16, true
	case typ[0] == '%':
		return l.walk(l.named[typ], depth+1)
	case strings.HasPrefix(typ, "<{"):
		inner, _ := bracketed(typ[1:])
		return l.structure(splitTop(inner), true, depth)
	case typ[0] == '{':
		inner, _ := bracketed(typ)
		return l.structure(splitTop(inner), false, depth)
	case typ[0] == '[' || typ[0] == '<':
		inner, _ := bracketed(typ)
		count, of, found := strings.Cut(inner, " x ")
		n, err := strconv.ParseInt(count, 10, 64)
		if !found || err != nil || n > l.most {
			return nil, 0, 0, false
		}
		sub, sz, al, good := l.walk(strings.TrimSpace(of), depth+1)
		if !good || int64(len(sub))*n > l.most {
			return nil, 0, 0, false
		}
		for i := range n {
			for _, e := range sub {
				elems = append(elems, element{e.off + i*sz, e.size, e.typ})
			}
		}
		if typ[0] == '<' { // three elements take the space of four (OpenCL C 3.0, 6.3.5)
			for al < sz*n {
				al *= 2
			}
			return elems, (sz*n + al - 1) / al * al, al, true
		}
		return elems, sz * n, al, true
	}
	return nil, 0, 0, false
}

// structure lays out the fields of a struct.
func (l *layouts) structure(fields []string, packed bool, depth int) (elems []element, size,
	align int64, ok bool) {
	align = 1
	for _, f := range fields {
		sub, sz, al, good := l.walk(f, depth+1)
		if !good || len(elems)+len(sub) > int(l.most) {
			return nil, 0, 0, false
		}
		if packed {
			al = 1
		}
		size = (size + al - 1) / al * al
		align = max(align, al)
		for _, e := range sub {
			elems = append(elems, element{e.off + size, e.size, e.typ})
		}
		size += sz
	}
	return elems, (size + align - 1) / align * align, align, true
}

// pointerType reports whether a type is that of pointers.
func pointerType(typ string) bool {
	return typ == "ptr" || strings.HasPrefix(typ, "ptr addrspace(") || strings.HasSuffix(typ, "*")
}

// scalarSize returns the bytes of a number; 0 for any other type.
func scalarSize(typ string) int64 {
	switch typ {
	case "i8":
		return 1
	case "i16", "half", "bfloat":
		return 2
	case "i32", "float":
		return 4
	case "i64", "double":
		return 8
	}
	return 0
}

// chunks splits size bytes of unknown type into integers of at most align bytes.
func chunks(size, align int64) []element {
	var out []element
	for off := int64(0); off < size; {
		n := min(align, 8)
		for n > size-off {
			n /= 2
		}
		out = append(out, element{off, n, "i" + strconv.FormatInt(8*n, 10)})
		off += n
	}
	return out
}
