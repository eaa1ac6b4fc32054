package lower

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Integer division by zero "does not cause an exception but will result in an unspecified value" in
// OpenCL C, and so does a quotient that is out of range (3.0, 6.4). In LLVM both are undefined
// behaviour: it concludes that a divisor is not 0, and removes what is only executed where it is
// (LangRef, "udiv"). So divisions become instructions of PTX, of which LLVM knows nothing, unless
// the divisor is a constant for which this cannot happen.

// divisions are LLVM's divisions of integers, with the instruction of PTX.
var divisions = map[string]string{"udiv": "div.u", "sdiv": "div.s", "urem": "rem.u", "srem": "rem.s"}

// keepDivisions makes the divisions of all functions defined.
func keepDivisions(m *irModule) {
	for _, f := range m.funcs {
		var body []string
		for n, line := range f.body {
			body = append(body, definedDivision(line, fmt.Sprintf("%%heddle.div%d", n))...)
		}
		f.body = body
	}
}

// definedDivision returns the lines that replace a division, with values named after name; the line
// itself if it is none.
func definedDivision(line, name string) []string {
	text, dbg := splitAttach(line)
	res, rest := opcode(text)
	op, args, _ := strings.Cut(rest, " ")
	ptx, ok := divisions[op]
	if !ok || res == "" {
		return []string{line}
	}
	typ, operands, ok := typeAndOperands(strings.TrimPrefix(args, "exact "))
	lanes, elem := vectorType(typ)
	bits, err := strconv.Atoi(strings.TrimPrefix(elem, "i"))
	if !ok || err != nil || len(operands) != 2 || bits > 64 || harmlessDivisor(op, operands[1]) {
		return []string{line}
	}
	d := &divider{name: name, ptx: ptx, bits: bits}
	if dbg != "" {
		d.attach = ", !dbg " + dbg
	}
	result := text[:strings.Index(text, " = ")]
	if lanes == 0 {
		d.divide(strings.TrimSpace(result), operands[0], operands[1])
		return d.out
	}
	sum := "poison"
	for i := range lanes {
		a, b, q := fmt.Sprintf("%s.a%d", name, i), fmt.Sprintf("%s.b%d", name, i),
			fmt.Sprintf("%s.q%d", name, i)
		d.add("%s = extractelement %s %s, i32 %d", a, typ, operands[0], i)
		d.add("%s = extractelement %s %s, i32 %d", b, typ, operands[1], i)
		d.name = fmt.Sprintf("%s.%d", name, i)
		d.divide(q, a, b)
		next := fmt.Sprintf("%s.v%d", name, i)
		if i == lanes-1 {
			next = strings.TrimSpace(result)
		}
		d.add("%s = insertelement %s %s, %s %s, i32 %d", next, typ, sum, elem, q, i)
		sum = next
	}
	return d.out
}

// divider writes divisions of integers of some bits.
type divider struct {
	name, ptx, attach string
	bits              int
	out               []string
}

func (d *divider) add(format string, args ...any) {
	d.out = append(d.out, "  "+fmt.Sprintf(format, args...)+d.attach)
}

// divide writes result = a / b, in the next larger width that PTX has.
func (d *divider) divide(result, a, b string) {
	wide, constraint := 64, "l"
	switch {
	case d.bits <= 16:
		wide, constraint = 16, "h"
	case d.bits <= 32:
		wide, constraint = 32, "r"
	}
	if d.bits == wide {
		d.call(result, wide, constraint, a, b)
		return
	}
	extend := "zext"
	if strings.HasSuffix(d.ptx, "s") {
		extend = "sext"
	}
	x, y, q := d.name+".x", d.name+".y", d.name+".q"
	d.add("%s = %s i%d %s to i%d", x, extend, d.bits, a, wide)
	d.add("%s = %s i%d %s to i%d", y, extend, d.bits, b, wide)
	d.call(q, wide, constraint, x, y)
	d.add("%s = trunc i%d %s to i%d", result, wide, q, d.bits)
}

func (d *divider) call(result string, bits int, constraint, a, b string) {
	d.add("%s = call i%d asm \"%s%d $0, $1, $2;\", \"=%s,%s,%s\"(i%d %s, i%d %s)", result, bits, d.ptx,
		bits, constraint, constraint, constraint, bits, a, bits, b)
}

// typeAndOperands splits "<4 x i32> %a, %b" into the type and the operands.
func typeAndOperands(args string) (typ string, operands []string, ok bool) {
	end := strings.IndexByte(args, ' ')
	if strings.HasPrefix(args, "<") {
		end = strings.IndexByte(args, '>') + 1
	}
	if end <= 0 || end >= len(args) {
		return "", nil, false
	}
	for _, o := range splitTop(args[end:]) {
		operands = append(operands, strings.TrimSpace(o))
	}
	return args[:end], operands, true
}

// vectorType returns the number of elements of a vector, 0 for another type, and the type of each.
func vectorType(typ string) (lanes int, elem string) {
	inner, ok := strings.CutPrefix(typ, "<")
	if !ok {
		return 0, typ
	}
	n, elem, _ := strings.Cut(strings.TrimSuffix(inner, ">"), " x ")
	lanes, _ = strconv.Atoi(n)
	return lanes, elem
}

// harmlessDivisor reports whether a divisor is a constant without an element by which a division is
// undefined in LLVM: 0, and -1 for numbers with a sign.
func harmlessDivisor(op, divisor string) bool {
	elements := []string{divisor}
	if inner, ok := strings.CutPrefix(divisor, "<"); ok {
		elements = nil
		for _, e := range splitTop(strings.TrimSuffix(inner, ">")) {
			fields := strings.Fields(e)
			elements = append(elements, fields[len(fields)-1])
		}
	}
	return !slices.ContainsFunc(elements, func(e string) bool {
		v, err := strconv.ParseInt(e, 10, 64)
		return err != nil || v == 0 || v == -1 && op[0] == 's'
	})
}
