package irgen

import (
	"strings"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/ptx"
)

// declare enters every name of the module: variables, functions, aliases. Bodies are read
// afterwards, so the order of the text does not matter for them.
func (g *gen) declare(file *ptx.File) {
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ptx.Var:
			g.moduleVar(d)
		case *ptx.Func:
			g.function(d)
		}
	}
}

// moduleVar enters the variables of one declaration at module level. .reg and .param ones do not
// exist there, and .local ones only before PTX 3.0 (oldLocals). A redeclared .extern variable stays
// one object.
func (g *gen) moduleVar(d *ptx.Var) {
	switch d.Space {
	case "local":
		if g.oldLocals() {
			for _, v := range g.variables(&g.top, d) {
				g.place(v, &g.local)
				g.define(&g.top, v.Name, &symbol{kind: symVar, span: v.Span, v: v})
			}
			return
		}
		fallthrough
	case "reg", "param":
		g.errorf(d.Span(),
			"a .%s variable at module level is not supported (PTX ISA 7.1.1 forbids it since version 3.0)", d.Space)
		return
	}
	for _, v := range g.variables(&g.top, d) {
		if old := g.top.syms[v.Name]; old != nil && old.kind == symVar && g.redeclare(old, v) {
			continue
		}
		g.define(&g.top, v.Name, &symbol{kind: symVar, span: v.Span, v: v})
		g.mod.Vars = append(g.mod.Vars, v)
	}
}

// oldLocals reports whether the module may have .local variables outside of functions: before PTX
// ISA 3.0 they were allocated statically (7.1.1). They come first in the local memory of every
// kernel.
func (g *gen) oldLocals() bool {
	major, _, _ := strings.Cut(g.mod.Version, ".")
	return major == "1" || major == "2"
}

// redeclare merges two declarations of one module variable, at most one of which is not .extern
// (PTX ISA 11.6.1). Both are the object of the first.
func (g *gen) redeclare(old *symbol, v *ir.Var) bool {
	o := old.v
	if !o.Extern && !v.Extern || o.Space != v.Space {
		return false
	}
	if o.Extern && !v.Extern {
		for i := range g.inits { // the initialiser fills the object that everyone refers to
			if g.inits[i].v == v {
				g.inits[i].v = o
			}
		}
		*o = *v
		old.span = v.Span
	}
	return true
}

// function enters a function. A declaration and a definition of one name are one function,
// whichever comes first; the directives of all of them add up (PTX ISA 11.4, 11.7). The header that
// counts is the definition's or, without one, that of the first declaration.
func (g *gen) function(d *ptx.Func) {
	f := &ir.Func{Module: g.mod, Name: d.Name, Kernel: d.Entry, Span: d.NameSpan}
	old := g.top.syms[d.Name]
	switch {
	case old == nil:
		f.Index = len(g.mod.Funcs)
		f.Demangled = demangled(d.Name)
		g.mod.Funcs = append(g.mod.Funcs, f)
		g.put(f)
	case old.kind != symFunc:
		g.define(&g.top, d.Name, &symbol{kind: symFunc, span: d.NameSpan})
		return
	default:
		f = old.fn
		if !g.agrees(f, d) {
			return
		}
	}
	prev := g.bodies[f]
	g.directives(f, d)
	if prev != nil && d.Body == nil {
		return
	}
	g.bodies[f] = d
	f.Span = d.NameSpan
	g.signature(f, d)
}

// put enters f in the scope of the module without the check of define: function has just found the
// name free.
func (g *gen) put(f *ir.Func) {
	g.top.put(f.Name, &symbol{kind: symFunc, span: f.Span, fn: f})
}

// agrees checks a further declaration of a function against the earlier one: the same kind, at most
// one body, and as many parameters and results. Types are not compared, since .b64 and .u64 declare
// the same bytes.
func (g *gen) agrees(f *ir.Func, d *ptx.Func) bool {
	prev := g.bodies[f]
	at := g.set.Format(f.Span.Start)
	switch {
	case prev.Entry != d.Entry:
		g.errorf(d.NameSpan, "%s is declared as .entry and as .func; the other declaration is at %s",
			d.Name, at)
	case prev.Body != nil && d.Body != nil:
		g.errorf(d.NameSpan, "%s is defined twice; the first definition is at %s", d.Name, at)
	case countNames(prev.Params) != countNames(d.Params) ||
		countNames(prev.Results) != countNames(d.Results):
		g.errorf(d.NameSpan, "%s has %d parameters and %d results here, but %d and %d at %s", d.Name,
			countNames(d.Params), countNames(d.Results), countNames(prev.Params),
			countNames(prev.Results), at)
	default:
		return true
	}
	return false
}

// countNames counts the parameters of a header. One without a name, as in a prototype, counts too.
func countNames(vars []*ptx.Var) int {
	n := 0
	for _, v := range vars {
		n += max(len(v.Names), 1)
	}
	return n
}

// signature sets the parameters and results of a function to those of d. Offsets start at 0 again,
// since parameters of an earlier declaration are replaced and not added to.
func (g *gen) signature(f *ir.Func, d *ptx.Func) {
	f.Params, f.Results, f.ParamSize = nil, nil, 0
	f.Params = g.formals(f, d.Params)
	f.Results = g.formals(f, d.Results)
}

// formals makes the variables of a parameter or result list. Those in .param are laid out one after
// the other, each at its alignment, as a host passes them. .ptr marks a pointer and may name the
// space that it points to (PTX ISA 5.1.6).
func (g *gen) formals(f *ir.Func, decls []*ptx.Var) []*ir.Var {
	var out []*ir.Var
	for _, d := range decls {
		if d.Space == "reg" {
			out = append(out, g.regFormals(f, d)...)
			continue
		}
		if d.Space != "param" {
			g.errorf(d.Span(), "a parameter must be in state space .param or .reg, not .%s", d.Space)
			continue
		}
		for _, v := range g.variables(&g.top, d) {
			g.place(v, &f.ParamSize)
			if d.Ptr != nil {
				v.Pointer = true
				v.PtrSpace = event.Generic
				if d.Ptr.Space != "" {
					v.PtrSpace = spaceByName[d.Ptr.Space]
				}
			}
			out = append(out, v)
		}
	}
	return out
}

// regFormals makes the parameters that are passed in registers, which device functions only may
// have (PTX ISA 11.2.2).
func (g *gen) regFormals(f *ir.Func, d *ptx.Var) []*ir.Var {
	t, ok := g.typeOf(d)
	if !ok {
		return nil
	}
	switch {
	case f.Kernel:
		g.errorf(d.Span(),
			"a kernel's parameters must be in state space .param, not .reg (PTX ISA 11.2.1)")
		return nil
	case d.Vec > len(components):
		g.errorf(d.Span(), "a vector register has at most %d components", len(components))
		return nil
	case t.Size() == 0 && t != isa.Pred:
		g.errorf(d.TypeSpan, "a register cannot have type .%s", d.Type)
		return nil
	}
	var out []*ir.Var
	for _, n := range d.Names {
		// A vector register is passed component by component (PTX ISA 6.4.3: "Vectors may also be passed
		// as arguments to called functions").
		for i := range max(d.Vec, 1) {
			v := &ir.Var{Name: n.Name, Type: t, Size: t.Size(), Align: max(t.Size(), 1), Span: n.Span,
				InReg: true, Reg: ir.NoReg}
			if d.Vec > 0 {
				v.Name += "." + components[i:][:1]
				g.vectors[v] = n.Name
			}
			out = append(out, v)
		}
	}
	return out
}

// directives reads the performance and attribute directives between a function's header and its
// body (PTX ISA 11.4, 11.7). Only those are kept that bound the launch or end control flow.
// __assertfail, the system call behind assert, never returns. Compilers for PTX before 6.4 cannot
// declare that (.noreturn is newer), so it is known by name here.
func (g *gen) directives(f *ir.Func, d *ptx.Func) {
	if d.Name == "__assertfail" && d.Body == nil {
		f.NoReturn = true
	}
	for _, dir := range d.Dirs {
		switch dir.Name {
		case ".reqntid":
			f.ReqNTID = g.dim3(dir)
		case ".maxntid":
			f.MaxNTID = g.dim3(dir)
		case ".reqnctapercluster":
			f.ReqCluster = g.dim3(dir)
		case ".maxnreg":
			f.MaxRegisters = g.positive(dir)
		case ".minnctapersm":
			f.MinBlocks = g.positive(dir)
		case ".noreturn":
			f.NoReturn = true
		}
	}
}

// positive reads one positive number; 0 after an error means that nothing is known.
func (g *gen) positive(d *ptx.Directive) uint32 {
	n, ok := argInt(d, 0)
	if !ok || n < 1 || n > 1<<31-1 {
		g.errorf(d.Span(), "%s: expected a positive number", d.Name)
		return 0
	}
	return uint32(n)
}

// dim3 reads one to three positive numbers; dimensions that are omitted are 1. The zero Dim3 after
// an error means that nothing is known.
func (g *gen) dim3(d *ptx.Directive) event.Dim3 {
	v := [3]uint32{1, 1, 1}
	for i := range d.Args.Len() {
		n, ok := argInt(d, i)
		if !ok || i > 2 || n < 1 || n > 1<<31-1 {
			g.errorf(d.Span(), "%s: expected one to three positive numbers", d.Name)
			return event.Dim3{}
		}
		v[i] = uint32(n)
	}
	return event.Dim3{X: v[0], Y: v[1], Z: v[2]}
}

// aliases resolves .alias a, b: a is another name of b (PTX ISA 11.2.3).
func (g *gen) aliases(file *ptx.File) {
	for _, d := range file.Decls {
		dir, ok := d.(*ptx.Directive)
		if !ok || dir.Name != ".alias" {
			continue
		}
		if dir.Args.Len() != 2 {
			g.errorf(dir.Span(), ".alias: expected two function names")
			continue
		}
		var fns [2]*symbol
		for i, a := range dir.Args.All() {
			if a.Kind() == ptx.Name {
				fns[i] = g.top.syms[a.Name()]
			}
			if fns[i] == nil || fns[i].kind != symFunc {
				g.errorf(a.Span(), ".alias: expected the name of a function of this module")
				fns[i] = nil
			}
		}
		if fns[0] != nil && fns[1] != nil {
			fns[0].fn = fns[1].fn
		}
	}
}
