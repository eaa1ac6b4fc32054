package ptx

import (
	"fmt"
	"strconv"
)

// list writes operands with commas.
func (p *printer) list(ops []Operand) {
	for i, x := range ops {
		if i > 0 {
			p.text(", ")
		}
		p.expr(x)
	}
}

func (p *printer) expr(x Operand) {
	switch x := x.(type) {
	case *Name:
		p.text(x.Name)
		if x.Field != "" {
			p.text(".", x.Field)
		}
	case *Int:
		p.intLit(x)
	case *Float:
		p.floatLit(x)
	case *String:
		p.b = appendQuoted(p.b, x.Val)
	case *Vector:
		p.brackets("{", x.Elems, "}")
	case *Paren:
		p.brackets("(", x.Elems, ")")
	case *Mem:
		p.brackets("[", x.Elems, "]")
		if x.Field != "" {
			p.text(".", x.Field)
		}
	case *Unary:
		p.unary(x)
	case *Binary:
		p.binary(x)
	case *Pair:
		p.expr(x.X)
		p.text("|")
		p.expr(x.Y)
	case *Index:
		p.expr(x.X)
		p.text("[")
		p.expr(x.I)
		p.text("]")
	case *Range:
		p.text(x.Name, "<")
		p.int(x.N)
		p.text(">")
	}
}

func (p *printer) brackets(open string, elems []Operand, end string) {
	p.text(open)
	p.list(elems)
	p.text(end)
}

// intLit writes an integer as it was written, or in decimal if it was made otherwise.
func (p *printer) intLit(x *Int) {
	if x.Text != "" {
		p.text(x.Text)
		return
	}
	p.b = strconv.AppendUint(p.b, x.Val, 10)
	if x.Unsigned {
		p.text("U")
	}
}

func (p *printer) floatLit(x *Float) {
	switch {
	case x.Text != "":
		p.text(x.Text)
	case x.Single:
		p.b = fmt.Appendf(p.b, "0f%08X", uint32(x.Bits))
	default:
		p.b = fmt.Appendf(p.b, "0d%016X", x.Bits)
	}
}

// unary writes -x, (.u64)x, generic(x) or 0xff(x).
func (p *printer) unary(x *Unary) {
	p.text(x.Op)
	if class[x.Op[0]]&cWord != 0 {
		p.text("(")
		p.expr(x.X)
		p.text(")")
		return
	}
	p.inParens(x.X, precOf(x.X) < unaryPrec)
}

// unaryPrec is the precedence of everything that is not a Binary.
const unaryPrec = 12

// precOf returns the precedence of the outermost operator.
func precOf(x Operand) uint8 {
	b, ok := x.(*Binary)
	if !ok {
		return unaryPrec
	}
	if b.Op == "?:" {
		return precedence[tQuest]
	}
	for k, text := range kindText {
		if text == b.Op {
			return precedence[k]
		}
	}
	return 0
}

// binary writes an expression. The parser keeps parentheses as nodes; a tree that was made otherwise gets
// those that it needs.
func (p *printer) binary(x *Binary) {
	prec := precOf(x)
	if x.Op == "?:" {
		p.inParens(x.X, precOf(x.X) <= prec)
		p.text(" ? ")
		p.expr(x.Y)
		p.text(" : ")
		p.expr(x.Z)
		return
	}
	p.inParens(x.X, precOf(x.X) < prec)
	if (x.Op == "+" || x.Op == "-") && precOf(x.X) == unaryPrec && precOf(x.Y) == unaryPrec {
		p.text(x.Op) // as in addresses
	} else {
		p.text(" ", x.Op, " ")
	}
	p.inParens(x.Y, precOf(x.Y) <= prec)
}

func (p *printer) inParens(x Operand, parens bool) {
	if parens {
		p.text("(")
	}
	p.expr(x)
	if parens {
		p.text(")")
	}
}
