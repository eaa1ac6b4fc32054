package emu

import (
	"container/heap"

	"heddle/internal/event"
	"heddle/internal/ir"
)

// Policies: which warp runs next, and for how long.
//
// A kernel that does not synchronize through memory has the same happens-before relation in every
// schedule, so any policy will do, and the seed only varies the turns. For a kernel that does
// (atomic operations, strong loads), the order in which a lock is taken or a flag is read decides
// what is ordered, and each seed explores another order:
//
//   - seed 0: turns of random warps, blocks in the order of their numbers;
//   - seed 1: the reverse: blocks and warps take turns from the last to the first;
//   - seeds from 2: random priorities with a few change points, the algorithm PCT (Burckhardt,
//     Kothari, Musuvathi, Nagarakatte: "A Randomized Scheduler with Probabilistic Guarantees of
//     Finding Bugs", ASPLOS 2010).
//
// PCT gives each warp a random priority and always runs the one with the highest among those that
// can run. At depth-1 points, chosen at random among the k synchronization points of a run, the
// warp that is running gets a priority below all initial ones. If a wrong result needs that depth
// pairs of synchronization points occur in a certain order (a bug of depth d), one seed finds it
// with a probability of at least
//
//	1 / (n * k^(d-1))
//
// for n warps and k synchronization points, d at most 3 here. Most mistakes at locks and flags have
// depth 1 or 2: that another warp comes first, or that it comes in between.
//
// The bound of the paper counts all instructions as k. It suffices to count accesses to memory with
// which threads synchronize, because only their order decides what happens before what. k is that
// of the run with seed 0, which has to be known and is executed if it was not. Two conditions limit
// the bound. Of a grid with more blocks than are resident, only the resident ones compete (n is
// their number of warps); which blocks these are is random too. And a warp that only spins, or that
// runs very long (fairSteps), falls behind all others, since a schedule must let every warp
// proceed.

// policy is one of the ways to choose the next turn.
type policy uint8

const (
	randomTurns policy = iota
	reverseTurns
	priorities
)

const (
	pctDepth  = 3       // orders that a seed tries to meet at once
	sliceLen  = 1 << 12 // steps of a turn by priority
	fairSteps = 1 << 16 // steps in a row after which a warp falls behind the others
)

// policyOf returns the policy of a run.
func (p *program) policyOf(seed uint64) policy {
	switch {
	case !p.contended || seed == 0:
		return randomTurns
	case seed == 1:
		return reverseTurns
	}
	return priorities
}

// SyncsThroughMemory reports whether the kernel has instructions by which a thread can observe the
// order of others: an atomic operation whose result is used, a strong load, or an mbarrier. Which
// accesses are ordered may then differ between schedules, so that one seed does not stand for all.
func (m *Machine) SyncsThroughMemory() bool { return m.prog.contended }

// isContended computes what SyncsThroughMemory returns.
func (p *program) isContended() bool {
	for _, fc := range p.funcs {
		for i := range fc.code {
			in := &fc.code[i]
			if in.misc != nil && (in.misc.mbar != nil || in.misc.bulk != nil) {
				return true
			}
			m := in.mem
			if m == nil || m.space == event.Local {
				continue
			}
			switch {
			case m.kind == event.Read && m.order.Strong():
				return true
			case m.kind == event.Atomic && in.ir != nil:
				if anyRead(in.ir.Dst, fc.reads()) {
					return true
				}
			}
		}
	}
	return false
}

// reads returns which registers some instruction of the function reads, or its caller.
func (fc *fcode) reads() []bool {
	if fc.read != nil {
		return fc.read
	}
	fc.read = make([]bool, len(fc.fn.Regs))
	mark := func(r ir.RegID) { fc.read[r] = true }
	for _, b := range fc.fn.Blocks {
		for _, in := range b.Instrs {
			for i := range in.Src {
				in.Src[i].EachReg(mark)
			}
			if in.Guard != ir.NoReg {
				mark(in.Guard)
			}
		}
	}
	for _, v := range fc.fn.Results {
		if v.InReg {
			mark(v.Reg)
		}
	}
	return fc.read
}

// anyRead reports whether one of the destinations is in used, or is not a plain register.
func anyRead(dst []ir.Operand, used []bool) bool {
	for i := range dst {
		switch o := &dst[i]; o.Kind {
		case ir.None:
		case ir.Register:
			if used[o.Reg] {
				return true
			}
		default:
			if o.Kind != ir.Vector || anyRead(o.Elems, used) {
				return true
			}
		}
	}
	return false
}

// number returns the number in the grid of the i-th block to run.
func (s *scheduler) number(i uint32) uint32 {
	if s.opt.Blocks == nil {
		return i
	}
	return s.opt.Blocks[i]
}

// blockAt returns which of the blocks to run starts as number i. The blocks of a program that
// executes them in order start in order.
func (s *scheduler) blockAt(i uint64) uint32 {
	if s.m.prog.clusters {
		return s.clusterBlockAt(i)
	}
	switch {
	case s.m.prog.ordered:
	case s.x.policy == reverseTurns:
		return uint32(s.blocks - 1 - i)
	case s.x.policy == priorities:
		// A step that has no divisor in common with n visits all blocks.
		r := mix(s.opt.Seed)
		step := r>>32%s.blocks | 1
		for gcd(step, s.blocks) != 1 {
			step += 2
		}
		return uint32((i%s.blocks*(step%s.blocks) + r) % s.blocks)
	}
	return uint32(i)
}

// gcd returns the greatest common divisor.
func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// drawPriorities prepares the priorities of a run with k synchronization points, or of a block of a
// program that executes its blocks in order.
func (x *exec) drawPriorities(k, salt uint64) {
	x.points, x.yields = 0, 0
	r := mix(x.opt.Seed ^ mix(salt+golden))
	for i := range x.changes {
		r += golden
		x.changes[i] = 1 + mix(r)%max(k, 1)
	}
}

// priorityOf returns the first priority of a warp: above all that a change point gives.
func (x *exec) priorityOf(w event.Warp) int64 {
	return pctDepth + int64(mix(mix(x.opt.Seed+golden)^uint64(w))>>2)
}

// point is called after each access by which threads can synchronize. It ends the turn at a change
// point.
func (x *exec) point() {
	x.points++
	for i, at := range &x.changes {
		if at == x.points {
			x.lowered = int64(i) + 1
			x.endTurn()
		}
	}
}

// afterTurn gives the warp that had a turn by priority its new priority.
func (x *exec) afterTurn(w *warp, began uint64) {
	if x.last != w {
		x.last, x.inRow = w, 0
	}
	x.inRow += x.steps - began
	switch {
	case x.lowered != 0:
		w.priority, x.lowered = x.lowered, 0
	case w.idle || x.inRow > fairSteps:
		if w.priority >= 0 {
			w.kept = w.priority
		}
		x.yields--
		w.priority, x.inRow = x.yields, 0
	}
}

// resume gives the warps of the current block that fell behind their priority again, and lets one
// of them run: a phase of an mbarrier is complete, for which they may have waited. Threads that
// wait for a phase are blocked in the sense of PCT, although here they poll.
func (x *exec) resume() {
	if x.policy != priorities {
		return
	}
	any := false
	for i := range x.block.warps {
		if w := &x.block.warps[i]; w.priority < 0 && w.queued {
			w.priority, any = w.kept, true
		}
	}
	if any {
		heap.Init(&x.queue)
		x.endTurn()
	}
}

// readyQueue holds the warps that can run, the one with the highest priority first. It implements
// heap.Interface.
type readyQueue []*warp

// Len implements heap.Interface.
func (q readyQueue) Len() int { return len(q) }

// Less orders by falling priority. Equal priorities, which are very rare, are ordered by number.
func (q readyQueue) Less(i, j int) bool {
	if q[i].priority != q[j].priority {
		return q[i].priority > q[j].priority
	}
	return q[i].id < q[j].id
}

// Swap implements heap.Interface.
func (q readyQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }

// Push implements heap.Interface.
func (q *readyQueue) Push(w any) { *q = append(*q, w.(*warp)) }

// Pop implements heap.Interface.
func (q *readyQueue) Pop() any {
	old := *q
	w := old[len(old)-1]
	*q = old[:len(old)-1]
	return w
}

// wake adds a warp of b to those that can run.
func (x *exec) wake(b *block, w *warp) {
	if w.queued || len(w.ready) == 0 {
		return
	}
	if x.policy == priorities {
		if w == x.running { // its priority may change, and it may end: blockTurn wakes it
			return
		}
		heap.Push(&x.queue, w)
	} else {
		b.runnable = append(b.runnable, w)
	}
	w.queued = true
	b.queued++
}

// pick removes the warp that has the next turn from those that can run, of b or of all resident
// blocks. quantum is the most steps that it may take.
func (x *exec) pick(b *block) (w *warp, quantum uint64) {
	switch x.policy {
	case priorities:
		w, quantum = heap.Pop(&x.queue).(*warp), sliceLen
	case reverseTurns:
		w, quantum = b.runnable[0], minQuantum+x.random()%quantumSpread
		b.runnable = append(b.runnable[:0], b.runnable[1:]...)
	default:
		// The low bits select the warp, the high bits the length of its turn.
		r := x.random()
		i := int(r % uint64(len(b.runnable)))
		w, quantum = b.runnable[i], minQuantum+r>>32%quantumSpread
		last := len(b.runnable) - 1
		b.runnable[i] = b.runnable[last]
		b.runnable = b.runnable[:last]
	}
	w.queued = false
	w.block.queued--
	return w, quantum
}
