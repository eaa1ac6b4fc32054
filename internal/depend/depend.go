// Package depend says which facts about a launch the address of an access depends on: arguments,
// contents of memory, the size of the grid. It answers whether two accesses of a kernel meet for
// every value of such a fact, or only for the one of a run.
//
// The method is a data dependence analysis (the data half of a backward slice: Weiser, ICSE 1981)
// with addresses as linear forms. A form is a sum of nodes with constant factors; a node is a
// parameter, a special register, a load, or an operation that is not linear. Where two threads
// access one place, a node with equal values in both threads is on both sides and cancels: base
// pointers, a row that both threads are in, an offset that is an argument. What remains decides
// whether the two places are equal. If no guess is in it, they are equal for every value of the
// guesses.
//
// A register is followed to the definitions that reach it. Where several do (a loop variable, a
// value that depends on a branch), it is a node that never cancels; it depends on what the
// definitions and the branches between them depend on, but not on how often a loop around them
// runs. Memory that the kernel writes is one cell for each object.
//
// Deviations from an exact answer: arithmetic is taken not to wrap, conversions are taken to keep
// the value, and a value that a loop leaves behind is taken not to depend on its number of
// iterations. So the package may call an address independent of a guess that reaches it in such a
// way. It decides between an error and a warning, never whether a finding is reported.
package depend

import (
	"slices"

	"heddle/internal/event"
	"heddle/internal/ir"
)

// Kind is a kind of fact.
type Kind uint8

// The kinds of facts.
const (
	Argument    Kind = iota // the value of parameter Var, or of its bytes from Offset
	Contents                // what Var, or the array that parameter Var points to, holds at the start
	GridSize                // the number of blocks in dimension Offset
	BlockSize               // the number of threads of a block in dimension Offset
	ThreadIndex             // the index of a thread in dimension Offset
	BlockIndex              // the index of a block in dimension Offset
)

// AnyOffset stands for bytes of an argument whose offset is not constant. It is beyond all parameters
// (PTX ISA 7.1: 32764 bytes at most).
const AnyOffset = 1<<16 - 1

// Source is one fact.
type Source struct {
	Kind   Kind
	Var    *ir.Var // of Argument and Contents; nil: memory that is not known to belong to a variable
	Offset int     // bytes into an argument, or AnyOffset; 0, 1, 2 for dimension x, y, z
}

// Access is an access of a run, or of a launch that is considered.
type Access struct {
	Instr *ir.Instr
	// Index and Block are those of the thread in its block, and of the block in the grid.
	Index, Block event.Dim3
	Write        bool // an instruction that copies reads at one address and writes at another
}

// Kernel holds the dependences of one kernel and the functions that it may call.
type Kernel struct {
	kernel  *ir.Func
	sources []Source
	index   map[Source]int
	funcs   map[*ir.Func]*function
	home    map[*ir.Instr]*function
	vars    map[*ir.Var]*value // parameters of functions, and contents of memory that is written
	written map[*ir.Var]bool   // objects that the kernel stores to; nil: objects that are not known
	nodes   map[string]int32
	list    []value // of nodes
	changed bool
}

// New analyses a kernel.
func New(kernel *ir.Func) *Kernel {
	k := &Kernel{
		kernel: kernel, index: make(map[Source]int), funcs: make(map[*ir.Func]*function),
		home: make(map[*ir.Instr]*function), vars: make(map[*ir.Var]*value),
		written: make(map[*ir.Var]bool), nodes: make(map[string]int32),
	}
	reachable := ir.ReachableFuncs(kernel)
	for _, f := range reachable {
		k.funcs[f] = newFunction(k, f)
	}
	for k.changed = true; k.changed; {
		k.changed = false
		for _, f := range reachable {
			k.funcs[f].flow()
		}
	}
	return k
}

// Between returns the facts that decide whether two accesses are to one place. They are sorted by
// kind, parameter and offset.
func (k *Kernel) Between(a, b Access) []Source {
	fa, fb := k.home[a.Instr], k.home[b.Instr]
	if fa == nil || fb == nil {
		return nil
	}
	var set bits
	one, two := operand(a.Instr, a.Write), operand(b.Instr, b.Write)
	if one == nil || two == nil { // addresses that are not single operands
		set.add(fa.addressFacts(a.Instr))
		set.add(fb.addressFacts(b.Instr))
		return k.facts(set)
	}
	left, right := fa.form(a.Instr, one), fb.form(b.Instr, two)
	for _, t := range left.minus(right) {
		set.add(k.list[t.node].from)
	}
	for _, f := range []*form{left, right} {
		for _, t := range f.terms {
			if !k.equal(t.node, &a, &b) {
				set.add(k.list[t.node].from)
			}
		}
	}
	return k.facts(set)
}

// operand returns the operand that is the address at which an instruction reads or writes; nil if
// there is none or it cannot be told.
func operand(in *ir.Instr, write bool) *ir.Operand {
	accesses, ok := in.Accesses()
	if !ok {
		return nil
	}
	for _, a := range accesses {
		if a.Operand < len(in.Src) && (len(accesses) == 1 || a.Kind.Writes() == write) {
			if o := &in.Src[a.Operand]; o.Kind == ir.Mem && len(o.Elems) == 0 {
				return o
			}
		}
	}
	return nil
}

// Address returns all facts on which the address of an access depends, or the target of an indirect
// call.
func (k *Kernel) Address(in *ir.Instr) []Source {
	f := k.home[in]
	if f == nil {
		return nil
	}
	return k.facts(f.addressFacts(in))
}

// Trips returns the facts that decide how often the loops around an access run, if it accesses
// another place in each iteration. They decide how far it gets.
func (k *Kernel) Trips(in *ir.Instr) []Source {
	f := k.home[in]
	if f == nil {
		return nil
	}
	varies := false
	for _, ops := range [2][]ir.Operand{in.Dst, in.Src} {
		for i := range ops {
			varies = varies || ops[i].Kind == ir.Mem && f.operand(in, &ops[i]).varies
		}
	}
	if !varies {
		return nil
	}
	var set bits
	for b := range f.reach.ctl[f.reach.block[in]] {
		if t := f.fn.Blocks[b].Last(); f.reach.exits[b] && t.Guard != ir.NoReg {
			set.add(f.register(t, t.Guard).from)
		}
	}
	return k.facts(set)
}

// Varies reports whether the condition of a branch may differ between threads of one block: it
// depends on their indices, or on memory.
func (k *Kernel) Varies(branch *ir.Instr) bool {
	f := k.home[branch]
	if f == nil || branch.Guard == ir.NoReg {
		return f == nil
	}
	return slices.ContainsFunc(k.facts(f.register(branch, branch.Guard).from), func(s Source) bool {
		return s.Kind == ThreadIndex || s.Kind == Contents
	})
}

// Conditions returns the branches that decide whether a thread gets to a block of the kernel,
// directly or through another branch, in the order of the code.
func (k *Kernel) Conditions(b *ir.Block) []*ir.Instr {
	f := k.funcs[k.kernel]
	var out []*ir.Instr
	for _, from := range f.fn.Blocks {
		if f.reach.ctl[b.ID][from.ID] {
			out = append(out, from.Last())
		}
	}
	return out
}

// equal reports whether a node has one value in the threads of two accesses, whatever the launch.
func (k *Kernel) equal(n int32, a, b *Access) bool {
	v := &k.list[n]
	return !v.varies && v.equalAt(a, b)
}

// equalAt reports whether all indices on which a value depends are equal for two accesses.
func (v *value) equalAt(a, b *Access) bool {
	one := [6]uint32{a.Index.X, a.Index.Y, a.Index.Z, a.Block.X, a.Block.Y, a.Block.Z}
	two := [6]uint32{b.Index.X, b.Index.Y, b.Index.Z, b.Block.X, b.Block.Y, b.Block.Z}
	for i := range one {
		if v.coords>>i&1 != 0 && one[i] != two[i] {
			return false
		}
	}
	return true
}

// facts lists the sources of a set.
func (k *Kernel) facts(set bits) []Source {
	var out []Source
	for i, s := range k.sources {
		if set.has(i) {
			out = append(out, s)
		}
	}
	slices.SortStableFunc(out, func(a, b Source) int {
		if a.Kind != b.Kind {
			return int(a.Kind) - int(b.Kind)
		}
		return k.place(a) - k.place(b)
	})
	return out
}

// place orders sources of one kind: by parameter, then by offset.
func (k *Kernel) place(s Source) int {
	return slices.Index(k.kernel.Params, s.Var)<<16 + s.Offset
}

// source returns the number of a fact.
func (k *Kernel) source(s Source) int {
	i, ok := k.index[s]
	if !ok {
		i = len(k.sources)
		k.index[s], k.sources = i, append(k.sources, s)
	}
	return i
}

// bits is a set of numbers of sources.
type bits []uint64

func (b bits) has(i int) bool { return i/64 < len(b) && b[i/64]>>(i%64)&1 != 0 }

// set adds one number.
func (b *bits) set(i int) {
	for len(*b) <= i/64 {
		*b = append(*b, 0)
	}
	(*b)[i/64] |= 1 << (i % 64)
}

// clear removes one number.
func (b bits) clear(i int) {
	if i/64 < len(b) {
		b[i/64] &^= 1 << (i % 64)
	}
}

// add adds all of c and reports whether b grew.
func (b *bits) add(c bits) bool {
	grew := false
	for i, w := range c {
		if w == 0 {
			continue
		}
		for len(*b) <= i {
			*b = append(*b, 0)
		}
		if w&^(*b)[i] != 0 {
			(*b)[i] |= w
			grew = true
		}
	}
	return grew
}

// Objects returns the parameters whose arrays, and the variables, that an access may be to, as far
// as they are known.
func (k *Kernel) Objects(in *ir.Instr) []*ir.Var {
	f := k.home[in]
	if f == nil {
		return nil
	}
	var out []*ir.Var
	for _, ops := range [2][]ir.Operand{in.Dst, in.Src} {
		for i := range ops {
			if ops[i].Kind == ir.Mem {
				out = append(out, f.operand(in, &ops[i]).objects...)
			}
		}
	}
	return out
}

// Written reports whether the kernel may store to a variable or to the array of a parameter.
func (k *Kernel) Written(v *ir.Var) bool { return k.written[v] || k.written[nil] }
