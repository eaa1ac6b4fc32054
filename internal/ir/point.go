package ir

import (
	"fmt"
	"slices"

	"heddle/internal/event"
	"heddle/internal/isa"
	"heddle/internal/source"
)

// Sync is what a point becomes.
type Sync uint8

const (
	NoSync Sync = iota // nothing; an existing barrier is removed
	// bar.sync 0, of all threads of the block; an existing barrier stays as it is
	BlockSync
	WarpSync // bar.warp.sync of all lanes; an existing barrier becomes one
	AsIs     // as without the points: nothing, or the existing barrier
	// a barrier of all threads of all blocks, as .pragma "heddle.grid" marks one; an existing barrier
	// stays as it is
	GridSync
)

// Choice says what becomes of the point of that number, and which memory the barrier then orders. A
// barrier that stands and stays keeps its own order.
type Choice func(point int) (Sync, event.Orders)

// Point returns the number of a point, whether in is one, and whether it is that of the barrier
// that comes next.
func (in *Instr) Point() (n int, point, standing bool) {
	if point, standing = in.IsPoint(); !point {
		return 0, false, false
	}
	return int(in.Src[0].Val), true, standing
}

// Points returns the numbers of the points of a kernel and of what it calls, ascending, each once.
// A point occurs as often as the function that holds it was inlined.
func Points(k *Func) []int {
	var out []int
	for _, f := range ReachableFuncs(k) {
		for _, b := range f.Blocks {
			for _, in := range b.Instrs {
				if n, ok, _ := in.Point(); ok {
					out = append(out, n)
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// LostBarrierError says that the barrier of a point is not where it was marked.
type LostBarrierError struct {
	Point int
	Loc   *source.Frame
}

// Error says which barrier is missing; its position is Loc.
func (e *LostBarrierError) Error() string {
	return fmt.Sprintf("the barrier at point %d is lost: it did not compile to a single bar.sync",
		e.Point)
}

// Placed returns a copy of m without points, in which the chosen ones are barriers. m is left as it
// was, and what the copy does not change (files, module variables, instructions other than calls)
// it shares with m. A barrier that a choice takes away is the one that follows its mark in the
// block; where there is none, the error is a *LostBarrierError.
func Placed(m *Module, choose Choice) (*Module, error) {
	return duplicate(m, func(p *placer, b *Block, instrs []*Instr) error {
		return p.place(b, instrs, choose)
	})
}

// NewPoint is a point to be put into a module.
type NewPoint struct {
	Number   int
	Standing bool // it is that of the barrier that comes next
}

// Pointed returns a copy of m, as Placed makes them, with points before and after instructions.
func Pointed(m *Module, before, after map[*Instr][]NewPoint) *Module {
	// Nothing can be lost here, so that there is no error.
	out, _ := duplicate(m, func(p *placer, b *Block, instrs []*Instr) error {
		for _, in := range instrs {
			for _, n := range before[in] {
				b.Instrs = append(b.Instrs, pointAt(in, n, in.Span.Start))
			}
			b.Instrs = append(b.Instrs, p.instr(in))
			for _, n := range after[in] {
				b.Instrs = append(b.Instrs, pointAt(in, n, in.Span.End))
			}
		}
		return nil
	})
	return out
}

// Without returns a copy of m, as Placed makes them, without some instructions. None of them may
// end its block or have a result.
func Without(m *Module, gone func(*Instr) bool) *Module {
	// Nothing can be lost here, so that there is no error.
	out, _ := duplicate(m, func(p *placer, b *Block, instrs []*Instr) error {
		for _, in := range instrs {
			if !gone(in) {
				b.Instrs = append(b.Instrs, p.instr(in))
			}
		}
		return nil
	})
	return out
}

// pointAt returns a point beside in, with an empty span.
func pointAt(in *Instr, n NewPoint, at source.Pos) *Instr {
	span := source.Span{Start: at, End: at}
	return &Instr{
		Desc: isa.PointDesc(n.Number, n.Standing), Guard: NoReg, Span: span, Loc: in.Loc,
		Src: []Operand{{Kind: Imm, Val: uint64(n.Number), Span: span}},
	}
}

// duplicate copies a module. fill gives a block of the copy its instructions.
func duplicate(m *Module, fill func(p *placer, b *Block, instrs []*Instr) error) (*Module, error) {
	p := &placer{fill: fill, funcs: make(map[*Func]*Func, len(m.Funcs)), vars: make(map[*Var]*Var)}
	out := *m
	out.Funcs = make([]*Func, len(m.Funcs))
	for i, f := range m.Funcs {
		c := *f
		c.Module = &out
		out.Funcs[i], p.funcs[f] = &c, &c
	}
	out.Vars = p.variables(m.Vars)
	for i, f := range m.Funcs {
		c := out.Funcs[i]
		c.Vars = p.variables(f.Vars)
		if err := p.blocks(c, f.Blocks); err != nil {
			return nil, err
		}
	}
	Checked("placing barriers", &out)
	return &out, nil
}

// placer is the state of one copy.
type placer struct {
	fill  func(p *placer, b *Block, instrs []*Instr) error
	funcs map[*Func]*Func
	vars  map[*Var]*Var // those that hold addresses of functions, directly or not
}

// variables copies the variables that refer to functions, since the functions are others now.
func (p *placer) variables(vars []*Var) []*Var {
	refers := make(map[*Var]bool)
	for changed := true; changed; { // a table of tables refers too
		changed = false
		for _, v := range vars {
			if refers[v] {
				continue
			}
			refers[v] = slices.ContainsFunc(v.Relocs,
				func(r Reloc) bool { return r.Func != nil || refers[r.Target] || p.vars[r.Target] != nil })
			changed = changed || refers[v]
		}
	}
	if len(refers) == 0 {
		return vars
	}
	out := slices.Clone(vars)
	for i, v := range vars {
		if refers[v] {
			c := *v
			out[i], p.vars[v] = &c, &c
		}
	}
	for i, v := range vars {
		if refers[v] {
			p.rewire(out[i])
		}
	}
	return out
}

// rewire makes the initialiser of a copy refer to copies.
func (p *placer) rewire(v *Var) {
	v.Relocs = slices.Clone(v.Relocs)
	for i := range v.Relocs {
		r := &v.Relocs[i]
		r.Func = p.fn(r.Func)
		if c := p.vars[r.Target]; c != nil {
			r.Target = c
		}
	}
}

// fn returns the copy of a function; nil for nil, since relocations may name none.
func (p *placer) fn(f *Func) *Func {
	if f == nil {
		return nil
	}
	return p.funcs[f]
}

// blocks gives c copies of blocks.
func (p *placer) blocks(c *Func, blocks []*Block) error {
	if blocks == nil {
		return nil
	}
	c.Blocks = make([]*Block, len(blocks))
	for i, b := range blocks {
		nb := &Block{Label: b.Label, Succs: b.Succs, Instrs: make([]*Instr, 0, len(b.Instrs))}
		if err := p.fill(p, nb, b.Instrs); err != nil {
			return err
		}
		c.Blocks[i] = nb
	}
	c.Link()
	return nil
}

// pending is a point whose barrier comes next.
type pending struct {
	at     *Instr
	sync   Sync
	orders event.Orders
}

// place fills a block of Placed. A mark applies to the next unguarded block barrier of the same
// block, in order; marks whose barrier must change but was not found are an error, because the
// compiler may have moved or merged it.
func (p *placer) place(b *Block, instrs []*Instr, choose Choice) error {
	var marks []pending
	for _, in := range instrs {
		n, point, standing := in.Point()
		if point {
			sync, orders := choose(n)
			switch {
			case standing:
				marks = append(marks, pending{in, sync, orders})
			case sync == BlockSync || sync == WarpSync || sync == GridSync:
				b.Instrs = append(b.Instrs, barrierAt(in, sync, orders))
			}
			continue
		}
		if bar, ok := in.BlockBarrier(); len(marks) > 0 && ok && bar.Unguarded() {
			m := marks[0]
			marks = marks[1:]
			switch m.sync {
			case NoSync:
				continue
			case WarpSync:
				b.Instrs = append(b.Instrs, barrierAt(in, WarpSync, m.orders))
				continue
			}
		}
		b.Instrs = append(b.Instrs, p.instr(in))
	}
	for _, m := range marks {
		if m.sync == NoSync || m.sync == WarpSync {
			return &LostBarrierError{int(m.at.Src[0].Val), m.at.Loc}
		}
	}
	return nil
}

// barrierAt returns a barrier in the place of an instruction.
func barrierAt(in *Instr, sync Sync, orders event.Orders) *Instr {
	desc, operand := isa.NewBlockBarrier(), uint64(0)
	if sync == WarpSync {
		desc, operand = isa.NewWarpBarrier(), 0xffffffff
	}
	return &Instr{
		Desc: desc, Guard: NoReg, Orders: orders, Grid: sync == GridSync, Span: in.Span, Loc: in.Loc,
		Src: []Operand{{Kind: Imm, Val: operand, Span: in.Span}},
	}
}

// instr copies an instruction. Its operands are shared unless they name what was copied.
func (p *placer) instr(in *Instr) *Instr {
	c := *in
	c.Callee = p.fn(in.Callee)
	if in.Targets != nil {
		c.Targets = make([]*Func, len(in.Targets))
		for i, t := range in.Targets {
			c.Targets[i] = p.fn(t)
		}
	}
	c.Dst, c.Src = p.operands(in.Dst), p.operands(in.Src)
	return &c
}

// operands returns operands that refer to copies. Lists that do not name anything copied are shared
// with the original, which saves most of the memory of a copy.
func (p *placer) operands(ops []Operand) []Operand {
	named := slices.ContainsFunc(ops,
		func(o Operand) bool { return o.Func != nil || p.vars[o.Var] != nil })
	if !named {
		return ops
	}
	ops = slices.Clone(ops)
	for i := range ops {
		o := &ops[i]
		o.Func = p.fn(o.Func)
		if c := p.vars[o.Var]; c != nil {
			o.Var = c
		}
	}
	return ops
}
