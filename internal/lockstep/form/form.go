// Package form is the lock-step form of a kernel as data: the predicated program π of one thread,
// over any reducible control-flow graph, and what is needed to read it as the lock-step program φ
// of several threads.
//
// What it follows: Collingbourne, Donaldson, Ketema, Qadeer, "Interleaving and Lock-Step Semantics
// for Analysis and Verification of GPU Kernels" (ESOP 2013), sections 4.1 (sort order, v_active,
// B_back and B_exit, Tables 1 and 2) and 4.2 (Table 3). It is the reference that the static engine
// is held against: package lockstep computes guarded accesses of one arbitrary thread,
// testing/lockrun executes this form for all threads.
//
// Deviations, none of which changes what a program can do:
//   - The paper's goto chooses a successor freely, and each successor begins with an assume. A
//     kernel of PTX is well formed (Definition 5.1) by construction, so v_next is the successor whose
//     assume holds: next := p ? B1 : B2.
//   - A guard of an instruction joins the test of v_active: @p in block B is enabled if active = B
//     and p.
//   - A block may be the last one of several nested loops; the B_exit of the inner one then continues
//     with the tests of the outer one.
//   - Instead of a barrier before termination, End is a block without barriers: a thread that has
//     ended makes the sync of the others fail, as waiting at that last barrier would.
//
// What it rejects (UnsupportedError): irreducible control flow, calls that are not inlined, and
// everything asynchronous, in a cluster or in matrices of memory, which Table 3 does not cover.
package form

import (
	"fmt"

	"heddle/internal/ir"
	"heddle/internal/isa"
)

// End is the successor of a block at whose end the thread terminates.
const End = ir.NoBlock

// Program is π of a kernel.
type Program struct {
	Func   *ir.Func
	Blocks []*Block // in the sort order; the entry is first
	// Uniform says what all threads of a block have in common.
	Uniform *Uniformity
	byID    []*Block
}

// Block returns the block of that number; nil for one that control never reaches.
func (p *Program) Block(id ir.BlockID) *Block { return p.byID[id] }

// Block is a predicated block: every statement is enabled in a thread if v_active is this block.
type Block struct {
	ID   ir.BlockID
	Name string
	Body []*ir.Instr // without the branch at its end
	Arms []Arm       // what v_next becomes: To of the first arm that holds
	// Ends are the loops whose last block in the sort order this is, innermost first. After it comes
	// the test of each: back to the header if some thread has v_active there, else on.
	Ends []*ir.Loop
}

// Arm is one choice of the next block. It holds if the guard does, and for a branch by index if the
// index is Index.
type Arm struct {
	Guard ir.RegID // NoReg: holds
	Neg   bool
	Index int        // entry of the table of a brx.idx; -1: none
	By    ir.Operand // the index of a brx.idx
	To    ir.BlockID
}

// UnsupportedError says which construct of a kernel has no lock-step form.
type UnsupportedError struct {
	Instr *ir.Instr // nil if it is not one instruction
	What  string
}

// Error names the construct; the position is that of Instr.
func (e *UnsupportedError) Error() string { return "unsupported: " + e.What }

// New returns the predicated form of f, or an *UnsupportedError.
func New(f *ir.Func) (*Program, error) {
	if len(f.Blocks) == 0 {
		return nil, &UnsupportedError{What: "a function without a body"}
	}
	dom := ir.Dominators(f)
	loops := ir.FindLoops(f, dom)
	if !loops.Reducible {
		return nil, &UnsupportedError{What: ir.ExplainIrreducible(f, dom)}
	}
	p := &Program{Func: f, byID: make([]*Block, len(f.Blocks))}
	for _, id := range loops.Order(f) { // the total order of section 4
		b, err := predicate(f, id)
		if err != nil {
			return nil, err
		}
		p.Blocks = append(p.Blocks, b)
		p.byID[id] = b
	}
	p.markEnds(loops)
	p.Uniform = uniformity(f)
	return p, nil
}

// markEnds finds the last block of each loop.
func (p *Program) markEnds(loops *ir.LoopForest) {
	last := map[*ir.Loop]*Block{}
	for _, b := range p.Blocks {
		for l := loops.Of[b.ID]; l != nil; l = l.Parent {
			last[l] = b
		}
	}
	for _, b := range p.Blocks {
		for l := loops.Of[b.ID]; l != nil; l = l.Parent {
			if last[l] == b {
				b.Ends = append(b.Ends, l)
			}
		}
	}
}

// predicate turns a block into statements and the choice of the next block.
func predicate(f *ir.Func, id ir.BlockID) (*Block, error) {
	src := f.Blocks[id]
	b := &Block{ID: id, Name: blockName(src), Body: src.Instrs}
	term := src.Terminator()
	if term != nil && KindOf(term) != Fail {
		b.Body = src.Instrs[:len(src.Instrs)-1]
	}
	for _, in := range b.Body {
		if why := noForm(in); why != "" {
			return nil, &UnsupportedError{Instr: in, What: why}
		}
	}
	b.Arms = arms(src, term)
	return b, nil
}

// blockName is the label of a block, or a name made of its number; the entry is Start, as in the
// paper.
func blockName(b *ir.Block) string {
	switch {
	case b.Label != "":
		return b.Label
	case b.ID == 0:
		return "Start"
	}
	return fmt.Sprintf("b%d", b.ID)
}

// arms are the successors of a block with the conditions of its terminator.
func arms(b *ir.Block, term *ir.Instr) []Arm {
	// where control goes that does not take the branch
	rest := Arm{Guard: ir.NoReg, Index: -1, To: End}
	if n := len(b.Succs); n > 0 {
		rest.To = b.Succs[n-1]
	}
	if term == nil {
		return []Arm{rest}
	}
	taken := Arm{Guard: term.Guard, Neg: term.Neg, Index: -1, To: End}
	var out []Arm
	switch term.Action() {
	case isa.ActBranch:
		taken.To = b.Succs[0]
		out = append(out, taken)
	case isa.ActIndexedBranch:
		for i := range len(term.Src) - 1 {
			taken.By, taken.Index, taken.To = term.Src[0], i, b.Succs[i]
			out = append(out, taken)
		}
		// only a guard that fails falls through, not an index beyond the table
		if term.Guard != ir.NoReg {
			rest.Guard, rest.Neg = term.Guard, !term.Neg
			out = append(out, rest)
		}
		return out
	default: // ret, exit, trap, a call that does not return
		out = append(out, taken)
	}
	if term.Guard != ir.NoReg {
		out = append(out, rest)
	}
	return out
}
