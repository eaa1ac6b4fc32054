package kernel

import (
	"heddle/internal/event"
	"heddle/internal/explore"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// exchange translates shfl.sync and vote.sync. The forms without a mask are refused: which lanes
// take part depends on how a warp is scheduled.
func (t *thread) exchange(in *ir.Instr) {
	shuffle := in.Action() == isa.ActShuffle
	operands := 1
	if shuffle {
		operands = 3
	}
	if len(in.Src) != operands+1 || len(in.Dst) > 2 {
		refuse(in, "%s is not supported by heddle explore", in.Text())
	}
	i := explore.Inst{Kind: explore.Exchange, Peers: t.peers(), Dst: -1}
	i.Name[0] = t.value(in, in.Src[operands], isa.U32)
	for n, o := range in.Src[:operands] { // copies: the first result may overwrite an operand
		v := t.value(in, o, isa.U32)
		if o.Neg && t.isPred(o) {
			v = t.negated(in, v)
		}
		i.Args = append(i.Args, v)
		if v.IsReg {
			i.Args[n] = explore.Reg(t.hidden())
			t.emit(in, explore.Inst{Kind: explore.Compute, Dst: i.Args[n].Reg, Args: []explore.Operand{v},
				Eval: func(a []int64) (int64, bool) { return a[0], true }})
		}
	}
	if len(in.Dst) == 0 {
		refuse(in, "%s is not supported by heddle explore", in.Text())
	}
	for n, d := range in.Dst {
		if i.Dst = int(d.Reg); d.Kind != ir.Register { // the value goes nowhere
			i.Dst = t.hidden()
		}
		if shuffle {
			i.Eval = shuffled(in.Fn, t.lane, n == 1)
		} else {
			i.Eval = voted(in.Fn)
		}
		t.emit(in, i)
		if n == 1 { // not the operation of those that want the first result
			t.out.Code[len(t.out.Code)-1].Text += " predicate"
		}
	}
}

// peers returns the threads of the warp, by lane.
func (t *thread) peers() (out []int) {
	n := t.geo.ThreadsPerBlock()
	first := t.warp * event.WarpSize
	for i := first; i < min(first+event.WarpSize, n); i++ {
		out = append(out, int(t.block)*n+i)
	}
	return out
}

// shuffled returns what shfl.sync gives to a lane, or the predicate whether the source is in range
// (PTX ISA 9.7.9.6). The value of a lane that takes no part is undefined, so there is none.
func shuffled(mode isa.Fn, lane int, pred bool) func([]int64) (int64, bool) {
	return func(a []int64) (int64, bool) {
		live, b, c, lanes := a[0], int(a[1]&31), a[2], a[3:]
		segment := int(c >> 8 & 31)
		most := lane&segment | int(c&31)&^segment
		j, in := lane, false
		switch mode {
		case isa.FnUp:
			j = lane - b
			in = j >= most
		case isa.FnDown:
			j = lane + b
			in = j <= most
		case isa.FnBfly:
			j = lane ^ b
			in = j <= most
		case isa.FnIdx:
			j = lane&segment | b&^segment
			in = j <= most
		}
		switch {
		case pred && in:
			return 1, true
		case pred:
			return 0, true
		case !in:
			j = lane
		}
		if j >= len(lanes) || live>>j&1 == 0 {
			return 0, false
		}
		return int64(uint32(lanes[j])), true
	}
}

// voted returns the result of vote.sync (PTX ISA 9.7.13.9).
func voted(mode isa.Fn) func([]int64) (int64, bool) {
	is := func(b bool) (int64, bool) {
		if b {
			return 1, true
		}
		return 0, true
	}
	return func(a []int64) (int64, bool) {
		live, yes := uint32(a[0]), uint32(0)
		for lane, v := range a[1:] {
			yes |= uint32(v&1) << lane
		}
		yes &= live
		switch mode {
		case isa.FnAll:
			return is(yes == live)
		case isa.FnAny:
			return is(yes != 0)
		case isa.FnUni:
			return is(yes == live || yes == 0)
		}
		return int64(yes), true
	}
}
