package syntax

import "bytes"

// text is a source text, read as far as clang's tree leaves open: where a semicolon is, what a line holds beside.
type text []byte

// skipBlank returns the offset of the next byte that is neither white space nor in a comment. A line that continues in
// the next is one line.
func (t text) skipBlank(i int) int {
	for i < len(t) {
		switch c := t[i]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v':
			i++
		case t.splice(i) > 0:
			i += t.splice(i)
		case bytes.HasPrefix(t[i:], []byte("//")), bytes.HasPrefix(t[i:], []byte("/*")):
			i = t.skipComment(i)
		default:
			return i
		}
	}
	return i
}

// splice returns the length of a backslash with its line break at i; 0 if there is none.
func (t text) splice(i int) int {
	switch {
	case t[i] != '\\':
	case bytes.HasPrefix(t[i+1:], []byte("\n")):
		return 2
	case bytes.HasPrefix(t[i+1:], []byte("\r\n")):
		return 3
	}
	return 0
}

// skipComment returns the offset behind the comment at i; of a line comment, that of the line break.
func (t text) skipComment(i int) int {
	if t[i+1] == '*' {
		end := bytes.Index(t[i+2:], []byte("*/"))
		if end < 0 {
			return len(t)
		}
		return i + 2 + end + 2
	}
	for i < len(t) && t[i] != '\n' {
		i += max(1, t.splice(i))
	}
	return i
}

// skipToken returns the offset behind the token at i; what is no literal and no word is a byte.
func (t text) skipToken(i int) int {
	switch c := t[i]; {
	case c == '"' || c == '\'':
		return t.skipLiteral(i)
	case isWord(c):
		j := i
		for j < len(t) && (isWord(t[j]) || t[j] == '\'' && j+1 < len(t) && isWord(t[j+1]) && c >= '0' && c <= '9') {
			j++
		}
		if j < len(t) && t[j] == '"' && isRaw(string(t[i:j])) {
			return t.skipRaw(j)
		}
		return j
	}
	return i + 1
}

func isWord(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

func isRaw(prefix string) bool {
	switch prefix {
	case "R", "LR", "uR", "UR", "u8R":
		return true
	}
	return false
}

func (t text) skipLiteral(i int) int {
	quote := t[i]
	for i++; i < len(t) && t[i] != quote && t[i] != '\n'; i++ {
		if t[i] == '\\' {
			i++
		}
	}
	return min(i+1, len(t))
}

// skipRaw returns the offset behind a raw string, whose quote is at i.
func (t text) skipRaw(i int) int {
	open := bytes.IndexByte(t[i:], '(')
	if open < 0 {
		return len(t)
	}
	end := []byte(")" + string(t[i+1:i+open]) + "\"")
	at := bytes.Index(t[i:], end)
	if at < 0 {
		return len(t)
	}
	return i + at + len(end)
}

// behindArguments returns the offset behind the parentheses that follow i; i if none do.
func (t text) behindArguments(i int) int {
	at := t.skipBlank(i)
	if at == len(t) || t[at] != '(' {
		return i
	}
	depth := 0
	for at < len(t) {
		switch t[at] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return at + 1
			}
		}
		at = t.skipBlank(t.skipToken(at))
	}
	return i
}

// lastToken returns the offset behind the last token that begins in [from, to).
func (t text) lastToken(from, to int) int {
	end := from
	for i := t.skipBlank(from); i < to; i = t.skipBlank(end) {
		end = t.skipToken(i)
	}
	return end
}

// directive reports whether a line that begins in (from, to) is a preprocessor directive.
func (t text) directive(from, to int) bool {
	for i := from; i < to; i++ {
		if t[i] != '\n' {
			continue
		}
		j := i + 1
		for j < to && (t[j] == ' ' || t[j] == '\t') {
			j++
		}
		if j < to && t[j] == '#' {
			return true
		}
	}
	return false
}

// inDirective reports whether i is in the line of a preprocessor directive, as the place of a #pragma is.
func (t text) inDirective(i int) bool {
	start := t.lineStart(i)
	for start < i && (t[start] == ' ' || t[start] == '\t') {
		start++
	}
	return t[start] == '#'
}

// lineStart returns the offset of the first byte of the line that i is in.
func (t text) lineStart(i int) int { return bytes.LastIndexByte(t[:i], '\n') + 1 }

// lineEnd returns the offset of the line break of the line that i is in, or of the end of the text.
func (t text) lineEnd(i int) int {
	end := bytes.IndexByte(t[i:], '\n')
	if end < 0 {
		return len(t)
	}
	if i+end > i && t[i+end-1] == '\r' {
		end--
	}
	return i + end
}

// nextLine returns the offset of the line after the one that i is in.
func (t text) nextLine(i int) int {
	end := bytes.IndexByte(t[i:], '\n')
	if end < 0 {
		return len(t)
	}
	return i + end + 1
}

// indent returns the white space at the beginning of the line that i is in.
func (t text) indent(i int) string {
	start := t.lineStart(i)
	end := start
	for end < len(t) && (t[end] == ' ' || t[end] == '\t') {
		end++
	}
	return string(t[start:end])
}

// first reports whether nothing but white space stands before i in its line.
func (t text) first(i int) bool { return len(bytes.TrimLeft(t[t.lineStart(i):i], " \t")) == 0 }

// last reports whether nothing but white space and whole comments stands behind i in its line.
func (t text) last(i int) bool {
	end := t.lineEnd(i)
	for i < end {
		switch {
		case t[i] == ' ' || t[i] == '\t':
			i++
		case bytes.HasPrefix(t[i:], []byte("//")):
			return t[end-1] != '\\'
		case bytes.HasPrefix(t[i:], []byte("/*")):
			i = t.skipComment(i)
		default:
			return false
		}
	}
	return i == end
}

// lineBreak returns the line break that the text uses.
func (t text) lineBreak() string {
	if i := bytes.IndexByte(t, '\n'); i > 0 && t[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}
