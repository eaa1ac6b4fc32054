package exhaustive

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"heddle/internal/event"
	"heddle/internal/explore"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/launch"
)

// The smallest launch that still exercises the synchronization of a kernel is found by trying. Of
// each small launch a few executions are drawn at random, and what they cover is recorded: which
// instructions are executed, and which accesses meet one of another thread of the block, or of
// another block, at the same location. The first launch in the order of sizes that covers whatever
// any of them covers is explored in full. A launch in which no drawn execution ends is none that
// the kernel is meant for, and one that the explorer refuses is of no use.
//
// What this can miss: a meeting that the drawn executions do not show, or that needs more than
// maxAuto threads. So the verdict names the launch, and an instruction that synchronizes and that no
// execution of it reaches makes the verdict unknown.

// maxAuto is the number of threads of the largest launch that is tried.
const maxAuto = 8

// Draws of one launch: at most draws, and none after idle ones in a row that cover nothing new, if an
// execution has ended.
// Each may take drawStates partial executions.
const (
	draws      = 24
	idleDraws  = 4
	drawStates = 1000
)

// Choice is how a launch was chosen.
type Choice struct {
	Tried    int // launches
	Unusable int // of these
	// Sync is the number of instructions that synchronize and that the launch executes: atomics,
	// fences, barriers and strong accesses.
	Sync int
	// Named is the launch that the user's files name instead; empty if none.
	Named string
}

// ChoiceText says which launch was chosen, and why.
func (r *Result) ChoiceText() string {
	c := r.Choice
	out := fmt.Sprintf("the smallest of %d in which %d of %d instructions that synchronize are executed "+
		"and meet the accesses of other threads as in any of them", c.Tried-c.Unusable, c.Sync,
		c.Sync+len(r.Missing))
	if c.Unusable > 0 {
		out += fmt.Sprintf("; %d more are not usable", c.Unusable)
	}
	if c.Named != "" {
		out += "; the program names " + c.Named
	}
	return out
}

// reach is how an instruction is covered.
type reach uint8

const (
	executed  reach = iota // by some thread
	metBlock               // it accesses what another thread of the block accesses, and one writes
	metBlocks              // the same with a thread of another block
)

// point is something to cover.
type point struct {
	in  *ir.Instr
	how reach
}

// coverage is a set of points.
type coverage map[point]bool

// ran adds the instructions that an execution executes.
func (c coverage) ran(p *explore.Program, e *explore.Execution) {
	for t := range p.Threads {
		for i := range p.Threads[t].Code {
			if in := &p.Threads[t].Code[i]; in.Kind <= explore.Barrier && e.Ran(t, i) {
				c[point{in.Site.(*ir.Instr), executed}] = true
			}
		}
	}
}

// met adds the meetings of an execution.
func (c coverage) met(e *explore.Execution) {
	g := &e.Graph
	for a := range g.Events {
		for b := range a {
			x, y := &g.Events[a], &g.Events[b]
			if !g.Conflict(a, b) || x.Thread == y.Thread || x.Thread < 0 || y.Thread < 0 {
				continue
			}
			how := metBlock
			if g.Threads[x.Thread].CTA != g.Threads[y.Thread].CTA {
				how = metBlocks
			}
			c[point{e.Inst(a).Site.(*ir.Instr), how}] = true
			c[point{e.Inst(b).Site.(*ir.Instr), how}] = true
		}
	}
}

// covers reports whether c has all points of another coverage.
func (c coverage) covers(d coverage) bool {
	for p := range d {
		if !c[p] {
			return false
		}
	}
	return true
}

// Synchronizes reports whether an instruction may order the accesses of threads, or is strong.
func Synchronizes(in *ir.Instr) bool {
	switch in.Action() {
	case isa.ActFence, isa.ActPartialFence, isa.ActNumberedBarrier, isa.ActWarpBarrier,
		isa.ActClusterBarrier:
		return true
	}
	return in.Row != nil && in.Row.Category == isa.Memory && in.Order.Strong() &&
		in.Space != event.Param && in.Space != event.Const && in.Space != event.Local
}

// synchronizing returns the instructions of the kernel that synchronize.
func (x *examiner) synchronizing() (out []*ir.Instr) {
	for _, b := range x.fn.Blocks {
		for _, in := range b.Instrs {
			if Synchronizes(in) {
				out = append(out, in)
			}
		}
	}
	return out
}

// candidate is a launch that is tried.
type candidate struct {
	cfg  *launch.Config
	seen coverage // nil: not usable
}

// shrink chooses a launch and explores it.
func (x *examiner) shrink(ctx context.Context) (*Result, error) {
	named, errs := launch.Resolve(x.job.Kernel, x.job.Launch, x.job.Module.Facts)
	if len(errs) > 0 {
		named = nil
	}
	tried, all, res, err := x.try(ctx, named)
	if res != nil || err != nil {
		return res, err
	}
	choice := &Choice{Tried: len(tried)}
	if named != nil && !(named.Origins["grid"].Guessed() && named.Origins["block"].Guessed()) {
		choice.Named = named.Shape()
	}
	res = &Result{Choice: choice}
	for _, c := range tried {
		switch {
		case c.seen == nil:
			choice.Unusable++
		case res.Config == nil && c.seen.covers(all):
			res.Config = c.cfg
		}
	}
	if res.Config == nil {
		res.Err = fmt.Errorf("no launch of at most %d threads covers what several of them cover",
			maxAuto)
		return res, nil
	}
	p := x.program(res)
	if p == nil {
		return res, nil
	}
	cov, err := x.explore(ctx, res, p, x.opt.Options, false)
	if err != nil || res.Err != nil {
		return res, err
	}
	for _, in := range x.synchronizing() {
		if cov[point{in, executed}] {
			choice.Sync++
		} else {
			res.Missing = append(res.Missing, in)
		}
	}
	return res, nil
}

// errNoEnd is why a launch is not usable.
var errNoEnd = errors.New("no execution ends")

// try draws executions of all small launches, and returns what they cover together. The result, if
// not nil, says why no launch is usable.
func (x *examiner) try(ctx context.Context, named *launch.Config) ([]candidate, coverage, *Result, error) {
	var tried []candidate
	all := coverage{}
	var first *Result // that is not usable, and says most
	for _, s := range x.sizes(named) {
		cfg := x.launch(s)
		if cfg == nil {
			continue
		}
		res := &Result{Config: cfg, Choice: &Choice{}}
		seen, err := x.draw(ctx, res)
		if err != nil {
			return nil, nil, nil, err
		}
		tried = append(tried, candidate{cfg, seen})
		maps.Copy(all, seen)
		if seen == nil && (first == nil || errors.Is(first.Err, errNoEnd)) {
			first = res
		}
		if res.At != nil { // the kernel has an instruction that no launch makes supported
			res.Choice, res.Config = nil, nil
			return nil, nil, res, nil
		}
	}
	if len(tried) == 0 {
		return nil, nil, &Result{Err: errors.New("no small launch agrees with what fixes its grid and " +
			"block"), Choice: &Choice{}}, nil
	}
	if !slices.ContainsFunc(tried, func(c candidate) bool { return c.seen != nil }) {
		first.Err = fmt.Errorf("no launch of at most %d threads is usable: with %s, %w", maxAuto,
			first.Config.Shape(), first.Err)
		first.Choice = &Choice{Tried: len(tried), Unusable: len(tried)}
		return nil, nil, first, nil
	}
	return tried, all, nil, nil
}

// draw returns what a few executions of a launch cover; nil with the reason in res if it is not
// usable.
func (x *examiner) draw(ctx context.Context, res *Result) (coverage, error) {
	p := x.program(res)
	if p == nil {
		return nil, nil
	}
	opt := x.opt.Options
	opt.MaxGraphs, opt.MaxStates, opt.Known = 1, drawStates, &explore.Known{}
	seen, ends, idle := coverage{}, false, 0
	stopped := true
	for n := uint64(1); n <= draws && (idle < idleDraws || !ends); n++ {
		opt.Order = n
		cov, err := x.explore(ctx, res, p, opt, true)
		if err != nil || res.Err != nil {
			return nil, err
		}
		s := &res.Report.Stats
		ends, stopped = ends || s.Complete > 0, stopped && s.Executions == 0
		before := len(seen)
		maps.Copy(seen, cov)
		if idle++; len(seen) > before {
			idle = 0
		}
		if !s.Stopped { // there are no other executions
			break
		}
	}
	switch {
	case stopped:
		res.Err = fmt.Errorf("no execution is found among %d partial ones", drawStates)
		return nil, nil
	case !ends:
		res.Err = errNoEnd
		return nil, nil
	}
	return seen, nil
}

// size is the grid and the block of a launch.
type size struct{ grid, block event.Dim3 }

// threads is their number.
func (s size) threads() uint64 { return s.grid.Count() * s.block.Count() }

// sizes returns the launches to try, the smallest first; of equally large ones, those with more
// blocks first. Two dimensions are used where the kernel reads the second. A launch is in no
// dimension larger than the one that the program names, and has two threads unless that has one.
func (x *examiner) sizes(named *launch.Config) []size {
	ids := func(key string, auto bool, flat ...ir.Sreg) (out []event.Dim3) {
		most := event.Dim3{X: maxAuto, Y: maxAuto, Z: 1}
		if named != nil {
			d := named.Geometry.Grid
			if key == "block" {
				d = named.Geometry.Block
			}
			if !auto {
				return []event.Dim3{d}
			}
			if !named.Origins[key].Guessed() {
				most = d
			}
		}
		square := x.reads(flat...)
		for n := uint32(1); n <= maxAuto; n++ {
			for y := uint32(1); y <= n; y++ {
				if n%y == 0 && (square || y == 1) && y <= most.Y && n/y <= most.X {
					out = append(out, event.Dim3{X: n / y, Y: y, Z: 1})
				}
			}
		}
		return out
	}
	grids := ids("grid", x.opt.AutoGrid, ir.CtaidY, ir.NctaidY)
	blocks := ids("block", x.opt.AutoBlock, ir.TidY, ir.NtidY)
	var out []size
	for _, g := range grids {
		for _, b := range blocks {
			s := size{g, b}
			if int(g.Count()) >= x.opt.MinBlocks &&
				(s.threads() <= maxAuto || !x.opt.AutoGrid || !x.opt.AutoBlock) {
				out = append(out, s)
			}
		}
	}
	if len(out) > 1 {
		out = slices.DeleteFunc(out, func(s size) bool { return s.threads() == 1 })
	}
	slices.SortStableFunc(out, func(a, b size) int {
		if n := int(a.threads()) - int(b.threads()); n != 0 {
			return n
		}
		return int(b.grid.Count()) - int(a.grid.Count())
	})
	return out
}

// reads reports whether the kernel reads one of these special registers.
func (x *examiner) reads(regs ...ir.Sreg) bool {
	for _, b := range x.fn.Blocks {
		for _, in := range b.Instrs {
			for _, o := range in.Src {
				if o.Kind == ir.Special && slices.Contains(regs, o.Sreg) {
					return true
				}
			}
		}
	}
	return false
}

// launch returns a launch of this size; nil if something that the size may not contradict fixes
// another one.
func (x *examiner) launch(s size) *launch.Config {
	req := x.job.Launch
	req.Grid, req.Block = &s.grid, &s.block
	cfg, errs := launch.Resolve(x.job.Kernel, req, x.job.Module.Facts)
	if len(errs) > 0 {
		return nil
	}
	return cfg
}
