package lockstep

import (
	"fmt"
	"slices"
	"strings"

	"heddle/internal/ir"
	"heddle/internal/lazyregexp"
	"heddle/internal/lockstep/annotation"
	"heddle/internal/lockstep/memory"
	"heddle/internal/lockstep/symbol"
	"heddle/internal/lockstep/thread"
	"heddle/internal/smt"
)

func calleeName(in *ir.Instr) string {
	if in.Callee == nil {
		return "a function by its address"
	}
	return in.Callee.Demangled
}

// call executes a call that was not inlined: annotations, copies of groups, and functions without a
// body.
func (x *exec) call(in *ir.Instr, st *state) {
	switch {
	case in.Callee == nil:
		x.notes.State(site{x, in, st}, thread.KnownTarget, smt.False)
		x.anyResult(in, st)
		return
	case in.Callee.Blocks != nil: // inlined before: this is where it returns
		x.notes.Returned(site{x, in, st})
		return
	}
	name, ours := strings.CutPrefix(in.Callee.Name, ir.AnnotationPrefix)
	function, declared := strings.CutPrefix(name, "uf_")
	switch {
	case in.Callee.Uninterpreted():
		x.uninterpreted(in, in.Callee.Name, st)
	case !ours:
		x.extern(in, st)
	case declared:
		x.uninterpreted(in, function, st)
	case x.groupCopy(name, in, st):
	default:
		x.notes.Call(site{x, in, st}, name)
	}
}

// extern executes a call of a function without a body that heddle's headers do not declare.
func (x *exec) extern(in *ir.Instr, st *state) {
	name := calleeName(in)
	if ir.LaunchesGrid(in.Callee) {
		thread.Unsupported(in, "a call of %s: proofs do not cover kernels that launch kernels", name)
	}
	if !x.opt.PureExtern {
		thread.Unsupported(in, "a call of %s, whose body is unknown", name)
	}
	if i, found := slices.BinarySearch(x.th.Extern, name); !found {
		x.th.Extern = slices.Insert(x.th.Extern, i, name)
	}
	x.anyResult(in, st)
}

// anyResult takes the result of a call to be anything. The function may have pointers to memory of
// the thread.
func (x *exec) anyResult(in *ir.Instr, st *state) {
	x.mem.ForgetLocal(&st.mem)
	for i := range in.Dst {
		if o := in.Dst[i]; o.Kind == ir.Register {
			x.set(in, o, x.Unknown("called", x.k.Width(int(o.Reg))), false, st)
		} else if x.mem.IsArgument(&o) {
			x.mem.ForgetArgument(o.Var, 0, o.Var.Size, &st.mem)
		}
	}
}

// uninterpreted executes a call of a function of its arguments, declared by DECLARE_UF or known by
// its name.
func (x *exec) uninterpreted(in *ir.Instr, name string, st *state) {
	var args []smt.Term
	for i := range in.Src {
		args = append(args, x.argument(in, i, 64, st))
	}
	if len(in.Dst) == 0 {
		return
	}
	w := 64
	if d := in.Dst[0]; d.Kind == ir.VarVal {
		w = 8 * min(d.Var.Size, 8)
	}
	x.setResult(in, symbol.Uninterpreted(x.c, name, w, args...), st)
}

// argument is the value of argument i of a call, in w bits.
func (x *exec) argument(in *ir.Instr, i, w int, st *state) smt.Term {
	switch o := in.Src[i]; {
	case o.Kind != ir.VarVal:
		return x.read(o, w, st)
	case x.mem.IsArgument(&o) && o.Var.Size <= 8:
		return x.resize(x.mem.LoadArgument(o.Var, 0, o.Var.Size, &st.mem), w, false)
	}
	return x.Unknown(fmt.Sprintf("arg%d.", i), w)
}

// stringRE matches a conversion of printf that reads a string, and the text for a percent sign.
var stringRE = lazyregexp.New(`%%|%[-+ #0]*(?:\*|[0-9]*)(?:\.(?:\*|[0-9]*))?[hlqLjzt]*s`)

// readsString reports whether a call of vprintf may read a string as an argument, or a format that
// the kernel or the host may write: unless its format is a constant of the program without %s.
func (x *exec) readsString(in *ir.Instr, st *state) bool {
	places := x.mem.Resolve(x.argument(in, 0, 64, st))
	for i := range places {
		o := places[i].Object
		if o == nil || o.Var == nil || len(o.Var.Init) == 0 || x.mem.Written(o) {
			return true
		}
		for _, m := range stringRE.FindAll(o.Var.Init, -1) {
			if string(m) != "%%" {
				return true
			}
		}
	}
	return len(places) == 0
}

// setResult gives a call's only result a value.
func (x *exec) setResult(in *ir.Instr, v smt.Term, st *state) {
	if len(in.Dst) == 0 {
		return
	}
	switch o := in.Dst[0]; {
	case o.Kind == ir.Register:
		x.set(in, o, v, false, st)
	case o.Kind != ir.VarVal || !x.mem.IsArgument(&o):
	case o.Var.Size > 8:
		x.mem.ForgetArgument(o.Var, 0, o.Var.Size, &st.mem)
	default:
		x.mem.StoreArgument(o.Var, 0, o.Var.Size, x.resize(v, 8*o.Var.Size, false), &st.mem)
	}
}

// site is an instruction in a state, as annotations see it.
type site struct {
	x  *exec
	in *ir.Instr
	st *state
}

var _ annotation.Site = site{}

// Instr is the call of the annotation.
func (s site) Instr() *ir.Instr { return s.in }

// Guard is the predicate of the call, as it was before the instruction wrote anything.
func (s site) Guard() smt.Term { return s.x.guard }

// Reach is the condition that the thread reaches the call.
func (s site) Reach() smt.Term { return s.st.pred }

// Notes is what annotations have made known on this path.
func (s site) Notes() *annotation.State { return &s.st.notes }

// Memory is what the thread finds in memory here.
func (s site) Memory() *memory.State { return &s.st.mem }

// Argument is argument i of the call, width bits wide.
func (s site) Argument(i, width int) smt.Term { return s.x.argument(s.in, i, width, s.st) }

// SetResult gives the call its value.
func (s site) SetResult(v smt.Term) { s.x.setResult(s.in, v, s.st) }

// Access is what an access of the annotation's condition would be as one of the kernel.
func (s site) Access(in *ir.Instr, o *Object) thread.Access {
	return s.x.access(in, o, o.Space, s.st)
}
