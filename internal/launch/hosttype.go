package launch

import (
	"slices"
	"strings"
)

// ctype is what heddle knows of a C++ type in host code.
type ctype struct {
	class typeClass
	size  int64 // bytes of a value without pointers; 0 if unknown
	// classInteger: an unsigned type; bool
	unsigned, truth bool
	ptr             int     // how many pointers to it
	ref             bool    // a reference
	fixed           bool    // const or constexpr
	elem            int64   // classVector: bytes of an element; 0 if unknown
	rec             *record // classOther: a struct or class of the file; may be nil
	vague           bool    // decltype and the like: it may be a reference
	open            bool    // classOther: nothing is known of it, so that it may be a reference
	automatic       bool    // auto
	static          bool    // static or constexpr
	// array is the number of elements of an array, 0 for no array and -1 for an unknown number.
	array int64
	rows  bool // an array of arrays
	// classVector: the elements are numbers; the class is std::array
	plain, fixedSize bool
	enum             bool // an enumeration
}

// A typeClass is a kind of type.
type typeClass uint8

const (
	classOther    typeClass = iota
	classInteger            // integers, bool and enumerations
	classFloating           // float and double
	classDim                // dim3
	classVector             // std::vector and the vectors of thrust
)

// A record is a struct of the file. ok is false if heddle does not know its layout.
type record struct {
	fields []recordField
	size   int64
	ok     bool
	refs   bool // a member is a reference
}

// A recordField is a member of a struct at an offset in bytes.
type recordField struct {
	name   string
	offset int64
	typ    ctype
}

// elemSize returns the bytes of what a pointer or an array of this type refers to; 0 if unknown.
func (t ctype) elemSize() int64 {
	switch {
	case t.rows:
		return 0
	case t.class == classVector && t.ptr == 0:
		return t.elem
	case t.ptr > 1, t.ptr > 0 && t.array != 0:
		return 8
	}
	return t.size
}

// bytes returns sizeof of the type; 0 if unknown.
func (t ctype) bytes() int64 {
	n := t.size
	if t.ptr > 0 {
		n = 8
	}
	switch {
	case t.array < 0 || t.class == classVector:
		return 0
	case t.array > 0:
		return n * t.array
	}
	return n
}

// typeSizes are the sizes of C types in bytes on Linux; long has 4 on Windows.
var typeSizes = map[string]int64{
	"char": 1, "bool": 1, "int8_t": 1, "uint8_t": 1, "uchar": 1, "short": 2, "int16_t": 2,
	"uint16_t": 2, "ushort": 2, "int": 4, "unsigned": 4, "signed": 4, "uint": 4, "int32_t": 4,
	"uint32_t": 4, "float": 4, "long": 8, "ulong": 8, "size_t": 8, "ptrdiff_t": 8, "ssize_t": 8,
	"int64_t": 8, "uint64_t": 8, "double": 8, "half": 2, "__half": 2, "half2": 4, "__half2": 4,
	"nv_bfloat16": 2, "__nv_bfloat16": 2, "uchar2": 2, "uchar3": 3, "uchar4": 4, "char4": 4,
	"short2": 4, "ushort2": 4, "ushort4": 8, "int2": 8, "uint2": 8, "float2": 8, "int3": 12,
	"uint3": 12, "float3": 12, "int4": 16, "uint4": 16, "float4": 16, "double2": 16, "double3": 24,
	"double4": 32, "dim3": 12,
}

// intTypes are the words of integer types.
var intTypes = []string{
	"char", "bool", "int8_t", "uint8_t", "uchar", "short", "int16_t", "uint16_t", "ushort",
	"int", "unsigned", "signed", "uint", "int32_t", "uint32_t", "long", "ulong", "size_t",
	"ptrdiff_t", "ssize_t", "int64_t", "uint64_t",
}

// isIntType reports whether word is the name of an integer type, or part of one.
func isIntType(word string) bool { return slices.Contains(intTypes, word) }

// qualifiers may precede a type without being part of its name.
var qualifiers = map[string]bool{"const": true, "constexpr": true, "static": true, "inline": true,
	"extern": true, "volatile": true, "register": true, "typename": true, "struct": true,
	"class": true, "mutable": true, "thread_local": true, "__restrict__": true, "__restrict": true,
	"restrict": true, "__device__": true, "__constant__": true, "__managed__": true, "enum": true}

// notTypes are keywords with which a declaration cannot start.
var notTypes = map[string]bool{"return": true, "else": true, "new": true, "delete": true,
	"case": true, "goto": true, "throw": true, "if": true, "for": true, "while": true, "do": true,
	"switch": true, "break": true, "continue": true, "default": true, "sizeof": true, "using": true,
	"typedef": true, "namespace": true, "template": true, "try": true, "catch": true,
	"operator": true, "static_cast": true, "reinterpret_cast": true, "const_cast": true,
	"dynamic_cast": true, "this": true, "true": true, "false": true, "nullptr": true, "friend": true,
	"public": true, "private": true, "protected": true, "asm": true, "not": true, "and": true,
	"or": true, "co_return": true}

// vagueTypes are types of which it is not clear whether they are references.
var vagueTypes = map[string]bool{"decltype": true, "typeof": true, "__typeof__": true,
	"__typeof": true, "reference_wrapper": true}

// alignments are words with arguments that may precede or follow a type without being part of its
// name.
var alignments = map[string]bool{"__attribute__": true, "__declspec": true, "alignas": true,
	"_Alignas": true, "__align__": true}

// closing returns the index of the bracket that closes the one at i, or of the last token.
func closing(toks []token, i int) int {
	depth := 0
	for ; i < len(toks); i++ {
		switch t := toks[i]; {
		case t.is("("), t.is("["), t.is("{"):
			depth++
		case t.is(")"), t.is("]"), t.is("}"):
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(toks) - 1
}

// keeps reports whether a variable of the type may hold an address.
func (t ctype) keeps() bool {
	return t.ptr > 0 || t.array != 0 || t.ref || t.class == classOther || t.class == classVector
}

// parseType parses a type at toks[i]. next is the index after it, its pointers included.
func (h *hostFile) parseType(toks []token, i int) (t ctype, next int, ok bool) {
	named, plain := false, false // a class or alias; a word of a builtin type
	if i+1 < len(toks) && toks[i].is("::") && toks[i+1].kind == tokIdent {
		i++
	}
	for ; i < len(toks) && toks[i].kind == tokIdent; i++ {
		word := toks[i].text
		size := typeSizes[word]
		switch {
		case alignments[word] && i+1 < len(toks) && toks[i+1].is("("):
			i = closing(toks, i+1)
			continue
		case vagueTypes[word] && !named && !plain:
			t.vague, t.ref, named = true, true, true
			if i+1 < len(toks) && toks[i+1].is("(") {
				i = closing(toks, i+1)
			} else if i+1 < len(toks) && toks[i+1].is("<") {
				i = skipAngles(toks, i+1)
			}
			continue
		case notTypes[word]:
			return t, i, false
		case qualifiers[word]:
			t.fixed = t.fixed || word == "const" || word == "constexpr"
			t.static = t.static || word == "static" || word == "constexpr"
			continue
		case isIntType(word) && !named && !h.declaresType(word):
			t.builtin(word, size)
			plain = true
			continue
		case plain || named:
		default:
			t.named(h, toks, &i)
			named = true
			continue
		}
		break
	}
	if !plain && !named {
		return t, i, false
	}
	for ; i < len(toks); i++ {
		switch s := toks[i]; {
		case s.is("*"):
			t.ptr++
			t.fixed = false
		case s.is("&"):
			t.ref = true
		case s.is("&&"):
			t.ref = true
		case s.is("const"):
			t.fixed = true
		case alignments[s.text] && i+1 < len(toks) && toks[i+1].is("("):
			i = closing(toks, i+1)
		case s.is("__restrict__"), s.is("__restrict"), s.is("restrict"), s.is("volatile"):
		default:
			return t, i, true
		}
	}
	return t, i, true
}

// declaresType reports whether the file gives a meaning to the name of a type.
func (h *hostFile) declaresType(word string) bool {
	_, alias := h.aliases[word]
	return alias || h.records[word] != nil
}

// holds reports whether an integer type has the value n, so that a conversion does not change it.
func (t ctype) holds(n int64) bool {
	bits := 8 * t.size
	switch {
	case t.size == 0:
		return true
	case t.truth:
		return n == 0 || n == 1
	case t.unsigned:
		return n >= 0 && (bits >= 64 || n < 1<<bits)
	}
	return bits >= 64 || n < 1<<(bits-1) && n >= -(1<<(bits-1))
}

// unsignedTypes are the words of unsigned integer types.
var unsignedTypes = []string{"unsigned", "uint8_t", "uchar", "uint16_t", "ushort", "uint",
	"uint32_t", "ulong", "size_t", "uint64_t"}

// builtin adds a word to a type of builtin words: unsigned, long long, short int.
func (t *ctype) builtin(word string, size int64) {
	t.class = classInteger
	t.unsigned = t.unsigned || slices.Contains(unsignedTypes, word)
	t.truth = word == "bool"
	if t.size == 0 || t.size == 4 || size != 4 && word != "long" {
		t.size = size
	}
}

// named sets t to the type whose name starts at toks[*i], and moves *i to the last token of it.
func (t *ctype) named(h *hostFile, toks []token, i *int) {
	for *i+2 < len(toks) && toks[*i+1].is("::") && toks[*i+2].kind == tokIdent {
		*i += 2
	}
	word := toks[*i].text
	fixed := t.fixed
	t.vague = t.vague || vagueTypes[word] || strings.Contains(word, "reference")
	t.ref = t.ref || t.vague
	switch word {
	case "float", "double":
		t.class = classFloating
		t.size = typeSizes[word]
	case "dim3":
		if t.class, t.size = classDim, 12; h.ownDim {
			t.class, t.size = classOther, 0
		}
	default:
		t.size = typeSizes[word]
		t.automatic = word == "auto"
		if alias, ok := h.aliases[word]; ok {
			*t = alias
			t.fixed = fixed || alias.fixed
		} else if rec := h.records[word]; rec != nil {
			t.rec, t.size = rec, 0
			if rec.ok {
				t.size = rec.size
			}
		}
	}
	t.open = t.class == classOther && t.rec == nil && t.size == 0 && !t.automatic && t.ptr == 0 &&
		t.array == 0 && (!isOwnName(word) || word == "dim3")
	if *i+1 >= len(toks) || !toks[*i+1].is("<") {
		return
	}
	end := skipAngles(toks, *i+1)
	if end == *i+1 {
		return
	}
	rec := t.rec
	*t = ctype{fixed: fixed, vague: t.vague, ref: t.vague, open: rec == nil && !isOwnName(word)}
	switch word {
	case "vector", "device_vector", "host_vector", "array":
		if rec != nil { // a class of the file
			t.rec = rec
			break
		}
		t.class, t.fixedSize = classVector, word == "array"
		if elem, _, ok := h.parseType(toks[:end], *i+2); ok {
			t.elem = elem.bytes()
			t.plain = elem.ptr == 0 && (elem.class == classInteger || elem.class == classFloating)
		}
	}
	*i = end
	for *i+2 < len(toks) && toks[*i+1].is("::") && toks[*i+2].kind == tokIdent { // a<b>::c
		*i += 2
		*t = ctype{fixed: fixed, open: true}
	}
}
