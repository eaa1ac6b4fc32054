package launch

import (
	"fmt"
	"slices"
	"strings"

	"heddle/internal/ir"
	"heddle/internal/source"
)

// Matches reports whether name selects kernel k. It can be the mangled name, the demangled name,
// the demangled name without parameters and with or without return type and template arguments, or
// the plain identifier. Inline namespaces of versions do not count (source.Unversioned).
func Matches(k *ir.Func, name string) bool {
	name = source.Unversioned(name)
	if name == k.Name || name == k.Demangled {
		return true
	}
	head := headOf(k.Demangled)
	masked := replaceAngles(strings.ReplaceAll(head, anonymous, strings.Repeat(".", len(anonymous))),
		".")
	short := head[strings.LastIndexByte(masked, ' ')+1:] // without the return type
	return name == head || name == short || name == replaceAngles(short, "") ||
		name == BaseName(k.Demangled)
}

// Unmatched returns an error for each pragma that belongs to none of the kernels of its file: its
// kernel was renamed, is a template that is not instantiated, or is excluded by the preprocessor.
func (s *SourceFacts) Unmatched(kernels []*ir.Func) []*Error {
	var errs []*Error
	for _, p := range s.Pragmas {
		matches := func(k *ir.Func) bool { return Matches(k, p.Kernel) }
		if p.Kernel != "" && !slices.ContainsFunc(kernels, matches) {
			errs = append(errs, &Error{Span: p.Span, Msg: fmt.Sprintf("no kernel %s in the compiled code "+
				"for this heddle: comment; is it an uninstantiated template, or excluded by the preprocessor?",
				p.Kernel)})
		}
	}
	return errs
}

// BaseName returns the plain identifier of a demangled function name: "k" of "void (anonymous
// namespace)::ns::k<float, 4>(float*, int)". A name that is not demangled is returned unchanged.
func BaseName(demangled string) string {
	s := replaceAngles(headOf(demangled), "")
	s = s[strings.LastIndexByte(s, ' ')+1:]
	return s[strings.LastIndexByte(s, ':')+1:]
}

// anonymous is how demanglers print an unnamed namespace.
const anonymous = "(anonymous namespace)"

// headOf returns the part of a demangled name before the parameter list, which starts at the first
// parenthesis outside template arguments that does not belong to an anonymous namespace. A template
// argument may itself contain parentheses: k<f(int)>(int*).
func headOf(s string) string {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '<':
			depth++
		case '>':
			depth--
		case '(':
			if strings.HasPrefix(s[i:], anonymous) {
				i += len(anonymous) - 1
			} else if depth <= 0 {
				return s[:i]
			}
		}
	}
	return s
}

// replaceAngles replaces each byte of template arguments, brackets included, with hidden. A hidden
// of one byte preserves offsets.
func replaceAngles(s, hidden string) string {
	var b strings.Builder
	depth := 0
	for i := 0; i < len(s); i++ {
		if s[i] == '<' {
			depth++
		}
		if depth > 0 {
			b.WriteString(hidden)
		} else {
			b.WriteByte(s[i])
		}
		if s[i] == '>' {
			depth = max(depth-1, 0)
		}
	}
	return b.String()
}
