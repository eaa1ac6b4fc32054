package repair

import (
	"fmt"
	"math"
	"slices"

	"heddle/internal/ir"
)

// Cost is the model of place: LoopCost for each loop around, CondCost for each condition (AutoSync, section III.E),
// and SplitCost for a place to which the control flow must first bring all threads.
type Cost struct{ Loop, Cond, Split float64 }

// DefaultCost has the constants of the paper.
var DefaultCost = Cost{Loop: 100, Cond: 0.5, Split: 1.5}

// action is one thing that a plan may do.
type action struct {
	key  string
	cost float64
	add  func(*Plan)
	what Change
}

// Change is a part of a repair, for people.
type Change struct {
	What string    // "a block barrier"
	At   *ir.Instr // before which it stands, or that goes away; nil for the end of a block
	Cut  bool      // the control flow was changed to bring all threads there
	Old  bool      // At is what the change is about
}

// pointCost is what a barrier at a place costs.
func (x *Transformer) pointCost(c Cost, p Point) float64 {
	if x.flow.uniform[p.Block] {
		return x.aloneCost(c, p)
	}
	c.Cond = 1
	return x.aloneCost(c, p) * c.Split
}

// aloneCost is the same for what a thread does without others: nobody must be brought there.
func (x *Transformer) aloneCost(c Cost, p Point) float64 {
	depth := 0
	if l := x.flow.loops.Of[p.Block]; l != nil {
		depth = l.Depth
	}
	conds := 0
	for _, u := range x.flow.controls[p.Block] {
		if l := x.flow.loops.Of[u]; l == nil || !l.Contains(p.Block) || !slices.Contains(x.flow.controls[l.Header], u) {
			conds++
		}
	}
	return math.Pow(c.Loop, float64(depth)) * math.Pow(c.Cond, float64(conds))
}

// BarrierCost adds up what the barriers of a kernel cost.
func (x *Transformer) BarrierCost(c Cost) (sum float64) {
	for _, b := range x.k.Func.Blocks {
		for i, in := range b.Instrs {
			if isBarrier(in) || otherBarrier(in) {
				sum += x.pointCost(c, Point{b.ID, i})
			}
		}
	}
	return sum
}

// barrierAction is a block barrier at a place.
func (x *Transformer) barrierAction(c Cost, p Point) action {
	b := x.k.Func.Block(p.Block)
	ch := Change{What: "a block barrier", Cut: !x.flow.uniform[p.Block]}
	if p.Index < len(b.Instrs) {
		ch.At = b.Instrs[p.Index]
	} else if last := b.Last(); last != nil {
		ch.At = last
	}
	return action{fmt.Sprintf("bar %d.%d", p.Block, p.Index), x.pointCost(c, p), func(pl *Plan) { pl.Barriers = append(pl.Barriers, p) }, ch}
}

// where returns the place before an instruction.
func (x *Transformer) where(in *ir.Instr) Point {
	b := x.blockOf(in)
	return Point{b, slices.Index(x.k.Func.Block(b).Instrs, in)}
}

// beforeEnd is the place before the terminator of a block, or behind its last instruction.
func (x *Transformer) beforeEnd(id ir.BlockID) Point {
	b := x.k.Func.Block(id)
	n := len(b.Instrs)
	if b.Terminator() != nil {
		n--
	}
	return Point{id, n}
}

// near returns places from which a barrier may order an access against others: next to it, and around the branches and
// loops that it is in.
func (x *Transformer) near(in *ir.Instr) []Point {
	p := x.where(in)
	out := []Point{p}
	if !in.IsTerminator() {
		out = append(out, Point{p.Block, p.Index + 1})
	}
	out = append(out, x.outside(p.Block)...)
	for l := x.flow.loops.Of[p.Block]; l != nil; l = l.Parent {
		out = append(out, Point{Block: l.Header})
		for _, b := range l.Latches {
			out = append(out, x.beforeEnd(b))
		}
		for _, pre := range x.k.Func.Block(l.Header).Preds {
			if !l.Contains(pre) && len(x.k.Func.Block(pre).Succs) == 1 {
				out = append(out, x.beforeEnd(pre))
			}
		}
		for _, b := range l.Blocks {
			for _, s := range x.k.Func.Block(b).Succs {
				if !l.Contains(s) && !slices.ContainsFunc(x.k.Func.Block(s).Preds, func(q ir.BlockID) bool { return !l.Contains(q) }) {
					out = append(out, Point{Block: s})
				}
			}
		}
	}
	return out
}

// outside returns the places around the smallest part of the control flow that holds a block and that all threads pass.
func (x *Transformer) outside(b ir.BlockID) []Point {
	if x.flow.uniform[b] {
		return nil
	}
	r := x.flow.around([]ir.BlockID{b})
	if r == nil {
		return nil
	}
	out := []Point{x.beforeEnd(r.entry)}
	if r.exit != ir.NoBlock {
		out = append(out, Point{Block: r.exit})
	}
	return out
}
