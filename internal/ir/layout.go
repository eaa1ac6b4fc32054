package ir

import "heddle/internal/event"

// SharedVar is a shared variable with its place in a block's shared memory.
type SharedVar struct {
	*Var
	At int // byte offset from the start of the block's shared memory
}

// Layout places the shared variables that kernel k and the functions reachable from it mention:
// module variables in the order of the text, then those of function bodies. Size is the size of the
// static part.
//
// Arrays without bound (.extern .shared b[]) all start at the end of the static part, at the
// largest alignment among them: they are the one dynamic shared memory of the launch (CUDA C++
// Programming Guide, "__shared__"). Shared variables that the kernel cannot reach take no room.
func Layout(k *Func) (vars []SharedVar, size int) {
	seen := make(map[*Var]bool)
	funcs := ReachableFuncs(k)
	for _, f := range funcs {
		usedVars(f, seen)
	}
	var dynamic []*Var
	place := func(v *Var) {
		switch {
		case v.Space != event.Shared || !seen[v]:
		case v.Unsized:
			dynamic = append(dynamic, v)
		default:
			size = alignUp(size, v.Align)
			vars = append(vars, SharedVar{v, size})
			size += v.Size
		}
	}
	if k.Module != nil {
		for _, v := range k.Module.Vars {
			place(v)
		}
	}
	for _, f := range funcs {
		for _, v := range f.Vars {
			place(v)
		}
	}
	for _, v := range dynamic {
		size = alignUp(size, v.Align)
	}
	for _, v := range dynamic {
		vars = append(vars, SharedVar{v, size})
	}
	return vars, size
}

// alignUp rounds n up to a multiple of align, which is a power of two; 0 counts as 1.
func alignUp(n, align int) int {
	if align <= 1 {
		return n
	}
	return (n + align - 1) &^ (align - 1)
}
