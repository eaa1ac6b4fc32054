package kernel

import (
	"slices"
	"strings"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/source"
)

// KeepsValues reports whether a thread that has left a loop has the values that it had at an
// instruction of the loop's header when it was there last. Three things show that:
//
//   - threads leave the loop from the end of its header, and do not end in it;
//   - nothing that the header computes is part of what an iteration hands to the next one, and it
//     writes no memory, so that the header changes no variable;
//   - LLVM may have moved such a change out of the header: what an iteration hands to the next one is
//     computed at places in the source that are not between the instruction and what the header does
//     last.
func (k *Facts) KeepsValues(in *ir.Instr, l *ir.Loop) bool {
	return k.blockOf[in] == l.Header && k.leftAtHeader(l) && k.headerChangesNothing(l) &&
		k.nothingBetween(in, l)
}

// leftAtHeader reports whether threads leave a loop from the end of its header alone.
func (k *Facts) leftAtHeader(l *ir.Loop) bool {
	for _, id := range l.Blocks {
		b := k.f.Blocks[id]
		if len(b.Succs) == 0 || b.Last() != nil && b.Last().Leaves() {
			return false
		}
		for _, to := range b.Succs {
			if id != l.Header && !l.Contains(to) {
				return false
			}
		}
	}
	return true
}

// headerChangesNothing reports whether no register that is live at the header depends on what the
// header computes, by way of any instruction of the loop, and whether the header writes no memory.
func (k *Facts) headerChangesNothing(l *ir.Loop) bool {
	from := NewBits(len(k.f.Regs)) // registers that depend on what the header computes
	for _, in := range k.f.Blocks[l.Header].Instrs {
		annotation := in.IsCall() && in.Callee != nil &&
			strings.HasPrefix(in.Callee.Name, ir.AnnotationPrefix)
		stores := in.WritesMemory() && in.Space != event.Param // where arguments of annotations are
		if stores || in.IsCall() && !annotation {
			return false
		}
		eachWritten(in, func(r ir.RegID) { from.Add(int(r)) })
	}
	for changed := true; changed; {
		changed = false
		for _, id := range l.Blocks {
			for _, in := range k.f.Blocks[id].Instrs {
				depends := in.Guard != ir.NoReg && from.Has(int(in.Guard))
				eachRead(in.Src, func(r ir.RegID) { depends = depends || from.Has(int(r)) })
				eachWritten(in, func(r ir.RegID) {
					if depends && !from.Has(int(r)) {
						from.Add(int(r))
						changed = true
					}
				})
			}
		}
	}
	for r := range k.f.Regs {
		if k.Live(l.Header, r) && from.Has(r) {
			return false
		}
	}
	return true
}

// nothingBetween reports whether what an iteration hands to the next one is computed at places of
// the source that are not between an instruction of the header and the last place of what follows in
// the header. An instruction that LLVM has moved has no place; llc's line information then gives it
// that of the instruction before it in the text, which is not accepted. It is false without line
// information, and in a function that is inlined.
func (k *Facts) nothingBetween(in *ir.Instr, l *ir.Loop) bool {
	if in.Loc == nil || in.Loc.Parent != nil || in.Caller != nil {
		return false
	}
	start, end := in.Loc.Pos, in.Loc.Pos
	behind := false
	for _, x := range k.f.Blocks[l.Header].Instrs {
		if behind = behind || x == in; behind && x.Loc != nil {
			end = max(end, place(x.Loc))
		}
	}
	if end == start {
		return false
	}
	handed := NewBits(len(k.f.Regs)) // registers that decide what the next iteration finds
	for r := range k.f.Regs {
		if k.Live(l.Header, r) {
			handed.Add(r)
		}
	}
	before := k.placesBefore()
	for changed := true; changed; {
		changed = false
		for _, id := range l.Blocks {
			for _, x := range k.f.Blocks[id].Instrs {
				decides := false
				eachWritten(x, func(r ir.RegID) { decides = decides || handed.Has(int(r)) })
				if !decides || id == l.Header {
					continue
				}
				if x.Loc == nil || before[x] != nil && before[x].Pos == x.Loc.Pos ||
					place(x.Loc) > start && place(x.Loc) <= end {
					return false
				}
				add := func(r ir.RegID) {
					changed = changed || !handed.Has(int(r))
					handed.Add(int(r))
				}
				eachRead(x.Src, add)
				if x.Guard != ir.NoReg {
					add(x.Guard)
				}
			}
		}
	}
	return true
}

// placesBefore returns the location of the instruction before each one in the text.
func (k *Facts) placesBefore() map[*ir.Instr]*source.Frame {
	var all []*ir.Instr
	for _, b := range k.f.Blocks {
		all = append(all, b.Instrs...)
	}
	slices.SortFunc(all, func(a, b *ir.Instr) int { return a.Index - b.Index })
	out := make(map[*ir.Instr]*source.Frame, len(all))
	for i := 1; i < len(all); i++ {
		out[all[i]] = all[i-1].Loc
	}
	return out
}

// place is the position of a location in the kernel itself.
func place(at *source.Frame) source.Pos {
	for at.Parent != nil {
		at = at.Parent
	}
	return at.Pos
}
