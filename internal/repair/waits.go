package repair

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"heddle/internal/ir"
	"heddle/internal/isa"
)

// Steps for accesses that a wait would order: the wait for the phase of a copy in front of what
// reads it, the wait that empties a stage before a copy fills it again, and the waits for bulk
// groups.

const (
	phaseWaitCost = 0.5  // of a wait for a phase, relative to a block barrier
	groupWaitCost = 0.4  // of a wait for bulk groups
	otherTextCost = 0.45 // of another parity or number in an instruction that exists
)

// mostParities bounds the parities that are tried at one place.
const mostParities = 12

// isAsync reports whether an instruction starts an asynchronous operation through an agent.
func isAsync(in *ir.Instr) bool {
	if in == nil {
		return false
	}
	switch in.Action() {
	case isa.ActBulkCopy, isa.ActAsyncStore, isa.ActMatrixAsync:
		return true
	}
	return false
}

// waits offers waits for phases in front of the two accesses of a race. What a copy fills is waited
// for at its own object, in front of the other access. In front of a copy, and between two ordinary
// accesses, the objects are those at which threads arrive.
func (r *repairer) waits(f located) []action {
	var out []action
	for _, side := range [][2]*ir.Instr{{f.a, f.b}, {f.b, f.a}} {
		copied, other := side[0], side[1]
		if copied == nil || other == nil || !isAsync(copied) || f.a == f.b && f.Kind != Race {
			continue
		}
		out = append(out, r.waitsAt(r.inFront(other), copied)...)
		out = append(out, r.otherParities(other)...)
	}
	// A read that waits for a write is what most kernels mean, more than a write that waits for a
	// read.
	sides := r.sidesOf(f)
	slices.SortStableFunc(sides, func(a, b *ir.Instr) int { return reads(b) - reads(a) })
	for _, in := range sides {
		if f.Kind == Unfinished {
			out = append(out, r.waitsAtExits(in)...)
		} else {
			out = append(out, r.waitsAt(r.inFront(in), nil)...)
		}
	}
	return out
}

// reads is 1 for an instruction that reads memory and does nothing else to it.
func reads(in *ir.Instr) int {
	if in.Row.Effect == isa.Reads {
		return 1
	}
	return 0
}

// waitsAtExits offers waits for an asynchronous operation at the exits of the kernel.
func (r *repairer) waitsAtExits(in *ir.Instr) []action {
	var out []action
	for _, p := range r.exits() {
		out = append(out, r.waitsAt(p, in)...)
	}
	return out
}

// waitable reports whether a thread may wait for an object that is named like this.
func waitable(o *object) bool {
	if o.remote || o.use.Object != isa.MBarrier {
		return false
	}
	switch o.use.Kind {
	case isa.BarrierInit, isa.BarrierArrive, isa.BarrierDrop, isa.BarrierCopies, isa.BarrierTest:
		return true
	}
	return false
}

// inFront is the place of a wait in front of an access: in front of what announces a copy to its
// object, if that is just before it.
func (r *repairer) inFront(in *ir.Instr) Point {
	p := r.x.where(in)
	if !isAsync(in) {
		return p
	}
	own, _ := r.objectOf(in)
	list := r.x.k.Func.Block(p.Block).Instrs
	for i := p.Index - 1; i >= 0; i-- {
		if b, ok := list[i].Barrier(); ok && b.Object == isa.MBarrier && b.Bytes >= 0 {
			if o, ok := r.objectOf(list[i]); ok && o.key == own.key {
				p.Index = i
			}
		}
		if touches(list[i]) {
			break
		}
	}
	return p
}

// waitsAt offers waits at a place, for the object of an instruction first, and then for others.
func (r *repairer) waitsAt(p Point, first *ir.Instr) []action {
	var out []action
	for _, o := range r.named(p, first, waitable) {
		list := r.parities(p, o.key)
		for _, q := range list[:min(len(list), mostParities)] {
			text, what := r.waitText(o, q)
			use := &Tracked{Kind: WaitFor, Op: r.waitOp(o), Names: r.names(&o), Parity: &q.means}
			out = append(out, r.tracked(p, text, what, phaseWaitCost, use))
		}
	}
	return out
}

// otherParity offers other parities for a wait that a thread does not get past.
func (r *repairer) otherParity(f located) []action {
	if f.a == nil {
		return nil
	}
	return r.parityOf(f.a)
}

// otherParities offers other parities for the waits that come before an access.
func (r *repairer) otherParities(in *ir.Instr) []action {
	var out []action
	for _, o := range r.objects() {
		if o.use.Kind == isa.BarrierTest && r.before(o.in, in) {
			out = append(out, r.parityOf(o.in)...)
		}
	}
	return out
}

// parityOf offers other parities for a test: bits of the counters of its loops, and what other
// waits have. A constant is none of them: with the parity of the phase before the first, a wait
// passes at once, and orders nothing.
func (r *repairer) parityOf(in *ir.Instr) []action {
	o, ok := r.objectOf(in)
	if !ok || !o.use.Parity || in.Guard != ir.NoReg || len(in.Dst) == 0 {
		return nil
	}
	was := r.operand(&in.Src[o.use.State])
	pre := freePrefix(string(r.x.k.File.Content))
	var out []action
	list := r.parities(r.x.where(in), "")
	for _, q := range list[:min(len(list), mostParities)] {
		if q.text == was || q.constant() {
			continue
		}
		what, text := fmt.Sprintf("waits with parity %s", q.text), r.withOperand(in, &in.Src[o.use.State], q.text)
		if q.before != "" {
			reg := "%" + pre + "parity"
			what = fmt.Sprintf("waits with the parity of `%s`",
				strings.ReplaceAll(strings.ReplaceAll(computed(q.before, "p"), "\n\t", " "), " \t", " "))
			text = fmt.Sprintf("{\n\t.reg .b32 \t%s;\n\t%s\n\t%s\n\t}", reg, computed(q.before, reg),
				r.withOperand(in, &in.Src[o.use.State], reg))
		}
		out = append(out, action{
			key: fmt.Sprintf("parity %d %s%s", in.Index, q.text, q.before), cost: otherTextCost,
			add:  changes(in, text, &Tracked{Kind: WaitFor, Op: in.Text(), Parity: &q.means}),
			what: Change{What: what, At: in, Old: true},
		})
	}
	return out
}

// withOperand is the text of an instruction with another operand.
func (r *repairer) withOperand(in *ir.Instr, o *ir.Operand, text string) string {
	f := r.x.k.File
	start, ok1 := f.Offset(in.Span.Start)
	end, ok2 := f.Offset(in.Span.End)
	from, ok3 := f.Offset(o.Span.Start)
	to, ok4 := f.Offset(o.Span.End)
	if !ok1 || !ok2 || !ok3 || !ok4 || from < start || to > end {
		return string(f.Content[start:end])
	}
	return string(f.Content[start:from]) + text + string(f.Content[to:end])
}

// The waits for groups of asynchronous operations that belong to a thread, or to a warp.
const (
	bulkCommit   = "cp.async.bulk.commit_group;"
	bulkWait     = "cp.async.bulk.wait_group 0;"
	matrixCommit = "wgmma.commit_group.sync.aligned;"
	matrixWait   = "wgmma.wait_group.sync.aligned 0;"
	matrixFence  = "wgmma.fence.sync.aligned;"
)

// groups offers waits for the bulk group of an operation of a race, or for the group of a matrix
// operation: existing waits that wait for more, a commit where there is none, and a wait behind
// each commit.
func (r *repairer) groups(f located) []action {
	var out []action
	for _, in := range []*ir.Instr{f.a, f.b} {
		if !isAsync(in) {
			continue
		}
		u, _ := in.Async(len(in.Src))
		commit, wait := bulkCommit, bulkWait
		switch u.Track {
		case isa.BulkGroups:
		case isa.MatrixGroups:
			commit, wait = matrixCommit, matrixWait
		default:
			continue
		}
		out = append(out, r.groupsOf(in, u.Track, commit, wait)...)
	}
	return out
}

func (r *repairer) groupsOf(of *ir.Instr, track isa.Tracking, commit, wait string) []action {
	at := r.x.where(of)
	guard := r.guardText(of)
	behind := Point{at.Block, at.Index + 1}
	out := append(r.waitsForGroups(track, wait),
		r.insertion(behind, guard+commit, commit[:len(commit)-1], groupWaitCost))
	return append(out, r.commitAndWait(behind, guard, commit, wait))
}

// commitAndWait offers a commit and a wait for it at one place.
func (r *repairer) commitAndWait(p Point, guard, commit, wait string) action {
	both := commit[:len(commit)-1] + " and " + wait[:len(wait)-1]
	return r.insertion(p, guard+commit+"\n\t"+guard+wait, both, 2*groupWaitCost)
}

// waitsForGroups offers waits for all groups: in place of existing waits, and behind each commit.
// The cheapest comes first.
func (r *repairer) waitsForGroups(track isa.Tracking, wait string) (out []action) {
	for _, b := range r.x.k.Func.Blocks {
		for i, in := range b.Instrs {
			u, ok := in.Async(len(in.Src))
			if !ok || u.Track != track {
				continue
			}
			switch u.Step {
			case isa.AsyncCommit:
				out = append(out, r.insertion(Point{b.ID, i + 1}, r.guardText(in)+wait, wait[:len(wait)-1],
					groupWaitCost))
			case isa.AsyncWait:
				text := r.guardText(in) + wait
				out = append(out, action{
					key:  fmt.Sprint("wait all ", in.Index),
					cost: otherTextCost / 2 * r.x.aloneCost(r.opt.Cost, Point{b.ID, i}),
					add:  func(pl *Plan) { pl.Texts[in.Index] = text },
					what: Change{What: "becomes " + wait[:len(wait)-1], At: in, Old: true},
				})
			}
		}
	}
	slices.SortStableFunc(out, byCost)
	return out
}

// matrixFence offers a wgmma.fence in front of a matrix operation: it orders accesses of the warp to
// registers before the operation (PTX ISA 9.7.15.7.1).
func (r *repairer) matrixFence(f located) []action {
	if f.a == nil || f.a.Action() != isa.ActMatrixAsync {
		return nil
	}
	return []action{r.insertion(r.x.where(f.a), r.guardText(f.a)+matrixFence,
		matrixFence[:len(matrixFence)-1], groupWaitCost)}
}

// matrixWaits offers waits for the matrix operation of which an instruction accesses a register too
// early: for all groups, or, if nothing commits it, a commit and a wait in front of the instruction.
func (r *repairer) matrixWaits(f located) []action {
	if f.a == nil {
		return nil
	}
	out := r.waitsForGroups(isa.MatrixGroups, matrixWait)
	at := r.x.where(f.a)
	out = append(out, r.insertion(at, matrixWait, matrixWait[:len(matrixWait)-1], groupWaitCost))
	return append(out, r.commitAndWait(at, "", matrixCommit, matrixWait))
}

// guardText is the guard of an instruction, as it is written.
func (r *repairer) guardText(in *ir.Instr) string {
	switch {
	case in.Guard == ir.NoReg:
		return ""
	case in.Neg:
		return "@!" + r.x.k.Func.Regs[in.Guard].Name + " "
	}
	return "@" + r.x.k.Func.Regs[in.Guard].Name + " "
}

// byCost orders actions, the cheapest first.
func byCost(a, b action) int { return cmp.Compare(a.cost, b.cost) }
