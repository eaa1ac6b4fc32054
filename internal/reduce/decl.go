package reduce

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"heddle/internal/ptx"
	"heddle/internal/source"
)

// debugInformation is what says where code comes from: .loc, .file, sections, comments of heddle's
// lowering, and .pragma directives.
func debugInformation(c *Candidate) []edit {
	var out []edit
	add := func(s source.Span) { out = append(out, edit{changes: []change{c.cut(s)}}) }
	node := func(n ptx.Node) {
		switch n := n.(type) {
		case *ptx.Section, *ptx.FileDir, *ptx.Comment, *ptx.Loc:
			add(n.Span())
		case *ptx.Directive:
			if n.Name == ".pragma" {
				add(n.Span())
			}
		}
	}
	for _, d := range c.Tree.Decls {
		node(d)
		f, ok := d.(*ptx.Func)
		if !ok || f.Body == nil {
			continue
		}
		for s := range statements(f.Body) {
			switch s.Kind() {
			case ptx.StmtLoc:
				add(s.Span())
			case ptx.StmtNode:
				node(s.Node())
			}
		}
	}
	return out
}

// definitions are functions and variables of the module, prototypes and aliases. The directives
// that every module has are none.
func definitions(c *Candidate) []edit {
	var out []edit
	for _, d := range c.Tree.Decls {
		switch n := d.(type) {
		case *ptx.Func, *ptx.Var, *ptx.Prototype:
			out = append(out, edit{changes: []change{c.cut(d.Span())}})
		case *ptx.Directive:
			if n.Name == ".alias" {
				out = append(out, edit{changes: []change{c.cut(d.Span())}})
			}
		}
	}
	return out
}

// calledFunctions are functions with all calls of them.
func calledFunctions(c *Candidate) []edit {
	calls := map[string][]change{}
	for _, f := range c.functions() {
		for _, in := range c.instructions(f) {
			if callee, _ := called(in); callee != "" {
				calls[callee] = append(calls[callee], c.cut(in.Span()))
			}
		}
	}
	var out []edit
	for _, d := range c.Tree.Decls {
		if f, ok := d.(*ptx.Func); ok && len(calls[f.Name]) > 0 {
			changes := append([]change{c.cut(f.Span())}, calls[f.Name]...)
			out = append(out, edit{changes: changes})
		}
	}
	return out
}

// called returns the name of the function that an instruction calls, and its arguments.
func called(in ptx.Inst) (name string, args ptx.Operands) {
	if in.Opcode() != "call" {
		return "", args
	}
	for _, o := range in.Operands().All() {
		switch {
		case o.Kind() == ptx.Name && name == "":
			name = o.Name()
		case o.Kind() == ptx.Paren && name != "":
			return name, o.Parts()
		}
	}
	return name, args
}

// declarations are those of registers and variables in functions. A list of names loses one name at
// a time.
func declarations(c *Candidate) []edit {
	var out []edit
	for _, f := range c.functions() {
		for s := range statements(f.Body) {
			if s.Kind() != ptx.StmtNode {
				continue
			}
			v, ok := s.Node().(*ptx.Var)
			switch {
			case !ok:
			case len(v.Names) == 1:
				out = append(out, edit{changes: []change{c.cut(v.Span())}})
			default:
				for i := range v.Names {
					out = append(out, edit{changes: []change{c.cutName(v, i)}})
				}
			}
		}
	}
	return out
}

// cutName removes one of several names of a declaration.
func (c *Candidate) cutName(v *ptx.Var, i int) change {
	start, _ := c.at(v.Names[i].Span)
	if i+1 < len(v.Names) {
		end, _ := c.at(v.Names[i+1].Span)
		return change{start: start, end: end}
	}
	if comma := bytes.LastIndexByte(c.Text[:start], ','); comma >= 0 {
		start = comma
	}
	_, end := c.at(v.Span())
	if c.Text[end-1] == ';' {
		end--
	}
	return change{start: start, end: end}
}

// sizes are the dimensions of arrays: 1, or half of each. What the lowering says about the array is
// then wrong, and goes.
func sizes(c *Candidate) []edit {
	var out []edit
	c.variables(func(v *ptx.Var) {
		for i := range v.Names {
			n := &v.Names[i]
			for k, dim := range n.Dims {
				for _, smaller := range []int64{1, dim / 2} {
					if smaller < dim && smaller > 0 && n.Init == nil {
						dims := append([]int64(nil), n.Dims...)
						dims[k] = smaller
						out = append(out, c.resize(n, dims))
					}
				}
			}
		}
	})
	return out
}

// variables calls f for the variables of the module and of functions that are not registers.
func (c *Candidate) variables(f func(*ptx.Var)) {
	visit := func(n ptx.Node) {
		if v, ok := n.(*ptx.Var); ok && v.Space != "reg" {
			f(v)
		}
	}
	for _, d := range c.Tree.Decls {
		visit(d)
		if fn, ok := d.(*ptx.Func); ok && fn.Body != nil {
			for s := range statements(fn.Body) {
				if s.Kind() == ptx.StmtNode {
					visit(s.Node())
				}
			}
		}
	}
}

// resize gives an array other dimensions.
func (c *Candidate) resize(n *ptx.VarName, dims []int64) edit {
	_, start := c.at(n.Span)
	end := start
	for range n.Dims {
		if i := bytes.IndexByte(c.Text[end:], ']'); i >= 0 {
			end += i + 1
		}
	}
	var text strings.Builder
	for _, d := range dims {
		if d < 0 {
			text.WriteString("[]")
		} else {
			fmt.Fprintf(&text, "[%d]", d)
		}
	}
	e := edit{changes: []change{{start, end, text.String()}}}
	for _, d := range c.Tree.Decls {
		if f, ok := d.(*ptx.Comment); ok && strings.HasPrefix(f.Text, "heddle.array "+n.Name+" ") {
			e.changes = append(e.changes, c.cut(f.Span()))
		}
	}
	return e
}

// parameters are those of functions, with the instructions that name them, the arguments of calls,
// and what the launch and the lowering say about them. A saved launch has the bytes of all
// parameters of its kernel, which keeps them.
func parameters(c *Candidate) []edit {
	var out []edit
	for _, f := range c.functions() {
		if f.Name == c.Launch.Kernel && c.Launch.Saved != nil {
			continue
		}
		spans := make([]source.Span, len(f.Params))
		for i, p := range f.Params {
			spans[i] = p.Span()
		}
		for i, p := range f.Params {
			e := edit{changes: []change{c.without(spans, i)}}
			for _, in := range c.instructions(f) {
				if mentions(in.Operands(), p.Names[0].Name) {
					e.changes = append(e.changes, c.cut(in.Span()))
				}
			}
			if f.Entry {
				e.changes = append(e.changes, c.shiftFacts(f.Name, i)...)
				if f.Name == c.Launch.Kernel {
					l := c.Launch.withoutParam(i)
					e.launch = &l
				}
			} else {
				e.changes = append(e.changes, c.withoutArgument(f.Name, i)...)
			}
			out = append(out, e)
		}
	}
	return out
}

// withoutArgument removes argument i from the calls of a function.
func (c *Candidate) withoutArgument(name string, i int) []change {
	var out []change
	for _, f := range c.functions() {
		for _, in := range c.instructions(f) {
			callee, args := called(in)
			if callee != name || i >= args.Len() {
				continue
			}
			spans := make([]source.Span, args.Len())
			for k, a := range args.All() {
				spans[k] = a.Span()
			}
			out = append(out, c.without(spans, i))
		}
	}
	return out
}

// shiftFacts changes the comments of the lowering about the parameters of a kernel that loses
// parameter i.
func (c *Candidate) shiftFacts(kernel string, i int) []change {
	var out []change
	for _, d := range c.Tree.Decls {
		f, ok := d.(*ptx.Comment)
		if !ok {
			continue
		}
		w := strings.SplitN(f.Text, " ", 4)
		param := len(w) == 4 && w[0] == "heddle.param"
		if !param && (len(w) < 3 || w[0] != "heddle.fields") || w[1] != kernel {
			continue
		}
		n, err := strconv.Atoi(w[2])
		switch {
		case err != nil:
		case n == i:
			out = append(out, c.cut(f.Span()))
		case n > i:
			w[2] = strconv.Itoa(n - 1)
			out = append(out, c.replace(f.Span(), "// "+strings.Join(w, " ")))
		}
	}
	return out
}

// headers are the directives between the header of a function and its body, such as .maxntid.
func headers(c *Candidate) []edit {
	var out []edit
	for _, f := range c.functions() {
		for _, d := range f.Dirs {
			out = append(out, edit{changes: []change{c.cut(d.Span())}})
		}
	}
	return out
}

// launches are the smaller launches.
func launches(c *Candidate) []edit {
	var out []edit
	for _, l := range c.Launch.smaller() {
		out = append(out, edit{launch: &l})
	}
	return out
}
