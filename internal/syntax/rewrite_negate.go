package syntax

import "strings"

// opposite maps a comparison to the one that is true if it is false. That is so for integers and
// pointers: no comparison of a NaN is true, except for inequality.
var opposite = map[string]string{"<": ">=", ">=": "<", ">": "<=", "<=": ">", "==": "!=",
	"!=": "=="}

// not returns the negation of a condition, given as a node and its text on one line.
func (w *rewriter) not(n *node, text string) string {
	if s, ok := w.opposed(n); ok {
		return s
	}
	if s := operand(text); s == text {
		return "!" + s
	}
	return "!(" + text + ")"
}

// opposed returns the text of the negation of a condition, if it needs no operator for it.
func (w *rewriter) opposed(n *node) (string, bool) {
	for n.kind == "ParenExpr" && len(n.kids) == 1 {
		n = n.kids[0]
	}
	switch {
	case n.kind == "UnaryOperator" && n.op == "!":
		s, ok := w.source(n.kids[0])
		for i := n.kids[0]; i.kind == "ParenExpr" && ok; {
			i = i.kids[0]
			s, ok = w.source(i)
		}
		return s, ok
	case n.kind != "BinaryOperator" || len(n.kids) != 2:
		return "", false
	}
	left, right := n.kids[0], n.kids[1]
	if n.op == "||" {
		a, ok1 := w.opposed(left)
		b, ok2 := w.opposed(right)
		return factor(a) + " && " + factor(b), ok1 && ok2
	}
	op := opposite[n.op]
	if op == "" || !w.integral(left) || !w.integral(right) {
		return "", false
	}
	a, ok1 := w.source(left)
	b, ok2 := w.source(right)
	return a + " " + op + " " + b, ok1 && ok2
}

// source returns the text of an expression on one line, if it is plain text.
func (w *rewriter) source(n *node) (string, bool) {
	if !w.b.plain(n.begin) || !w.b.here(n.end) {
		return "", false
	}
	end := n.end.offset + n.end.size
	if n.end.macro {
		end = w.b.text.behindArguments(end)
	}
	if end <= n.begin.offset {
		return "", false
	}
	s := string(w.b.text[n.begin.offset:end])
	if strings.ContainsAny(s, "#\"'") || strings.Contains(s, "//") || strings.Contains(s, "/*") {
		return "", false
	}
	return strings.Join(strings.Fields(s), " "), true
}

// integral reports whether an expression is known to be an integer.
func (w *rewriter) integral(n *node) bool {
	switch n.kind {
	case "IntegerLiteral", "CharacterLiteral", "CXXBoolLiteralExpr", "PseudoObjectExpr":
		return true
	case "ParenExpr", "ConstantExpr":
		return len(n.kids) == 1 && w.integral(n.kids[0])
	case "ImplicitCastExpr":
		switch n.cast {
		case "IntegralCast", "FloatingToIntegral", "BooleanToSignedIntegral":
			return true
		case "LValueToRValue", "NoOp":
			return len(n.kids) == 1 && w.integral(n.kids[0])
		}
		return false
	case "DeclRefExpr", "BinaryOperator", "UnaryOperator":
		return isInteger(n.typ)
	}
	return false
}

// isInteger reports whether the name of a type is that of an integer.
func isInteger(typ string) bool {
	words := strings.Fields(typ)
	for _, word := range words {
		switch word {
		case "float", "double", "half", "*":
			return false
		case "const", "__private":
		default:
			if !isArithmetic(word) || strings.HasSuffix(word, "*") {
				return false
			}
		}
	}
	return len(words) > 0
}
