package emu

import (
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// Peek reads registers of a running machine. It is for sinks that describe an event to people: it is
// valid only while the sink handles an event of the run whose Options have it, and blocks do not run
// ahead in such a run.
type Peek struct{ x *exec }

// Register returns the value that a register of f has in a lane of the warp whose event the sink
// handles. ok is false if the warp is not in f, for predicates, and for values that are not known.
func (p *Peek) Register(f *ir.Func, r ir.RegID, lane int) (v uint64, ok bool) {
	x := p.x
	if x == nil || x.frame == nil || x.unk != nil || x.frame.fn.fn != f || f.Regs[r].Type == isa.Pred {
		return 0, false
	}
	slot := x.frame.fn.slots[r]
	if len(x.forms) > 0 && x.forms[slot].state == formOnly {
		x.fillLanes(slot)
	}
	return x.regs[slot][lane], true
}
