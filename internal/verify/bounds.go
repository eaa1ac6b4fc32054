package verify

import (
	"context"
	"slices"
	"strings"

	"heddle/internal/event"
	"heddle/internal/lockstep/symbol"
	"heddle/internal/lockstep/thread"
	"heddle/internal/smt"
)

// BeyondArrays returns as findings, or as Unbounded, the accesses that are not proved to stay in
// their arrays, as far as opt.Sizes knows these. It says nothing of accesses whose array is
// unknown.
func BeyondArrays(ctx context.Context, th *thread.Thread, opt Options) *Result {
	p := newProver(ctx, th, opt)
	p.shrunk = mostShrunk
	p.nulls()
	p.bounds()
	p.drain()
	return p.result()
}

// bounds asks for accesses beyond the end of arrays whose sizes are known. Offsets are unsigned:
// one before the start is far beyond the end.
func (p *prover) bounds() {
	if p.opt.Sizes == nil {
		return
	}
	for _, list := range [][]thread.Access{p.th.Accesses, p.th.Own} {
		for i := range list {
			if p.done() {
				return
			}
			p.beyond(&list[i])
		}
	}
}

// beyond asks whether one access may lie beyond the end of its array.
func (p *prover) beyond(a *thread.Access) {
	if a.Object == nil {
		if address, known := p.c.Value(a.Offset); !p.opt.AllBounds || known && address < nullPage {
			return
		}
		p.pairs = append(p.pairs, &pair{bad: true,
			finding: Finding{Kind: Bounds, A: a.Instr, Reason: "the array that it accesses is unknown"}})
		p.bad++
		return
	}
	size, known := p.opt.Sizes(a.Object)
	if !known {
		return
	}
	s, c := p.pair, p.c
	beyond := smt.True
	if uint64(a.Size) <= size {
		beyond = c.Ult(c.Const(size-uint64(a.Size), 64), s[0].Apply(a.Offset))
	}
	q := []smt.Term{s[0].Apply(a.Guard), beyond}
	if c.And(q...) == smt.False {
		return
	}
	p.decide(q, [2][]smt.Term{{a.Guard, a.Offset}, nil}, s,
		Finding{Kind: Bounds, A: a.Instr, Object: a.Object, iters: [2][]smt.Term{a.Iters, nil},
			Data: p.isData(a.Offset), Scalars: p.hasParams(a.Guard, a.Offset)})
}

// nullPage is how many bytes from address 0 on no array of global memory has.
const nullPage = 4096

// nulls asks for accesses through a null pointer, or one that is close to it, whose address is a
// function of indices alone, as that of no array is. They come before races: such an access may look
// as if it raced with any other one.
func (p *prover) nulls() {
	if p.opt.Sizes == nil {
		return
	}
	c, s := p.c, p.pair
	for i := range p.th.Accesses {
		a := &p.th.Accesses[i]
		if a.Object != nil || a.Space != event.Global && a.Space != event.Generic ||
			p.isData(a.Offset) || p.hasParams(a.Offset) {
			continue
		}
		if p.done() {
			return
		}
		q := []smt.Term{s[0].Apply(a.Guard), c.Ult(s[0].Apply(a.Offset), c.Const(nullPage, 64))}
		if c.And(q...) == smt.False {
			continue
		}
		p.decide(q, [2][]smt.Term{{a.Guard, a.Offset}, nil}, s, Finding{Kind: Bounds, A: a.Instr,
			iters: [2][]smt.Term{a.Iters, nil}, Scalars: p.hasParams(a.Guard)})
	}
}

// isData reports whether an offset is not a function of indices, parameters, loop counters and
// shares of copies alone: it depends on the contents of memory, or on a register of a loop without
// a closed form. Some thread has each share, whichever thread that is.
func (p *prover) isData(offset smt.Term) bool {
	data := false
	p.c.Visit([]smt.Term{offset}, func(t smt.Term) {
		if p.c.Op(t) != smt.OpApp {
			return
		}
		name := strings.TrimPrefix(strings.TrimPrefix(p.c.Name(t), symbol.Private), symbol.Block)
		data = data || !strings.HasPrefix(name, "kx") &&
			!strings.HasPrefix(p.c.Name(t), symbol.Share)
	})
	return data
}

// hasParams reports whether terms contain parameters of the kernel.
func (p *prover) hasParams(terms ...smt.Term) bool {
	return slices.ContainsFunc(terms, func(t smt.Term) bool {
		return symbol.Any(p.c, t, symbol.IsParam)
	})
}

// unbounded takes from the findings the accesses beyond their arrays for which there is no
// counterexample that a run must have: those that no solver decided, those that need unusual
// parameters, and those whose index depends on data. That they stay in their arrays is an
// assumption.
func (r *Result) unbounded() {
	kept := r.Findings[:0]
	for _, f := range r.Findings {
		if f.Kind == Bounds && (f.Data || f.Unusual || f.Model == nil) {
			r.Unbounded = append(r.Unbounded, f)
		} else {
			kept = append(kept, f)
		}
	}
	r.Findings = kept
}
