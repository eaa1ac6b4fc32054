package instrument

import (
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// One record for several accesses. The paper does not log an access "to the address in a register
// if the value of the register has not been changed since the last logged access" of the same
// basic block (Barracuda, section 4.1). Here no access is lost: the host makes the event of each
// from the one record, so that findings name the same places. Several offsets from one register
// share a record too, which the paper does not do.
//
// Accesses of a block may share a record if
//   - their addresses are one register plus constants, and nothing writes the register between;
//   - they have the same guard, and nothing writes it either: they are made by the same lanes;
//   - they are weak, of one space, and no instruction between them synchronizes or calls;
//   - at most one of them writes: it is the one that is logged, for the values that it stores;
//   - all of them need a log in each launch, or none of them does where it is proved free.
//
// The host then sees the accesses of a thread a little earlier or later than they are made, but no
// synchronization of the thread lies between, so that they happen before and after the same
// accesses of other threads. A second write is not merged, since its values may be others. Reads
// and writes are never dropped in favour of each other: a write that Benign tolerates says nothing
// about a read.

// base is what merged accesses have in common.
type base struct {
	reg, guard ir.RegID
	neg        bool
	space      event.Space
	free       bool
}

// group is a set of accesses with one record so far.
type group struct {
	sites  []int
	writer int // index in sites; -1 if all read
}

// merge finds the groups of a block, whose sites begin at number first.
func (r *rewriter) merge(b *ir.Block, first int) {
	open := make(map[base]*group)
	n := first
	for _, in := range b.Instrs {
		site := -1
		if n < len(r.res.Sites) && r.res.Sites[n].Instr == in {
			site = n
			n++
		}
		if site >= 0 && r.mergeable(site) {
			s := &r.res.Sites[site]
			key := base{in.Src[s.Access.Operand].Reg, in.Guard, in.Neg, s.Access.Space, s.Free}
			g := open[key]
			writes := s.Access.Kind.Writes()
			if g == nil || writes && g.writer >= 0 {
				r.close(g)
				g = &group{writer: -1}
				open[key] = g
			}
			if writes {
				g.writer = len(g.sites)
			}
			g.sites = append(g.sites, site)
		} else if site >= 0 || in.Action() == isa.ActCall {
			for key, g := range open {
				r.close(g)
				delete(open, key)
			}
		}
		for i := range in.Dst {
			in.Dst[i].EachReg(func(id ir.RegID) {
				for key, g := range open {
					if key.reg == id || key.guard == id {
						r.close(g)
						delete(open, key)
					}
				}
			})
		}
	}
	for _, g := range open {
		r.close(g)
	}
}

// mergeable reports whether a site may share its records.
func (r *rewriter) mergeable(n int) bool {
	s := &r.res.Sites[n]
	if s.What != Access || s.Ticket {
		return false
	}
	o := &s.Instr.Src[s.Access.Operand]
	return o.Kind == ir.Mem && o.Reg != ir.NoReg && o.Var == nil
}

// close ends a group: one of its sites stands for all.
func (r *rewriter) close(g *group) {
	if g == nil || len(g.sites) < 2 {
		return
	}
	by := g.sites[max(g.writer, 0)]
	at := r.offset(by)
	lead := &r.res.Sites[by]
	for _, n := range g.sites {
		r.res.Sites[n].By = by
		lead.With = append(lead.With, Member{Site: n, Offset: r.offset(n) - at})
	}
}

// offset is the constant of the address of a site.
func (r *rewriter) offset(n int) int64 {
	s := &r.res.Sites[n]
	return int64(s.Instr.Src[s.Access.Operand].Val)
}
