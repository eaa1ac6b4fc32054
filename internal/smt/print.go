package smt

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// Script prints a conjunction for an SMT-LIB 2 solver: declarations, definitions of shared terms,
// the ranges of variables, and one assertion for each conjunct. It does not print check-sat. The
// names of definitions are unique within one script only. The terms in named, which must occur in
// the conjunction, are known by their Named afterwards.
func (c *Context) Script(asserts []Term, named ...Term) []byte {
	p := &printer{c: c, uses: map[Term]int{}, name: map[Term]string{}}
	for _, a := range append(asserts[:len(asserts):len(asserts)], named...) {
		p.count(a)
	}
	p.declare()
	for _, t := range p.order {
		if p.uses[t] > 1 && len(c.nodes[t].args) > 0 {
			body := p.text(t)
			name := c.Named(t)
			fmt.Fprintf(&p.out, "(define-fun %s () %s %s)\n", name, sort(c.nodes[t].width), body)
			p.name[t] = name
		}
	}
	for _, a := range append(c.Ranges(asserts), asserts...) {
		fmt.Fprintf(&p.out, "(assert %s)\n", p.text(a))
	}
	return p.out.Bytes()
}

// Named returns the text by which a script that names t refers to it.
func (c *Context) Named(t Term) string {
	if len(c.nodes[t].args) == 0 {
		return c.String(t)
	}
	return "t" + strconv.Itoa(int(t))
}

// String prints t in SMT-LIB 2 on one line with shared terms expanded, for debugging. The result
// can be exponentially large.
func (c *Context) String(t Term) string {
	p := &printer{c: c, name: map[Term]string{}}
	return p.text(t)
}

// printer prints terms. Terms with several uses get names, which keeps a script linear in the size
// of the shared graph.
type printer struct {
	c     *Context
	uses  map[Term]int
	order []Term // arguments before the terms that use them
	name  map[Term]string
	out   bytes.Buffer
}

// count counts the uses of t and of the terms below it, and appends them to order. A term with
// several uses gets a name, or the text could grow exponentially.
func (p *printer) count(t Term) {
	if p.uses[t]++; p.uses[t] > 1 {
		return
	}
	for _, a := range p.c.nodes[t].args {
		if p.count(a); p.c.nodes[t].op == OpPopc { // once for each bit
			p.count(a)
		}
	}
	p.order = append(p.order, t)
}

// declare prints the declarations of variables and functions.
func (p *printer) declare() {
	seen := map[string]bool{}
	for _, t := range p.order {
		n := &p.c.nodes[t]
		name := p.c.Name(t)
		if n.op != OpVar && n.op != OpApp || seen[name] {
			continue
		}
		seen[name] = true
		var args []string
		if n.op == OpApp {
			for _, w := range p.c.funcs[n.aux].Args {
				args = append(args, sort(w))
			}
		}
		fmt.Fprintf(&p.out, "(declare-fun %s (%s) %s)\n", Symbol(name), strings.Join(args, " "),
			sort(n.width))
	}
}

// Symbol quotes a name as an SMT-LIB 2 symbol. Bars and backslashes, which a quoted symbol cannot
// contain, become exclamation marks.
func Symbol(name string) string {
	return "|" + strings.NewReplacer("|", "!", `\`, "!").Replace(name) + "|"
}

// sort returns the SMT-LIB sort of a width in bits; 0 is Bool.
func sort(w uint8) string {
	if w == 0 {
		return "Bool"
	}
	return fmt.Sprintf("(_ BitVec %d)", w)
}

// constant returns a constant in SMT-LIB; a Boolean is true or false.
func constant(v uint64, w uint8) string {
	switch {
	case w == 0 && v == 1:
		return "true"
	case w == 0:
		return "false"
	}
	return fmt.Sprintf("(_ bv%d %d)", v, w)
}

var opNames = map[Op]string{
	OpNot: "not", OpAnd: "and", OpOr: "or", OpIte: "ite", OpEq: "=", OpUlt: "bvult", OpSlt: "bvslt",
	OpMul: "bvmul", OpUDiv: "bvudiv", OpURem: "bvurem", OpSDiv: "bvsdiv", OpSRem: "bvsrem",
	OpBvAnd: "bvand", OpBvOr: "bvor", OpBvXor: "bvxor", OpShl: "bvshl", OpLShr: "bvlshr",
	OpAShr: "bvashr",
}

// text returns a term in SMT-LIB, or its name if it has one.
func (p *printer) text(t Term) string {
	if name, ok := p.name[t]; ok {
		return name
	}
	n := &p.c.nodes[t]
	switch n.op {
	case OpConst:
		return constant(n.val, n.width)
	case OpVar:
		return Symbol(p.c.vars[n.aux].name)
	case OpSum:
		return p.sum(n)
	case OpExtract:
		return fmt.Sprintf("((_ extract %d %d) %s)", int(n.aux)+int(n.width)-1, n.aux, p.text(n.args[0]))
	case OpZExt, OpSExt:
		name := "zero_extend"
		if n.op == OpSExt {
			name = "sign_extend"
		}
		return fmt.Sprintf("((_ %s %d) %s)", name, n.width-p.c.nodes[n.args[0]].width, p.text(n.args[0]))
	}
	if n.op == OpPopc {
		return p.popc(n)
	}
	head := opNames[n.op]
	if n.op == OpApp {
		head = Symbol(p.c.funcs[n.aux].Name)
		if len(n.args) == 0 {
			return head
		}
	}
	return "(" + head + p.list(n.args) + ")"
}

// popc returns a count of bits as the sum of the bits, since SMT-LIB has no operator for it.
func (p *printer) popc(n *node) string {
	x, w := p.text(n.args[0]), int(n.width)
	if w == 1 {
		return x
	}
	var b strings.Builder
	b.WriteString("(bvadd")
	for i := range w {
		fmt.Fprintf(&b, " ((_ zero_extend %d) ((_ extract %d %d) %s))", w-1, i, i, x)
	}
	return b.String() + ")"
}

// list returns terms separated and preceded by spaces.
func (p *printer) list(args []Term) string {
	var b strings.Builder
	for _, a := range args {
		b.WriteByte(' ')
		b.WriteString(p.text(a))
	}
	return b.String()
}

// sum returns a sum with its coefficients as products.
func (p *printer) sum(n *node) string {
	var parts []string
	for i, a := range n.args {
		switch k := n.coef[i]; k {
		case 1:
			parts = append(parts, p.text(a))
		default:
			parts = append(parts, fmt.Sprintf("(bvmul %s %s)", constant(k, n.width), p.text(a)))
		}
	}
	if n.val != 0 {
		parts = append(parts, constant(n.val, n.width))
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return "(bvadd " + strings.Join(parts, " ") + ")"
}
