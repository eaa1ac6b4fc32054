package lower

import (
	"bytes"
	"fmt"

	"heddle/internal/lazyregexp"
)

// Objects in shared memory whose class has a constructor or destructor with a body, such as
// cuda::barrier. nvcc calls neither ("static_var_with_dynamic_init" is a warning there), and clang
// rejects the variable. A declaration to which clang's error refers,
//
//	__shared__ T name[2];
//
// becomes, in the text that clang reads,
//
//	typedef    T __heddle_type_name[2]; __shared__ __heddle_object<__heddle_type_name>
//	__heddle_of_name; __heddle_type_name &name = __heddle_of_name.value;
//
// on its lines: the object is a member of a union, which has no constructor and destructor of its
// own (headers/heddle/grid.h), and name refers to it. In reports the variable has its name
// (irgen.variableName).

// sharedObjectError is the text of clang's error about such a variable.
const sharedObjectError = "initialization is not supported for __shared__ variables"

// Prefixes of the names of the type and of the variable.
const (
	objectType = "__heddle_type_"
	objectName = "__heddle_of_"
)

// sharedWord is the word that makes a variable one in shared memory, and typedefWord, of the same
// length, the one that takes its place.
const (
	sharedWord  = "__shared__"
	typedefWord = "typedef   "
)

// sharedObject is the declaration of such a variable, as byte offsets.
type sharedObject struct {
	word, name, end int // of __shared__, of the name, and of the semicolon
	from, to        int // of its alignment; equal if there is none
	ident           string
}

// alignmentRE matches an alignment, as in alignas(128) and __align__(sizeof(int)).
var alignmentRE = lazyregexp.New(`\b(alignas|__align__)\s*\(([^()]|\([^()]*\))*\)`)

// identRE matches a name at the beginning of a text.
var identRE = lazyregexp.New(`^[A-Za-z_]\w*`)

// objectAt returns the declaration of the variable whose name is at an offset; ok is false if it
// has another form.
func objectAt(src []byte, at int) (o sharedObject, ok bool) {
	if at >= len(src) {
		return o, false
	}
	o.name, o.ident = at, string(identRE.Find(src[at:]))
	start := bytes.LastIndexAny(src[:at], ";{}") + 1
	n := bytes.Index(src[start:at], []byte(sharedWord))
	if o.ident == "" || n < 0 {
		return o, false
	}
	o.word = start + n
	start = max(start, bytes.LastIndexByte(src[:o.word], '\n')+1) // behind directives
	if m := alignmentRE.FindIndex(src[start:at]); m != nil {
		o.from, o.to = start+m[0], start+m[1]
	}
	// Attributes, other storage classes and further declarators are not those of a type.
	rest := bytes.Clone(src[start:at])
	if o.from < o.to {
		copy(rest[o.from-start:], blanked(src, o.from, o.to)[o.from:o.to])
	}
	if bytes.ContainsAny(rest, "()[]=") || wordsRE.Match(rest) ||
		len(splitTop(string(rest)+o.ident)) > 1 {
		return o, false
	}
	s := &declScanner{src: src}
	for o.end = s.skipBlank(at + len(o.ident)); o.end < len(src) && src[o.end] == '['; {
		shut := s.skipTo(o.end+1, "]")
		if shut < 0 {
			return o, false
		}
		o.end = s.skipBlank(shut + 1)
	}
	return o, o.end < len(src) && src[o.end] == ';'
}

// wordsRE matches words that a definition of a type does not have.
var wordsRE = lazyregexp.New(`\b(static|extern|inline)\b`)

// rewrite changes a text in place and returns the marks that complete the change.
func (o *sharedObject) rewrite(text []byte) []Mark {
	alignment := oneLine(text[o.from:o.to])
	copy(text[o.from:o.to], blanked(text, o.from, o.to)[o.from:o.to])
	copy(text[o.word:], typedefWord)
	t, name := objectType+o.ident, objectName+o.ident
	return []Mark{{o.name, objectType}, {o.end + 1, fmt.Sprintf(
		" %s __shared__ __heddle_object<%s> %s; %s &%s = %s.value;", alignment, t, name, t, o.ident,
		name)}}
}
