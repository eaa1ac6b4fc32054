package lower

import (
	"bytes"
	"strings"

	"heddle/internal/lazyregexp"
)

// This file finds the extent of declarations at namespace and class scope in C++ text, and of
// statements in function bodies, without parsing C++. It need not be exact: the result of an edit
// is compiled again, and the preprocessor decides whether code is device code.

// declaration is a range of the source, as byte offsets. bodyStart and bodyEnd enclose the body of
// a function without its braces; both are -1 if there is no body.
type declaration struct {
	start, end         int
	bodyStart, bodyEnd int
}

// headEnd returns the end of the part that can contain __device__: the start of the body, else the
// end.
func (d declaration) headEnd() int {
	if d.bodyStart >= 0 {
		return d.bodyStart
	}
	return d.end
}

// declAt returns the innermost declaration that contains an offset.
func declAt(src []byte, off int) (declaration, bool) {
	s := &declScanner{src: src}
	for i := 0; i < len(src); {
		d, next, ok := s.next(i)
		if ok && off >= d.start && off < d.end {
			return d, true
		}
		if next <= i {
			break
		}
		i = next
	}
	return declaration{}, false
}

// classAt returns the class with an offset in its head: up to its semicolon, with its members as the
// body. ok is false if it is in none, or if the definition declares variables too.
func classAt(src []byte, off int) (d declaration, ok bool) {
	s := &declScanner{src: src}
	walkDecls(src, func(head declaration, _ []string) {
		if off < head.start || off >= head.end || head.end >= len(src) || src[head.end] != '{' {
			return
		}
		if end := s.skipBlank(s.matching(head.end)); end < len(src) && src[end] == ';' {
			d, ok = declaration{head.start, end + 1, head.end + 1, end}, true
		}
	})
	return d, ok
}

// walkDecls calls visit for each declaration at namespace and class scope, and for the head of each
// class, with the names of the classes that contain it, outermost first.
func walkDecls(src []byte, visit func(d declaration, classes []string)) {
	s := &declScanner{src: src}
	var classes []string
	var isClass []bool // for each enclosing scope
	leave := func() {
		if n := len(isClass); n > 0 {
			if isClass[n-1] {
				classes = classes[:len(classes)-1]
			}
			isClass = isClass[:n-1]
		}
	}
	for i := 0; i < len(src); {
		d, next, ok := s.next(i)
		if next <= i {
			break
		}
		switch {
		case ok:
			visit(d, classes)
			if d.end < next {
				leave()
			}
		case src[next-1] == '}':
			leave()
		case src[next-1] == '{':
			start := s.skipBlank(i)
			head := stripTemplate(strings.TrimSpace(string(src[start : next-1])))
			isClass = append(isClass, classRE.MatchString(head))
			if classRE.MatchString(head) {
				classes = append(classes, className(head))
				visit(declaration{start, next - 1, -1, -1}, classes)
			}
		}
		i = next
	}
}

// className returns the name of the class with a head; "" if it has none, or if it has another one
// after its definition, by typedef.
func className(head string) string {
	if m := namedTypeRE.FindStringSubmatch(head); m != nil && !strings.HasPrefix(head, "typedef") {
		return m[1]
	}
	return ""
}

// classRE matches the head of a class.
var classRE = lazyregexp.New(`^(typedef\s+)?(class|struct|union)\b`)

// declScanner scans C++ text. Its methods take and return byte offsets.
type declScanner struct{ src []byte }

// next returns the declaration that starts at or after i, and the offset to continue at. ok is
// false if it entered or left a scope instead.
func (s *declScanner) next(i int) (d declaration, next int, ok bool) {
	i = s.skipBlank(i)
	if i >= len(s.src) {
		return d, i, false
	}
	if c := s.src[i]; c == '}' || c == ';' {
		return d, i + 1, false
	}
	d = declaration{start: i, bodyStart: -1, bodyEnd: -1}
	for depth := 0; i < len(s.src); {
		if j := s.skipInert(i); j > i {
			i = j
			continue
		}
		switch c := s.src[i]; {
		case c == '(' || c == '[':
			depth++
		case c == ')' || c == ']':
			depth--
		case c == ';' && depth <= 0:
			d.end = i + 1
			return d, i + 1, true
		case c == '}' && depth <= 0: // end of the enclosing scope
			d.end = i
			return d, i + 1, true
		case c == ':' && depth <= 0 && s.accessLabel(d.start, i):
			return d, i + 1, false
		case c == '{' && depth <= 0:
			head := string(s.src[d.start:i])
			if isScope(head) {
				return d, i + 1, false
			}
			end := s.matching(i)
			after := s.skipBlank(end)
			isBody := isFunctionHead(head) &&
				!(after < len(s.src) && (s.src[after] == ',' || s.src[after] == '{'))
			if isBody {
				d.bodyStart, d.bodyEnd, d.end = i+1, end-1, end
				return d, end, true
			}
			i = end
			continue
		case c == '{':
			i = s.matching(i)
			continue
		}
		i++
	}
	d.end = len(s.src)
	return d, d.end, true
}

// accessLabel distinguishes "public:" from "a::b" and from constructor initialisers.
func (s *declScanner) accessLabel(start, colon int) bool {
	switch strings.TrimSpace(string(s.src[start:colon])) {
	case "public", "private", "protected":
		return true
	}
	return false
}

// isScope reports whether head, the text before a brace, opens a namespace, linkage block or class,
// whose declarations are scanned individually. The head of a function can start with "struct" too
// (its result type), but ends in a parenthesis or in a qualifier after one.
func isScope(head string) bool {
	h := stripTemplate(strings.TrimSpace(head))
	if strings.HasPrefix(h, "extern") && strings.HasSuffix(h, `"`) {
		return true
	}
	if alignedClassRE.MatchString(h) {
		return true
	}
	if h == "" || functionTailRE.MatchString(h) {
		return false
	}
	return scopeRE.MatchString(h)
}

// alignedClassRE matches the head of a class without a name whose attribute looks like a parameter
// list, as in "typedef struct __align__(16)". A function is no typedef, and has no such name.
var alignedClassRE = lazyregexp.New(`^(typedef\s+(class|struct|union)\b|(class|struct|union)\s+` +
	`(__align__|__builtin_align__|__attribute__|alignas|__declspec)\s*\([^{}]*\)$)`)

// Parts of the text before a brace.
var (
	operatorRE = lazyregexp.New(`operator\s*[^\s\w(]+`)
	scopeRE    = lazyregexp.New(
		`^(inline\s+)?namespace\b|^(typedef\s+)?(class|struct|union)\b`)
	functionTailRE = lazyregexp.New(`(=|\)\s*(const|noexcept|override|final|volatile|&|\s)*)$`)
)

// stripTemplate removes leading template<...> clauses.
func stripTemplate(h string) string {
	for strings.HasPrefix(h, "template") {
		i := strings.IndexByte(h, '<')
		if i < 0 {
			return h
		}
		_, after := bracketed(h[i:])
		h = strings.TrimSpace(after)
	}
	return h
}

// isFunctionHead reports whether head, the text before a brace, is the declarator of a function: it
// has a parameter list and no initialiser.
func isFunctionHead(head string) bool {
	if !strings.Contains(head, ")") {
		return false
	}
	h := operatorRE.ReplaceAllString(head, "")
	depth := 0
	for i := range len(h) {
		switch h[i] {
		case '(', '[', '<':
			depth++
		case ')', ']', '>':
			depth--
		case '=':
			if depth == 0 && (i == 0 || h[i-1] != '=' && h[i-1] != '!') {
				return false
			}
		}
	}
	return true
}

// statementAt returns the statement of a body that contains an offset: from the previous boundary
// to its semicolon or to the end of its block. For an error in the condition of an if or for, that
// includes the block after it.
func statementAt(src []byte, d declaration, off int) (start, end int) {
	s := &declScanner{src: src[:d.bodyEnd]}
	start = d.bodyStart
	depth := 0
	i := d.bodyStart
	for i < d.bodyEnd {
		if j := s.skipInert(i); j > i {
			i = j
			continue
		}
		switch c := src[i]; {
		case c == '(' || c == '[':
			depth++
		case c == ')' || c == ']':
			depth--
		case depth == 0 && c == '{' && s.initialiser(i):
			i = s.matching(i)
			continue
		case depth == 0 && c == '{' && i > off:
			return s.skipBlank(start), s.matching(i)
		case depth == 0 && (c == '{' || c == '}'):
			if i >= off {
				return s.skipBlank(start), i
			}
			start = i + 1
		case depth == 0 && c == ';':
			if i >= off {
				return s.skipBlank(start), i + 1
			}
			start = i + 1
		}
		i++
	}
	return s.skipBlank(start), d.bodyEnd
}

// initialiser reports whether the brace at i opens an initialiser list: it follows an equals sign,
// a name, a bracket or a template argument list.
func (s *declScanner) initialiser(i int) bool {
	before := bytes.TrimRight(s.src[:i], " \t\r\n")
	if len(before) == 0 {
		return false
	}
	c := before[len(before)-1]
	if c == '=' || c == ']' || c == '>' {
		return true
	}
	if !isWordByte(c) {
		return false
	}
	return !bytes.HasSuffix(before, []byte("else")) && !bytes.HasSuffix(before, []byte("do")) &&
		!bytes.HasSuffix(before, []byte("try"))
}

// skipBlank skips white space, comments and preprocessor lines.
func (s *declScanner) skipBlank(i int) int {
	for i < len(s.src) {
		switch c := s.src[i]; {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			i++
		case c == '/' && i+1 < len(s.src) && s.src[i+1] == '/':
			i = s.lineEnd(i)
		case c == '/' && i+1 < len(s.src) && s.src[i+1] == '*':
			j := bytes.Index(s.src[i+2:], []byte("*/"))
			if j < 0 {
				return len(s.src)
			}
			i += j + 4
		case c == '#' && s.startsLine(i):
			i = s.lineEnd(i)
		default:
			return i
		}
	}
	return i
}

// startsLine reports whether only white space precedes offset i on its line.
func (s *declScanner) startsLine(i int) bool {
	for i--; i >= 0; i-- {
		switch s.src[i] {
		case '\n':
			return true
		case ' ', '\t':
		default:
			return false
		}
	}
	return true
}

// lineEnd returns the offset after a logical line; a backslash at the end of a line joins it with
// the next.
func (s *declScanner) lineEnd(i int) int {
	for i < len(s.src) {
		if s.src[i] == '\n' {
			line := bytes.TrimRight(s.src[:i], "\r")
			if len(line) == 0 || line[len(line)-1] != '\\' {
				return i + 1
			}
		}
		i++
	}
	return i
}

// skipInert skips what skipBlank does, or else a literal in quotes.
func (s *declScanner) skipInert(i int) int {
	if j := s.skipBlank(i); j > i || j >= len(s.src) || s.src[j] != '"' && s.src[j] != '\'' {
		return j
	}
	return s.skipQuoted(i)
}

// skipQuoted skips a string, a raw string (after its R) or a character literal, or a single digit
// separator.
func (s *declScanner) skipQuoted(i int) int {
	q := s.src[i]
	if q == '\'' && i > 0 && s.src[i-1] >= '0' && s.src[i-1] <= '9' {
		return i + 1
	}
	if q == '"' && i > 0 && s.src[i-1] == 'R' {
		if open := bytes.IndexByte(s.src[i:], '('); open > 0 && open <= 17 {
			end := append([]byte{')'}, s.src[i+1:i+open]...)
			end = append(end, '"')
			if j := bytes.Index(s.src[i:], end); j >= 0 {
				return i + j + len(end)
			}
			return len(s.src)
		}
	}
	for i++; i < len(s.src); i++ {
		switch s.src[i] {
		case '\\':
			i++
		case q:
			return i + 1
		case '\n':
			return i // unterminated: the line ends it
		}
	}
	return len(s.src)
}

// matching returns the offset after the brace that closes the one at i.
func (s *declScanner) matching(i int) int {
	depth := 0
	for i < len(s.src) {
		if j := s.skipInert(i); j > i {
			i = j
			continue
		}
		switch s.src[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return len(s.src)
}

// blanked returns src with [start, end) replaced by spaces. Line breaks and preprocessor lines
// stay, so that positions and the nesting of #if do not change.
func blanked(src []byte, start, end int) []byte {
	out := append([]byte(nil), src...)
	s := &declScanner{src: src}
	for i := start; i < end; {
		if src[i] == '#' && s.startsLine(i) {
			i = s.lineEnd(i)
			continue
		}
		if src[i] != '\n' {
			out[i] = ' '
		}
		i++
	}
	return out
}

// launchedKernel returns `name<args>` of a launch `name<args><<<...>>>` in a statement; "" if there
// is none or it has no template arguments.
func launchedKernel(stmt string) string {
	before, _, ok := strings.Cut(stmt, "<<<")
	if !ok {
		return ""
	}
	before = strings.TrimRight(before, " \t\r\n")
	if !strings.HasSuffix(before, ">") {
		return ""
	}
	i, depth := len(before)-1, 0
	for ; i >= 0; i-- {
		if before[i] == '>' {
			depth++
		} else if before[i] == '<' {
			if depth--; depth == 0 {
				break
			}
		}
	}
	j := i
	for j > 0 && (isWordByte(before[j-1]) || before[j-1] == ':') {
		j--
	}
	if i <= 0 || j == i {
		return ""
	}
	return strings.Join(strings.Fields(before[j:]), " ")
}
