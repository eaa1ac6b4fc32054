package lockstep

import (
	"fmt"

	"heddle/internal/ir"
	"heddle/internal/smt"
)

// Loop is what the last pass found of a loop: what a proof by induction over its iterations needs. Every term is over
// the counters of the loops around (Around) and the loop's own (Counter).
type Loop struct {
	Header  *ir.Block
	Around  []smt.Term
	Counter smt.Term
	Entry   smt.Term // the thread comes to the header from outside
	Act     smt.Term // the thread is in iteration Counter, if it entered
	Back    smt.Term // it is, and goes on to the next
	Exits   []smt.Term
	Last    smt.Term // the iteration in which the thread leaves, if it entered
	Slots   []Slot
	Guesses []smt.Term // what the user proposes as invariants
}

// Slot is something that a loop may change: a register, a part of the tag, or the number of strides that a register
// has moved.
type Slot struct {
	Name   string
	At     smt.Term // at the header, in iteration Counter
	Symbol smt.Term // if not Closed: what stands for it in At and everywhere else, a function of the iteration vector
	Init   smt.Term // in iteration 0
	Next   smt.Term // what this iteration makes of it
	Closed bool     // At says it without a symbol of the loop
	Tag    bool     // a part of the tag
	Own    bool     // Tag: the iteration of this very loop in which the last barrier was
}

// describe returns the loops of the last pass, outer ones before those inside.
func (x *exec) describe() []Loop {
	var out []Loop
	for _, l := range x.loops.Loops {
		info := x.info[l]
		if info.entry == smt.False || info.back == smt.False || len(info.regs) == 0 && !info.barriers {
			continue
		}
		at := append(info.counters(), info.counter)
		lp := Loop{
			Header: x.f.Blocks[l.Header], Around: info.counters(), Counter: info.counter, Entry: info.entry, Back: info.back,
			Act:   x.apply(info.name("act", info.privateAct), 0, at),
			Last:  x.apply(info.name("kx", info.privateExit), 32, info.counters()),
			Exits: append(append([]smt.Term(nil), info.exits...), info.gone...), Guesses: info.guesses,
		}
		for i := range len(x.f.Regs) + x.parts*x.tagLen() {
			r := info.regs[i]
			if r == nil || r.init == undef || r.next == undef {
				continue
			}
			s := Slot{Name: x.slotName(i), At: x.headerValue(info, i, r, info.counter, at), Init: r.init, Next: r.next, Closed: r.form != unknown && r.form != offset, Tag: i >= len(x.f.Regs)}
			s.Own = info.barriers && s.Tag && (i-len(x.f.Regs))%x.tagLen() == 1+info.slot
			if r.form == offset { // the number of strides is all that there is to know
				s.Name, s.At = s.Name+".strides", x.symbol(info, i, r, at)
				s.Init, s.Next = x.c.Const(0, r.width), r.body
			}
			if !s.Closed {
				s.Symbol = s.At
			}
			lp.Slots = append(lp.Slots, s)
		}
		out = append(out, lp)
	}
	return out
}

func (x *exec) slotName(i int) string {
	n := len(x.f.Regs)
	if i < n {
		return x.f.Regs[i].Name
	}
	part, at := (i-n)/x.tagLen(), (i-n)%x.tagLen()
	name := [numParts]string{"barrier", "barrier.shared", "barrier.global"}[part]
	if at > 0 {
		name = fmt.Sprintf("%s.iteration%d", name, at-1)
	}
	return name
}
