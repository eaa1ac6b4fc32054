// Package lockrun executes the lock-step form φ of a kernel, concretely and for all threads of a
// launch at once, and reports data races and barrier divergence. It is the reference semantics as a
// program: small, without any choice of schedule, for small launches.
//
// It follows Collingbourne et al., "Interleaving and Lock-Step Semantics" (ESOP 2013): Table 3 and
// figure 6 for the steps, Definition 4.1 for races. Shared memory is one state that all threads
// read and write, as in the paper, rather than havocked. Where several threads write a location in
// one step, Options.Seed selects the last one (ψ). Package emu/alu computes registers, 32 threads
// at a time; event.Conflict defines when two accesses conflict.
//
// Beyond the paper: the blocks of a launch are executed one after the other, and no sync separates
// accesses to global memory by threads of two blocks. It misses races that only other final writers
// (ψ) would expose.
package lockrun

import (
	"fmt"

	"heddle/internal/emu/alu"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/launch"
	"heddle/internal/lockstep/form"
)

// Options of a run. The lowest bit of Seed selects whether lanes write in ascending or in
// descending order, and thereby which of several writers of a location is the last.
type Options struct {
	Seed     uint64
	MaxSteps int // instructions, each for all threads of a block; 0: a million
}

// Race is a pair of conflicting accesses that no sync separates.
type Race struct{ A, B *ir.Instr }

// Result is the result of an execution, which ends at the first divergence or failed assertion.
type Result struct {
	Races      []Race    // the first for each pair of instructions
	Divergence *ir.Instr // the barrier that not all threads reached, or nil
	Failed     *ir.Instr // the assertion that failed, or nil
	memory     map[uint64]byte
	objects    map[string]uint64
}

// Clean reports whether the execution shows no error.
func (r *Result) Clean() bool { return len(r.Races) == 0 && r.Divergence == nil && r.Failed == nil }

// Read copies bytes of the named global object.
func (r *Result) Read(object string, offset uint64, b []byte) {
	for i := range b {
		b[i] = r.memory[r.objects[object]+offset+uint64(i)]
	}
}

// Error describes why a kernel was not executed completely: an unsupported construct, or too many
// steps.
type Error struct {
	Instr *ir.Instr
	What  string
}

// Error returns the message.
func (e *Error) Error() string {
	if e.Instr == nil {
		return e.What
	}
	return e.Instr.Text() + ": " + e.What
}

// Addresses: a shared address is an offset into the block's shared memory, which begins at window
// in the generic address space. Global objects are far apart, from firstBase on.
const (
	window     = uint64(1) << 60
	windowSize = uint64(1) << 24
	firstBase  = uint64(1) << 32
)

// machine executes one launch. Registers of all threads exist at once; memory is a map of bytes.
type machine struct {
	p     *form.Program
	cfg   *launch.Config
	opt   Options
	geo   event.Geometry
	next  map[*form.Block]int // index in the sort order
	place map[*ir.Var]uint64  // of shared variables
	alu   map[*ir.Instr]*alu.Func
	args  map[*ir.Var][]byte
	res   *Result
	steps int
	log   *log

	// of the current block
	block  uint32
	shared map[uint64]byte
	warps  []warp
	ops    alu.Ops
	tmp    [8]alu.Lanes
}

// warp is the private state of 32 threads.
type warp struct {
	id     event.Warp
	lanes  uint32                     // that are threads
	active [event.WarpSize]ir.BlockID // v_active
	regs   []alu.Lanes
	preds  []uint32
	cc     uint32
}

// Run executes p for a launch.
func Run(p *form.Program, cfg *launch.Config, opt Options) (res *Result, err error) {
	if opt.MaxSteps == 0 {
		opt.MaxSteps = 1_000_000
	}
	m := &machine{
		p: p, cfg: cfg, opt: opt, geo: cfg.Geometry, next: map[*form.Block]int{},
		place: map[*ir.Var]uint64{},
		alu:   map[*ir.Instr]*alu.Func{}, args: map[*ir.Var][]byte{},
		res: &Result{memory: map[uint64]byte{}, objects: map[string]uint64{}},
	}
	m.log = newLog(m)
	// Unsupported constructs are found deep in the evaluation of operands; fail ends the run by a
	// panic, which becomes the error here.
	defer func() {
		switch e := recover().(type) {
		case nil:
		case *Error:
			res, err = nil, e
		default:
			panic(e)
		}
	}()
	m.prepare()
	for b := range m.geo.Blocks() {
		m.start(uint32(b))
		m.run()
		if m.res.Divergence != nil || m.res.Failed != nil {
			break
		}
	}
	return m.res, nil
}

// fail ends the run with an Error, which Run recovers.
func (m *machine) fail(in *ir.Instr, format string, args ...any) {
	panic(&Error{in, fmt.Sprintf(format, args...)})
}

// prepare lays out memory and arguments.
func (m *machine) prepare() {
	for i, b := range m.p.Blocks {
		m.next[b] = i
	}
	vars, _ := ir.Layout(m.p.Func)
	for _, v := range vars {
		m.place[v.Var] = uint64(v.At)
	}
	// Arguments that share a buffer share its memory.
	base := firstBase
	for i, v := range m.p.Func.Params {
		a := m.cfg.Args[i]
		m.args[v] = a.Bits
		if a.Buffer == nil {
			continue
		}
		if _, again := m.res.objects[a.Buffer.Name]; !again {
			m.res.objects[a.Buffer.Name] = base
			switch a.Buffer.Fill {
			case launch.FillZero:
			case launch.FillFile:
				for j, b := range a.Buffer.Data {
					m.res.memory[base+uint64(j)] = b
				}
			default:
				m.fail(nil, "the contents of %s are not given as bytes", a.Buffer.Name)
			}
			base += 1 << 32
		}
		m.args[v] = littleEndian(m.res.objects[a.Buffer.Name]+a.Offset, 8)
	}
}

// start sets up the state of a block: v_active of every thread is the entry.
func (m *machine) start(block uint32) {
	m.block, m.shared = block, map[uint64]byte{}
	n := m.geo.WarpsPerBlock()
	m.warps = make([]warp, n)
	for i := range m.warps {
		w := &m.warps[i]
		w.id = event.Warp(int(block)*n + i)
		w.lanes = m.geo.Lanes(w.id)
		w.regs = make([]alu.Lanes, len(m.p.Func.Regs))
		w.preds = make([]uint32, len(m.p.Func.Regs))
		for l := range w.active {
			w.active[l] = m.p.Blocks[0].ID
		}
	}
	m.log.startBlock()
}

// run executes φ for one block: its blocks in the sort order, with the tests at the ends of loops.
// At a loop's end it returns to the header while some thread has v_active there.
func (m *machine) run() {
	// A block that no thread is in has no effect.
	for pc := 0; pc < len(m.p.Blocks); {
		b := m.p.Blocks[pc]
		if m.someone(b.ID) {
			m.enter(b)
			if m.res.Divergence != nil || m.res.Failed != nil {
				return
			}
		}
		pc++
		for _, l := range b.Ends { // B_back if some thread has v_active at the header, else B_exit
			if m.someone(l.Header) {
				pc = m.next[m.p.Block(l.Header)]
				break
			}
		}
	}
	for i := range m.warps {
		if w := &m.warps[i]; w.at(form.End) != w.lanes {
			panic(fmt.Sprintf("lockrun: the program is over, and threads of warp %d are at blocks %v", i,
				w.active))
		}
	}
}

// at returns the lanes whose v_active is b.
func (w *warp) at(b ir.BlockID) uint32 {
	mask := uint32(0)
	for l := range w.active {
		if w.active[l] == b {
			mask |= 1 << l
		}
	}
	return mask & w.lanes
}

// someone reports whether v_active of some thread is b.
func (m *machine) someone(b ir.BlockID) bool {
	for i := range m.warps {
		if m.warps[i].at(b) != 0 {
			return true
		}
	}
	return false
}

// enter executes the statements of a block, each for all threads in it, and then sets their
// v_active.
func (m *machine) enter(b *form.Block) {
	enabled := make([]uint32, len(m.warps))
	// The guard is evaluated at each statement, since an earlier one may have changed it.
	for _, in := range b.Body {
		if m.steps++; m.steps > m.opt.MaxSteps {
			m.fail(nil, "more than %d steps", m.opt.MaxSteps)
		}
		for i := range m.warps {
			w := &m.warps[i]
			enabled[i] = w.at(b.ID) & w.guard(in.Guard, in.Neg)
		}
		m.statement(in, enabled)
		if m.res.Divergence != nil || m.res.Failed != nil {
			return
		}
	}
	for i := range m.warps {
		m.choose(&m.warps[i], b)
	}
}

// guard returns the lanes in which a guard holds.
func (w *warp) guard(p ir.RegID, neg bool) uint32 {
	if p == ir.NoReg {
		return ^uint32(0)
	}
	if neg {
		return ^w.preds[p]
	}
	return w.preds[p]
}

// choose sets v_active of the threads in block b: to the target of the first arm whose guard holds.
func (m *machine) choose(w *warp, b *form.Block) {
	// The arms are tried in order; a thread leaves by the first one that applies.
	open := w.at(b.ID)
	for i := range b.Arms {
		a := &b.Arms[i]
		// An arm of a switch also requires its index.
		taken := open & w.guard(a.Guard, a.Neg)
		if a.Index >= 0 {
			index := m.source(w, nil, a.By, 4, 0)
			for l := range event.WarpSize {
				if uint32(index[l]) != uint32(a.Index) {
					taken &^= 1 << l
				}
			}
		}
		for l := range event.WarpSize {
			if taken>>l&1 == 1 {
				w.active[l] = a.To
			}
		}
		open &^= taken
	}
	if open != 0 {
		m.fail(b.Body[len(b.Body)-1], "an index beyond the table of a branch")
	}
}
