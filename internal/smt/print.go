package smt

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// Script prints the query "is there a model of all asserts" for an SMT-LIB 2 solver: declarations,
// definitions of shared terms, the ranges of variables, and one assertion each. It does not print
// check-sat. Names of the definitions and declarations are local to one script.
func (c *Context) Script(asserts []Term) []byte {
	p := &printer{c: c, uses: map[Term]int{}, name: map[Term]string{}}
	for _, a := range asserts {
		p.count(a)
	}
	p.declare()
	for _, t := range p.order {
		if p.uses[t] > 1 && len(c.nodes[t].args) > 0 {
			body := p.text(t)
			name := "t" + strconv.Itoa(int(t))
			fmt.Fprintf(&p.out, "(define-fun %s () %s %s)\n", name, sort(c.nodes[t].width), body)
			p.name[t] = name
		}
	}
	for _, a := range append(c.Ranges(asserts), asserts...) {
		fmt.Fprintf(&p.out, "(assert %s)\n", p.text(a))
	}
	return p.out.Bytes()
}

// String prints t in SMT-LIB 2 on one line, shared terms written out.
func (c *Context) String(t Term) string {
	p := &printer{c: c, name: map[Term]string{}}
	return p.text(t)
}

type printer struct {
	c     *Context
	uses  map[Term]int
	order []Term // arguments before their users
	name  map[Term]string
	out   bytes.Buffer
}

func (p *printer) count(t Term) {
	if p.uses[t]++; p.uses[t] > 1 {
		return
	}
	for _, a := range p.c.nodes[t].args {
		p.count(a)
	}
	p.order = append(p.order, t)
}

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
		fmt.Fprintf(&p.out, "(declare-fun %s (%s) %s)\n", Symbol(name), strings.Join(args, " "), sort(n.width))
	}
}

// Symbol quotes a name as SMT-LIB 2 wants it.
func Symbol(name string) string {
	return "|" + strings.NewReplacer("|", "!", `\`, "!").Replace(name) + "|"
}

func sort(w uint8) string {
	if w == 0 {
		return "Bool"
	}
	return fmt.Sprintf("(_ BitVec %d)", w)
}

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
	OpBvAnd: "bvand", OpBvOr: "bvor", OpBvXor: "bvxor", OpShl: "bvshl", OpLShr: "bvlshr", OpAShr: "bvashr",
}

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
	head := opNames[n.op]
	if n.op == OpApp {
		head = Symbol(p.c.funcs[n.aux].Name)
		if len(n.args) == 0 {
			return head
		}
	}
	return "(" + head + p.list(n.args) + ")"
}

func (p *printer) list(args []Term) string {
	var b strings.Builder
	for _, a := range args {
		b.WriteByte(' ')
		b.WriteString(p.text(a))
	}
	return b.String()
}

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
