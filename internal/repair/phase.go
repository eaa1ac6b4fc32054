package repair

import (
	"fmt"
	"slices"
	"strings"

	"heddle/internal/ir"
	"heddle/internal/isa"
)

// What the steps for mbarriers have in common: the objects of a kernel, the parities with which it
// may wait for them, and the text of a wait.

// object is how an mbarrier is named in the text, at some place.
type object struct {
	text   string     // [full], [%r13+32]
	name   string     // for people, where that is a variable; else empty
	key    string     // the same for other names of the object
	before []string   // what computes its address
	offset int64      // from the register
	reg    ir.RegID   // of the address; NoReg for a variable
	space  string     // .shared::cta, as the instruction has it; empty for a generic address
	remote bool       // it may be in another block of the cluster
	in     *ir.Instr  // that names it so
	use    ir.Barrier // of in; the zero value of an asynchronous operation
}

// shown is the name of the object for people.
func (o *object) shown() string {
	if o.name != "" {
		return o.name
	}
	return o.text
}

// objects are the names of all mbarriers in the kernel, in the order of the text; one for each use.
func (r *repairer) objects() []object {
	var out []object
	for _, b := range r.x.k.Func.Blocks {
		for _, in := range b.Instrs {
			if o, ok := r.objectOf(in); ok {
				out = append(out, o)
			}
		}
	}
	return out
}

// objectOf returns the mbarrier that an instruction names.
func (r *repairer) objectOf(in *ir.Instr) (object, bool) {
	o := object{in: in}
	var at *ir.Operand
	if b, ok := in.Barrier(); ok && b.Object == isa.MBarrier {
		o.use, at = b, b.ID
	} else if u, ok := in.Async(len(in.Src)); ok && u.Barrier >= 0 && u.Barrier < len(in.Src) {
		at = &in.Src[u.Barrier]
	}
	if at == nil {
		return o, false
	}
	return r.addressed(o, at)
}

// addressed completes an object, or a variable in shared memory, with the address that its
// instruction has.
func (r *repairer) addressed(o object, at *ir.Operand) (object, bool) {
	in := o.in
	o.text, o.reg = r.operand(at), at.Reg
	for _, m := range in.Mods {
		if strings.HasPrefix(m, "shared") && o.space == "" {
			o.space = "." + m
		}
	}
	o.remote = o.space == ".shared::cluster"
	if o.key = o.text; o.reg == ir.NoReg || o.text == "" {
		return o, o.text != ""
	}
	o.offset = int64(at.Val)
	if v, off := r.variable(o.reg); v != nil {
		text := "[" + v.Name + "]"
		if off += o.offset; off != 0 {
			text = fmt.Sprintf("[%s+%d]", v.Name, off)
		}
		o.key, o.name = text, strings.Replace(text, v.Name, v.Shown(), 1)
		if o.space != "" && !o.remote { // an instruction on generic addresses cannot have the variable
			o.text, o.reg = text, ir.NoReg
		}
		return o, true
	}
	o.key = fmt.Sprintf("%s+%d", r.formula(o.reg, r.x.where(in).Block, mostComputed), o.offset)
	return o, true
}

// operand is the text of a register, a number, or an address.
func (r *repairer) operand(o *ir.Operand) string {
	name := func() string {
		if o.Reg != ir.NoReg {
			return r.x.k.Func.Regs[o.Reg].Name
		}
		if o.Var != nil {
			return o.Var.Name
		}
		return ""
	}
	switch o.Kind {
	case ir.Register:
		return name()
	case ir.Imm:
		return fmt.Sprint(o.Val)
	case ir.Mem:
		if base := name(); base != "" && o.Val != 0 {
			return fmt.Sprintf("[%s+%d]", base, int64(o.Val))
		} else if base != "" {
			return "[" + base + "]"
		}
	}
	return ""
}

// known reports whether a register has a value at a place: some instruction that writes it is on
// every way there.
func (r *repairer) known(reg ir.RegID, p Point) bool {
	if reg == ir.NoReg {
		return true
	}
	for _, b := range r.x.k.Func.Blocks {
		for i, in := range b.Instrs {
			if !writes(in, reg) {
				continue
			}
			if b.ID == p.Block && i < p.Index || b.ID != p.Block && r.x.flow.dom.Dominates(b.ID, p.Block) {
				return true
			}
		}
	}
	return false
}

// writes reports whether an instruction writes a register.
func writes(in *ir.Instr, reg ir.RegID) (found bool) {
	for i := range in.Dst {
		in.Dst[i].EachReg(func(x ir.RegID) { found = found || x == reg })
	}
	return found
}

// named returns the different names of mbarriers that mean something at a place, those of some uses
// only; the names of one instruction, if it is not nil, come first.
func (r *repairer) named(p Point, first *ir.Instr, like func(*object) bool) []object {
	var out []object
	add := func(o object) {
		same := func(x object) bool { return x.key == o.key && x.remote == o.remote }
		if !like(&o) || slices.ContainsFunc(out, same) {
			return
		}
		if o, ok := r.here(o, p); ok {
			out = append(out, o)
		}
	}
	if first != nil {
		if o, ok := r.objectOf(first); ok && !o.remote {
			if o, ok := r.here(o, p); ok {
				out = append(out, o)
			}
		}
	}
	all := r.objects()
	slices.SortStableFunc(all, func(a, b object) int { return r.use(&a, all) - r.use(&b, all) })
	for _, o := range all {
		add(o)
	}
	return out
}

// use is the place of a name among those that a wait may have: an object to which threads arrive
// and for which none waits lacks a wait more likely than others, and a name that only the
// initialization has may be that of any element of an array.
func (r *repairer) use(o *object, all []object) int {
	awaited := slices.ContainsFunc(all, func(x object) bool {
		return x.key == o.key && x.use.Kind == isa.BarrierTest && x.use.Object == isa.MBarrier
	})
	switch {
	case o.use.Object != isa.MBarrier || o.use.Kind == isa.BarrierInit:
		return 3
	case !awaited:
		return 0
	case o.use.Kind == isa.BarrierTest:
		return 2
	}
	return 1
}

// parity is an operand of a wait, with what computes it.
type parity struct {
	before string // instructions, with %s for the register
	text   string // empty: that register
	means  Parity
}

// constant reports whether a parity is the same in every round.
func (q parity) constant() bool { return q.text == "0" || q.text == "1" }

// parities are what may be the parity of a wait at a place, the most likely first: those of waits
// that the kernel has, for the same object before others, and their opposites; bits of the counters
// of the loops around the place; and the two constants.
func (r *repairer) parities(p Point, of string) []parity {
	var own, other, inverse, counted []parity
	seen := map[string]bool{}
	for _, o := range r.objects() {
		if !o.use.Parity || o.use.State < 0 || o.use.State >= len(o.in.Src) {
			continue
		}
		at := &o.in.Src[o.use.State]
		text := r.operand(at)
		if text == "" || at.Kind == ir.Register && !r.known(at.Reg, p) {
			continue
		}
		q := parity{text: text, means: Parity{Of: o.in}}
		if o.key == of {
			own = append(own, q)
		} else {
			other = append(other, q)
		}
		if at.Kind == ir.Register && !seen[text] {
			seen[text] = true
			inverse = append(inverse, parity{before: "xor.b32 \t%s, " + text + ", 1;",
				means: Parity{Of: o.in, Inverse: true}})
		}
	}
	for l := r.x.flow.loops.Of[p.Block]; l != nil; l = l.Parent {
		for _, c := range r.steppedBy(l, isa.ExclusiveOr) {
			name := r.x.k.Func.Regs[c].Name
			step := r.stepOf(l, c)
			other = append(other, parity{text: name, means: Parity{Counter: step}})
			inverse = append(inverse, parity{before: "xor.b32 \t%s, " + name + ", 1;",
				means: Parity{Counter: step, Inverse: true}})
		}
		for _, c := range r.steppedBy(l, isa.Sum) {
			name := r.x.k.Func.Regs[c].Name
			for shift := range 3 {
				bit := "and.b32 \t%[1]s, " + name + ", 1;"
				if shift > 0 {
					bit = fmt.Sprintf("shr.u32 \t%%[1]s, %s, %d;\n\tand.b32 \t%%[1]s, %%[1]s, 1;", name, shift)
				}
				step := r.stepOf(l, c)
				counted = append(counted, parity{before: bit, means: Parity{Counter: step, Shift: shift}},
					parity{before: bit + "\n\txor.b32 \t%[1]s, %[1]s, 1;",
						means: Parity{Counter: step, Shift: shift, Inverse: true}})
			}
		}
	}
	all := slices.Concat(own, other, []parity{{text: "0"}, {text: "1", means: Parity{Number: 1}}}, inverse, counted)
	var out []parity
	for _, q := range all {
		same := func(x parity) bool { return x.before == q.before && x.text == q.text }
		if !slices.ContainsFunc(out, same) {
			out = append(out, q)
		}
	}
	return out
}

// stepOf returns the instruction by which a loop steps a counter.
func (r *repairer) stepOf(l *ir.Loop, counter ir.RegID) *ir.Instr {
	for _, b := range l.Blocks {
		for _, in := range r.x.k.Func.Block(b).Instrs {
			if len(in.Src) == 2 && in.Src[0].Reg == counter && writes(in, counter) {
				return in
			}
		}
	}
	return nil
}

// names returns the instructions that name an object.
func (r *repairer) names(o *object) []*ir.Instr {
	var out []*ir.Instr
	for _, x := range r.objects() {
		if x.key == o.key {
			out = append(out, x.in)
		}
	}
	return out
}

// steppedBy are the registers of 32 bits that a loop changes by an operation with a constant: a
// counter by a sum, a parity by an exclusive or.
func (r *repairer) steppedBy(l *ir.Loop, by isa.Operation) []ir.RegID {
	var out []ir.RegID
	for _, b := range l.Blocks {
		for _, in := range r.x.k.Func.Block(b).Instrs {
			if in.Row.Operation != by || len(in.Dst) != 1 || len(in.Src) != 2 || in.Src[1].Kind != ir.Imm {
				continue
			}
			d := in.Dst[0].Reg
			if d != ir.NoReg && in.Src[0].Reg == d && r.x.k.Func.Regs[d].Type.Size() == 4 &&
				!slices.Contains(out, d) {
				out = append(out, d)
			}
		}
	}
	return out
}

// wait is the text of a wait for a phase of an object, and what it says for people.
func (r *repairer) waitText(o object, q parity) (text, what string) {
	pre := freePrefix(string(r.x.k.File.Content))
	reg := q.text
	var b strings.Builder
	fmt.Fprintf(&b, "{\n\t.reg .pred \t%%%sdone;\n", pre)
	for _, line := range o.before {
		fmt.Fprintf(&b, "\t%s\n", line)
	}
	if q.before != "" {
		reg = "%" + pre + "parity"
		fmt.Fprintf(&b, "\t.reg .b32 \t%s;\n\t%s\n", reg, computed(q.before, reg))
	}
	op := r.waitOp(o)
	fmt.Fprintf(&b, "$%[1]swait:\n\t%[2]s \t%%%[1]sdone, %[3]s, %[4]s;\n\t@!%%%[1]sdone bra \t$%[1]swait;\n\t}",
		pre, op, o.text, reg)
	what = fmt.Sprintf("a wait for %s with parity %s", o.shown(), reg)
	if q.before != "" {
		what = fmt.Sprintf("a wait for %s with the parity of `%s`", o.shown(),
			strings.ReplaceAll(computed(q.before, "p"), "\n\t", " "))
	}
	return b.String(), strings.ReplaceAll(what, " \t", " ")
}

// computed puts the name of the register into the instructions of a parity.
func computed(before, reg string) string {
	return strings.ReplaceAll(strings.ReplaceAll(before, "%[1]s", reg), "%s", reg)
}

// waitOp is the opcode of a wait for an object: that of a wait for it, or else of any wait for an
// object that is named alike.
func (r *repairer) waitOp(o object) string {
	best := ""
	for _, w := range r.objects() {
		if w.use.Kind == isa.BarrierTest && w.use.Parity && (best == "" || w.key == o.key) {
			best = w.in.Text()
		}
	}
	if best != "" {
		return best
	}
	if Clustered(r.x.k.Func) {
		return "mbarrier.try_wait.parity.acquire.cluster" + o.space + ".b64"
	}
	return "mbarrier.try_wait.parity" + o.space + ".b64"
}

// Clustered reports whether a kernel uses the barrier of a cluster or the memory of other blocks.
func Clustered(f *ir.Func) bool {
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			if in.Action() == isa.ActClusterBarrier || slices.Contains(in.Mods, "shared::cluster") {
				return true
			}
		}
	}
	return false
}
