package run

import (
	"context"

	"heddle/internal/emu"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/race"
)

// What one schedule shows, for findings and for callers with questions of their own about the races
// of a launch.

// Side is one access of an Example.
type Side struct {
	Thread string // "thread 64"; with its block if the other thread is of another one
	When   string // the loop counters at the access: "k = 64"; empty: none are known
	Access *ir.Instr
	Kind   event.Kind
}

// Example is one hazard of a race, in the words of the source.
type Example struct {
	First, Second Side   // in the order of the run
	Block         string // of both threads, "block 6"; empty: they are of two, or the launch has one
	Element       string // "s[16]"; empty: the type is unknown
	Memory        string // "shared s[16]", or the bytes of an object
	Level         race.Level

	memory memory
}

// Observe executes the launch under one schedule and returns what the detector saw; it reports no
// finding. What wrap returns receives the events in place of the detector, and has to pass them on;
// nil: nothing does. Until the next schedule, Example describes the races of the report.
func (r *Run) Observe(ctx context.Context, seed uint64, wrap func(Detector) Detector) (
	*race.Report, *emu.Result, error) {
	return r.observe(ctx, seed, r.options(seed), wrap)
}

// observe is Observe with options for the machine.
func (r *Run) observe(ctx context.Context, seed uint64, opt emu.Options,
	wrap func(Detector) Detector) (*race.Report, *emu.Result, error) {
	detect := detectorOptions(r.Job.Options(), r.Job.Kernel, r.Config, r.Machine, true)
	var det Detector
	var res *emu.Result
	once := func(ctx context.Context) (err error) {
		det = newDetector(r.Job.Kernel, detect)
		sink := det
		if wrap != nil {
			sink = wrap(det)
		}
		res, err = r.Machine.Run(ctx, opt, sink)
		return err
	}
	var err error
	if shift := r.Machine.ObjectShift(); shift > 0 && wrap == nil {
		if r.objects == nil {
			r.objects = &race.Objects{Shift: shift}
		}
		detect.Objects = r.objects
		err = r.objects.Run(ctx, once)
	} else {
		err = once(ctx)
	}
	if err != nil {
		return nil, nil, err
	}
	rep := det.Report()
	r.moments, r.repeat = nil, func() { r.iterations(ctx, rep, res, seed) }
	return rep, res, nil
}

// Example describes the hazard of a race that reports show.
func (r *Run) Example(rc *race.Race) Example {
	rc = shown(rc)
	lo := max(rc.First.Addr, rc.Second.Addr)
	hi := min(rc.First.Addr+uint64(rc.First.Size), rc.Second.Addr+uint64(rc.Second.Size))
	ex := Example{Level: rc.Level, memory: r.memoryAt(rc.Space, rc.Block, lo, hi-lo)}
	ex.Element, ex.Memory = ex.memory.index, ex.memory.String()
	g := r.Config.Geometry
	if rc.Level != race.InterBlock && g.Blocks() > 1 {
		ex.Block = blockName(g, rc.Second.Thread)
	}
	ex.First, ex.Second = r.side(&rc.First), r.side(&rc.Second)
	ex.First.Thread, ex.Second.Thread = raceThreads(g, rc)
	ex.First.When, ex.Second.When = r.counts(rc)
	return ex
}

// side is what an access says of itself.
func (r *Run) side(a *race.Access) Side {
	return Side{Access: r.Machine.Site(a.Site).Instr, Kind: a.Kind}
}

// Shown returns the level of the hazard that Example describes.
func Shown(rc *race.Race) race.Level { return shown(rc).Level }
