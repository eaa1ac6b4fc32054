package ir

import (
	"slices"
	"strings"

	"heddle/internal/event"
)

// Callees returns the functions that f may call or whose address it takes, each once, in the order
// of the text. A function whose address f takes counts, since an indirect call may reach it.
func Callees(f *Func) []*Func {
	var out []*Func
	seen := make(map[*Func]bool)
	add := func(g *Func) {
		if g != nil && !seen[g] {
			seen[g] = true
			out = append(out, g)
		}
	}
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			add(in.Callee)
			for _, t := range in.Targets {
				add(t)
			}
			for i := range in.Src {
				add(in.Src[i].Func)
			}
		}
	}
	return out
}

// ReachableFuncs returns k and every function that may run when k does, in depth-first order.
// Addresses of functions in the initialisers of variables that this code mentions count as calls.
func ReachableFuncs(k *Func) []*Func {
	seen := map[*Func]bool{k: true}
	vars := make(map[*Var]bool)
	out := []*Func{k}
	add := func(g *Func) {
		if g != nil && !seen[g] {
			seen[g] = true
			out = append(out, g)
		}
	}
	for i := 0; i < len(out); i++ {
		for _, g := range Callees(out[i]) {
			add(g)
		}
		for _, v := range usedVars(out[i], vars) {
			for _, r := range v.Relocs {
				add(r.Func)
			}
		}
	}
	return out
}

// ReachableVars returns the variables that the code of ReachableFuncs mentions, and those whose
// addresses are in their initialisers.
func ReachableVars(k *Func) []*Var {
	var out []*Var
	seen := make(map[*Var]bool)
	for _, f := range ReachableFuncs(k) {
		out = append(out, usedVars(f, seen)...)
	}
	return out
}

// usedVars returns the variables that the instructions of f mention, and those whose address is in
// their initialisers, except those in seen, which it extends.
func usedVars(f *Func, seen map[*Var]bool) []*Var {
	var out []*Var
	add := func(v *Var) {
		if v != nil && !seen[v] {
			seen[v] = true
			out = append(out, v)
		}
	}
	var operand func(o *Operand)
	operand = func(o *Operand) {
		add(o.Var)
		for i := range o.Elems {
			operand(&o.Elems[i])
		}
	}
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			for i := range in.Src {
				operand(&in.Src[i])
			}
			for i := range in.Dst {
				operand(&in.Dst[i])
			}
		}
	}
	for i := 0; i < len(out); i++ {
		for _, r := range out[i].Relocs {
			add(r.Target)
		}
	}
	return out
}

// OrdersParts reports whether kernel k may execute something that orders some memory only.
func OrdersParts(k *Func) bool {
	return MayExecute(k, func(in *Instr) bool { return in.Orders != event.OrdersAll })
}

// OrdersOwn reports whether kernel k may execute a fence that orders the shared memory of its own
// block only.
func OrdersOwn(k *Func) bool {
	return MayExecute(k, func(in *Instr) bool { return in.Orders == event.OrdersOwn })
}

// HasPairs reports whether kernel k has an instruction for pairs of blocks of a cluster
// (.cta_group::2, PTX ISA 9.7.16.5.1).
func HasPairs(k *Func) bool {
	return MayExecute(k, func(in *Instr) bool { return in.TensorGroup() == 2 })
}

// MayExecute reports whether a function that may run when kernel k does (ReachableFuncs) has an
// instruction for which is returns true.
func MayExecute(k *Func, is func(*Instr) bool) bool {
	return slices.ContainsFunc(ReachableFuncs(k), func(f *Func) bool {
		return slices.ContainsFunc(f.Blocks, func(b *Block) bool {
			return slices.ContainsFunc(b.Instrs, is)
		})
	})
}

// LaunchesGrid reports whether a function is one of those without a body by which a thread launches
// a grid (PTX ISA 6.4.4; CUDA C++ Programming Guide, "CUDA Dynamic Parallelism").
func LaunchesGrid(f *Func) bool {
	if f == nil || len(f.Blocks) > 0 {
		return false
	}
	name := strings.TrimPrefix(strings.TrimPrefix(f.Name, "__cudaCDP2"), "cuda")
	switch strings.TrimSuffix(name, "V2") {
	case "GetParameterBuffer", "LaunchDevice":
		return name != f.Name
	}
	return false
}
