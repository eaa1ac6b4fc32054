package repair

import (
	"fmt"

	"heddle/internal/ir"
	"heddle/internal/isa"
)

// Steps for operations on tensor memory (PTX ISA 9.7.16.6).

const (
	tensorLoaded = "tcgen05.wait::ld.sync.aligned;"
	tensorStored = "tcgen05.wait::st.sync.aligned;"
	tensorBefore = "tcgen05.fence::before_thread_sync;"
	tensorAfter  = "tcgen05.fence::after_thread_sync;"
)

// onTensor reports whether an instruction is an asynchronous operation on tensor memory.
func onTensor(in *ir.Instr) bool {
	return in != nil && (in.Action() == isa.ActTensorAccess || in.Action() == isa.ActTensorAsync)
}

// tensorSteps offers what may order two operations on tensor memory: a wait for a load or a store
// behind it, and fences behind the one and in front of the other.
func (r *repairer) tensorSteps(f located) (out []action) {
	step := func(p Point, of *ir.Instr, text string) {
		out = append(out, r.insertion(p, r.guardText(of)+text, text[:len(text)-1], groupWaitCost))
	}
	for _, in := range []*ir.Instr{f.a, f.b} {
		if !onTensor(in) || in.Action() != isa.ActTensorAccess {
			continue
		}
		wait := tensorLoaded
		if in.TensorStores() {
			wait = tensorStored
		}
		at := r.x.where(in)
		step(Point{at.Block, at.Index + 1}, in, wait)
	}
	for _, in := range []*ir.Instr{f.b, f.a} {
		if onTensor(in) {
			step(r.x.where(in), in, tensorAfter)
		}
	}
	for _, in := range []*ir.Instr{f.a, f.b} {
		if onTensor(in) && in.Action() == isa.ActTensorAsync {
			at := r.x.where(in)
			step(Point{at.Block, at.Index + 1}, in, tensorBefore)
		}
	}
	return out
}

// tensorCommits offers a commit behind the last operation of each block to the object for which
// threads wait in vain.
func (r *repairer) tensorCommits(f located) (out []action) {
	if f.Arrivals == 0 || f.a == nil {
		return nil
	}
	awaited, ok := r.objectOf(f.a)
	if !ok {
		return nil
	}
	for _, b := range r.x.k.Func.Blocks {
		for i := len(b.Instrs) - 1; i >= 0; i-- {
			in := b.Instrs[i]
			if in.Action() != isa.ActTensorAsync {
				continue
			}
			p := Point{b.ID, i + 1}
			if r.known(awaited.reg, p) {
				space := awaited.space
				if space != "" {
					space = ".shared::cluster" // the only one of its syntax, and the block is part of it
				}
				text := fmt.Sprintf("%stcgen05.commit.cta_group::%d.mbarrier::arrive::one%s.b64 \t%s;",
					r.guardText(in), in.TensorGroup(), space, awaited.text)
				out = append(out, r.insertion(p, text, "tcgen05.commit to "+awaited.text, arrivalCost))
			}
			break
		}
	}
	return out
}
