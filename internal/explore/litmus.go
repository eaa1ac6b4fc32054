package explore

import (
	"fmt"

	"heddle/internal/litmus"
)

// FromLitmus returns the program of a litmus test. Threads, registers, locations and instructions
// keep their numbers.
func FromLitmus(t *litmus.Test) *Program {
	p := &Program{}
	for _, l := range t.Locations {
		p.Locations = append(p.Locations, Location{Name: l.Name, Value: l.Value})
	}
	for i := range t.Threads {
		from := &t.Threads[i]
		th := Thread{Name: from.Name, Position: from.Position}
		for _, r := range from.Regs {
			th.Regs = append(th.Regs, r.Value)
		}
		for j := range from.Code {
			th.Code = append(th.Code, translate(&from.Code[j]))
		}
		p.Threads = append(p.Threads, th)
	}
	return p
}

// translate returns one instruction.
func translate(in *litmus.Inst) Inst {
	out := Inst{Order: in.Order, Scope: in.Scope, Loc: in.Loc, Dst: in.Dst, Text: in.Text,
		Site: in.Pos, At: fmt.Sprintf("%d:%d", in.Pos.Line, in.Pos.Col)}
	a, b := operand(in.A), operand(in.B)
	switch in.Op {
	case litmus.Load:
		out.Kind = Load
	case litmus.Store:
		out.Kind, out.Args = Store, []Operand{a}
	case litmus.Atom, litmus.Red:
		readModifyWrite(&out, in, a, b)
	case litmus.Fence:
		out.Kind = Fence
	case litmus.Bar:
		out.Kind, out.Arrive = Barrier, in.Arrive
		out.Name = [2]Operand{operand(in.Name[0]), operand(in.Name[1])}
		if in.HasCount {
			count := operand(in.Count)
			out.Count = &count
		}
	case litmus.Compute:
		out.Kind, out.Args = Compute, []Operand{a, b}
		out.Eval = function(in.Fn)
	case litmus.Branch:
		out.Kind, out.Target, out.Args = Branch, in.Target, []Operand{a, b}
		rel := in.Cond
		out.Eval = func(args []int64) (int64, bool) {
			if rel.Holds(args[0], args[1]) {
				return 1, true
			}
			return 0, true
		}
	case litmus.Goto:
		out.Kind, out.Target = Branch, in.Target
	}
	return out
}

// readModifyWrite fills in an atomic operation.
func readModifyWrite(out *Inst, in *litmus.Inst, a, b Operand) {
	out.Kind, out.Args = Update, []Operand{a}
	if out.Reduce = in.Op == litmus.Red; out.Reduce {
		out.Dst = -1
	}
	switch in.Fn {
	case litmus.Exch:
		out.Update = Swap
	case litmus.CAS:
		out.Update, out.Args = CompareAndSwap, []Operand{a, b}
	default:
		out.Eval = function(in.Fn)
	}
}

// operand returns one operand.
func operand(o litmus.Operand) Operand {
	return Operand{IsReg: o.IsReg, Reg: o.Reg, Value: o.Value}
}

// function returns what computes a function of two values.
func function(f litmus.Fn) func([]int64) (int64, bool) {
	return func(args []int64) (int64, bool) { return f.Apply(args[0], args[1]) }
}
