package lower

import (
	"bytes"

	"heddle/internal/lazyregexp"
)

// Member templates of types that depend on template parameters. C++ requires the keyword template
// before their names (v.template load<4>(p), T::template cast<n>(d, s)). nvcc does not, where a
// list of template arguments makes sense; clang rejects the name, or takes < for an operator and
// rejects the instance. Its errors give the template's name or the start of the expression, and
// heddle inserts the keyword in the text that clang reads.

// templateErrorRE matches clang's errors about a missing keyword, with the name of the template
// where the error has it.
var templateErrorRE = lazyregexp.New(
	`^(?:use 'template' keyword to treat '(\w+)' as a dependent template name|` +
		`missing 'template' keyword prior to dependent template name '(\w+)'|` +
		`use of class template '(?:.*::)?(\w+)' requires template arguments|` +
		`reference to overloaded function could not be resolved|` +
		`reference to non-static member function must be called)`)

// templateMark is what clang reads before the name of a member template of a dependent type.
const templateMark = "template "

// rewriteTemplate inserts the keyword before the member template that an error of clang refers to,
// which is at a place of its text of a file. It returns false if there is none, or it has the
// keyword.
func (b *build) rewriteTemplate(file string, line, col int, message string) bool {
	m := templateErrorRE.FindStringSubmatch(message)
	if m == nil {
		return false
	}
	f, at := b.gridFileAt(file, line, col)
	if f == nil {
		return false
	}
	name, ok := templateNameAt(f.content, at, m[1]+m[2]+m[3])
	return ok && f.insert(name, templateMark)
}

// templateNameAt returns the offset of a member that is followed by < in the expression that begins
// at an offset: the one with a name or, without one, the last. The expression consists of names,
// with or without template arguments, between ::, . and ->, and may begin at the member.
func templateNameAt(src []byte, at int, name string) (offset int, ok bool) {
	s := &declScanner{src: src}
	at = min(at, len(src))
	joined := memberOf(src[:at])
	for i := s.skipBlank(at); i < len(src); {
		word := identRE.Find(src[i:])
		if len(word) == 0 {
			n := len(joinRE.Find(src[i:]))
			if n == 0 || joined {
				return offset, ok
			}
			joined, i = true, s.skipBlank(i+n)
			continue
		}
		next := s.skipBlank(i + len(word))
		args := next < len(src) && src[next] == '<'
		if args && joined && (name == "" || name == string(word)) {
			if offset, ok = i, true; name != "" {
				return offset, ok
			}
		}
		if args {
			if next = s.behindArguments(next); next < 0 {
				return offset, ok
			}
		}
		joined, i = false, s.skipBlank(next) // behind the keyword, too: the next name has it
	}
	return offset, ok
}

// joinRE matches what stands before a member at the beginning of a text.
var joinRE = lazyregexp.New(`^(::|->|\.)`)

// memberOf reports whether a text ends with what stands before a member.
func memberOf(src []byte) bool {
	src = bytes.TrimRight(src, " \t\r\n")
	return bytes.HasSuffix(src, []byte("::")) || bytes.HasSuffix(src, []byte("->")) ||
		bytes.HasSuffix(src, []byte("."))
}

// behindArguments returns the offset behind the list of template arguments that begins at i; -1 if
// there is none.
func (s *declScanner) behindArguments(i int) int {
	angles, others := 0, 0 // open brackets
	for i < len(s.src) {
		if j := s.skipInert(i); j > i {
			i = j
			continue
		}
		switch c := s.src[i]; {
		case c == '(' || c == '[' || c == '{':
			others++
		case c == ')' || c == ']' || c == '}':
			if others--; others < 0 {
				return -1
			}
		case c == ';':
			return -1
		case others > 0:
		case c == '<':
			angles++
		case c == '>' && s.src[i-1] != '-':
			if angles--; angles == 0 {
				return i + 1
			}
		}
		i++
	}
	return -1
}
