package lockstep

import (
	"fmt"

	"heddle/internal/ir"
	"heddle/internal/smt"
)

// __atomic_has_taken_value: an atomic of the thread on a word has returned a value before. That is a symbol, a function of the
// place and the value. That an atomic has returned it makes it true; nothing makes it false, so that nothing rests on a value that has
// not been taken.

// taken is the symbol for "an atomic of this thread on that word has returned that value".
func (x *exec) taken(in *ir.Instr, st *state) smt.Term {
	o, off, ok := x.baseAndOffset(x.now(x.argument(in, 0, 64, st)))
	if !ok {
		if !x.settling {
			x.unsupported(in, "__atomic_has_taken_value of a pointer of which the array is not known")
		}
		return smt.False
	}
	args := append(x.counters(), off, x.argument(in, 1, 64, st))
	widths := make([]int, len(args))
	for i := range widths {
		widths[i] = 32
	}
	widths[len(args)-2], widths[len(args)-1] = 64, 64
	name := fmt.Sprintf("%staken%d", private, in.Index)
	t := x.c.Apply(x.c.Declare(name, 0, widths...), args...)
	if x.th.Taken == nil {
		x.th.Taken = map[string]*Object{}
	}
	x.th.Taken[name] = o
	x.takens[t] = true
	return t
}
