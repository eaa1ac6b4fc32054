package verify

import "heddle/internal/smt"

// bounds asks for accesses beyond the end of arrays whose sizes are known. Offsets are unsigned:
// one before the start is far beyond the end.
func (p *prover) bounds() {
	if p.opt.Sizes == nil {
		return
	}
	for i := range p.th.Accesses {
		a := &p.th.Accesses[i]
		if p.done() {
			return
		}
		if a.Object == nil {
			p.pairs = append(p.pairs, &pair{bad: true,
				finding: Finding{Kind: Bounds, A: a.Instr, Reason: "the array that it accesses is unknown"}})
			p.bad++
			continue
		}
		size, known := p.opt.Sizes(a.Object)
		if !known {
			continue
		}
		s, c := p.pair, p.c
		beyond := smt.True
		if uint64(a.Size) <= size {
			beyond = c.Ult(c.Const(size-uint64(a.Size), 64), s[0].Apply(a.Offset))
		}
		q := []smt.Term{s[0].Apply(a.Guard), beyond}
		p.decide(q, [2][]smt.Term{{a.Guard, a.Offset}, nil}, s,
			Finding{Kind: Bounds, A: a.Instr, Object: a.Object, iters: [2][]smt.Term{a.Iters, nil}})
	}
}
