package emu

import (
	"fmt"
	"slices"
	"strings"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// The pool of registers of a block, PTX ISA 9.7.19.5. setmaxnreg.dec gives registers of the threads
// of a warp back to it, and setmaxnreg.inc takes some, for which it waits if there are too few.
// Threads begin with the number for which the kernel was compiled, and the pool with none.
//
// That number is .maxnreg, or else the largest that the threads of .minnctapersm blocks can have,
// as ptxas chooses it for a kernel with setmaxnreg: 65536 registers by the number of threads,
// rounded down to a multiple of 8. With fewer registers a kernel could only wait more often, so a
// deadlock is one for every number, and one that depends on a smaller number is missed.
//
// In a trace no thread gets registers while another one can run. If all that is given back has been
// given back when the first thread gets some, and there is enough for all who wait, then no
// schedule has a thread that waits for ever: what is given back does not depend on who gets some,
// so it is given back in every schedule. If there is too little for each of those who wait, that is
// so in every schedule too. Otherwise it may depend on the schedule (Result.Starves).
//
// Deviations: that all warps of a warpgroup execute the instruction, and synchronize between two of
// them, is not checked. An instruction that asks for fewer registers than a warp has, or gives back
// to more than it has, does nothing (the ISA does not allow it).

const (
	registersOfSM   = 65536
	registerUnit    = 8 // a number of registers is a multiple
	fewestRegisters = 24
	mostRegisters   = 256
)

// registerPool is the state of a block; the zero value is that of a kernel without setmaxnreg.
type registerPool struct {
	free  int      // registers
	warps []uint32 // of a thread of each warp
	got   bool     // some thread has got registers
}

// setRegisters decodes setmaxnreg.
func (c *compiler) setRegisters(in *ir.Instr) error {
	if len(in.Src) != 1 || in.Src[0].Kind != ir.Imm || in.Fn != isa.FnInc && in.Fn != isa.FnDec {
		return fmt.Errorf("%s: .inc or .dec and a constant expected", opcodeText(in))
	}
	n := in.Src[0].Val
	if n < fewestRegisters || n > mostRegisters || n%registerUnit != 0 {
		return fmt.Errorf("%s: a number of registers is a multiple of %d from %d to %d (PTX ISA "+
			"9.7.19.5)", opcodeText(in), registerUnit, fewestRegisters, mostRegisters)
	}
	c.p.registers, _ = launchRegisters(c.p.funcs[0].fn, c.cfg.Geometry)
	grows := in.Fn == isa.FnInc
	c.wholeWarp(in, nil, nil, func(*exec, *inst, uint32) {}) // .sync.aligned
	c.control(inst{guard: c.guard(), run: func(x *exec, in *inst) {
		x.setRegisters(in, uint32(n), grows)
	}})
	return nil
}

// launchRegisters returns the number of registers with which a thread begins, and where it comes
// from.
func launchRegisters(k *ir.Func, g event.Geometry) (n uint32, why string) {
	if k.MaxRegisters > 0 {
		return k.MaxRegisters, ".maxnreg"
	}
	threads := uint64(g.Block.Count())
	for _, d := range []event.Dim3{k.MaxNTID, k.ReqNTID} {
		if d.Count() > 0 {
			threads = uint64(d.Count())
		}
	}
	blocks := max(1, uint64(k.MinBlocks))
	n = uint32(registersOfSM / max(1, threads*blocks) / registerUnit * registerUnit)
	why = fmt.Sprintf("%d by %d threads", registersOfSM, threads)
	if blocks > 1 {
		why += fmt.Sprintf(" of each of %d blocks", blocks)
	}
	return max(fewestRegisters, min(n, mostRegisters)), why
}

// start gives the warps of a block the registers of the launch.
func (p *registerPool) start(n uint32, warps int) {
	p.free, p.got = 0, false
	p.warps = slices.Grow(p.warps[:0], warps)[:warps]
	for i := range p.warps {
		p.warps[i] = n
	}
}

// more returns how many more registers a warp needs for each of its threads to have n.
func (p *registerPool) more(warp int, n uint32) int {
	return (int(n) - int(p.warps[warp])) * event.WarpSize
}

// setRegisters changes the number of registers of the threads of a warp. If the pool has too few,
// it suspends the fragment, which executes the instruction again when there may be more.
func (x *exec) setRegisters(in *inst, n uint32, grows bool) {
	p := &x.block.registers
	at := &p.warps[x.warp.index]
	more := p.more(x.warp.index, n)
	switch {
	case grows && more > 0 && (more > p.free || x.prog.traced):
		x.pc--
		x.suspend(wait{kind: atPool, in: in})
		x.next()
		return
	case grows != (more > 0):
		return
	}
	*at = n
	p.free -= more
	x.wrote, x.changed = true, true
	if !grows {
		x.starves = x.starves || p.got
		x.unpool(x.block)
	}
}

// servePool gives the registers of the pool of a block, in which no other thread can run, to those
// that wait for them, in a trace. It reports whether some thread can go on.
func (x *exec) servePool(b *block) bool {
	p, served := &b.registers, false
	for i := range b.warps {
		for _, g := range b.warps[i].waiting {
			if g.wait.kind != atPool {
				continue
			}
			n := uint32(g.wait.in.ir.Src[0].Val)
			more := p.more(i, n)
			if more > p.free {
				x.starves = true
				continue
			}
			p.warps[i] = n // the instruction, executed again, finds it done
			p.free -= more
			p.got, served = true, true
		}
	}
	if served {
		x.unpool(b)
	}
	return served
}

// unpool lets the fragments of the block go on that wait for registers.
func (x *exec) unpool(b *block) {
	for i := range b.warps {
		w := &b.warps[i]
		x.letRun(w, x.take(w, func(g *fragment) bool { return g.wait.kind == atPool }))
	}
}

// starved returns the stop of a run in which nothing but what waits is left, if threads of a block
// wait for registers: the text names the others that wait.
func (s *scheduler) starved(blocks []*block) *Stop {
	for _, b := range blocks {
		var first *fragment
		var of *warp
		asks := map[string]int{} // threads, by what they ask for
		var order []string
		need := 0
		for i := range b.warps {
			w := &b.warps[i]
			for _, g := range w.waiting {
				if g.wait.kind != atPool {
					continue
				}
				if first == nil {
					first, of = g, w
				}
				n := uint32(g.wait.in.ir.Src[0].Val)
				need += b.registers.more(i, n)
				text := fmt.Sprintf("for %d registers each instead of %d", n, b.registers.warps[i])
				if asks[text] == 0 {
					order = append(order, text)
				}
				asks[text] += popcount(g.mask)
			}
		}
		if first == nil {
			continue
		}
		var parts []string
		for _, text := range order {
			parts = append(parts, fmt.Sprintf("%s %s", countOf(asks[text], "thread waits", "threads wait"),
				text))
		}
		n, why := launchRegisters(s.m.kernel, *s.x.geo)
		stop := s.x.stopFor(first.waitSite(), event.ThreadOf(of.id, lowest(first.mask)), RegisterPool,
			"deadlock: %s; that takes %d registers, and the pool of the block has %d (threads begin with "+
				"%d: %s)", strings.Join(parts, "; "), need, b.registers.free, n, why)
		return &stop
	}
	return nil
}
