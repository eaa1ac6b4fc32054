package check

import (
	"context"
	"fmt"
	"math/bits"
	"strings"
	"time"

	"heddle/internal/diag"
	"heddle/internal/emu"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/launch"
	"heddle/internal/race"
	"heddle/internal/slice"
)

// A trace decides a kernel whose synchronization does not depend on its input once and for all inputs (Weft,
// PLDI 2015): one execution of one block with unknown inputs, of the slice that decides who comes to which
// barrier and shared address. If every generation of every barrier is recycled safely, happens-before is the
// same in every execution (Lemma 1, Theorem 1), and so are the races. RATIONALE.md has the argument.

// Trace are the choices of heddle trace.
type Trace struct {
	Blocks [][3]uint32 // block indices to trace; nil: block 0
	All    bool        // trace every block of the grid
	Stats  func(TraceStats)
}

// TraceStats are the counts of one traced block, as the tool of the Weft paper counts them (figures 9 and
// 10): a command is an access of one thread to shared memory, or its arrival at a barrier.
type TraceStats struct {
	Kernel    string
	Block     event.Dim3
	Threads   int
	Commands  uint64
	Barriers  uint64 // completed generations
	Addresses int    // distinct first bytes of shared accesses
	Executed  uint64 // warp instructions
	Sliced    int    // instructions of the kernel that the trace executes
	Total     int    // instructions of the kernel
	Time      time.Duration
}

// traceKernel traces one kernel and records the verdict.
func (d *driver) traceKernel(ctx context.Context, in *input, k *ir.Func) {
	cfg := d.resolve(in, k)
	if cfg == nil {
		return
	}
	r := &kernelRun{driver: d, in: in, kernel: k, cfg: cfg, seen: make(map[findingKey]bool)}
	end := d.asks(k, "trace", "a trace for all inputs was asked for")
	v := r.trace(ctx)
	end(outcome(&v))
	d.sum.Bugs += r.bugs
	d.sum.Verdicts = append(d.sum.Verdicts, v)
}

// tracer is the trace of one kernel.
type tracer struct {
	*kernelRun
	slice    *slice.Slice
	emuModel event.WarpModel
	model    event.WarpModel
	blocks   []uint32
	known    []string       // arguments that were given
	whole    *launch.Config // the launch with its guesses
	possible []race.Race    // on paths that perhaps no input takes
	only     event.Space    // shared if some barrier or fence of OpenCL orders part of memory only
}

// trace traces the kernel, reports what it finds, and returns the verdict.
func (r *kernelRun) trace(ctx context.Context) diag.Verdict {
	if v := r.beyondTrace(); v != nil {
		return *v
	}
	t := &tracer{kernelRun: r, whole: r.cfg}
	if ir.OrdersParts(r.kernel) {
		t.only = event.Shared
	}
	r.cfg, t.known = unknownInputs(r.kernel, r.cfg)
	if err := t.selectBlocks(); err != nil {
		r.inputError(launchDiagnostic(r.kernel.Demangled, &launch.Error{Msg: err.Error()}))
		return diag.Verdict{Kind: diag.Unknown, Kernel: r.kernel.Demangled, Reason: err.Error(), Span: r.kernel.Span}
	}
	t.chooseModel()
	machine, err := emu.NewTrace(r.kernel, r.cfg, t.slice)
	if err != nil {
		return cannotStart(r.kernel, err)
	}
	r.machine = machine
	if !t.slice.BlockIndex && len(t.blocks) > 1 {
		t.blocks = t.blocks[:1]
	}
	for _, b := range t.blocks {
		if !t.block(ctx, b) {
			break
		}
	}
	return t.conclude()
}

// beyondTrace finds constructs whose synchronization a trace does not model.
func (r *kernelRun) beyondTrace() *diag.Verdict {
	in, what := slice.Unsupported(r.kernel)
	if in == nil {
		return nil
	}
	return &diag.Verdict{Kind: diag.Unsupported, Kernel: r.kernel.Demangled, Reason: what, Span: place(emu.SiteInfo{Instr: in})}
}

// unknownInputs returns the launch without what nobody said: arguments are unknown unless a flag or a pragma
// gives them. Structs stay unknown, since what is given may be some of their fields.
func unknownInputs(k *ir.Func, cfg *launch.Config) (*launch.Config, []string) {
	c := *cfg
	c.Args = append([]launch.Arg(nil), cfg.Args...)
	var known []string
	for i := range c.Args {
		a := &c.Args[i]
		given := cfg.Origins["arg "+a.Name] >= launch.FromPragma && !a.Unknown && len(a.Fields) == 0
		if v := k.Params[i]; given && v.Size == v.Type.Size() && (a.Buffer == nil || a.Buffer.Fill != launch.FillUnknown) {
			known = append(known, a.Name)
			continue
		}
		a.Unknown, a.Buffer, a.Fields = true, nil, nil
		if a.Bits == nil {
			a.Bits = make([]byte, k.Params[i].Size)
		}
	}
	return &c, known
}

// selectBlocks decides which blocks are traced, by number.
func (t *tracer) selectBlocks() error {
	g := t.cfg.Geometry
	opt := t.opt.Trace
	if opt == nil {
		opt = &Trace{}
	}
	if opt.All {
		for b := range g.Blocks() {
			t.blocks = append(t.blocks, uint32(b))
		}
		return nil
	}
	for _, x := range opt.Blocks {
		if t.cfg.Origins["grid"] == launch.Default && t.cfg.Reasons["grid"] == "" || x[0] >= g.Grid.X || x[1] >= g.Grid.Y || x[2] >= g.Grid.Z {
			if t.cfg.Origins["grid"] != launch.Default {
				return fmt.Errorf("there is no block (%d,%d,%d) in a grid of %v", x[0], x[1], x[2], g.Grid)
			}
			c := *t.cfg
			c.Geometry.Grid = event.Dim3{X: max(g.Grid.X, x[0]+1), Y: max(g.Grid.Y, x[1]+1), Z: max(g.Grid.Z, x[2]+1)}
			t.cfg, g = &c, c.Geometry
		}
		t.blocks = append(t.blocks, x[0]+g.Grid.X*(x[1]+g.Grid.Y*x[2]))
	}
	if len(t.blocks) == 0 {
		t.blocks = []uint32{0}
	}
	return nil
}

// chooseModel slices the kernel, and takes the lockstep model for one that exchanges values among lanes
// without naming them, which has a meaning only where a warp runs in lock step.
func (t *tracer) chooseModel() {
	t.emuModel, t.model, _ = warpModel(t.opt.Warp)
	opt := slice.Options{Grid: t.cfg.Origins["grid"] != launch.Default, Lockstep: t.model == event.Lockstep, Given: make(map[*ir.Var]bool)}
	for i, v := range t.kernel.Params {
		opt.Given[v] = t.cfg.Args[i].Buffer != nil && !t.aliased(i)
	}
	t.slice = slice.Of(t.kernel, opt)
	if in := t.slice.Maskless(); in != nil && t.model != event.Lockstep {
		t.emuModel, t.model = event.Lockstep, event.Lockstep
		opt.Lockstep = true
		t.slice = slice.Of(t.kernel, opt)
		t.report(diag.Diagnostic{Code: diag.CodeLaunch, Severity: diag.Note, Kernel: t.kernel.Demangled, Span: place(emu.SiteInfo{Instr: in}),
			Message: fmt.Sprintf("%s exchanges values among whatever lanes are active, so warps are taken to run in lock step (--warp lockstep)", in.Text())})
	}
}

// aliased reports whether another argument is said to point to the buffer of argument i, so that stores
// through it change what is known.
func (t *tracer) aliased(i int) bool {
	b := t.cfg.Args[i].Buffer
	for j := range t.whole.Args {
		a := &t.whole.Args[j]
		if j != i && a.Buffer == b {
			return true
		}
		for k := range a.Fields {
			if a.Fields[k].Buffer == b {
				return true
			}
		}
	}
	return false
}

// block traces one block. It returns false when more blocks would say nothing.
func (t *tracer) block(ctx context.Context, b uint32) bool {
	start := time.Now()
	det := race.New(race.Options{Geometry: t.cfg.Geometry, Model: t.model, Benign: event.BenignNone,
		SharedBytes: uint32(t.machine.SharedBytes()), Only: t.only, Static: true, Recycling: true})
	sink := &traceSink{Detector: det, addresses: make([]uint64, (t.machine.SharedBytes()+63)/64), detailed: t.opt.Trace != nil && t.opt.Trace.Stats != nil}
	if t.opt.Graph != nil {
		sink.graph = newGraphRecorder(t.cfg.Geometry)
	}
	res, err := t.machine.Run(ctx, emu.Options{Model: t.emuModel, MaxSteps: t.opt.MaxSteps, Workers: 1, Block: &b}, sink)
	if err != nil {
		t.inputError(diag.Diagnostic{Code: diag.CodeLaunch, Severity: diag.Error, Message: err.Error(), Span: t.kernel.Span, Kernel: t.kernel.Demangled})
		return false
	}
	t.runs++
	rep := det.Report()
	if t.opt.Trace == nil {
		t.competing(rep)
	}
	if len(rep.Races) > 0 {
		t.classify(ctx, rep, res.Maybe, b)
	}
	t.findings(rep, 0)
	if sink.graph != nil {
		t.turn() // in the order of the kernels
		t.opt.Graph(t.graph(sink.graph, rep, b))
	}
	if sink.detailed {
		t.turn()
		t.opt.Trace.Stats(TraceStats{Kernel: t.kernel.Demangled, Block: t.cfg.Geometry.BlockIndex(b), Threads: t.cfg.Geometry.ThreadsPerBlock(),
			Commands: sink.commands, Barriers: sink.barriers, Addresses: sink.count(), Executed: res.Steps,
			Sliced: t.slice.Kept, Total: t.slice.Total, Time: time.Since(start)})
	}
	return t.ended(res, 0)
}

// competing takes the pairs of strong accesses out of the report, for heddle check, to which they are no races.
// If one may carry a value of the slice, the trace does not hold for all executions.
func (t *tracer) competing(rep *race.Report) {
	out := rep.Races[:0]
	for _, rc := range rep.Races {
		a, b := t.machine.Site(rc.First.Site), t.machine.Site(rc.Second.Site)
		if !strongPair(t.machine, &rc) {
			out = append(out, rc)
			continue
		}
		read, other := b, a
		if rc.Second.Kind != event.Read {
			read, other = a, b
		}
		if t.slice.Strong && t.unsupported == nil {
			t.unsupported = &diag.Verdict{Kind: diag.Unsupported, Kernel: t.kernel.Demangled, Span: place(read),
				Reason: fmt.Sprintf("%s and %s at %s are not ordered, and what is exchanged decides an address, a branch or a barrier%s",
					opText(read.Instr), opText(other.Instr), t.files.Format(place(other).Start), t.tryLockstep(&rc))}
		}
	}
	rep.Races = out
}

// strongPair reports whether the two accesses of a race are morally strong (PTX ISA 8.7).
func strongPair(m *emu.Machine, rc *race.Race) bool {
	a, b := m.Site(rc.First.Site).Instr, m.Site(rc.Second.Site).Instr
	return a.Order.Strong() && b.Order.Strong() && rc.First.Addr == rc.Second.Addr && rc.First.Size == rc.Second.Size
}

// tryLockstep is a hint for code that counts on the lanes of a warp running together.
func (t *tracer) tryLockstep(rc *race.Race) string {
	if t.model == event.Lockstep || rc.First.Thread.Warp() != rc.Second.Thread.Warp() {
		return ""
	}
	return "; if the warp is meant to run in lock step, say --warp lockstep"
}

// traceSink passes to the detector what a trace checks, and counts.
type traceSink struct {
	*race.Detector
	commands, barriers uint64
	addresses          []uint64 // one bit for each byte of shared memory
	detailed           bool
	graph              *graphRecorder // nil: nobody wants it
}

// weaken makes a volatile or relaxed load or store an ordinary one, so that two that nothing orders are found:
// for the paper they are a race (Definition 8). By the PTX ISA they are none (8.7), but which value is read
// depends on the order all the same.
func weaken(e *event.Access) {
	if !e.Kind.RMW() {
		e.Order, e.Scope = event.Weak, event.NoScope
	}
}

func (s *traceSink) Access(e *event.Access) {
	if e.Space != event.Shared {
		return
	}
	s.commands += uint64(bits.OnesCount32(e.Mask))
	if s.detailed {
		for m := e.Mask; m != 0; m &= m - 1 {
			a := e.Addr[bits.TrailingZeros32(m)&31]
			s.addresses[a>>6] |= 1 << (a & 63)
		}
	}
	weaken(e)
	s.Detector.Access(e)
}

func (s *traceSink) Arrive(e *event.Arrive) {
	s.commands += uint64(bits.OnesCount32(e.Mask))
	if s.graph != nil {
		s.graph.arrive(e)
	}
	s.Detector.Arrive(e)
}

func (s *traceSink) Complete(e *event.Complete) {
	s.barriers++
	if s.graph != nil {
		s.graph.complete(e.Barrier)
	}
	s.Detector.Complete(e)
}

func (s *traceSink) Exit(e *event.Exit) {
	if s.graph != nil {
		s.graph.exit(e)
	}
	s.Detector.Exit(e)
}

func (s *traceSink) count() int {
	n := 0
	for _, w := range s.addresses {
		n += bits.OnesCount64(w)
	}
	return n
}

// conclude sums up.
func (t *tracer) conclude() diag.Verdict {
	v := t.verdict()
	if v.Kind != diag.Clean {
		return v
	}
	if n := len(t.possible); n > 0 {
		a, b := t.machine.Site(t.possible[0].First.Site), t.machine.Site(t.possible[0].Second.Site)
		v.Kind, v.Span = diag.Unknown, place(b)
		v.Reason = fmt.Sprintf("%d races are possible, the first of %s at %s with %s here, if some input takes the paths on which they are; %d runs with made-up inputs did not",
			n, opText(a.Instr), t.files.Format(place(a).Start), opText(b.Instr), randomRuns)
		return v
	}
	v.Scope = t.traceScope()
	if t.tolerated == 0 && !t.aside.any() { // that writes are of the same value was seen, not proved
		v.Kind = diag.Verified
	}
	return v
}

// traceScope says what the trace covers.
func (t *tracer) traceScope() string {
	g := t.cfg.Geometry
	parts := []string{fmt.Sprintf("shared memory and barriers of a block of %v threads, all inputs", g.Block)}
	switch {
	case !t.slice.BlockIndex:
		parts = append(parts, "every block")
	case t.opt.Trace != nil && t.opt.Trace.All:
		parts = append(parts, fmt.Sprintf("every block of a grid of %v", g.Grid))
	default:
		names := make([]string, len(t.blocks))
		for i, b := range t.blocks {
			names[i] = g.BlockIndex(b).String()
		}
		parts = append(parts, "block "+strings.Join(names, ", "))
	}
	if t.slice.GridSize {
		parts = append(parts, fmt.Sprintf("grid %v", g.Grid))
	}
	if len(t.known) > 0 {
		parts = append(parts, "with the given "+strings.Join(t.known, ", "))
	}
	if t.cfg.DynShared > 0 {
		parts = append(parts, fmt.Sprintf("%d bytes of dynamic shared memory", t.cfg.DynShared))
	}
	if t.model == event.Lockstep {
		parts = append(parts, "warps in lock step")
	}
	for _, v := range t.slice.Tables {
		parts = append(parts, fmt.Sprintf("%s as initialised", v.Shown()))
	}
	if t.slice.Assumes {
		parts = append(parts, "if no assertion fails and no trap is executed")
	}
	if t.tolerated > 0 {
		parts = append(parts, fmt.Sprintf("%d conflicting writes of the same value were tolerated (--benign none shows them)", t.tolerated))
	}
	return strings.Join(parts, "; ") + "; global memory was not checked"
}
