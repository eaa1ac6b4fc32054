package ptx

// list prints operands separated by commas.
func (p *printer) list(ops Operands) {
	for i, x := range ops.All() {
		if i > 0 {
			p.text(", ")
		}
		p.expr(x)
	}
}

// expr prints an operand.
func (p *printer) expr(x Operand) {
	switch x.Kind() {
	case Name, Int, Float:
		p.text(x.Text())
	case String:
		p.b = appendQuoted(p.b, x.Str())
	case Vector:
		p.brackets("{", x, "}")
	case Paren:
		p.brackets("(", x, ")")
	case Mem:
		p.brackets("[", x, "]")
		if x.Field() != "" {
			p.text(".", x.Field())
		}
	case Unary:
		p.unary(x)
	case Binary:
		p.binary(x)
	case Pair:
		p.expr(x.X())
		p.text("|")
		p.expr(x.Y())
	case Index:
		p.expr(x.X())
		p.text("[")
		p.expr(x.Y())
		p.text("]")
	case Range:
		p.text(x.Name(), "<")
		p.expr(x.Y())
		p.text(">")
	case Mask:
		p.mask(x)
	}
}

// brackets prints the parts of x between two brackets.
func (p *printer) brackets(open string, x Operand, end string) {
	p.text(open)
	p.list(x.Parts())
	p.text(end)
}

// unary prints -x, (.u64)x or generic(x).
func (p *printer) unary(x Operand) {
	p.text(x.Op())
	if x.rec().op() == opGeneric {
		p.text("(")
		p.expr(x.X())
		p.text(")")
		return
	}
	p.expr(x.X())
}

// mask prints 0xff(x), which only initialisers can contain, or mask(0xff, x).
func (p *printer) mask(x Operand) {
	if x.rec().op() == inWords {
		p.text("mask(", x.X().Text(), ", ")
	} else {
		p.text(x.X().Text(), "(")
	}
	p.expr(x.Y())
	p.text(")")
}

// binary prints an expression. It adds no parentheses: those of the source are operands.
func (p *printer) binary(x Operand) {
	p.expr(x.X())
	switch op := x.Op(); {
	case op == "?:":
		p.text(" ? ")
		p.expr(x.Y())
		p.text(" : ")
		p.expr(x.Z())
		return
	case (op == "+" || op == "-") && x.X().Kind() != Binary && x.Y().Kind() != Binary:
		p.text(op) // no spaces, as in addresses
	default:
		p.text(" ", op, " ")
	}
	p.expr(x.Y())
}
