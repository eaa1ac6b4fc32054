package repair

import (
	"fmt"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// Races between plain updates of one location need no barrier: an update may become one atomic
// operation. It is offered only with Options.Atomic, because it can change results: the old value
// that a thread sees depends on the schedule, and floating-point sums depend on the order.
// Recognized is a load, one operation and a store in one basic block. An update that spans blocks,
// or takes several operations, is missed.

// update is a non-atomic read-modify-write: ld r, [a]; op v, r, x; st [a], v in one block.
type update struct {
	load, op, store *ir.Instr
	other           ir.Operand // x
	text            string     // the atomic operation, which replaces the load
	float           bool
}

// updates finds the plain updates that take part in a race.
func (r *repairer) updates() []update {
	var out []update
	seen := map[*ir.Instr]bool{} // stores
	for _, f := range r.found {
		for _, in := range []*ir.Instr{f.a, f.b} {
			if in == nil || f.Kind != Race {
				continue
			}
			if u, ok := r.update(in); ok && !seen[u.store] {
				seen[u.store] = true
				out = append(out, u)
			}
		}
	}
	return out
}

// update finds the update that contains a plain load or store. The store is fixed first, then its
// operation and the load are found backwards from the registers that they define.
func (r *repairer) update(in *ir.Instr) (update, bool) {
	b := r.x.k.Func.Block(r.x.blockOf(in))
	for j, st := range b.Instrs {
		if st.Action() != isa.ActStore || st.Order != event.Weak || st.Vec > 1 ||
			st.Guard != ir.NoReg || len(st.Src) != 2 || st.Src[1].Kind != ir.Register {
			continue
		}
		op := lastDef(b, j, st.Src[1].Reg)
		if op < 0 || len(b.Instrs[op].Src) != 2 || b.Instrs[op].Guard != ir.NoReg {
			continue
		}
		for k, s := range b.Instrs[op].Src {
			if s.Kind != ir.Register {
				continue
			}
			ld := lastDef(b, op, s.Reg)
			if ld < 0 || !sameCell(b, ld, j) || b.Instrs[ld] != in && st != in {
				continue
			}
			u := update{load: b.Instrs[ld], op: b.Instrs[op], store: st, other: b.Instrs[op].Src[1-k]}
			if u.other.Kind == ir.Register && lastDef(b, op, u.other.Reg) >= ld ||
				u.other.Kind != ir.Register && u.other.Kind != ir.Imm {
				continue // x is not computed yet at the load
			}
			if r.spell(&u) {
				return u, true
			}
		}
	}
	return update{}, false
}

// lastDef returns the index of the last instruction before i that writes a register, or -1.
func lastDef(b *ir.Block, i int, reg ir.RegID) int {
	for i--; i >= 0; i-- {
		for _, d := range b.Instrs[i].Dst {
			if d.Kind == ir.Register && d.Reg == reg {
				return i
			}
		}
	}
	return -1
}

// sameCell reports whether the load at ld and the store at st access one address, and nothing
// between them writes or orders memory. Addresses count as equal if base register, variable and
// offset are the same and the base is not redefined in between; equal addresses in different
// registers are missed.
func sameCell(b *ir.Block, ld, st int) bool {
	l, s := b.Instrs[ld], b.Instrs[st]
	if !l.IsPlainLoad() || l.Order != event.Weak || l.Vec > 1 || l.Guard != ir.NoReg ||
		len(l.Src) != 1 || l.Space != s.Space || l.Type.Size() != s.Type.Size() {
		return false
	}
	x, y := l.Src[0], s.Src[0]
	if x.Kind != ir.Mem || y.Kind != ir.Mem || x.Reg != y.Reg || x.Var != y.Var || x.Val != y.Val {
		return false
	}
	if x.Reg != ir.NoReg && lastDef(b, st, x.Reg) >= ld {
		return false
	}
	for _, in := range b.Instrs[ld+1 : st] {
		if in.Row.Effect != isa.NoEffect && in.Row.Effect != isa.Reads {
			return false
		}
	}
	return true
}

// spell writes the equivalent atomic operation (PTX ISA 9.7.13.5), if there is one. The atomic
// operation replaces the load; the operation stays and recomputes the new value, which later
// instructions may use. There is none for 8 and 16 bits, for operations with a carry, and for
// minimum and maximum of floats.
func (r *repairer) spell(u *update) bool {
	size := u.op.Type.Size()
	if size != u.load.Type.Size() || size != 4 && size != 8 {
		return false
	}
	kind := ""
	if u.op.ReadsCarry() {
		return false
	}
	switch u.op.Operation() {
	case isa.Sum:
		kind = fmt.Sprintf("add.u%d", 8*size)
		if u.float = u.op.Type.IsFloat(); u.float {
			kind = fmt.Sprintf("add.f%d", 8*size)
		}
	case isa.Conjunction, isa.Disjunction, isa.ExclusiveOr:
		kind = fmt.Sprintf("%s.b%d", u.op.Op(), 8*size)
	case isa.Minimum, isa.Maximum:
		if u.op.Type.IsFloat() {
			return false
		}
		kind = fmt.Sprintf("%s.%s", u.op.Op(), u.op.Type)
	default:
		return false
	}
	text := func(s ir.Operand) string {
		start, _ := r.x.k.File.Offset(s.Span.Start)
		end, _ := r.x.k.File.Offset(s.Span.End)
		return string(r.x.k.File.Content[start:end])
	}
	space := ""
	if u.load.Space != event.Generic {
		space = "." + u.load.Space.String()
	}
	dst, addr := text(u.load.Dst[0]), text(u.load.Src[0])
	u.text = fmt.Sprintf("atom%s.%s \t%s, %s, %s;", space, kind, dst, addr, text(u.other))
	return true
}

// atomicCost is the cost of an atomic update, in block barriers. It is a last resort.
const atomicCost = 10

// atomics offers atomic operations for updates that race.
func atomics(r *repairer) []action {
	if !r.opt.Atomic {
		return nil
	}
	var out []action
	for _, u := range r.updates() {
		what := "replaced by an atomic update"
		if u.float {
			what = "replaced by an atomic update, which adds in a different order from run to run"
		}
		out = append(out, action{
			key: fmt.Sprint("atomic ", u.store.Index), cost: atomicCost,
			add: func(pl *Plan) {
				pl.Texts[u.load.Index] = u.text
				pl.Texts[u.store.Index] = ""
			},
			what: Change{What: what, At: u.store, Old: true},
		})
	}
	return out
}

// atomicsAndBarriers offers atomic updates and block barriers.
func atomicsAndBarriers(r *repairer) []action {
	a := atomics(r)
	if a == nil {
		return nil
	}
	return unique(append(a, everywhere(true)(r)...))
}
