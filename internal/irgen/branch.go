package irgen

import (
	"strconv"

	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/ptx"
	"heddle/internal/source"
)

// itoa shortens the construction of messages and names.
func itoa(n int) string { return strconv.Itoa(n) }

// branch resolves the operand of bra: one label (PTX ISA 9.7.12.3). The operand's block number is
// set later, by resolve.
func (f *fgen) branch(in *ir.Instr, s ptx.Inst) ([]*label, bool) {
	ops := s.Operands()
	if ops.Len() != 1 {
		f.g.errorf(s.OpSpan(), "%s takes 1 operand, found %d", s.Text(), ops.Len())
		return nil, false
	}
	l := f.target(ops.At(0))
	in.Src = []ir.Operand{{Kind: ir.BranchTo, Reg: ir.NoReg, Span: ops.At(0).Span()}}
	return []*label{l}, l != nil
}

// target resolves an operand that must be the name of a label. It reports an error and returns nil
// otherwise.
func (f *fgen) target(o ptx.Operand) *label {
	if o.Kind() != ptx.Name || o.Field() != "" {
		f.g.errorf(o.Span(), "expected a label")
		return nil
	}
	return f.labelNamed(o.Name(), o.Span())
}

// labelNamed looks a label up in the scopes around the branch. Labels of inner or neighbouring { }
// are not visible (PTX ISA 5.4), so a jump into a block is an error and not a surprise for the
// emulator.
func (f *fgen) labelNamed(name string, span source.Span) *label {
	sym := f.scope.lookup(f, name)
	switch {
	case sym == nil:
		f.g.errorf(span,
			"label %s is not in this function, or in a block that cannot be entered from here", name)
	case sym.kind != symLabel:
		f.g.errorf(span, "%s is %s; expected a label", name, f.describe(sym))
	default:
		return sym.label
	}
	return nil
}

// indexedBranch resolves brx.idx: an index of type .u32, and the name of a .branchtargets list (PTX
// ISA 9.7.12.4). The instruction has one BranchTo operand for each entry, duplicates included,
// since the index counts entries. An index beyond the list is undefined behaviour; it is left to
// the engines to report.
func (f *fgen) indexedBranch(in *ir.Instr, s ptx.Inst) ([]*label, bool) {
	ops := s.Operands()
	if ops.Len() != 2 {
		f.g.errorf(s.OpSpan(), "%s takes 2 operands, found %d", s.Text(), ops.Len())
		return nil, false
	}
	index, ok := f.src(in, ops.At(0), isa.Src, isa.U32)
	if !ok {
		return nil, false
	}
	list := f.list(ops.At(1), ".branchtargets")
	if list == nil {
		return nil, false
	}
	in.Src = []ir.Operand{index}
	to, ok := f.targets(list)
	if !ok {
		return nil, false
	}
	for range to {
		in.Src = append(in.Src, ir.Operand{Kind: ir.BranchTo, Reg: ir.NoReg, Span: ops.At(1).Span()})
	}
	if len(to) == 0 {
		f.g.errorf(list.Span(), ".branchtargets: expected at least one label")
		return nil, false
	}
	return to, true
}

// targets resolves the labels of a .branchtargets list. It stops at the first label that is
// missing, since each entry would report the same.
func (f *fgen) targets(list *ptx.Directive) ([]*label, bool) {
	var to []*label
	add := func(l *label) bool {
		to = append(to, l)
		return l != nil
	}
	for _, a := range list.Args.All() {
		if a.Kind() != ptx.Range {
			if !add(f.target(a)) {
				return nil, false
			}
			continue
		}
		for i := range int(rangeLen(a)) {
			if !add(f.labelNamed(rangeName(a.Name(), i), a.Span())) {
				return nil, false
			}
		}
	}
	return to, true
}

// list resolves the name of a .branchtargets or .calltargets list; want says which of the two the
// instruction takes.
func (f *fgen) list(o ptx.Operand, want string) *ptx.Directive {
	if o.Kind() != ptx.Name {
		f.g.errorf(o.Span(), "expected the name of a %s list", want)
		return nil
	}
	name := o.Name()
	sym := f.scope.lookup(f, name)
	switch {
	case sym == nil:
		f.g.errorf(o.Span(), "%s is not declared; expected the name of a %s list", name, want)
	case sym.kind != symTargets || sym.list.Name != want:
		f.g.errorf(o.Span(), "%s is %s; expected the name of a %s list", name, f.describe(sym), want)
	default:
		return sym.list
	}
	return nil
}

// resolve sets the block of each target of b's terminator. It runs when all labels have blocks; the
// targets are in the order of the operands.
func (f *fgen) resolve(b *ir.Block) {
	t := b.Terminator()
	if t == nil {
		return
	}
	to := f.edges[b.ID].to
	for i := range t.Src {
		if t.Src[i].Kind == ir.BranchTo {
			t.Src[i].Block = to[0].block
			to = to[1:]
		}
	}
}
