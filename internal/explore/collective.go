package explore

import (
	"fmt"

	"heddle/internal/memmodel"
)

// An exchange between the lanes of a warp (shfl.sync, vote.sync) waits "until all non-exited
// threads corresponding to membermask have executed" it "with the same qualifiers and same
// membermask value" (PTX ISA 9.7.9.6, 9.7.13.9), possibly as another instruction. It is no event:
// it exchanges registers and orders no memory accesses. A value that it returns depends on what
// decided the operands of the others, and that they took part.

// pending is an exchange in which a thread waits for the others.
type pending struct {
	in   *Inst
	mask int64
	args []value
}

// exchange makes a thread wait at an exchange, once its mask is known.
func (x *explorer) exchange(st *state, i int, in *Inst) bool {
	t := &st.threads[i]
	mask, ok := st.eval(t.operand(in.Name[0]))
	if !ok {
		return false
	}
	p := &pending{in: in, mask: mask & (1<<len(in.Peers) - 1)}
	for _, o := range in.Args {
		p.args = append(p.args, t.operand(o))
	}
	t.pending, t.status = p, waiting
	return true
}

// gather completes an exchange whose threads have all arrived, and reports whether there was one.
func (x *explorer) gather(st *state) bool {
	for i := range st.threads {
		if p := st.threads[i].pending; p != nil {
			if members := st.members(i, p); members != nil {
				x.complete(st, p, members)
				return true
			}
		}
	}
	return false
}

// members returns the threads of the exchange that thread i waits in, by lane, and -1 for a lane
// that takes no part; nil if some are still to arrive.
func (st *state) members(i int, p *pending) []int {
	out := make([]int, len(p.in.Peers))
	own := false
	for lane, peer := range p.in.Peers {
		out[lane] = -1
		if p.mask>>lane&1 == 0 || st.threads[peer].status == ended {
			continue
		}
		q := st.threads[peer].pending
		if q == nil || q.mask != p.mask || q.in.Text != p.in.Text {
			return nil
		}
		out[lane], own = peer, own || peer == i
	}
	if !own {
		panic(limitError(fmt.Sprintf("%s: a thread executes %s without being in its mask, which is "+
			"undefined", p.in.At, p.in.Text)))
	}
	return out
}

// complete gives each member its result.
func (x *explorer) complete(st *state, p *pending, members []int) {
	var deps memmodel.Set
	live, lanes := int64(0), make([]value, len(members))
	for lane, m := range members {
		if m >= 0 {
			t := &st.threads[m]
			live |= 1 << lane
			lanes[lane] = t.pending.args[0]
			deps.Union(t.ctrl)
			deps.Union(t.pending.args[0].deps)
		}
	}
	for _, m := range members {
		if m < 0 {
			continue
		}
		t := &st.threads[m]
		in := t.pending.in
		args := append([]value{{known: live}}, t.pending.args[1:]...)
		v := st.function(in.Eval, append(args, lanes...)...)
		v.deps.Union(deps)
		t.pending, t.status = nil, running
		t.regs[in.Dst] = v
		t.pc++
	}
	for _, m := range members {
		if m >= 0 {
			x.enter(st, m)
		}
	}
}
