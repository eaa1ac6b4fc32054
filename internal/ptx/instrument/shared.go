package instrument

import (
	"fmt"
	"slices"
	"strings"

	"heddle/internal/event"
	"heddle/internal/ir"
)

// Where the shared variables of a kernel are is decided behind PTX: ptxas orders them, and from
// sm_80 on the system reserves the first bytes of shared memory. So the first thread of the grid
// logs their addresses, one record each, and reports name memory by them. Variables of other
// functions than the kernel, and of blocks within its body, are not visible at its beginning and
// are left out.

// layout adds the records of the shared variables of a kernel.
func (r *rewriter) layout(k *ir.Func) {
	var vars []*ir.Var
	all, _ := ir.Layout(k)
	for _, v := range all {
		if r.visible(k, v.Var) {
			vars = append(vars, v.Var)
		}
	}
	if len(vars) == 0 || len(k.Blocks[0].Instrs) == 0 {
		return
	}
	in := k.Blocks[0].Instrs[0]
	w := &writer{f: k}
	sum, one, p := w.reg("b32"), w.reg("b32"), w.reg("pred")
	w.line("mov.u32 %s, %%tid.x;", sum)
	for _, s := range []string{"tid.y", "tid.z", "ctaid.x", "ctaid.y", "ctaid.z"} {
		w.line("mov.u32 %s, %%%s;", one, s)
		w.line("or.b32 %s, %s, %s;", sum, sum, one)
	}
	w.line("setp.eq.u32 %s, %s, 0;", p, sum)
	var calls strings.Builder
	for _, v := range vars {
		n := len(r.res.Sites)
		r.res.Sites = append(r.res.Sites, Site{What: Layout, Instr: in, Func: k, Var: v})
		a := w.reg("b64")
		w.line("mov.u64 %s, %s;", a, v.Name)
		fmt.Fprintf(&calls, "@%s call %s, (%d, 1, %s);\n", p, accessFunc, n, a)
	}
	r.variants[accessFunc] = variant{name: accessFunc, addr: true}
	text := w.block(strings.TrimSpace(calls.String()))
	r.insert(r.before(in), 1, r.unless(r.silent[k], in, len(r.res.Sites)-1, text))
}

// visible reports whether a shared variable can be named at the beginning of a kernel.
func (r *rewriter) visible(k *ir.Func, v *ir.Var) bool {
	if v.Space != event.Shared {
		return false
	}
	if slices.Contains(k.Vars, v) {
		start, ok1 := r.file.Offset(k.Blocks[0].Instrs[0].Span.Start)
		at, ok2 := r.file.Offset(v.Span.Start)
		return ok1 && ok2 && at < start
	}
	hidden := func(own *ir.Var) bool { return own.Name == v.Name }
	return slices.Contains(k.Module.Vars, v) && !slices.ContainsFunc(k.Vars, hidden)
}
