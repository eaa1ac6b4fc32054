package ir

import (
	"slices"

	"heddle/internal/event"
	"heddle/internal/isa"
	"heddle/internal/source"
)

// InlineError says which call cannot be inlined.
type InlineError struct {
	Instr *Instr
	What  string
}

// Error is the reason, without the call, whose position is Instr.
func (e *InlineError) Error() string { return e.What }

// maxInlined bounds the instructions of what Inline returns: calls of calls can grow without
// measure.
const maxInlined = 1 << 20

// Inline returns f with the functions that it calls in the place of the calls, as far as they have
// bodies; f itself if there are none. An indirect call becomes a choice among the functions that it
// can mean: those that its list names, or all of the module whose address is taken and whose
// parameters have the sizes of the arguments; if it is none of them, the call is made as before,
// and it is a call of a function without a body. Recursion is an *InlineError.
//
// Variables of the body of a called function are copied for each call if they are local or
// parameters; shared and global ones exist once (PTX ISA 5.1.6). The copies of instructions keep
// their places in PTX and source, and name as their Caller a call that stays: it stands where the
// function returns, and has the results as its operands.
func Inline(f *Func) (*Func, error) {
	if !callsBodies(f) {
		return f, nil
	}
	n := &inliner{to: *f, regs: slices.Clone(f.Regs)}
	n.to.Blocks = nil
	entry := &copied{fn: f, reg: func(r RegID) RegID { return r }, vars: map[*Var]*Var{}}
	if err := n.body(entry, nil, nil); err != nil {
		return nil, err
	}
	n.layOut()
	out := n.to
	out.Regs = n.regs
	out.Blocks = n.blocks
	out.Link()
	checkedFunc("inlining", &out)
	return &out, nil
}

// layOut numbers the blocks and sets the targets of branches. A block that would fall through to a
// block other than the next one gets a branch; behind a guarded terminator that needs a block of
// its own.
func (n *inliner) layOut() {
	blocks := n.blocks
	n.blocks = nil
	for i, b := range blocks {
		n.blocks = append(n.blocks, b)
		to := n.succs[b]
		t := b.Terminator()
		falls := len(to) > 0 && (t == nil || t.Guard != NoReg)
		if !falls || i+1 < len(blocks) && to[len(to)-1] == blocks[i+1] {
			continue
		}
		goTo := &Instr{Desc: branch, Guard: NoReg, Span: n.to.Span,
			Src: []Operand{branchOperand(n.to.Span)}}
		if last := b.Last(); last != nil {
			goTo.Span, goTo.Loc, goTo.Caller = last.Span, last.Loc, last.Caller
		}
		if t == nil {
			b.Instrs = append(b.Instrs, goTo)
			continue
		}
		jump := n.block("")
		jump.Instrs = []*Instr{goTo}
		n.succs[jump] = to[len(to)-1:]
		n.succs[b] = append(slices.Clone(to[:len(to)-1]), jump)
	}
	for i, b := range n.blocks {
		b.ID = BlockID(i)
	}
	for _, b := range n.blocks {
		for _, s := range n.succs[b] {
			b.Succs = append(b.Succs, s.ID)
		}
		targets := b.Succs
		if t := b.Terminator(); t != nil {
			for i := range t.Src {
				if t.Src[i].Kind == BranchTo {
					t.Src[i].Block, targets = targets[0], targets[1:]
				}
			}
		}
	}
}

// branchOperand is a target that layOut will fill in.
func branchOperand(at source.Span) Operand { return Operand{Kind: BranchTo, Reg: NoReg, Span: at} }

// callsBodies reports whether f has calls that Inline replaces.
func callsBodies(f *Func) bool {
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			if in.IsCall() && (in.Callee == nil || in.Callee.Blocks != nil) {
				return true
			}
		}
	}
	return false
}

// inliner is the state of one Inline. Blocks refer to each other through succs until all exist;
// stack has the functions that are being copied, to detect recursion.
type inliner struct {
	to     Func
	regs   []Reg
	blocks []*Block
	succs  map[*Block][]*Block
	count  int
	stack  []*Func
}

// copied is one function in the place of one call.
type copied struct {
	fn   *Func
	call *Instr // that stays where it returns; nil for the function that everything is put into
	reg  func(RegID) RegID
	vars map[*Var]*Var // of the function: the copy's, or what is passed
}

// block appends a block without instructions; layOut numbers it.
func (n *inliner) block(label string) *Block {
	b := &Block{Label: label}
	n.blocks = append(n.blocks, b)
	return b
}

// link sets the successors of a block. They are blocks and not numbers, which layOut gives them
// later.
func (n *inliner) link(b *Block, to ...*Block) {
	if n.succs == nil {
		n.succs = map[*Block][]*Block{}
	}
	n.succs[b] = to
}

// body copies the blocks of c. Control enters from the block before, if there is one, and continues
// at next when the function returns; next is nil for the kernel itself, whose ret stays. A call
// splits its block in two, and the copy of the callee lies between.
func (n *inliner) body(c *copied, before, next *Block) error {
	if slices.Contains(n.stack, c.fn) {
		return &InlineError{What: "recursion: " + c.fn.Demangled + " calls itself"}
	}
	n.stack = append(n.stack, c.fn)
	defer func() { n.stack = n.stack[:len(n.stack)-1] }()
	first := make([]*Block, len(c.fn.Blocks)) // the first part of each block: a call cuts it
	for i, b := range c.fn.Blocks {
		first[i] = n.block(b.Label)
	}
	if before != nil {
		n.link(before, first[0])
	}
	for i, b := range c.fn.Blocks {
		at := first[i]
		to := make([]*Block, len(b.Succs))
		for j, s := range b.Succs {
			to[j] = first[s]
		}
		for _, in := range b.Instrs {
			if n.count++; n.count > maxInlined {
				return &InlineError{in, "its calls expand to too many instructions to inline"}
			}
			cp := n.instr(c, in)
			switch {
			case next != nil && in.Action() == isa.ActReturn && in.Guard == NoReg:
				to = []*Block{next}
			case next != nil && in.Action() == isa.ActReturn:
				cp.Desc, cp.Src = branch, []Operand{branchOperand(in.Span)}
				at.Instrs = append(at.Instrs, cp)
				to = append([]*Block{next}, to...)
			case in.IsCall() && (in.Callee == nil || in.Callee.Blocks != nil):
				rest, err := n.call(cp, at)
				if err != nil {
					return err
				}
				at = rest
			default:
				at.Instrs = append(at.Instrs, cp)
			}
		}
		if len(to) == 0 && at.Terminator() == nil { // behind the call of a function that does not return
			at.Instrs = append(at.Instrs,
				&Instr{Desc: isa.NewExit(), Guard: NoReg, Span: c.fn.Span, Caller: c.call})
		}
		n.link(at, to...)
	}
	return nil
}

// call puts the possible callees of a call behind block at, and returns the block in which control
// continues. An indirect call compares its target with the address of each candidate in turn; the
// call itself stays for the case that none matches.
func (n *inliner) call(in *Instr, at *Block) (*Block, error) {
	rest := n.block("")
	if in.Guard != NoReg {
		here := n.block("")
		skip := &Instr{Desc: branch, Guard: in.Guard, Neg: !in.Neg, Span: in.Span, Loc: in.Loc,
			Caller: in.Caller, Src: []Operand{branchOperand(in.Span)}}
		at.Instrs = append(at.Instrs, skip)
		n.link(at, rest, here)
		at = here
		in.Guard, in.Neg = NoReg, false
	}
	if in.Callee != nil {
		return rest, n.enter(in, in.Callee, in.Src, at, rest)
	}
	target, args := in.Src[0], in.Src[1:]
	for _, g := range n.candidates(in, args) {
		is, body, not := n.register("", isa.Pred), n.block(""), n.block("")
		at.Instrs = append(at.Instrs,
			&Instr{Desc: equal, Guard: NoReg, Span: in.Span, Loc: in.Loc, Caller: in.Caller,
				Dst: []Operand{{Kind: Register, Reg: is}},
				Src: []Operand{target, {Kind: FuncAddr, Reg: NoReg, Func: g}}},
			&Instr{Desc: branch, Guard: is, Span: in.Span, Loc: in.Loc, Caller: in.Caller,
				Src: []Operand{branchOperand(in.Span)}})
		n.link(at, body, not)
		if err := n.enter(in, g, args, body, rest); err != nil {
			return nil, err
		}
		at = not
	}
	at.Instrs = append(at.Instrs, in) // of an unknown function
	n.link(at, rest)
	return rest, nil
}

// candidates are the functions that an indirect call may mean.
func (n *inliner) candidates(in *Instr, args []Operand) []*Func {
	if len(in.Targets) > 0 {
		return slices.DeleteFunc(slices.Clone(in.Targets), func(g *Func) bool { return g.Blocks == nil })
	}
	var out []*Func
	for _, g := range AddressTaken(n.to.Module) {
		fits := g.Blocks != nil && len(g.Params) == len(args) && len(g.Results) == len(in.Dst)
		for i := 0; fits && i < len(args); i++ {
			fits = args[i].Kind == Imm || n.size(args[i]) == g.Params[i].Size
		}
		for i := 0; fits && i < len(in.Dst); i++ {
			fits = in.Dst[i].Kind == None || n.size(in.Dst[i]) == g.Results[i].Size
		}
		if fits {
			out = append(out, g)
		}
	}
	return out
}

// size is the size in bytes of an argument or result, in a register or a variable.
func (n *inliner) size(o Operand) int {
	if o.Kind == Register {
		return n.regs[o.Reg].Type.Size()
	}
	return o.Var.Size
}

// AddressTaken returns the functions whose address something in a module takes: its own, in the
// order of the text, and then those of modules with which it was linked.
func AddressTaken(m *Module) []*Func {
	taken := map[*Func]bool{nil: true}
	var others []*Func
	take := func(f *Func) {
		if !taken[f] && f.Module != m {
			others = append(others, f)
		}
		taken[f] = true
	}
	for _, v := range m.Vars {
		for _, r := range v.Relocs {
			take(r.Func)
		}
	}
	for _, f := range m.Funcs {
		for _, v := range f.Vars {
			for _, r := range v.Relocs {
				take(r.Func)
			}
		}
		for _, b := range f.Blocks {
			for _, in := range b.Instrs {
				for i := range in.Src {
					take(in.Src[i].Func)
				}
			}
		}
	}
	var out []*Func
	for _, f := range m.Funcs {
		if taken[f] {
			out = append(out, f)
		}
	}
	return append(out, others...)
}

// enter copies function g behind block at; its results go to the destinations of the call.
func (n *inliner) enter(in *Instr, g *Func, args []Operand, at, rest *Block) error {
	low := RegID(len(n.regs))
	n.regs = append(n.regs, g.Regs...)
	done := &Instr{Desc: in.Desc, Guard: NoReg, Span: in.Span, Loc: in.Loc, Callee: g,
		Caller: in.Caller}
	c := &copied{fn: g, call: done, reg: func(r RegID) RegID { return r + low }, vars: map[*Var]*Var{}}
	for i, p := range g.Params {
		if i >= len(args) { // an array without bound may be left out
			continue
		}
		n.pass(c, p, args[i], in, at)
	}
	leave := n.block("")
	for i, r := range g.Results {
		n.give(c, r, in.Dst[i], in, leave)
	}
	leave.Instrs = append(leave.Instrs, done)
	if !done.IsTerminator() { // else of a .noreturn function
		n.link(leave, rest)
	}
	err := n.body(c, at, leave)
	if ie, ok := err.(*InlineError); ok && ie.Instr == nil {
		ie.Instr = in
	}
	return err
}

// pass gives a parameter its argument.
func (n *inliner) pass(c *copied, p *Var, arg Operand, in *Instr, at *Block) {
	switch {
	case p.InReg:
		desc := moveOf(n.regs[c.reg(p.Reg)].Type)
		at.Instrs = append(at.Instrs, &Instr{Desc: desc, Guard: NoReg, Span: in.Span, Loc: in.Loc,
			Caller: in.Caller, Dst: []Operand{{Kind: Register, Reg: c.reg(p.Reg)}}, Src: []Operand{arg}})
	case arg.Kind == VarVal:
		c.vars[p] = arg.Var
	default:
		v := n.variable(c, p)
		mem := Operand{Kind: Mem, Reg: NoReg, Var: v}
		at.Instrs = append(at.Instrs, &Instr{Desc: isa.NewStoreParam(partType(p.Size)), Guard: NoReg,
			Span: in.Span, Loc: in.Loc, Caller: in.Caller, Src: []Operand{mem, arg}})
	}
}

// give passes a result to a destination of the call: by a move or a load, or, if both are
// variables, by letting the callee write the caller's. The call that stays behind has the results
// as its sources.
func (n *inliner) give(c *copied, r *Var, dst Operand, in *Instr, leave *Block) {
	value := Operand{Kind: VarVal, Reg: NoReg, Span: in.Span}
	defer func() {
		if value.Kind == VarVal {
			value.Var = n.variable(c, r)
		}
		c.call.Src = append(c.call.Src, value)
	}()
	if r.InReg {
		value = Operand{Kind: Register, Reg: c.reg(r.Reg), Span: in.Span}
	}
	switch {
	case r.InReg && dst.Kind == Register:
		leave.Instrs = append(leave.Instrs, &Instr{Desc: moveOf(n.regs[c.reg(r.Reg)].Type), Guard: NoReg,
			Span: in.Span, Loc: in.Loc,
			Dst: []Operand{dst}, Src: []Operand{{Kind: Register, Reg: c.reg(r.Reg)}}})
	case dst.Kind == VarVal:
		c.vars[r] = dst.Var
	case dst.Kind == Register:
		mem := Operand{Kind: Mem, Reg: NoReg, Var: n.variable(c, r)}
		leave.Instrs = append(leave.Instrs, &Instr{Desc: isa.NewLoadParam(partType(r.Size)), Guard: NoReg,
			Span: in.Span, Loc: in.Loc,
			Dst: []Operand{dst}, Src: []Operand{mem}})
	}
}

// register adds a register and returns its number.
func (n *inliner) register(name string, t isa.Type) RegID {
	n.regs = append(n.regs, Reg{Name: name, Type: t})
	return RegID(len(n.regs) - 1)
}

// variable returns the copy of a variable that exists once for each call.
func (n *inliner) variable(c *copied, v *Var) *Var {
	if w := c.vars[v]; w != nil {
		return w
	}
	w := v
	if c.fn.Index != n.to.Index && (v.Space == event.Local || v.Space == event.Param) {
		cp := *v
		w = &cp
		switch v.Space {
		case event.Local:
			w.Offset = align(n.to.LocalSize, v.Align)
			n.to.LocalSize = w.Offset + v.Size
		case event.Param:
			w.Offset = align(n.to.ParamSize, v.Align)
			n.to.ParamSize = w.Offset + v.Size
		}
		n.to.Vars = append(slices.Clip(n.to.Vars), w)
	}
	c.vars[v] = w
	return w
}

// align rounds n up to a multiple of to, which need not be a power of two; 0 and 1 mean no
// alignment.
func align(n, to int) int {
	if to <= 1 {
		return n
	}
	return (n + to - 1) / to * to
}

// instr copies an instruction.
func (n *inliner) instr(c *copied, in *Instr) *Instr {
	cp := *in
	cp.Caller = c.call
	cp.Dst, cp.Src = n.operands(c, in.Dst), n.operands(c, in.Src)
	if in.Guard != NoReg {
		cp.Guard = c.reg(in.Guard)
	}
	return &cp
}

// operands copies operands, with the registers and variables of the copy.
func (n *inliner) operands(c *copied, ops []Operand) []Operand {
	out := slices.Clone(ops)
	for i := range out {
		o := &out[i]
		if (o.Kind == Register || o.Kind == Mem) && o.Reg != NoReg {
			o.Reg = c.reg(o.Reg)
		}
		if o.Var != nil {
			o.Var = n.variable(c, o.Var)
		}
		o.Elems = n.operands(c, o.Elems)
	}
	return out
}

// The instructions that take the place of calls.
var (
	branch = isa.NewBranch()
	equal  = isa.NewEqual(isa.B64)
)

// partType is the untyped type of a size; larger parameters are passed as variables only.
func partType(size int) isa.Type {
	switch size {
	case 1, 2, 4:
		return isa.BitsOf(size)
	}
	return isa.B64
}

// moveOf is a mov of the untyped type of t's size: a parameter passes bits.
func moveOf(t isa.Type) isa.Desc {
	if t == isa.Pred {
		return isa.NewMove(isa.Pred)
	}
	return isa.NewMove(partType(t.Size()))
}
