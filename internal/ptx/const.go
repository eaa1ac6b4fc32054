package ptx

// number is the value of an integer constant expression: 64 bits, signed or unsigned (ISA 4.5.5).
// Arithmetic wraps around. A literal is signed unless it has the suffix U or its top bit is set;
// the usual conversions make a result unsigned if either operand is.
type number struct {
	val      uint64
	unsigned bool
}

// truth returns 1 or 0, which are signed (ISA Table 5).
func truth(b bool) number {
	if b {
		return number{val: 1}
	}
	return number{}
}

// constInt evaluates an integer constant expression without names other than WARP_SZ, by the rules
// of ISA 4.5.5 and 4.5.6. Where the two disagree (the type of & | ^) it follows the text of 4.5.5.
// If it cannot, it returns a description of what it found instead.
func constInt(x Operand) (n number, problem string) {
	switch x.Kind() {
	case Int:
		v, unsigned := x.Int()
		return number{v, unsigned || int64(v) < 0}, ""
	case Name:
		if x.Text() == "WARP_SZ" {
			return number{val: 32}, "" // 4.5.1: of all target architectures to date
		}
		return n, quote(x.Name())
	case Float:
		return n, quote(x.Text())
	case Paren:
		if x.Parts().Len() == 1 {
			return constInt(x.X())
		}
	case Unary:
		if n, problem = constInt(x.X()); problem == "" {
			return constUnary(x.Op(), n)
		}
		return n, problem
	case Binary:
		return constBinary(x)
	}
	return n, "an operand"
}

// constUnary applies a prefix operator or a cast.
func constUnary(op string, x number) (number, string) {
	switch op {
	case "+":
		return x, ""
	case "-":
		return number{-x.val, x.unsigned}, ""
	case "!":
		return truth(x.val == 0), ""
	case "~":
		return number{^x.val, true}, ""
	case "(.s64)":
		return number{x.val, false}, ""
	case "(.u64)":
		return number{x.val, true}, ""
	}
	return x, quote(op)
}

// constBinary evaluates a binary expression or x ? y : z. It evaluates both operands even if && or
// || would not need the second, so that an error in either is reported. Shifts by 64 or more give
// 0, or the sign for a signed >>.
func constBinary(e Operand) (number, string) {
	x, problem := constInt(e.X())
	if problem != "" {
		return x, problem
	}
	y, problem := constInt(e.Y())
	if problem != "" {
		return y, problem
	}
	unsigned := x.unsigned || y.unsigned
	switch op := e.Op(); op {
	case "?:":
		z, problem := constInt(e.Z())
		unsigned := y.unsigned || z.unsigned
		if x.val == 0 {
			y = z
		}
		return number{y.val, unsigned}, problem
	case "+":
		return number{x.val + y.val, unsigned}, ""
	case "-":
		return number{x.val - y.val, unsigned}, ""
	case "*":
		return number{x.val * y.val, unsigned}, ""
	case "/", "%":
		return divide(op, x, y)
	case "<<":
		return number{x.val << y.val, x.unsigned}, ""
	case ">>":
		if x.unsigned {
			return number{x.val >> y.val, true}, ""
		}
		return number{val: uint64(int64(x.val) >> y.val)}, ""
	case "&":
		return number{x.val & y.val, unsigned}, ""
	case "|":
		return number{x.val | y.val, unsigned}, ""
	case "^":
		return number{x.val ^ y.val, unsigned}, ""
	case "&&":
		return truth(x.val != 0 && y.val != 0), ""
	case "||":
		return truth(x.val != 0 || y.val != 0), ""
	}
	return compare(e.Op(), x, y)
}

// divide computes / with the usual conversions, and %, which takes its operands as unsigned and
// returns a signed result (ISA Table 5).
func divide(op string, x, y number) (number, string) {
	switch {
	case y.val == 0:
		return y, "a division by zero"
	case op == "%":
		return number{val: x.val % y.val}, ""
	case x.unsigned || y.unsigned:
		return number{x.val / y.val, true}, ""
	}
	return number{val: uint64(int64(x.val) / int64(y.val))}, ""
}

// compare computes a comparison, unsigned if either operand is unsigned.
func compare(op string, x, y number) (number, string) {
	less := int64(x.val) < int64(y.val)
	if x.unsigned || y.unsigned {
		less = x.val < y.val
	}
	equal := x.val == y.val
	switch op {
	case "==":
		return truth(equal), ""
	case "!=":
		return truth(!equal), ""
	case "<":
		return truth(less), ""
	case "<=":
		return truth(less || equal), ""
	case ">":
		return truth(!less && !equal), ""
	case ">=":
		return truth(!less), ""
	}
	return x, quote(op)
}
