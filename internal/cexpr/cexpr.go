// Package cexpr finds the C expression at a position of debug information, for messages that name
// what a thread accesses as the user wrote it: `tile[t + s]`.
//
// A position is that of one token: the first of a subscript or a call, the name of a member, the
// operator of an assignment. In flow the text of a line and a column, out flow the columns of the
// expression. Only one line is read, by tokens: macros, template arguments and operators of classes
// are not known, and an expression that goes on in the next line is not found. A result is for
// people; nothing may depend on it.
package cexpr

import "strings"

// Load returns the expression that reads at column col (from 1) of a line, as the half-open range
// of columns [from, to). ok is false if there is none that this package understands.
func Load(line string, col int) (from, to int, ok bool) {
	i := col - 1
	if i < 0 || i >= len(line) {
		return 0, 0, false
	}
	if op := operator(line[i:]); op != "" && op != "=" {
		return Store(line, col) // which reads the operand too
	}
	start, at := i, i
	switch c := line[i]; {
	case isName(c):
		if start, ok = owner(line, i); !ok {
			return 0, 0, false
		}
		at = nameEnd(line, i)
		for strings.HasPrefix(line[at:], "::") {
			at = nameEnd(line, at+2)
		}
	case c == '*' || c == '&':
		for at < len(line) && (line[at] == '*' || line[at] == '&') {
			at++
		}
		switch {
		case at < len(line) && isName(line[at]) && !isDigit(line[at]):
			at = nameEnd(line, at)
		case at < len(line) && line[at] == '(':
			if at, ok = closing(line, at); !ok {
				return 0, 0, false
			}
		default:
			return 0, 0, false
		}
	case c == '(':
		if at, ok = closing(line, i); !ok {
			return 0, 0, false
		}
	case c == '[': // of a subscript, as some compilers have it
		if start, ok = operandBefore(line, i, false); !ok {
			return 0, 0, false
		}
		at = i
	default:
		return 0, 0, false
	}
	at, ok = suffixes(line, at)
	return start + 1, at + 1, ok && (at > start+1 || isName(line[start]))
}

// most bounds the bytes of an expression in a message.
const most = 60

// Access is Store or Load for an expression that is short enough for a message.
func Access(line string, col int, written bool) (from, to int, ok bool) {
	find := Load
	if written {
		find = Store
	}
	from, to, ok = find(line, col)
	return from, to, ok && to-from <= most
}

// Store returns the expression that is written at column col of a line: the operand before an
// assignment operator, or next to ++ or --; else it is Load.
func Store(line string, col int) (from, to int, ok bool) {
	i := col - 1
	if i < 0 || i >= len(line) {
		return 0, 0, false
	}
	op := operator(line[i:])
	switch {
	case op == "":
		return Load(line, col)
	case op == "++" || op == "--":
		next := i + 2
		if next < len(line) && (isName(line[next]) || line[next] == '*' || line[next] == '(') {
			if before := strings.TrimRight(line[:i], " \t"); before == "" || !endsOperand(before) {
				return Load(line, next+1)
			}
		}
	}
	end := len(strings.TrimRight(line[:i], " \t"))
	start, ok := operandBefore(line, end, op != "++" && op != "--")
	return start + 1, end + 1, ok
}

// operator returns the assignment operator, ++ or -- at the start of a text; empty if there is none.
func operator(text string) string {
	for _, op := range []string{"<<=", ">>=", "++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^="} {
		if strings.HasPrefix(text, op) {
			return op
		}
	}
	if text[0] == '=' && !strings.HasPrefix(text, "==") {
		return "="
	}
	return ""
}

// endsOperand reports whether a text ends with a name or a closing bracket.
func endsOperand(text string) bool {
	c := text[len(text)-1]
	return isName(c) || c == ']' || c == ')'
}

// operandBefore returns the start of the postfix expression that ends at end, with the * before it:
// `*p`, `s.a[i]`, `f(x)[2]`. What is assigned is no product, so a * before it dereferences it.
func operandBefore(line string, end int, assigned bool) (start int, ok bool) {
	i := end
	for i > 0 && (line[i-1] == ']' || line[i-1] == ')') {
		if i, ok = opening(line, i-1); !ok {
			return 0, false
		}
	}
	switch {
	case i > 0 && isName(line[i-1]):
		for i > 0 && isName(line[i-1]) {
			i--
		}
		if i, ok = owner(line, i); !ok {
			return 0, false
		}
	case i == end || line[i] != '(':
		return 0, false
	}
	for i > 0 && line[i-1] == '*' && (assigned || !isProduct(line[:i-1])) {
		i--
	}
	return i, !isDigit(line[i])
}

// isProduct reports whether an operand ends before a *.
func isProduct(before string) bool {
	before = strings.TrimRight(before, " \t*")
	return before != "" && endsOperand(before) && !strings.HasSuffix(before, "return")
}

// owner returns the start of the expression of which the name at i is a member, or of the scope that
// it is in: that of `s.p->y` for the y. It is i if there is none.
func owner(line string, i int) (start int, ok bool) {
	for {
		switch {
		case i >= 2 && (line[i-2:i] == "->" || line[i-2:i] == "::"):
			if i -= 2; i > 0 && line[i-1] == '>' {
				return 0, false // template arguments
			}
		case i >= 1 && line[i-1] == '.':
			i--
		default:
			return i, true
		}
		for i > 0 && (line[i-1] == ']' || line[i-1] == ')') {
			if i, ok = opening(line, i-1); !ok {
				return 0, false
			}
		}
		for i > 0 && isName(line[i-1]) {
			i--
		}
	}
}

// suffixes returns the end of the subscripts, calls and members after at.
func suffixes(line string, at int) (end int, ok bool) {
	for at < len(line) {
		switch {
		case line[at] == '[' || line[at] == '(':
			if at, ok = closing(line, at); !ok {
				return 0, false
			}
		case line[at] == '.' && at+1 < len(line) && isName(line[at+1]):
			at = nameEnd(line, at+1)
		case strings.HasPrefix(line[at:], "->") && at+2 < len(line) && isName(line[at+2]):
			at = nameEnd(line, at+2)
		default:
			return at, true
		}
	}
	return at, true
}

// closing returns the offset after the bracket that closes the one at i.
func closing(line string, i int) (end int, ok bool) {
	depth := 0
	for ; i < len(line); i++ {
		switch line[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth == 0 {
				return i + 1, true
			}
		case '"', '\'', '/':
			if line[i] != '/' || i+1 < len(line) && line[i+1] == '/' {
				return 0, false // literals and comments are rare in subscripts
			}
		}
	}
	return 0, false
}

// opening returns the offset of the bracket that the one at i closes.
func opening(line string, i int) (start int, ok bool) {
	depth := 0
	for ; i >= 0; i-- {
		switch line[i] {
		case ')', ']', '}':
			depth++
		case '(', '[', '{':
			if depth--; depth == 0 {
				return i, true
			}
		case '"', '\'':
			return 0, false
		}
	}
	return 0, false
}

// nameEnd returns the end of the name at i.
func nameEnd(line string, i int) int {
	for i < len(line) && isName(line[i]) {
		i++
	}
	return i
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// isName reports whether c can be in a name.
func isName(c byte) bool {
	return c == '_' || isDigit(c) || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80
}
