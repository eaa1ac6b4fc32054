package run

import (
	"context"
	"fmt"
	"io"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/emu"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/launch"
	"heddle/internal/order"
)

// Program examines the launches that a running program makes of one kernel. Each is executed once,
// since it changes the memory of the program, and nothing about it is a guess. A finding is reported
// for the first launch that shows it. The launches of one kernel are examined one after the other.
type Program struct {
	// Reproduce is the command line that shows a finding again; empty: reports have none.
	Reproduce string
	Printf    io.Writer // output of the kernel's printf; nil: discarded
	// Mark adds what the caller knows of a launch to a finding, such as its place in the host code;
	// may be nil.
	Mark func(*diag.Diagnostic)
	// Before is the launch before, if the next one may begin while it runs; else nil.
	Before *Earlier
	// Host is a host beside the kernels of the next launches, for which they may wait
	// (emu.Options.Host); nil: the program itself.
	Host func(stuck bool) bool
	// Outside is emu.Options.Outside of the next launches.
	Outside func() bool
	// Uncounted names launches that are not counted, for the scope of the verdict; empty: there are
	// none.
	Uncounted string
	// Touched collects what the next launches access; nil: nothing is collected.
	Touched *order.Touched

	run      Run
	launches uint64
	repeated uint64 // launches that were not executed: see Repeat
	checked  uint64
	lanes    uint64
	cut      uint64 // launches that ended early, or unwatched, without an error of the kernel
	reason   string // of the first of them
}

// NewProgram returns a Program for the job's kernel. Of opt, Seed counts.
func NewProgram(job *driver.Job, opt *Options) *Program {
	return &Program{run: Run{Job: job, opt: opt, Seen: make(map[Key]bool),
		parts: ir.OrdersParts(job.Kernel)}}
}

// Launch executes one launch. m is its machine, of an emu.Program, and cfg describes it in reports
// (launch.OfProgram). With check the race detector watches; without it, invalid accesses and other
// errors that end a kernel are reported all the same. The result says how the launch ended. An error
// is a mistake in the launch, which has been reported.
func (p *Program) Launch(ctx context.Context, cfg *launch.Config, m *emu.Machine, check bool) (
	*emu.Result, error) {
	r := &p.run
	r.Config, r.Machine, r.protocol, r.line, r.Mark = cfg, m, nil, &p.Reproduce, p.Mark
	var det Detector
	var sink event.Sink // nil, and not a nil Detector
	opt := r.options(r.opt.Seed)
	opt.Touched, opt.Workers = p.Touched, r.Job.Options().Workers // launches run one at a time
	if p.Host != nil {
		opt.Host = func(_ emu.HostMemory, stuck bool) bool { return p.Host(stuck) }
		opt.Resident = hostResident
	}
	opt.Outside = p.Outside
	if check {
		det = p.watch(cfg, m)
		sink = det
		opt.DropEvents = true
	}
	if p.Printf != nil {
		opt.Printf = func(_ event.Thread, text string) { fmt.Fprint(p.Printf, text) }
	}
	r.gridReason = ""
	r.watchGrids(ctx, &opt, r.opt.Seed, check)
	bugs := r.Bugs
	res, err := m.Run(ctx, opt, sink)
	if err != nil {
		r.CannotRun(err)
		return nil, err
	}
	p.launches++
	p.lanes += res.LaneInstrs
	r.Runs++
	r.inconclusive, r.unchecked, r.Unsupported, r.assumptions = "", "", nil, nil
	seen := len(r.Seen) + r.Repeated
	switch {
	case res.Stop != nil && res.Stop.Kind == emu.OutsideAssumptions:
		r.outside(res.Stop, r.opt.Seed)
	case check:
		r.Findings(det.Report(), r.opt.Seed)
		r.annotations(res, r.opt.Seed)
		r.Ended(res, r.opt.Seed)
		if res.Dropped && r.inconclusive == "" {
			r.inconclusive = fmt.Sprintf("the race detector ran out of memory, after %d of %d blocks; the "+
				"others ran without it; --memory raises its limit", res.Watched, cfg.Geometry.Blocks())
		}
	default:
		r.Ended(res, r.opt.Seed)
	}
	p.ended(res, check, len(r.Seen)+r.Repeated > seen || r.Bugs > bugs)
	return res, nil
}

// hostResident is the number of blocks at a time of a kernel beside a host. One that waits for
// other blocks and tells the host of it seems to make progress, so that the emulator would start
// the next block late.
const hostResident = 64

// Earlier is a launch behind which another one may begin before it has ended (programmatic
// dependent launch): it executes griddepcontrol.launch_dependents.
type Earlier struct {
	What     string // "launch 1 of scale(int*)"
	Place    string // of the launch, " at main.cu:12"
	Accesses order.Accesses
}

// conflicts reports whether the launch accesses some bytes in conflict with an access.
func (e *Earlier) conflicts(addr, size uint64, write bool) bool {
	r := []order.Range{{From: addr, To: addr + size}}
	for a, list := range e.Accesses {
		writes := order.Access(a) == order.Write || order.Access(a) == order.StrongWrite
		if (write || writes) && order.Overlap(list, r) {
			return true
		}
	}
	return false
}

// watch returns the detector of a launch.
func (p *Program) watch(cfg *launch.Config, m *emu.Machine) Detector {
	r := &p.run
	opt := detectorOptions(r.Job.Options(), r.Job.Kernel, cfg, m, true)
	r.before = p.Before
	if opt.Dependent = p.Before != nil; opt.Dependent {
		opt.Earlier = p.Before.conflicts
	}
	return newDetector(r.Job.Kernel, opt)
}

// Repeat counts a launch that was not executed, because an earlier one with the same inputs has
// reached its end, and its results are in memory. checked says that the detector watched that one.
func (p *Program) Repeat(checked bool) {
	p.launches++
	p.repeated++
	if checked {
		p.checked++
	}
}

// ended counts a launch, and keeps why it does not count as checked. found says that it has a
// finding.
func (p *Program) ended(res *emu.Result, check, found bool) {
	r := &p.run
	reason := r.open()
	switch {
	case r.Unsupported != nil:
		reason = r.Unsupported.Reason
	case r.assumptions != nil:
		reason = r.assumptions.Reason
	case res.Status == emu.Stalled && !found && reason == "":
		reason = "threads wait forever at barriers"
	}
	switch {
	case reason != "":
		p.cut++
		if p.reason == "" {
			p.reason = fmt.Sprintf("launch %d: %s", p.launches, reason)
		}
	case check:
		p.checked++
	}
}

// Report reports a finding about launches of the kernel that the caller has made, and counts it
// unless a comment suppresses it. The caller reports each once.
func (p *Program) Report(g diag.Diagnostic) {
	if !p.run.setAside(&g) {
		p.run.count(g)
	}
}

// Launches returns how many launches there were, how many of them the detector watched to their end
// or repeat such a launch, and how many lane-instructions were executed.
func (p *Program) Launches() (launches, checked, laneInstrs uint64) {
	return p.launches, p.checked, p.lanes
}

// Repeated returns how many launches were not executed because they repeat others.
func (p *Program) Repeated() uint64 { return p.repeated }

// Bugs returns the number of findings so far.
func (p *Program) Bugs() int { return p.run.Bugs }

// Verdict sums up the launches so far. A kernel is clean if every launch reached its end without a
// finding and at least one was checked; the scope says how many were. The verdict holds for these
// launches only.
func (p *Program) Verdict() diag.Verdict {
	r := &p.run
	v := diag.Verdict{Kernel: r.Job.Kernel.Demangled, Span: driver.KernelPlace(r.Job.Kernel),
		Suppressed: r.Aside.Suppressed, Known: r.Aside.Known}
	early := p.reason
	if p.cut > 1 {
		early = fmt.Sprintf("%d of %d launches were not checked to their end; %s", p.cut, p.launches,
			p.reason)
	}
	switch {
	case r.Bugs > 0:
		v.Kind, v.Reason = diag.Bug, JoinReasons(r.unprinted(), early)
	case r.Unsupported != nil && p.cut == p.launches:
		v.Kind, v.Reason, v.Span = diag.Unsupported, early, r.Unsupported.Span
	case p.cut > 0:
		v.Kind, v.Reason = diag.Unknown, early
	case p.checked == 0:
		v.Kind = diag.Unknown
		v.Reason = fmt.Sprintf("none of %d launches was checked for races", p.launches)
	default:
		v.Kind, v.Apart = diag.Clean, r.apart
		v.Scope = fmt.Sprintf("%d of %d launches by this program, one schedule each", p.checked,
			p.launches)
		if p.checked < p.launches {
			v.Scope += "; the others ran without the race detector"
		}
		if p.repeated > 0 {
			v.Scope += fmt.Sprintf("; %d repeat earlier ones with the same inputs", p.repeated)
		}
		if p.Uncounted != "" {
			v.Scope += "; " + p.Uncounted
		}
	}
	return v
}
