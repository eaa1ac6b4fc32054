// Package kernel turns a kernel and a small launch into a program for package explore: each thread
// executes the instructions of the IR, and every access to memory that threads share becomes an
// event of the memory model. Arithmetic is that of emu/alu. What it does not translate is refused
// by name.
package kernel

import (
	"fmt"
	"math"
	"math/bits"

	"heddle/internal/event"
	"heddle/internal/explore"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/launch"
	"heddle/internal/memmodel"
)

// MaxThreads is the number of threads that a launch may have. More would have too many accesses.
const MaxThreads = 64

// UnsupportedError names what is not translated.
type UnsupportedError struct {
	Instr *ir.Instr // nil if it is no instruction
	What  string
}

// Error implements error.
func (e *UnsupportedError) Error() string { return e.What }

// refuse ends a translation; Program recovers it.
func refuse(in *ir.Instr, format string, args ...any) {
	panic(&UnsupportedError{in, fmt.Sprintf(format, args...)})
}

// translator translates one kernel for one launch.
type translator struct {
	fn  *ir.Func
	mem *memory
	at  func(*ir.Instr) string
	geo event.Geometry
}

// Program returns the program of a launch of a kernel. at names the place of an instruction in the user's
// source. The error is an *UnsupportedError.
func Program(k *ir.Func, cfg *launch.Config, at func(*ir.Instr) string) (p *explore.Program,
	err error) {
	fn, err := ir.Inline(k)
	if err != nil {
		return nil, &UnsupportedError{nil, err.Error()}
	}
	return Inlined(fn, cfg, at)
}

// Meant is Inlined for a launch of any size, for explore.Program.Sample. Its instructions have no
// places.
func Meant(fn *ir.Func, cfg *launch.Config) (*explore.Program, error) {
	return translate(fn, cfg, func(*ir.Instr) string { return "" }, math.MaxUint64)
}

// Inlined is Program for a kernel without calls, such as ir.Inline returns, and its instructions.
func Inlined(fn *ir.Func, cfg *launch.Config, at func(*ir.Instr) string) (*explore.Program, error) {
	return translate(fn, cfg, at, MaxThreads)
}

// translate returns the program of a launch of at most so many threads.
func translate(fn *ir.Func, cfg *launch.Config, at func(*ir.Instr) string,
	most uint64) (p *explore.Program, err error) {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case *UnsupportedError:
			p, err = nil, e
		default:
			panic(e)
		}
	}()
	x := &translator{fn: fn, at: at, geo: cfg.Geometry}
	blocks, threads := x.geo.Blocks(), uint64(x.geo.ThreadsPerBlock())
	if n := blocks * threads; n > most {
		return nil, &UnsupportedError{nil, fmt.Sprintf("a launch of %d threads; heddle explore takes "+
			"at most %d: choose a smaller --grid or --block, or auto", n, most)}
	}
	if x.mem, err = newMemory(fn, cfg); err != nil {
		return nil, &UnsupportedError{nil, err.Error()}
	}
	p = &explore.Program{Locate: x.mem.locate, Silent: true, Same: func(a, b *explore.Inst) bool {
		return a.Site == b.Site && a.Text == b.Text
	}}
	for b := range uint32(blocks) {
		for i := range int(threads) {
			p.Threads = append(p.Threads, x.thread(b, i))
		}
	}
	return p, nil
}

// thread is the translation of one thread. Registers of the program are those of the function, then
// hidden ones.
type thread struct {
	*translator
	out   explore.Thread
	block uint32
	warp  int // in the block
	lane  int
	start []int              // of each basic block, the first instruction
	fixes map[int]ir.BlockID // branches whose target is a block
}

// place returns the indices of the block and of the thread in it.
func (t *thread) place() (block, thread event.Dim3) {
	w := t.block*uint32(t.geo.WarpsPerBlock()) + uint32(t.warp)
	return t.geo.Index(event.ThreadOf(event.Warp(w), t.lane))
}

// endBlock stands for the end of the thread among the targets of branches.
const endBlock = ir.BlockID(-2)

// thread translates the kernel for one thread.
func (x *translator) thread(block uint32, index int) explore.Thread {
	t := &thread{translator: x, block: block, warp: index / event.WarpSize,
		lane: index % event.WarpSize, fixes: map[int]ir.BlockID{},
		start: make([]int, len(x.fn.Blocks))}
	bi, ti := t.place()
	t.out.Name = fmt.Sprintf("block %s thread %s", bi.In(x.geo.Grid), ti.In(x.geo.Block))
	t.out.Position = memmodel.Position{CTA: int(block), Cluster: int(x.geo.ClusterOf(block))}
	t.out.Warp = int(block)*x.geo.WarpsPerBlock() + t.warp
	t.out.Regs = make([]int64, len(x.fn.Regs))
	for id, b := range x.fn.Blocks {
		t.start[id] = len(t.out.Code)
		for _, in := range b.Instrs {
			t.instr(in)
		}
		// Blocks follow each other in the text, so that a block without a terminator falls through.
	}
	for at, target := range t.fixes {
		t.out.Code[at].Target = len(t.out.Code)
		if target != endBlock {
			t.out.Code[at].Target = t.start[target]
		}
	}
	x.mem.threads = append(x.mem.threads, int(block))
	return t.out
}

// emit appends an instruction.
func (t *thread) emit(in *ir.Instr, i explore.Inst) {
	i.Text, i.At, i.Site = in.Text(), t.at(in), in
	t.out.Code = append(t.out.Code, i)
}

// instr translates one instruction: a branch around it if it has a guard, and the instruction.
func (t *thread) instr(in *ir.Instr) {
	if in.Action() == isa.ActBranch {
		t.jump(in, in.Src[0].Block, in.Neg)
		return
	}
	skip := -1
	if in.Guard != ir.NoReg {
		skip = len(t.out.Code)
		t.jump(in, endBlock, !in.Neg)
		delete(t.fixes, skip)
	}
	t.unguarded(in)
	if skip >= 0 {
		t.out.Code[skip].Target = len(t.out.Code)
	}
}

// jump emits a branch, taken if the guard, negated or not, holds.
func (t *thread) jump(in *ir.Instr, to ir.BlockID, neg bool) {
	i := explore.Inst{Kind: explore.Branch, Dst: -1}
	if in.Guard != ir.NoReg {
		i.Args = []explore.Operand{explore.Reg(int(in.Guard))}
		i.Eval = func(a []int64) (int64, bool) {
			if neg {
				return 1 - a[0]&1, true
			}
			return a[0] & 1, true
		}
	}
	t.fixes[len(t.out.Code)] = to
	t.emit(in, i)
}

// unguarded translates an instruction without regard to its guard.
func (t *thread) unguarded(in *ir.Instr) {
	switch in.Action() {
	case isa.ActNothing:
	case isa.ActCompute:
		t.compute(in)
	case isa.ActConvertAddress:
		t.convert(in)
	case isa.ActLoad, isa.ActStore, isa.ActAtomic, isa.ActReduce:
		t.access(in)
	case isa.ActFence:
		t.emit(in, explore.Inst{Kind: explore.Fence, Order: in.Order, Scope: in.Scope, Dst: -1})
	case isa.ActNumberedBarrier, isa.ActWarpBarrier:
		t.barrier(in)
	case isa.ActShuffle, isa.ActVote:
		t.exchange(in)
	case isa.ActTrap:
		t.emit(in, explore.Inst{Kind: explore.Fail, Dst: -1, Why: "aborts the kernel"})
	case isa.ActCall:
		t.call(in)
	case isa.ActReturn, isa.ActExit:
		t.fixes[len(t.out.Code)] = endBlock
		t.emit(in, explore.Inst{Kind: explore.Branch, Dst: -1})
	default:
		refuse(in, "%s is not supported by heddle explore", in.Text())
	}
}

// call translates a call of a function without a body: that of a failed assert() ends the kernel.
func (t *thread) call(in *ir.Instr) {
	if in.Callee == nil || in.Callee.Name != "__assertfail" {
		refuse(in, "%s is not supported by heddle explore", in.Text())
	}
	t.emit(in, explore.Inst{Kind: explore.Fail, Dst: -1, Why: "fails an assertion"})
	t.out.Code[len(t.out.Code)-1].Text = "call " + in.Callee.Name
}

// barrier translates bar.sync, bar.arrive and bar.warp.sync. The second part of a name tells the
// barriers of a block from those of each warp.
func (t *thread) barrier(in *ir.Instr) {
	b, _ := in.Barrier()
	if b.Predicate != nil || b.ID == nil {
		refuse(in, "%s is not supported by heddle explore", in.Text())
	}
	i := explore.Inst{Kind: explore.Barrier, Dst: -1, Arrive: !b.Waits}
	i.Name = [2]explore.Operand{t.value(in, *b.ID, isa.U32), explore.Const(0)}
	if in.IsWarpBarrier() {
		i.Name[1], i.Peers = explore.Const(int64(1+t.warp)), t.peers()
		count := t.lanes(in, i.Name[0])
		i.Count = &count
	} else if b.Count != nil {
		count := t.value(in, *b.Count, isa.U32)
		i.Count = &count
	}
	t.emit(in, i)
}

// lanes returns how many threads of the warp a mask names.
func (t *thread) lanes(in *ir.Instr, mask explore.Operand) explore.Operand {
	w := event.Warp(t.block*uint32(t.geo.WarpsPerBlock()) + uint32(t.warp))
	all := t.geo.Lanes(w)
	count := func(m int64) int64 { return int64(bits.OnesCount32(uint32(m) & all)) }
	if !mask.IsReg {
		return explore.Const(count(mask.Value))
	}
	r := t.hidden()
	t.emit(in, explore.Inst{Kind: explore.Compute, Dst: r, Args: []explore.Operand{mask},
		Eval: func(a []int64) (int64, bool) { return count(a[0]), true }})
	return explore.Reg(r)
}
