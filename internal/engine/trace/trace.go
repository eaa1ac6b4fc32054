// Package trace verifies the synchronization of a block for all inputs, by one execution.
//
// If the synchronization of a kernel does not depend on its input, one execution decides it for all
// inputs (Weft, PLDI 2015), also if it uses mbarriers and bulk copies (phases.go). A trace executes
// one block with unknown inputs, and only the slice that decides which thread reaches which barrier
// and shared address. If every generation of every barrier is recycled safely, happens-before is
// the same in every execution (Lemma 1, Theorem 1), and so are the races. docs/theory/traces.md has
// the argument.
//
// A trace does not examine global memory, and a kernel whose barriers or shared addresses depend on
// its input is unsupported. It covers the blocks that were traced, and all blocks if the slice does
// not read the block index.
//
// In flow a driver.Job and Options; out flow findings, a verdict, the counts of each block, and its
// barrier graph. Whether a race is benign is decided by runs with made-up inputs (benign.go). The
// package reports through package run, and imports no other engine.
package trace

import (
	"cmp"
	"context"
	"fmt"
	"math/bits"
	"strings"
	"time"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/emu"
	"heddle/internal/engine/run"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/launch"
	"heddle/internal/race"
	"heddle/internal/slice"
	"heddle/internal/source"
)

// Options are the choices of this engine.
type Options struct {
	Blocks [][3]uint32 // block indices to trace; nil: block 0
	All    bool        // trace every block of the grid
	// KnownRounds leaves kernels undecided in which an unknown parameter decides numbers of rounds.
	// Without it they are decided for every value, if that is possible (periods.go).
	KnownRounds bool
	Stats       func(Stats) // receives the counts of each block; may be nil
	// Report receives the end of each execution of a block, and what the detector has found in it;
	// may be nil.
	Report func(*emu.Machine, *emu.Result, *race.Report)
	// receives the barriers of each block, in the order of the kernels; may be nil
	Graph func(*diag.BarrierGraph)
	// receives the phases of mbarriers of each block, in the order of the kernels; may be nil
	Pipeline func(*diag.Pipeline)
}

// Stats are the counts of one traced block, as the tool of the Weft paper counts them (figures 9
// and 10): a command is an access of one thread to shared memory, its arrival at a barrier, or its
// operation on an mbarrier; a bulk copy is one.
type Stats struct {
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

// Kernel traces one kernel and records the verdict.
func Kernel(ctx context.Context, job *driver.Job, opt *Options) {
	cfg := job.Resolve()
	if cfg == nil {
		return
	}
	t := newTracer(job, opt, cfg)
	end := job.Asks(driver.Trace, "a trace for all inputs was requested")
	v := t.trace(ctx)
	end(&v)
	job.AddFindings(t.run.Bugs, 0)
	job.AddVerdict(v)
}

// tracer is the trace of one kernel.
type tracer struct {
	run          *run.Run // reports; its Config has unknown inputs
	job          *driver.Job
	opt          *Options
	beside       bool // a run checks the kernel too: volatile and relaxed accesses do not race
	slice        *slice.Slice
	model        event.WarpModel
	blocks       []uint32
	assumed      []string          // about boxes of tensor maps
	known        []string          // specified arguments, whose values the trace uses, as n = 48
	guessed      *launch.Config    // the launch with its guesses
	possible     []race.Race       // on paths that perhaps no input takes
	same         map[sitePair]bool // races whose two writes were equal in all runs with data
	unstable     *diag.Verdict     // why phases of mbarriers may depend on the schedule; nil if they do not
	starves      bool              // with another schedule, a thread may wait for registers for ever
	guessedBoxes bool              // sizes of boxes follow from phases
	steps        uint64            // warp instructions of all executions
	only         event.Space       // shared if a barrier or fence of OpenCL orders part of memory only
	requests     uint64            // of a cluster to cancel another one, that succeed
	requested    uint64            // that the last execution made
	quiet        bool              // no counts, graphs and pipelines are wanted of an execution
}

// Ask traces a kernel beside runs of it, as After does, and returns the verdict of the trace and
// how many warp instructions it has executed. It records nothing.
func Ask(ctx context.Context, job *driver.Job, opt *Options) (diag.Verdict, uint64) {
	cfg := job.Config()
	if cfg == nil {
		return diag.Verdict{Kind: diag.Unknown, Reason: "its launch is unknown"}, 0
	}
	t := newTracer(job, opt, cfg)
	t.beside = true
	v := t.trace(ctx)
	return v, t.steps
}

func newTracer(job *driver.Job, opt *Options, cfg *launch.Config) *tracer {
	t := &tracer{job: job, opt: opt, guessed: cfg, run: run.New(job, &run.Options{}, cfg)}
	t.run.Word = t.word
	t.run.MaxSteps = cmp.Or(job.Options().MaxSteps, emu.DefaultMaxSteps)
	if ir.OrdersParts(job.Kernel) {
		t.only = event.Shared
	}
	return t
}

// trace traces the kernel, reports what it finds, and returns the verdict. A slice that does not
// read the block index is the same for all blocks, so one block is enough.
func (t *tracer) trace(ctx context.Context) diag.Verdict {
	if v := beyondTrace(t.job.Kernel); v != nil {
		return *v
	}
	k := t.job.Kernel
	t.run.Config, t.known = unknownInputs(k, t.guessed)
	if err := t.selectBlocks(); err != nil {
		t.job.LaunchError(&launch.Error{Msg: err.Error()})
		return diag.Verdict{
			Kind: diag.Unknown, Kernel: k.Demangled, Reason: err.Error(), Span: k.Span,
		}
	}
	t.chooseModel()
	if in := t.slice.Varying(); in != nil {
		return diag.Verdict{
			Kind: diag.Unsupported, Kernel: k.Demangled, Span: driver.Place(in),
			Reason: in.Text() + " reads a special register with a value that the launch does not " +
				"determine: a trace follows such registers behind mov and cvt only (PTX ISA 10)",
		}
	}
	if t.model == event.Lockstep && (t.slice.Objects() || t.run.Config.Geometry.Ranks() > 1) {
		return diag.Verdict{
			Kind: diag.Unsupported, Kernel: k.Demangled, Span: k.Span,
			Reason: "warps in lock step, together with mbarriers, bulk copies or clusters: no GPU has " +
				"both",
		}
	}
	if v := t.cannotCancel(); v != nil {
		return *v
	}
	if in := t.boxes(ctx); in != nil {
		return diag.Verdict{
			Kind: diag.Unsupported, Kernel: k.Demangled, Span: in.Span,
			Reason: in.Op() + " of elements of 4 or 6 bits with padding, which an mbarrier does not count",
		}
	}
	why := ""
	switch {
	case t.opt.KnownRounds:
	case t.slice.Cancels:
		if i, _ := t.unknownCount(); i >= 0 {
			why = "kernels with clusterlaunchcontrol are not"
		}
	case t.run.Config.Geometry.Ranks() > 1:
		if i, _ := t.unknownCount(); i >= 0 {
			why = "only blocks that are alone are"
		}
	default:
		verdict, no := t.anyCount(ctx)
		if verdict != nil {
			return *verdict
		}
		why = no
	}
	var err error
	if t.run.Machine, err = emu.NewTrace(k, t.run.Config, t.slice); err != nil {
		return run.CannotStart(k, err)
	}
	if !t.slice.BlockIndex && len(t.blocks) > 1 {
		t.blocks = t.blocks[:1]
	}
	for _, b := range t.blocks {
		if !t.tiles(ctx, b) {
			break
		}
	}
	v := t.conclude()
	if v.Kind == diag.Unsupported && why != "" {
		v.Reason += "; not decided for any number of rounds: " + why
	}
	return v
}

// beyondTrace is the verdict on a kernel with a construct whose synchronization a trace does not
// model; nil if there is none.
func beyondTrace(k *ir.Func) *diag.Verdict {
	in, what := slice.Unsupported(k)
	if in == nil {
		return nil
	}
	return &diag.Verdict{
		Kind: diag.Unsupported, Kernel: k.Demangled, Reason: what, Span: driver.Place(in),
	}
}

// unknownInputs returns the launch with unknown arguments, except those that a flag or a pragma
// specifies, and these as text (n = 48). Values from host code are not used: they hold for one
// call. Of a struct, the fields that are specified as numbers are known.
func unknownInputs(k *ir.Func, cfg *launch.Config) (*launch.Config, []string) {
	c := *cfg
	c.Args = append([]launch.Arg(nil), cfg.Args...)
	var known []string
	for i := range c.Args {
		a := &c.Args[i]
		given := cfg.Origins["arg "+a.Name] >= launch.FromPragma && !a.Unknown && len(a.Fields) == 0
		filled := a.Buffer == nil || a.Buffer.Fill != launch.FillUnknown
		if v := k.Params[i]; given && v.Size == v.Type.Size() && filled {
			text := a.Name
			if a.Buffer == nil {
				text += " = " + a.Value()
			}
			known = append(known, text)
			continue
		}
		parts := knownParts(&cfg.Args[i], k.Params[i].Size)
		for _, p := range parts {
			text := fmt.Sprintf("%d bytes of %s at %d", p.Size, a.Name, p.Offset)
			if p.Size <= 8 {
				text = fmt.Sprintf("%s+%d = %s", a.Name, p.Offset,
					(&launch.Arg{Bits: a.Bits[p.Offset : p.Offset+p.Size]}).Value())
			}
			known = append(known, text)
		}
		a.Unknown, a.Buffer, a.Fields, a.Parts = true, nil, nil, parts
		if a.Bits == nil {
			a.Bits = make([]byte, k.Params[i].Size)
		}
	}
	return &c, known
}

// knownParts returns the bytes of a struct that a flag, a comment or a saved launch specifies as
// numbers: not those of pointers.
func knownParts(a *launch.Arg, size int) (out []launch.Part) {
	if a.Unknown && len(a.Parts) == 0 || len(a.Bits) != size {
		return nil
	}
	is := make([]bool, size)
	for _, p := range a.Parts {
		for i := range p.Size {
			is[p.Offset+i] = p.Origin >= launch.FromPragma
		}
	}
	for _, f := range a.Fields {
		clear(is[f.Offset : f.Offset+8])
	}
	for _, p := range a.Parts { // each as it was specified, so that the verdict names fields
		for at, end := p.Offset, p.Offset+p.Size; at < end; at++ {
			from := at
			for ; at < end && is[at]; at++ {
				is[at] = false // a field that is specified twice is one part
			}
			if at > from {
				out = append(out, launch.Part{Offset: from, Size: at - from, Origin: p.Origin})
			}
		}
	}
	return out
}

// selectBlocks chooses the blocks that are traced, by linear index: all of them, those that the
// user names, or block 0.
func (t *tracer) selectBlocks() error {
	g := t.run.Config.Geometry
	if t.opt.All {
		for b := range g.Blocks() {
			t.blocks = append(t.blocks, uint32(b))
		}
		return nil
	}
	// A block outside a guessed grid enlarges the grid, since nothing else says how large it is. A
	// block outside a specified grid is a mistake.
	for _, x := range t.opt.Blocks {
		cfg := t.run.Config
		guessed := cfg.Origins["grid"].Guessed()
		beyond := x[0] >= g.Grid.X || x[1] >= g.Grid.Y || x[2] >= g.Grid.Z
		if beyond || guessed && cfg.Reasons["grid"] == "" {
			if !guessed {
				return fmt.Errorf("a grid of %v has no block (%d,%d,%d)", g.Grid, x[0], x[1], x[2])
			}
			c := *t.run.Config
			c.Geometry.Grid = event.Dim3{
				X: max(g.Grid.X, x[0]+1), Y: max(g.Grid.Y, x[1]+1), Z: max(g.Grid.Z, x[2]+1),
			}
			t.run.Config, g = &c, c.Geometry
		}
		t.blocks = append(t.blocks, x[0]+g.Grid.X*(x[1]+g.Grid.Y*x[2]))
	}
	if len(t.blocks) == 0 {
		t.blocks = []uint32{0}
	}
	return nil
}

// chooseModel chooses the warp model and slices the kernel. Exchanges among lanes without a mask
// (shfl, vote) are defined only if the warp runs in lock step, so a kernel that has them gets that
// model, with a note.
func (t *tracer) chooseModel() {
	t.model = t.job.Options().Warp
	opt := slice.Options{
		Grid:        !t.run.Config.Origins["grid"].Guessed(),
		DynamicSize: !t.run.Config.Origins["shared"].Guessed(),
		Lockstep:    t.model == event.Lockstep, Given: make(map[*ir.Var]bool),
	}
	for i, v := range t.job.Kernel.Params {
		opt.Given[v] = t.run.Config.Args[i].Buffer != nil && !t.aliased(i)
	}
	t.slice = slice.Of(t.job.Kernel, opt)
	if in := t.slice.Maskless(); in != nil && t.model != event.Lockstep {
		t.model = event.Lockstep
		opt.Lockstep = true
		t.slice = slice.Of(t.job.Kernel, opt)
		t.job.Report(diag.Diagnostic{
			Code: diag.CodeLaunch, Severity: diag.Note,
			Kernel: t.job.Kernel.Demangled, Span: driver.Place(in),
			Message: fmt.Sprintf("%s exchanges values among whichever lanes are active, so this trace "+
				"assumes that warps run in lock step (--warp lockstep)", in.Text()),
		})
	}
}

// aliased reports whether another argument points to the buffer of argument i. The kernel may then
// store through it, so the slice must not take the contents of the buffer as specified.
func (t *tracer) aliased(i int) bool {
	b := t.run.Config.Args[i].Buffer
	for j := range t.guessed.Args {
		a := &t.guessed.Args[j]
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

// block traces one block, reports its findings, and passes on its graph and counts. It returns
// false if further blocks cannot show more.
func (t *tracer) block(ctx context.Context, b uint32) bool {
	start := time.Now()
	geometry, shared := t.run.Config.Geometry, t.run.Machine.SharedBytes()
	sink := t.newSink()
	sink.addresses, sink.detailed = make([]uint64, (shared+63)/64), t.opt.Stats != nil && !t.quiet
	if t.opt.Graph != nil && !t.quiet {
		sink.graph = newGraphRecorder(geometry, b)
	}
	res, err := t.run.Machine.Run(ctx, t.running([]uint32{b}, 0), sink)
	t.starves = t.starves || err == nil && res.Starves
	if err != nil {
		t.run.CannotRun(err)
		return false
	}
	t.requested = res.Requests
	t.run.Runs++
	t.steps += res.Steps
	rep := sink.report()
	t.strong(rep)
	if len(rep.Races) > 0 {
		t.classify(ctx, rep, res.Maybe, b)
	}
	if !t.boxesFit(res) {
		return false
	}
	t.run.Findings(rep, 0)
	if t.opt.Report != nil {
		t.opt.Report(t.run.Machine, res, rep)
	}
	if sink.graph != nil {
		t.job.Turn() // in the order of the kernels
		t.opt.Graph(t.graph(sink.graph, rep, b))
	}
	if sink.detailed {
		t.job.Turn()
		t.opt.Stats(Stats{
			Kernel: t.job.Kernel.Demangled, Block: geometry.BlockIndex(b),
			Threads: geometry.ThreadsPerBlock(), Commands: sink.commands, Barriers: sink.barriers,
			Addresses: sink.count(), Executed: res.Steps,
			Sliced: t.slice.Kept, Total: t.slice.Total, Time: time.Since(start),
		})
	}
	if !t.sharedFits(res) {
		return false
	}
	on := t.run.Ended(res, 0)
	shown := execution{0, rep, res}
	if len(rep.Phases) > 0 && t.run.Bugs == 0 && res.Status == emu.Completed {
		on = t.otherSchedules(ctx, b, rep, &shown) && on
	}
	if t.opt.Pipeline != nil && t.slice.Objects() && (!t.quiet || !on) {
		t.pipeline(ctx, b, shown)
	}
	return on
}

// sharedFits makes the verdict unknown if an execution ends at an address outside of shared memory
// whose size is a guess. It reports whether none did.
func (t *tracer) sharedFits(res *emu.Result) bool {
	cfg := t.run.Config
	if res.Stop == nil || res.Stop.Kind != emu.OutOfBounds || !res.Stop.Shared ||
		cfg.DynShared == 0 || !cfg.Origins["shared"].Guessed() {
		return true
	}
	t.undecided(diag.Unknown, res.Stop, fmt.Sprintf("it rests on a guess that the block has %d bytes "+
		"of dynamic shared memory; specify them with --shared", cfg.DynShared))
	return false
}

// undecided makes the verdict one of a kind for an execution that has ended with a stop, which is
// no finding: the reason says why, and then what has happened.
func (t *tracer) undecided(kind diag.VerdictKind, stop *emu.Stop, why string) {
	t.run.Unsupported = &diag.Verdict{
		Kind: kind, Kernel: t.job.Kernel.Demangled, Span: place(t.run.Machine.Site(stop.Site)),
		Reason: why + ": " + stop.Message,
	}
}

// newSink returns a sink for the events of a block: a detector and, for a kernel with mbarriers,
// one that examines their phases.
func (t *tracer) newSink() *traceSink {
	opt := race.Options{
		Geometry: t.run.Config.Geometry, Model: t.model, Benign: event.BenignNone,
		SharedBytes: uint32(t.run.Machine.SharedBytes()), Only: t.only, Static: true, Recycling: true,
	}
	common := t.job.Options()
	opt.StrictScopes = common.StrictScopes
	s := &traceSink{writer: common.FenceOfWriter, reads: common.IgnoreProxyReads}
	if t.slice.Objects() || opt.Geometry.Ranks() > 1 {
		order := opt
		order.Execution, order.Only = true, event.NoSpace
		s.order, opt.Recycling = race.New(order), false
	}
	s.Split = t.detectors(opt)
	return s
}

// detectors returns the detectors of races in shared memory.
func (t *tracer) detectors(opt race.Options) *race.Split {
	return race.NewSplitShared(opt, ir.OrdersOwn(t.job.Kernel))
}

// running are the emulator options for some blocks alone, with the others of their clusters; nil:
// all.
func (t *tracer) running(blocks []uint32, seed uint64) emu.Options {
	blocks = clustersOf(t.run.Config.Geometry, blocks)
	return emu.Options{
		Seed: seed, Model: t.model, MaxSteps: t.run.MaxSteps, Workers: 1, Blocks: blocks,
		StopAtFault: true, Memory: t.job.Options().Memory, Requests: t.requests,
	}
}

// clustersOf returns the blocks of the clusters of some blocks, by rank.
func clustersOf(g event.Geometry, blocks []uint32) []uint32 {
	if g.Ranks() == 1 {
		return blocks
	}
	var out []uint32
	seen := make(map[uint32]bool)
	for _, b := range blocks {
		c := g.ClusterOf(b)
		if seen[c] {
			continue
		}
		seen[c] = true
		for r := range g.Ranks() {
			out = append(out, g.ClusterBlock(c, r))
		}
	}
	return out
}

// strong sets aside what strong accesses may order, which a trace does not see. Beside a run, which
// sees it, races count only if no strong access decides what the trace executes. An access to
// another block of the cluster may be in time because of one.
func (t *tracer) strong(rep *race.Report) {
	if t.beside {
		if t.competing(rep); t.run.Unsupported != nil {
			rep.Races, rep.Lifetimes = nil, nil
		}
	}
	if len(rep.Lifetimes) == 0 || !t.slice.Strong {
		return
	}
	at := t.run.Machine.Site(rep.Lifetimes[0].Site)
	rep.Lifetimes = nil
	if t.run.Unsupported == nil {
		t.run.Unsupported = &diag.Verdict{
			Kind: diag.Unsupported, Kernel: t.job.Kernel.Demangled, Span: place(at),
			Reason: fmt.Sprintf("whether the block is there whose memory %s accesses may depend on strong "+
				"accesses to shared memory, which a trace does not order", driver.OpText(at.Instr)),
		}
	}
}

// competing removes the pairs of strong accesses from the report, which heddle check does not count
// as races. But if such a pair may carry a value of the slice, executions may differ in their
// synchronization, and the trace is unsupported: one execution no longer stands for all.
func (t *tracer) competing(rep *race.Report) {
	out := rep.Races[:0]
	for _, rc := range rep.Races {
		a, b := t.run.Machine.Site(rc.First.Site), t.run.Machine.Site(rc.Second.Site)
		if !run.Strong(t.run.Machine, &rc) {
			out = append(out, rc)
			continue
		}
		read, other := b, a
		if rc.Second.Kind != event.Read {
			read, other = a, b
		}
		if t.slice.Strong && t.run.Unsupported == nil {
			t.run.Unsupported = &diag.Verdict{
				Kind: diag.Unsupported, Kernel: t.job.Kernel.Demangled, Span: place(read),
				Reason: fmt.Sprintf("%s and %s at %s are not ordered, and the exchanged value decides "+
					"an address, a branch or a barrier%s", driver.OpText(read.Instr),
					driver.OpText(other.Instr), t.job.Format(place(other).Start), t.tryLockstep(&rc)),
			}
		}
	}
	rep.Races = out
}

// tryLockstep is a hint for code that relies on the lanes of a warp running together; empty if the
// race is between warps, or the model is lock step already.
func (t *tracer) tryLockstep(rc *race.Race) string {
	if t.model == event.Lockstep || rc.First.Thread.Warp() != rc.Second.Thread.Warp() {
		return ""
	}
	return "; if the warp is meant to run in lock step, use --warp lockstep"
}

// traceSink passes the events that a trace checks (shared memory and barriers) to the detector, and
// counts them.
type traceSink struct {
	*race.Split
	order *race.Detector // of execution; nil without mbarriers
	// writer and reads are the arguments of race.Report.Proxies.
	writer, reads      bool
	commands, barriers uint64
	addresses          []uint64 // one bit for each byte of shared memory
	detailed           bool
	graph              *graphRecorder // nil: not wanted
}

func lanes(mask uint32) uint64 { return uint64(bits.OnesCount32(mask)) }

// weaken turns a volatile or relaxed load or store into a weak one, so that the detector reports
// two of them that are not ordered. They are a race by Definition 8 of the paper. By PTX ISA 8.7
// they are not, but the value read depends on their order all the same.
func weaken(e *event.Access) {
	if !e.Kind.RMW() {
		e.Order, e.Scope = event.Weak, event.NoScope
	}
}

func (s *traceSink) Access(e *event.Access) {
	s.pass(e)
	if e.Space != event.Shared {
		return
	}
	s.commands += lanes(e.Mask)
	if s.detailed {
		for m := e.Mask; m != 0; m &= m - 1 {
			a := e.Addr[bits.TrailingZeros32(m)&31]
			s.addresses[a>>6] |= 1 << (a & 63)
		}
	}
	weaken(e)
	s.Split.Access(e)
}

func (s *traceSink) Arrive(e *event.Arrive) {
	s.commands += lanes(e.Mask)
	if s.graph != nil && s.graph.of(e.Warp) {
		s.graph.arrive(e)
	}
	s.Split.Arrive(e)
	if s.order != nil {
		s.order.Arrive(e)
	}
}

func (s *traceSink) Complete(e *event.Complete) {
	s.barriers++
	if s.graph != nil && e.Block == s.graph.block {
		s.graph.complete(e.Barrier)
	}
	s.Split.Complete(e)
	if s.order != nil {
		s.order.Complete(e)
	}
}

func (s *traceSink) Exit(e *event.Exit) {
	if s.graph != nil && s.graph.of(e.Warp) {
		s.graph.exit(e)
	}
	s.Split.Exit(e)
	if s.order != nil {
		s.order.Exit(e)
	}
}

// count is the number of distinct first bytes of shared accesses, if detailed is set.
func (s *traceSink) count() int {
	n := 0
	for _, w := range s.addresses {
		n += bits.OnesCount64(w)
	}
	return n
}

// conclude is the verdict of the trace: verified only if every run was clean, no race is possible
// on a doubtful path, and no finding was tolerated, suppressed or known.
func (t *tracer) conclude() diag.Verdict {
	v := t.run.Verdict()
	if v.Kind != diag.Clean {
		return v
	}
	if t.unstable != nil {
		return *t.unstable
	}
	if n := len(t.possible); n > 0 {
		first := &t.possible[0]
		a, b := t.run.Machine.Site(first.First.Site), t.run.Machine.Site(first.Second.Site)
		v.Kind, v.Span = diag.Unknown, place(b)
		v.Reason = fmt.Sprintf("a race between %s at %s and %s here is possible if some input takes "+
			"these paths; %d runs with made-up inputs did not", driver.OpText(a.Instr),
			t.job.Format(place(a).Start), driver.OpText(b.Instr), randomRuns)
		if n > 1 {
			v.Reason += fmt.Sprintf(" (and %d more)", n-1)
		}
		return v
	}
	v.Scope, v.Details = t.traceScope(), nil
	// equal writes were observed, not proved
	if t.run.Tolerated == 0 && !t.run.Aside.Any() {
		v.Kind = diag.Verified
	}
	return v
}

// traceScope names what a proof by this trace covers, and everything that it assumes.
func (t *tracer) traceScope() string {
	g := t.run.Config.Geometry
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	what, every := "shared memory", "every block"
	if t.slice.Tensors {
		what = "shared and tensor memory"
	}
	if g.Ranks() > 1 {
		every = "every cluster"
		add("%s and barriers of a cluster of %v blocks of %v threads, all inputs", what, g.Cluster,
			g.Block)
	} else {
		add("%s and barriers of a block of %v threads, all inputs", what, g.Block)
	}
	switch {
	case !t.slice.BlockIndex:
		parts = append(parts, every)
	case t.opt.All:
		add("every block of a grid of %v", g.Grid)
	case g.Ranks() > 1:
		names := make([]string, len(t.blocks))
		for i, b := range t.blocks {
			names[i] = g.BlockIndex(b).String()
		}
		parts = append(parts, "the cluster of block "+strings.Join(names, ", "))
	default:
		names := make([]string, len(t.blocks))
		for i, b := range t.blocks {
			names[i] = g.BlockIndex(b).String()
		}
		parts = append(parts, "block "+strings.Join(names, ", "))
	}
	if t.slice.GridSize {
		add("grid %v", g.Grid)
	}
	if t.slice.Cancels {
		add("whichever of the other %s of a grid of %v it cancels", t.canceled(), g.Grid)
	}
	if t.slice.Clusters && g.Ranks() == 1 {
		parts = append(parts, "in a launch without clusters")
	}
	if len(t.known) > 0 {
		parts = append(parts, "with "+strings.Join(t.known, ", "))
	}
	parts = append(parts, t.assumed...)
	for _, key := range t.run.Config.Unread {
		add("if the launch does not depend on %s", key)
	}
	if t.run.Config.DynShared > 0 || t.slice.DynamicSize {
		add("%d bytes of dynamic shared memory", t.run.Config.DynShared)
	}
	if t.model == event.Lockstep {
		parts = append(parts, "warps in lock step")
	}
	for _, v := range t.slice.Tables {
		add("%s with its initial contents", v.Shown())
	}
	if t.slice.Assumes {
		parts = append(parts, "if no assertion fails and no trap is executed")
	}
	if t.starves {
		parts = append(parts, "if setmaxnreg finds enough registers")
	}
	if t.job.Options().IgnoreProxyReads {
		parts = append(parts, "if reads need no proxy fence before asynchronous writes (--proxy-war)")
	}
	if t.run.Tolerated > 0 {
		add("%d conflicting writes of the same value were tolerated (--benign none reports them)",
			t.run.Tolerated)
	}
	return strings.Join(parts, "; ") + "; global memory was not checked"
}

// place is the position that a report gives for a site.
func place(info emu.SiteInfo) source.Span { return driver.Place(info.Instr, info.Calls...) }
