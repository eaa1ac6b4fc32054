package repair

import "slices"

// reason says why a kernel cannot be repaired.
func (r *repairer) reason() string {
	shown := func(ok func(located) bool) bool {
		return slices.ContainsFunc(r.found, func(f located) bool { return f.Shown && ok(f) })
	}
	one := shown(func(f located) bool {
		return (f.Kind == Race || f.Kind == Copy) && f.a == f.b && f.a != nil && f.a.Op() != "call"
	})
	out := "no barriers and fences near the findings help"
	switch {
	case one:
		out = "two threads race at one and the same instruction, which no barrier can separate"
	case shown(func(f located) bool { return f.Kind == Race && f.Reach == AcrossBlocks }):
		out = "threads of different blocks race, and no barrier of a block orders them"
	case shown(func(f located) bool { return f.Kind == Race && f.a == f.b && f.a != nil }):
		out = "it is within a function that is called and not inlined"
	case shown(func(f located) bool { return f.Kind == Other }):
		out = "it is neither a race that order would end nor a divergence: a copy not waited for, another proxy, a misuse of a barrier"
	case r.why != nil:
		out = r.why.Error()
	}
	if u := r.updates(); len(u) > 0 && !r.opt.Atomic {
		out += "; with --allow atomic the update can become one atomic operation"
		if slices.ContainsFunc(u, func(u update) bool { return u.float }) {
			out += ", and sums of floating-point numbers then depend on the order"
		}
	}
	return out
}
