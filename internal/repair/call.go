package repair

import (
	"fmt"
	"slices"
	"strings"

	"heddle/internal/isa"
	"heddle/internal/ptx"
)

// maxCopies bounds the copies of functions in one kernel: nested calls can multiply without bound.
const maxCopies = 100

// target returns the function with a body that a call names, and the operands for its results and
// arguments. A call by address, and one of a function without a body, have none.
func (n *inlining) target(in ptx.Inst) (f *ptx.Func, results, args []ptx.Operand) {
	ops := in.Operands()
	list := func() (out []ptx.Operand) {
		if ops.Len() > 0 && ops.At(0).Kind() == ptx.Paren {
			for _, o := range ops.At(0).Parts().All() {
				out = append(out, o)
			}
			ops = ops.From(1)
		}
		return out
	}
	results = list()
	if ops.Len() == 0 {
		return nil, nil, nil
	}
	f = n.funcs[ops.At(0).Name()]
	ops = ops.From(1)
	args = list()
	if f != nil && (f.Variadic || len(results) != len(f.Results) || len(args) != len(f.Params)) {
		n.fail(in.Span(), "a call of %s does not match its parameters", f.Name)
		return nil, nil, nil
	}
	return f, results, args
}

// callScope returns registers for the .param variables of a { } block around a single call, as
// compilers emit it; nil if the block is anything else.
func (n *inlining) callScope(b *ptx.Block) map[string]slot {
	var call *ptx.Inst
	params := map[string]bool{}
	for st := range b.Stmts() {
		switch st.Kind() {
		case ptx.StmtInst:
			in := st.Inst()
			if actionOf(in) == isa.ActCall {
				if call != nil {
					return nil
				}
				call = &in
			}
		case ptx.StmtNode:
			if v, ok := st.Node().(*ptx.Var); ok {
				if v.Space != "param" {
					return nil
				}
				for _, name := range v.Names {
					params[name.Name] = true
				}
			}
		}
	}
	if call == nil {
		return nil
	}
	f, results, args := n.target(*call)
	if f == nil {
		return nil
	}
	n.count++
	out := map[string]slot{}
	bind := func(ops []ptx.Operand, vars []*ptx.Var) {
		for i, o := range ops {
			s, ok := n.slot(vars[i])
			if ok && params[o.Text()] {
				out[o.Text()] = s
			}
		}
	}
	bind(results, f.Results)
	bind(args, f.Params)
	return out
}

// slot declares the register for a parameter of the current copy. Only scalars of 2, 4 or 8 bytes
// fit in a register; arrays, vectors and bytes do not.
func (n *inlining) slot(v *ptx.Var) (slot, bool) {
	size := sizes[v.Type]
	scalar := size != 0 && v.Vec == 0 && len(v.Names) == 1 && v.Names[0].Dims == nil
	if !scalar || v.Space != "param" && v.Space != "reg" {
		n.fail(v.Span(),
			"a function that would have to be inlined has a parameter that is not a scalar")
		return slot{}, false
	}
	s := slot{fmt.Sprintf("%%%sc%d_p_%s", n.prefix, n.count, plainName(v.Names[0].Name)), size}
	fmt.Fprintf(&n.decls, "\t.reg .b%d \t%s;\n", 8*size, s.reg)
	return s, true
}

// call returns the copy of the called function; empty if the call stays.
//
// A copy is: moves of the arguments to registers, the body with its ret turned into a branch to the
// end label, and moves of the results. In a { } block of its own, the stores and loads around the
// call are these moves already, and callScope has bound their .param variables. A guarded call
// becomes a branch around the copy.
func (n *inlining) call(in ptx.Inst, s *scope) string {
	f, results, args := n.target(in)
	if f == nil {
		return ""
	}
	var parts map[string]slot
	if s != nil {
		parts = s.parts
	}
	if parts == nil {
		n.count++
	}
	inner := n.enter(f)
	var before, after strings.Builder
	pass := func(ops []ptx.Operand, vars []*ptx.Var, out *strings.Builder, result bool) {
		for i, o := range ops {
			to, ok := parts[o.Text()]
			if !ok {
				if to, ok = n.slot(vars[i]); !ok {
					return
				}
				variable := o.Kind() == ptx.Name && !strings.HasPrefix(o.Text(), "%")
				if vars[i].Space == "param" && variable {
					n.fail(in.Span(),
						"a call passes a .param variable that is declared outside its own { } block")
				}
				from, into := s.renamed(o.Text()), to.reg
				if result {
					from, into = into, from
				}
				fmt.Fprintf(out, "\tmov.%s \t%s, %s;\n", vars[i].Type, into, from)
			}
			name := vars[i].Names[0].Name
			if vars[i].Space == "reg" {
				inner.names[name] = to.reg
			} else {
				inner.slots[name] = to
			}
		}
	}
	pass(args, f.Params, &before, false)
	pass(results, f.Results, &after, true)
	skip := ""
	g, guarded := in.Guard()
	if guarded {
		n.from(1)
	}
	n.from(strings.Count(before.String(), "\n"))
	if n.count > maxCopies || slices.Contains(n.stack, f) {
		n.fail(in.Span(),
			"a function is recursive, or its calls are nested too deeply to be inlined")
		return ""
	}
	was := n.within
	n.within, n.stack = f.Name, append(n.stack, f)
	body := n.block(f.Body, inner)
	n.within, n.stack = was, n.stack[:len(n.stack)-1]
	n.from(strings.Count(after.String(), "\n"))
	if guarded {
		neg := "!"
		if g.Neg {
			neg = ""
		}
		skip = fmt.Sprintf("@%s%s bra \t%s_over;\n", neg, s.renamed(g.Name), inner.end)
		after.WriteString(inner.end + "_over:\n")
	}
	return skip + before.String() + body + inner.end + ":\n" + after.String()
}

// plainName returns a name that can follow a prefix, and keeps apart the names of registers with a
// % and those without: "%r1" becomes "r1", and "r1" becomes "$r1".
func plainName(name string) string {
	if rest, ok := strings.CutPrefix(name, "%"); ok {
		return rest
	}
	return "$" + name
}

// enter renames the registers and labels that a function declares. Each copy has a prefix with its
// own number, so several copies of one function do not share registers.
func (n *inlining) enter(f *ptx.Func) *scope {
	prefix := fmt.Sprintf("%sc%d_", n.prefix, n.count)
	s := &scope{names: map[string]string{}, moved: map[*ptx.Var]bool{}, slots: map[string]slot{},
		end: "$" + prefix + "end"}
	reg := func(name string) string { return "%" + prefix + "r_" + plainName(name) }
	for st := range f.Body.Stmts() {
		switch st.Kind() {
		case ptx.StmtLabel:
			s.names[st.Label()] = "$" + prefix + "l_" + plainName(st.Label())
		case ptx.StmtNode:
			v, ok := st.Node().(*ptx.Var)
			if !ok || v.Space != "reg" {
				continue
			}
			s.moved[v] = true
			vec := ""
			if v.Vec != 0 {
				vec = fmt.Sprintf(".v%d ", v.Vec)
			}
			for _, name := range v.Names {
				many := ""
				if name.Range > 0 {
					many = fmt.Sprintf("<%d>", name.Range)
				}
				fmt.Fprintf(&n.decls, "\t.reg %s.%s \t%s%s;\n", vec, v.Type, reg(name.Name), many)
			}
			for _, name := range registers(v) {
				s.names[name] = reg(name)
			}
		}
	}
	return s
}
