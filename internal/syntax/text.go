package syntax

import (
	"bytes"

	"heddle/internal/lazyregexp"
)

// text is a source text. Its methods answer what clang's tree does not say: where semicolons,
// comments, directives and line breaks are.
type text []byte

// skipBlank returns the offset of the next byte that is neither white space nor in a comment. A
// line that ends in a backslash continues on the next line.
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

// splice returns the length of the backslash and line break at i, and 0 if there is none.
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

// skipComment returns the offset after the comment at i. A line comment ends at its line break.
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

// skipToken returns the offset after the token at i: a literal, a word, or a single byte.
func (t text) skipToken(i int) int {
	switch c := t[i]; {
	case c == '"' || c == '\'':
		return t.skipLiteral(i)
	case isWord(c):
		j := i
		for j < len(t) && (isWord(t[j]) ||
			t[j] == '\'' && j+1 < len(t) && isWord(t[j+1]) && c >= '0' && c <= '9') {
			j++
		}
		if j < len(t) && t[j] == '"' && isRaw(string(t[i:j])) {
			return t.skipRaw(j)
		}
		return j
	}
	return i + 1
}

// isWord reports whether c belongs to an identifier or a number.
func isWord(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' ||
		c >= 'A' && c <= 'Z' || c >= 0x80
}

// isRaw reports whether a prefix of a quote makes the literal a raw string.
func isRaw(prefix string) bool {
	switch prefix {
	case "R", "LR", "uR", "UR", "u8R":
		return true
	}
	return false
}

// skipLiteral returns the offset after the string or character literal at i.
func (t text) skipLiteral(i int) int {
	quote := t[i]
	for i++; i < len(t) && t[i] != quote && t[i] != '\n'; i++ {
		if t[i] == '\\' {
			i++
		}
	}
	return min(i+1, len(t))
}

// skipRaw returns the offset after a raw string whose quote is at i.
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

// behindArguments returns the offset after the parenthesized list that follows i, and i if there is
// none.
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

// behindBrackets returns the offset after the parentheses or square brackets that open at i, and i
// if there are none.
func (t text) behindBrackets(i int) int {
	depth := 0
	for at := i; at < len(t); at = t.skipBlank(t.skipToken(at)) {
		switch t[at] {
		case '(', '[':
			depth++
		case ')', ']':
			if depth--; depth == 0 {
				return at + 1
			}
		}
		if depth == 0 {
			break
		}
	}
	return i
}

// ownBraces reports whether the opening brace of the block of a function that is nearest to an
// offset has its own line. Without a block, the branches and loops of the file decide, and if it has
// none, alone does: the brace of a function often has a line where that of an if has none.
func (t text) ownBraces(body *node, at int, alone bool) bool {
	nearest, own := -1, alone
	var walk func(n *node)
	walk = func(n *node) {
		for _, kid := range n.kids {
			brace := kid.begin.offset
			if kid.kind == "CompoundStmt" && n.kind != "CompoundStmt" && !kid.begin.macro &&
				brace > body.begin.offset && brace < body.end.offset && t[brace] == '{' {
				if d := max(brace-at, at-brace); nearest < 0 || d < nearest {
					nearest, own = d, t.first(brace)
				}
			}
			walk(kid)
		}
	}
	walk(body)
	if nearest < 0 {
		if m := headOfBlock.FindSubmatch(t); m != nil {
			return bytes.Contains(m[1], []byte("\n"))
		}
	}
	return own
}

// headOfBlock matches the head of an if or a loop, on one line, with what precedes its brace.
var headOfBlock = lazyregexp.New(`(?m)^[ \t]+(?:if|for|while)\b[^{};\n]*(?:;[^{}\n]*)?\)(\s*)\{`)

// comment reports whether a comment or a directive is in [from, to).
func (t text) comment(from, to int) bool {
	s := t[from:to]
	return bytes.Contains(s, []byte("//")) || bytes.Contains(s, []byte("/*")) ||
		t.directive(from, to)
}

// lastToken returns the offset after the last token that starts in [from, to).
func (t text) lastToken(from, to int) int {
	end := from
	for i := t.skipBlank(from); i < to; i = t.skipBlank(end) {
		end = t.skipToken(i)
	}
	return end
}

// directive reports whether a line that starts in (from, to) is a preprocessor directive.
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

// inDirective reports whether i is on the line of a preprocessor directive. clang places #pragma
// attributes there.
func (t text) inDirective(i int) bool {
	start := t.lineStart(i)
	for start < i && (t[start] == ' ' || t[start] == '\t') {
		start++
	}
	return t[start] == '#'
}

// lineStart returns the offset of the first byte of the line that contains i.
func (t text) lineStart(i int) int { return bytes.LastIndexByte(t[:i], '\n') + 1 }

// lineEnd returns the offset of the line break after i, or of the end of the text.
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

// nextLine returns the offset of the line after the one that contains i.
func (t text) nextLine(i int) int {
	end := bytes.IndexByte(t[i:], '\n')
	if end < 0 {
		return len(t)
	}
	return i + end + 1
}

// indent returns the white space at the start of the line that contains i.
func (t text) indent(i int) string {
	start := t.lineStart(i)
	end := start
	for end < len(t) && (t[end] == ' ' || t[end] == '\t') {
		end++
	}
	return string(t[start:end])
}

// first reports whether only white space precedes i on its line.
func (t text) first(i int) bool { return len(bytes.TrimLeft(t[t.lineStart(i):i], " \t")) == 0 }

// last reports whether only white space and complete comments follow i on its line.
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
