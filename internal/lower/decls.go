package lower

import (
	"bytes"
	"strings"
)

// A light reading of C++: where declarations at namespace and class scope begin and end, and where the
// statements of a function's body do. It need not be exact: what it decides is tried by compiling again,
// and whether code is device code is asked of the preprocessor, not of this text.

// declaration is a range of the source. bodyStart and bodyEnd enclose a function's body, braces excluded;
// both are -1 without one.
type declaration struct {
	start, end         int
	bodyStart, bodyEnd int
}

// headEnd is where what may carry __device__ ends: at the body, else at the end.
func (d declaration) headEnd() int {
	if d.bodyStart >= 0 {
		return d.bodyStart
	}
	return d.end
}

// declAt finds the innermost declaration at or around an offset.
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

type declScanner struct{ src []byte }

// next reads the declaration that starts at or after i. ok is false where a scope was entered or left.
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
		if j := s.skipBlank(i); j > i {
			i = j
			continue
		}
		switch c := s.src[i]; {
		case c == '"' || c == '\'':
			i = s.skipQuoted(i)
			continue
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
			isBody := isFunctionHead(head) && !(after < len(s.src) && (s.src[after] == ',' || s.src[after] == '{'))
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

// accessLabel tells "public:" from "a::b" and from constructor initialisers.
func (s *declScanner) accessLabel(start, colon int) bool {
	switch strings.TrimSpace(string(s.src[start:colon])) {
	case "public", "private", "protected":
		return true
	}
	return false
}

// isScope reports heads of namespaces, linkage blocks and classes, whose declarations are looked at one
// by one.
func isScope(head string) bool {
	h := strings.TrimSpace(head)
	if strings.HasSuffix(h, ")") || strings.HasSuffix(h, "=") {
		return false
	}
	h = strings.TrimSpace(stripTemplate(h))
	for _, kw := range []string{"namespace", "inline namespace", "class", "struct", "union", "typedef struct", "typedef union"} {
		if h == kw || strings.HasPrefix(h, kw) && !isSymbolByte(h[len(kw)]) {
			return !strings.Contains(h, "(") || !strings.HasPrefix(h, "struct") && !strings.HasPrefix(h, "class") || !strings.Contains(h[strings.Index(h, "("):], ") const")
		}
	}
	return strings.HasPrefix(h, "extern") && strings.HasSuffix(h, `"`)
}

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

// isFunctionHead reports whether what stands before a brace is a function's declarator: it has a
// parameter list and no initialiser.
func isFunctionHead(head string) bool {
	if !strings.Contains(head, ")") {
		return false
	}
	h := strings.ReplaceAll(head, "operator=", "")
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

// statementAt returns the statement of a body around an offset: from the last boundary to the semicolon,
// or to the end of the block that it has.
func statementAt(src []byte, d declaration, off int) (start, end int) {
	s := &declScanner{src: src[:d.bodyEnd]}
	start = d.bodyStart
	depth := 0
	i := d.bodyStart
	for i < d.bodyEnd {
		if j := s.skipBlank(i); j > i {
			i = j
			continue
		}
		switch c := src[i]; {
		case c == '"' || c == '\'':
			i = s.skipQuoted(i)
			continue
		case c == '(' || c == '[':
			depth++
		case c == ')' || c == ']':
			depth--
		case depth == 0 && c == '{' && i > off:
			return s.skipBlank(start), s.matching(i)
		case depth == 0 && c == '{' && s.initialiser(i):
			i = s.matching(i)
			continue
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

// initialiser reports whether a brace opens an initialiser list: it follows an equals sign, a name, a
// bracket or a template argument list.
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
	return !bytes.HasSuffix(before, []byte("else")) && !bytes.HasSuffix(before, []byte("do")) && !bytes.HasSuffix(before, []byte("try"))
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

// lineEnd returns the end of a logical line: a backslash joins it with the next.
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

// skipQuoted skips a string, a raw string (its R precedes) or a character; a digit separator is none.
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
		if j := s.skipBlank(i); j > i {
			i = j
			continue
		}
		switch s.src[i] {
		case '"', '\'':
			i = s.skipQuoted(i)
			continue
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

// blanked returns src with [start, end) turned into spaces. Line ends and preprocessor lines stay, so that
// positions and #if nesting do.
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

// launchedKernel returns `name<args>` of a launch `name<args><<<...>>>` in a statement; "" if there is none
// or it has no template arguments.
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
