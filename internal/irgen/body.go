package irgen

import (
	"strconv"
	"strings"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/ptx"
	"heddle/internal/source"
)

// fgen is the state of one function body. Blocks are built in the order of the text in one walk;
// labels that are used ahead of their definition are resolved by finish.
type fgen struct {
	g     *gen
	f     *ir.Func
	scope *scope
	used  usedLabels

	cur      *ir.Block // nil after an instruction that does not fall through
	edges    []edge    // by block: its successors, while labels have no blocks yet
	frame    *source.Frame
	orders   event.Orders // of the next instruction
	grid     bool         // the next instruction is a barrier of the grid
	split    bool         // the next instruction is the first half of a split barrier
	paramTop int          // where the next .param variable of the body goes

	items []item     // scratch
	free  []ir.Instr // to be used
}

// edge describes where control goes after a block, while labels have no blocks yet. The order is
// that of ir.Instr: the targets first, the fall-through last.
type edge struct {
	to   []*label
	fall bool // to the next block as well
}

// body builds the blocks of f from its definition. The parameter area starts with the formals
// (ParamSize), and the .param variables of call sequences follow them. A kernel's local frame
// starts with the module's own .local variables, if its version allows them.
func (g *gen) body(f *ir.Func, d *ptx.Func) {
	fg := &fgen{g: g, f: f, used: usedLabels{make(map[string]bool), make(map[string]int64)},
		paramTop: f.ParamSize}
	fg.scope = &scope{parent: &g.top}
	if f.Kernel {
		f.LocalSize = g.local
	}
	g.lines.enter(f.Demangled)
	fg.formals(f.Params)
	fg.formals(f.Results)
	fg.used.find(d.Body)
	fg.block(d.Body)
	fg.finish(d.Body)
	f.Src = outermost(firstLoc(d.Body, g.lines))
	f.Link()
}

// formals enters the function's parameters and results in its scope. Those of space .reg get a
// register each and those of space .param are variables in memory; "_" names no parameter.
func (f *fgen) formals(vars []*ir.Var) {
	for _, v := range vars {
		if v.Name == "_" {
			continue
		}
		sym := &symbol{kind: symVar, span: v.Span, v: v}
		if whole := f.g.vectors[v]; whole != "" {
			f.component(whole, v)
			continue
		}
		if v.InReg {
			sym = f.newReg(v.Name, v.Type, 0, v.Span)
			v.Reg = sym.regs[0]
		}
		f.g.define(f.scope, v.Name, sym)
	}
}

// component gives one component of a vector parameter its register, and adds it to the symbol of
// the whole vector, under which the body knows it. The first component (.x) makes the symbol, and
// so does any component when the name has been taken by something else: define then reports it.
func (f *fgen) component(whole string, v *ir.Var) {
	v.Reg = f.addReg(v.Name, v.Type)
	sym := f.scope.syms[whole]
	if sym == nil || !sym.vector || v.Name == whole+"."+components[:1] {
		sym = &symbol{kind: symReg, span: v.Span, vector: true}
		f.g.define(f.scope, whole, sym)
	}
	sym.regs = append(sym.regs, v.Reg)
}

// newReg adds a register, or the components of a vector register, to the function.
func (f *fgen) newReg(name string, t isa.Type, vec int, span source.Span) *symbol {
	sym := &symbol{kind: symReg, span: span, vector: vec > 0}
	if vec == 0 {
		sym.regs = []ir.RegID{f.addReg(name, t)}
		return sym
	}
	for _, c := range "xyzw"[:min(vec, 4)] {
		sym.regs = append(sym.regs, f.addReg(name+"."+string(c), t))
	}
	return sym
}

// addReg appends a register to the function and returns its number. Numbers are dense and never
// reused, so engines index arrays by them.
func (f *fgen) addReg(name string, t isa.Type) ir.RegID {
	f.f.Regs = append(f.f.Regs, ir.Reg{Name: name, Type: t})
	return ir.RegID(len(f.f.Regs) - 1)
}

// usedLabels are the names that branches mention. Compilers emit many labels for debug information
// only; blocks that start at those would cut the control flow for no reason.
type usedLabels struct {
	names  map[string]bool
	ranges map[string]int64 // name<n> of .branchtargets: the largest n
}

// mention records the labels among the operands of a branch or of a .branchtargets list.
func (u *usedLabels) mention(ops ptx.Operands) {
	for _, o := range ops.All() {
		switch o.Kind() {
		case ptx.Name:
			u.names[o.Name()] = true
		case ptx.Range:
			u.ranges[o.Name()] = max(u.ranges[o.Name()], rangeLen(o))
		}
	}
}

// rangeLen returns n of an operand name<n>, which stands for name0 to name(n-1).
func rangeLen(o ptx.Operand) int64 {
	n, _ := o.Y().Int()
	return int64(n)
}

// has reports whether a branch mentions the label, by name or as a member of a range. The split
// between prefix and number is ambiguous (L1<10> covers L12, and L<20> does too), so each split of
// the trailing digits is tried.
func (u *usedLabels) has(name string) bool {
	if u.names[name] {
		return true
	}
	prefix := strings.TrimRight(name, "0123456789")
	for ; len(u.ranges) > 0 && len(prefix) < len(name); prefix = name[:len(prefix)+1] {
		if n, err := strconv.ParseInt(name[len(prefix):], 10, 64); err == nil && n < u.ranges[prefix] {
			return true
		}
	}
	return false
}

// find collects the labels that the branches of b and of its nested blocks mention. It runs before
// anything is decoded and therefore recognises a branch by its first word. An indexed branch
// (brx.idx) is not considered: it mentions labels in a .branchtargets directive only.
func (u *usedLabels) find(b *ptx.Block) {
	for s := range b.Stmts() {
		switch s.Kind() {
		case ptx.StmtInst:
			if in := s.Inst(); in.Opcode() == "bra" {
				u.mention(in.Operands())
			}
		case ptx.StmtNode:
			switch n := s.Node().(type) {
			case *ptx.Block:
				u.find(n)
			case *ptx.Directive:
				if n.Name == ".branchtargets" {
					u.mention(n.Args)
				}
			}
		}
	}
}

// block reads a { }. A branch may jump forwards to a label, so labels are declared before the
// statements are read; other names are known from their declaration on (PTX ISA 5.4, 9.7.12.1).
func (f *fgen) block(b *ptx.Block) {
	f.scope = &scope{parent: f.scope}
	top := f.paramTop
	f.declareLabels(b)
	for s := range b.Stmts() {
		f.stmt(s)
	}
	f.paramTop = top // .param variables of a call sequence end with its scope
	f.scope = f.scope.parent
}

// declareLabels enters the labels and prototypes of b. A label right before .branchtargets or
// .calltargets is the name of that list and not a place in the code (PTX ISA 11.3.1, 11.3.2).
func (f *fgen) declareLabels(b *ptx.Block) {
	var last *symbol // the label before the current statement
	for s := range b.Stmts() {
		label := last
		last = nil
		switch s.Kind() {
		case ptx.StmtLabel:
			last = newLabel(s)
			f.g.define(f.scope, s.Label(), last)
		case ptx.StmtNode:
			switch n := s.Node().(type) {
			case *ptx.Directive:
				if label != nil && (n.Name == ".branchtargets" || n.Name == ".calltargets") {
					*label = symbol{kind: symTargets, span: label.span, list: n}
				}
			case *ptx.Prototype:
				f.g.define(f.scope, n.Name, &symbol{kind: symProto, span: n.Span(), proto: n})
			}
		}
	}
}

// newLabel returns the symbol of a label. Its block is set when the walk reaches the label; it
// stays NoBlock if no branch mentions it.
func newLabel(s ptx.Stmt) *symbol {
	return &symbol{kind: symLabel, span: s.Span(), label: &label{name: s.Label(), block: ir.NoBlock}}
}

// stmt reads one statement of a body. The position of a .loc applies to all instructions up to the
// next .loc (PTX ISA 11.5.3), which may be in an inner block.
func (f *fgen) stmt(s ptx.Stmt) {
	switch s.Kind() {
	case ptx.StmtInst:
		f.inst(s.Inst())
	case ptx.StmtLabel:
		name := s.Label()
		if sym := f.scope.syms[name]; sym != nil && sym.kind == symLabel && f.used.has(name) {
			f.startBlock(name)
			sym.label.block = f.cur.ID
		}
	case ptx.StmtLoc:
		f.frame = f.g.lines.loc(s.Loc())
	case ptx.StmtNode:
		switch n := s.Node().(type) {
		case *ptx.Directive:
			f.pragma(n)
		case *ptx.Var:
			f.variable(n)
		case *ptx.Block:
			f.block(n)
		}
	}
}

const (
	orderPragma = "heddle.order "
	gridPragma  = "heddle.grid"
	splitPragma = "heddle.split"
)

// pragma reads .pragma "heddle.order all|global|shared|none", which says what memory the next
// instruction, a barrier, a fence or a strong operation, orders; .pragma "heddle.grid", which says
// that the code before the next instruction, a barrier of the block, waits for all blocks of the
// grid; .pragma "heddle.split", which says that the next instruction is the first half of a split
// barrier; and those that mark points. Other pragmas are hints.
func (f *fgen) pragma(d *ptx.Directive) {
	if d.Name != ".pragma" {
		return
	}
	text := f.g.argText(d, 0)
	if text == gridPragma {
		f.grid = true
		return
	}
	if text == splitPragma {
		f.split = true
		return
	}
	word, ok := strings.CutPrefix(text, orderPragma)
	if !ok {
		f.point(d, text)
		return
	}
	if f.orders, ok = event.OrdersNamed(word); !ok {
		f.g.errorf(d.Span(), "unknown memory %q; expected all, global, shared or none", word)
	}
}

// variable reads a declaration in a body. Registers go to the function, .param and .local variables
// get an offset in its areas, and .shared, .global and .const ones exist once for the module
// although their names are local. The areas of two call sequences overlap: block resets paramTop
// after each, and ParamSize is the largest extent.
func (f *fgen) variable(d *ptx.Var) {
	if d.Space == "reg" {
		f.register(d)
		return
	}
	for _, v := range f.g.variables(f.scope, d) {
		f.g.define(f.scope, v.Name, &symbol{kind: symVar, span: v.Span, v: v})
		switch v.Space {
		case event.Param:
			f.g.place(v, &f.paramTop)
			f.f.ParamSize = max(f.f.ParamSize, f.paramTop)
		case event.Local:
			f.g.place(v, &f.f.LocalSize)
		}
		f.f.Vars = append(f.f.Vars, v)
	}
	f.g.initialisers() // a call table must be known when a call names it
}

// startBlock ends the current block, which falls through, and begins another one. A block that is
// still empty and has no label takes the new label instead, so that no empty blocks are made; two
// labels at one place still give two blocks, since each keeps one name for messages.
func (f *fgen) startBlock(name string) {
	if f.cur != nil && len(f.cur.Instrs) == 0 && f.cur.Label == "" {
		f.cur.Label = name
		return
	}
	if f.cur != nil {
		f.edges[f.cur.ID].fall = true
	}
	f.cur = &ir.Block{ID: ir.BlockID(len(f.f.Blocks)), Label: name}
	f.f.Blocks = append(f.f.Blocks, f.cur)
	f.edges = append(f.edges, edge{})
}

// emit appends an instruction, and ends the block if it can transfer control. to has the targets of
// a branch. A guarded terminator falls through to a new block. After an unguarded one f.cur is nil:
// code that follows without a label is unreachable and gets a block without predecessors.
func (f *fgen) emit(in *ir.Instr, to []*label) {
	if f.cur == nil {
		f.startBlock("")
	}
	f.cur.Instrs = append(f.cur.Instrs, in)
	if !in.IsTerminator() {
		return
	}
	e := &f.edges[f.cur.ID]
	e.to = to
	f.cur, e.fall = nil, in.Guard != ir.NoReg
	if e.fall {
		f.startBlock("")
	}
}

// finish ends the last block with the implicit ret at the closing brace, and turns labels into
// successors. Labels without a block were reported as errors before, and are left out.
func (f *fgen) finish(body *ptx.Block) {
	if len(f.f.Blocks) == 0 {
		f.startBlock("")
	}
	if f.cur != nil {
		end := body.Span().End
		if !end.IsValid() {
			end = body.Span().Start
		}
		f.emit(&ir.Instr{Desc: isa.NewReturn(), Guard: ir.NoReg, Span: source.Span{Start: end, End: end},
			Loc: f.frame}, nil)
	}
	for i, b := range f.f.Blocks {
		for _, l := range f.edges[i].to {
			if l != nil && l.block != ir.NoBlock {
				b.Succs = append(b.Succs, l.block)
			}
		}
		if f.edges[i].fall {
			b.Succs = append(b.Succs, ir.BlockID(i+1))
		}
		f.resolve(b)
	}
}

// firstLoc returns the frame of the first .loc of a body that names a place, or nil. It serves as
// the position of a function that no fact of the lowering step describes, so that libraries without
// kernels do not count.
func firstLoc(b *ptx.Block, t *lineTable) *source.Frame {
	for s := range b.Stmts() {
		var fr *source.Frame
		switch s.Kind() {
		case ptx.StmtLoc:
			fr = t.loc(s.Loc())
		case ptx.StmtNode:
			if inner, ok := s.Node().(*ptx.Block); ok {
				fr = firstLoc(inner, t)
			}
		}
		if t.mayOwn(fr) {
			return fr
		}
	}
	return nil
}

// outermost returns the frame of the function that everything in an inline stack was inlined into.
func outermost(f *source.Frame) *source.Frame {
	for f != nil && f.Parent != nil {
		f = f.Parent
	}
	return f
}
