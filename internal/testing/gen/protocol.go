package gen

// protocol writes one kernel whose threads synchronize through memory: Arrivals, Locks, Flags. Most
// of its choices are the right ones, in right of of cases at least.
type protocol struct {
	random
	right, of int
}

// mostly returns the first choice, or any.
func (g *protocol) mostly(choices ...string) string {
	if g.n(g.of) < g.right {
		return choices[0]
	}
	return choices[g.n(len(choices))]
}

// fence returns a fence, mostly one that is wide enough.
func (g *protocol) fence() string {
	return g.mostly("membar.gl;", "fence.acq_rel.gpu;", "fence.sc.sys;", "membar.cta;", "",
		"@%p3 membar.gl;", "fence.acq_rel.cta;")
}
