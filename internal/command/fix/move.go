package fix

import (
	"strings"

	"heddle/internal/ir"
	"heddle/internal/repair"
	"heddle/internal/syntax"
)

// statementOf returns the statement that an instruction alone comes from: an asm statement or a call
// of a function with one, together with an if around it that has nothing else in it. In the kernel
// it is that of the kernel.
func (s *sourceFixer) statementOf(in *ir.Instr) (*syntax.Func, syntax.Range, error) {
	at := in
	if call := s.inKernel(in); call != nil {
		at = call
	}
	fn, off, err := s.place(at)
	if err != nil {
		return nil, syntax.Range{}, err
	}
	use := s.unit.UseAt(fn, off)
	if use == nil || strings.Count(fn.Text(use.Statement), ";") > 2 {
		return nil, syntax.Range{}, notInSourcef("%s is not a statement of its own in the source", in.Op())
	}
	return fn, s.unit.Alone(fn, use.Statement), nil
}

// removed is the step for an instruction that is removed with its statement.
func (s *sourceFixer) removed(in *ir.Instr) (step, error) {
	fn, r, err := s.statementOf(in)
	if err != nil {
		return step{}, err
	}
	return step{fn: fn, drop: r.From, split: -1}, nil
}

// movedTo returns the steps that may write the statement of an instruction at another place of its
// function.
func (s *sourceFixer) movedTo(k *ir.Func, p repair.Point, in *ir.Instr) (choices, error) {
	fn, r, err := s.statementOf(in)
	if err != nil {
		return nil, err
	}
	var out choices
	for _, st := range s.point(k, p, fn.Text(r), false) {
		if st.fn == fn && st.insert != nil && (st.insert.At < r.From || st.insert.At >= r.To) {
			out = append(out, st)
		}
	}
	return out, nil
}
