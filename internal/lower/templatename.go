package lower

import (
	"bytes"

	"heddle/internal/lazyregexp"
)

// Member templates of types that depend on template parameters. C++ demands the word template before
// their names (v.template load<4>(p), T::template cast<n>(d, s)). nvcc does without it where a
// template argument list can be meant; clang rejects the name, or takes < for an operator and
// rejects the instance. Its errors name the template or the expression, and the name gets the word
// in the text that clang reads.

// templateErrorRE matches the texts of clang's errors about a missing word template, with the name
// of the template unless it begins at the place of the error.
var templateErrorRE = lazyregexp.New(`^(?:use 'template' keyword to treat '(\w+)' as a dependent template name|` +
	`missing 'template' keyword prior to dependent template name '(\w+)'|` +
	`use of class template '(?:.*::)?(\w+)' requires template arguments|` +
	`reference to overloaded function could not be resolved|` +
	`reference to non-static member function must be called)`)

// templateMark is what stands before the name of a member template of a dependent type.
const templateMark = "template "

// rewriteTemplate puts the word template before the member template that an error at a place of
// clang's text of a file is about. It returns false if there is none, or it has the word.
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
	if !ok || f.templates[name] {
		return false
	}
	if f.templates == nil {
		f.templates = make(map[int]bool)
	}
	f.templates[name] = true
	return true
}

// templateNameAt returns the offset of a member that is followed by < in the expression that begins
// at an offset: the one with a name or, without one, the last. The expression consists of names with
// or without template arguments between ::, . and ->, and may begin at the member.
func templateNameAt(src []byte, at int, name string) (offset int, ok bool) {
	s := &declScanner{src: src}
	joined := at <= len(src) && joins(src[:at]) > 0
	for i := s.skipBlank(at); i < len(src); {
		word := identRE.Find(src[i:])
		if len(word) == 0 {
			n := joiner(src[i:])
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
		joined, i = false, s.skipBlank(next) // behind the word template, too: the next name has it
	}
	return offset, ok
}

// joiner returns the length of the ::, . or -> that a text begins with; 0 if there is none.
func joiner(src []byte) int {
	for _, j := range []string{"::", "->", "."} {
		if bytes.HasPrefix(src, []byte(j)) {
			return len(j)
		}
	}
	return 0
}

// joins returns the length of the ::, . or -> that a text ends with, before white space; 0 if there
// is none.
func joins(src []byte) int {
	src = bytes.TrimRight(src, " \t\r\n")
	for _, j := range []string{"::", "->", "."} {
		if bytes.HasSuffix(src, []byte(j)) {
			return len(j)
		}
	}
	return 0
}

// behindArguments returns the offset behind the template argument list that begins at an offset; -1
// if there is none.
func (s *declScanner) behindArguments(i int) int {
	depth := 0
	for i < len(s.src) {
		if j := s.skipBlank(i); j > i {
			i = j
			continue
		}
		switch c := s.src[i]; {
		case c == '"' || c == '\'':
			i = s.skipQuoted(i)
			continue
		case c == '(' || c == '[' || c == '{':
			end := s.skipTo(i+1, string(")]}"[bytes.IndexByte([]byte("([{"), c)]))
			if end < 0 {
				return -1
			}
			i = end
		case c == '<':
			depth++
		case c == '>' && (i == 0 || s.src[i-1] != '-'):
			if depth--; depth == 0 {
				return i + 1
			}
		case c == ';' || c == ')' || c == ']' || c == '}':
			return -1
		}
		i++
	}
	return -1
}
