package repair

import (
	"fmt"
	"math"
	"slices"

	"heddle/internal/ir"
)

// Cost is the cost model of package place: Loop for each loop around a place, Cond for each
// condition (AutoSync, section III.C), and Split for a place that needs a transformation before all
// threads reach it.
type Cost struct{ Loop, Cond, Split float64 }

// DefaultCost holds the constants of the paper.
var DefaultCost = Cost{Loop: 100, Cond: 0.5, Split: 1.5}

// action is one step of a plan. Two actions with one key do the same, so the key identifies an
// action in a search.
type action struct {
	key  string
	cost float64
	add  func(*Plan)
	what Change
	// weaker are actions at the same place that order less, the weakest first.
	weaker []action
}

// Change is a part of a repair, for the report.
type Change struct {
	What string    // "a block barrier"
	At   *ir.Instr // the instruction behind it, or that is removed; nil: the end of a block
	Cut  bool      // the control flow was transformed so that all threads reach it
	Old  bool      // At itself is changed
	// After says that the change is behind At, the last instruction of its block.
	After bool
}

// pointCost returns the cost of a block barrier at a place.
func (x *Transformer) pointCost(c Cost, p Point) float64 {
	if x.flow.uniform[p.Block] {
		return x.aloneCost(c, p)
	}
	c.Cond = 1
	return x.aloneCost(c, p) * c.Split
}

// aloneCost returns the cost of an instruction that each thread executes alone: no transformation
// is needed. The branch that decides whether a loop continues is not counted as a condition: the
// loop is.
func (x *Transformer) aloneCost(c Cost, p Point) float64 {
	depth := 0
	if l := x.flow.loops.Of[p.Block]; l != nil {
		depth = l.Depth
	}
	conds := 0
	around := []ir.BlockID{p.Block} // the block, and those whose branches decide whether it runs
	for i := 0; i < len(around); i++ {
		for _, u := range x.flow.controls[around[i]] {
			if slices.Contains(around, u) {
				continue
			}
			around = append(around, u)
			l := x.flow.loops.Of[u]
			if l == nil || !l.Contains(p.Block) || !slices.Contains(x.flow.controls[l.Header], u) {
				conds++
			}
		}
	}
	return math.Pow(c.Loop, float64(depth)) * math.Pow(c.Cond, float64(conds))
}

// BarrierCost returns the total cost of the barriers of a kernel. It is what heddle fix reports
// before and after a repair; its unit is a block barrier in straight-line code.
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

// barrierAction returns the action that puts a block barrier at a place.
func (x *Transformer) barrierAction(c Cost, p Point) action {
	b := x.k.Func.Block(p.Block)
	ch := Change{What: "a block barrier", Cut: !x.flow.uniform[p.Block]}
	if p.Index < len(b.Instrs) {
		ch.At = b.Instrs[p.Index]
	} else if last := b.Last(); last != nil {
		ch.At, ch.After = last, true
	}
	return action{
		key:  fmt.Sprintf("bar %d.%d", p.Block, p.Index),
		cost: x.pointCost(c, p),
		add:  func(pl *Plan) { pl.Barriers = append(pl.Barriers, p) },
		what: ch,
	}
}

// where returns the place before an instruction.
func (x *Transformer) where(in *ir.Instr) Point {
	b := x.blockOf(in)
	return Point{b, slices.Index(x.k.Func.Block(b).Instrs, in)}
}

// beforeEnd returns the place before the terminator of a block, or behind its last instruction.
func (x *Transformer) beforeEnd(id ir.BlockID) Point {
	b := x.k.Func.Block(id)
	n := len(b.Instrs)
	if b.Terminator() != nil {
		n--
	}
	return Point{id, n}
}

// near returns places at which a barrier may order an access against others: next to it, and around
// the branches and loops that contain it.
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
				outer := func(q ir.BlockID) bool { return !l.Contains(q) }
				if !l.Contains(s) && !slices.ContainsFunc(x.k.Func.Block(s).Preds, outer) {
					out = append(out, Point{Block: s})
				}
			}
		}
	}
	return out
}

// outside returns the places around the smallest single-entry single-exit region that contains a
// block and that all threads enter.
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
