package verify

// convergence reports whether the lanes of each warp reach the same barriers of their warp in the
// same order, and none exits before: then each of these barriers orders what its warp does before
// and after it (PTX ISA 9.7.13.2). If that is not proved, there is no finding, but these barriers
// order nothing in the proof.
func (p *prover) convergence() bool {
	ends := p.th.WarpEnds
	if len(ends) == 0 {
		return false
	}
	opt := p.opt
	opt.Limit, opt.Record, opt.Ignore, opt.Shown = 1, nil, nil, nil
	sub := newProver(p.ctx, p.th, opt)
	for i := range ends {
		for j := i; j < len(ends) && !sub.done(); j++ {
			if a, b := &ends[i], &ends[j]; a.Instr != nil || b.Instr != nil {
				sub.apart(a, b, false, p.sameWarp(p.pair))
			}
		}
	}
	ok := sub.failures() == 0
	p.res.Counters = p.res.Counters || ok && sub.res.Counters
	return ok
}
