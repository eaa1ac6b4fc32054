package repair

import (
	"fmt"
	"slices"
	"strings"

	"heddle/internal/ir"
)

// isBarrier reports whether in is a barrier of all threads of the block that does nothing else. A
// guard does not matter: repairs of divergence are about guarded barriers.
func isBarrier(in *ir.Instr) bool {
	b, ok := in.BlockBarrier()
	return ok && b.Plain()
}

// otherBarrier reports whether in takes part in a barrier of the block in another way: with a
// count, another number, a reduction, or without waiting.
func otherBarrier(in *ir.Instr) bool {
	_, numbered := in.NumberedBarrier()
	return numbered && !isBarrier(in)
}

// Transformer carries out plans on one kernel. It never edits the Kernel: every plan starts from a
// copy of the unedited text, so one Transformer serves a whole search.
type Transformer struct {
	k      *Kernel
	flow   *flow
	forced []ir.BlockID
	base   *text // without edits; built at first use
}

// New analyses the control flow of a kernel.
func New(k *Kernel) *Transformer { return &Transformer{k: k, flow: newFlow(k.Func)} }

// Diverges records that not all threads reach a block, whatever the analysis found. The judge saw
// threads miss the block, so the analysis took a value for uniform that is not. The record stays
// for all later plans.
func (x *Transformer) Diverges(b ir.BlockID) {
	if x.flow.uniform[b] {
		x.forced = append(x.forced, b)
		x.flow.uniformity(x.forced)
	}
}

// Apply carries out a plan. The error is an *Unsupported if the kernel does not permit it.
//
// The order of the steps matters: cuts are known before the regions around them; a region may turn
// further barriers into cuts; and only what lies outside all regions is edited in place.
func (x *Transformer) Apply(plan *Plan) (*Patch, error) {
	t, err := x.text()
	if err != nil {
		return nil, err
	}
	for _, in := range Barriers(x.k.Func) {
		if b := x.blockOf(in); plan.Split[in.Index] && in.Guard == ir.NoReg {
			x.Diverges(b)
			if x.flow.uniform[b] {
				return nil, unsupported(in, "all threads already reach this barrier")
			}
		}
	}
	cuts, err := x.cuts(t, plan)
	if err != nil {
		return nil, err
	}
	inRegion := newSet(len(x.k.Func.Blocks))
	regions, err := x.flow.regions(cuts, func(r *region) map[ir.BlockID][]cut {
		for i := range r.in {
			inRegion[i] |= r.in[i]
		}
		return x.more(r, plan)
	})
	if err != nil {
		return nil, err
	}
	var code strings.Builder
	patch := &Patch{}
	for i, r := range regions {
		if err := x.check(r); err != nil {
			return nil, err
		}
		e := &emitter{levels: x.flow.levels(r, plan.Serial), t: t, number: i}
		if err := e.emit(); err != nil {
			return nil, err
		}
		code.WriteString(e.code.String())
		about := Region{Levels: e.top, Loops: len(e.groups), Blocks: r.in.len()}
		if in := x.k.Func.Block(r.entry).Last(); in != nil {
			about.Span = in.Span
		}
		patch.Regions = append(patch.Regions, about)
	}
	if err := x.plain(t, plan, inRegion); err != nil {
		return nil, err
	}
	if code.Len() > 0 {
		registers := "\n\t.reg .b32 \t%%%snext;\n\t.reg .pred \t%%%sp, %%%sactive;"
		t.replace(t.open, t.open, fmt.Sprintf(registers, t.prefix, t.prefix, t.prefix))
		// Stable blocks follow the body of the kernel. They are reached by jumps only, so the text before
		// them must not fall through.
		end := ""
		if l := x.lastInText(); l != nil && l.Span.Start == l.Span.End {
			end = "\tret;\n"
		}
		t.replace(t.close, t.close, end+code.String())
	}
	if t.err != nil {
		return nil, t.err
	}
	out, err := t.finish()
	if err != nil {
		return nil, err
	}
	out.Regions = patch.Regions
	return out, nil
}

// text returns a copy of the kernel's text without edits.
func (x *Transformer) text() (*text, error) {
	if x.base == nil {
		t, err := newText(x.k)
		if err != nil {
			return nil, err
		}
		x.base = t
	}
	t := *x.base
	t.exits = map[string]bool{}
	return &t, nil
}

// lastInText returns the last instruction of the kernel's text.
func (x *Transformer) lastInText() *ir.Instr {
	b := x.k.Func.Blocks
	return b[len(b)-1].Last()
}

// cuts returns the places that all threads must reach after the transformation.
func (x *Transformer) cuts(t *text, plan *Plan) (map[ir.BlockID][]cut, error) {
	out := map[ir.BlockID][]cut{}
	for _, p := range plan.Barriers {
		if !x.flow.uniform[p.Block] {
			out[p.Block] = append(out[p.Block], cut{index: p.Index})
		}
	}
	for _, b := range x.k.Func.Blocks {
		for i, in := range b.Instrs {
			switch {
			case plan.Drop[in.Index]:
				s, ok := t.at(in)
				if !ok {
					return nil, unsupported(in, "the position of this barrier in the PTX text is unknown")
				}
				t.replace(s.insert, s.end, "")
			case plan.Split[in.Index] && !x.flow.uniform[b.ID]:
				out[b.ID] = append(out[b.ID], cut{i, in})
			}
		}
	}
	return out, nil
}

// more returns the barriers of a region that become cuts because the region has others: inside a
// transformed region, every barrier must be in a stable block. A barrier that stayed in its place
// would be reached by the threads of one level only, while the others wait at a stable block: two
// barriers with one number would count each other's threads.
func (x *Transformer) more(r *region, plan *Plan) map[ir.BlockID][]cut {
	out := map[ir.BlockID][]cut{}
	for _, b := range x.k.Func.Blocks {
		if !r.in.has(b.ID) {
			continue
		}
		for i, in := range b.Instrs {
			if isBarrier(in) && !plan.Drop[in.Index] && (!plan.Split[in.Index] || x.flow.uniform[b.ID]) {
				out[b.ID] = append(out[b.ID], cut{i, in})
			}
		}
		for _, p := range plan.Bare {
			if p.Block == b.ID {
				out[b.ID] = append(out[b.ID], cut{index: p.Index})
			}
		}
		if x.flow.uniform[b.ID] {
			for _, p := range plan.Barriers {
				if p.Block == b.ID {
					out[b.ID] = append(out[b.ID], cut{index: p.Index})
				}
			}
		}
	}
	return out
}

// check rejects barriers that a region must not contain: they count the threads that arrive, and
// the transformation changes when threads arrive.
func (x *Transformer) check(r *region) error {
	for _, b := range x.k.Func.Blocks {
		if !r.in.has(b.ID) {
			continue
		}
		for _, in := range b.Instrs {
			if otherBarrier(in) {
				return unsupported(in, "%s is in a part of the control flow "+
					"that all threads would have to execute together", in.Text())
			}
		}
	}
	return nil
}

// plain adds the barriers that need no transformation, and the texts of the plan.
func (x *Transformer) plain(t *text, plan *Plan, inRegion set) error {
	for _, p := range slices.Concat(plan.Barriers, plan.Bare) {
		if !inRegion.has(p.Block) {
			if err := t.put(p, "bar.sync \t0;", false); err != nil {
				return err
			}
		}
	}
	for _, p := range plan.Warps {
		if err := t.put(p, "bar.warp.sync \t-1;", false); err != nil {
			return err
		}
	}
	for _, in := range plan.Inserts {
		if err := t.put(in.At, in.Text, false); err != nil {
			return err
		}
	}
	for _, b := range x.k.Func.Blocks {
		for _, in := range b.Instrs {
			s, ok := t.at(in)
			if !ok {
				continue
			}
			if plan.Split[in.Index] && x.flow.uniform[b.ID] && !inRegion.has(b.ID) {
				// only a guard keeps threads away
				t.replace(s.insert, s.end, "bar.sync \t0;")
			}
			if w, ok := plan.Texts[in.Index]; ok {
				t.replace(s.start, s.end, w)
			}
		}
	}
	return nil
}

// strays reports whether some threads may not reach a barrier, as far as the analysis knows. A
// false result is not a proof: the analysis takes a load to give all threads the same value.
func (x *Transformer) strays(in *ir.Instr) bool {
	return in.Guard != ir.NoReg || !x.flow.uniform[x.blockOf(in)]
}

// blockOf returns the block that holds an instruction.
func (x *Transformer) blockOf(in *ir.Instr) ir.BlockID {
	for _, b := range x.k.Func.Blocks {
		if n := len(b.Instrs); n > 0 && b.Instrs[0].Index <= in.Index && in.Index <= b.Instrs[n-1].Index {
			return b.ID
		}
	}
	return ir.NoBlock
}

// Barriers returns the block barriers of the kernel.
func Barriers(f *ir.Func) []*ir.Instr {
	var out []*ir.Instr
	for _, b := range f.Blocks {
		out = slices.AppendSeq(out, func(yield func(*ir.Instr) bool) {
			for _, in := range b.Instrs {
				if isBarrier(in) && !yield(in) {
					return
				}
			}
		})
	}
	return out
}

// Uniform reports whether all threads of a block are known to enter a basic block equally often.
func (x *Transformer) Uniform(b ir.BlockID) bool { return x.flow.uniform[b] }
