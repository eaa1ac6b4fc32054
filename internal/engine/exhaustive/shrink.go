package exhaustive

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"heddle/internal/event"
	"heddle/internal/explore"
	"heddle/internal/explore/kernel"
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
// Each draws until an execution ends, and may take drawStates partial executions; all of a launch
// may take drawWork (explore.Options.MaxWork).
const (
	draws      = 24
	idleDraws  = 4
	drawStates = 1000
	drawWork   = 8_000_000

	fewPoints = 3  // a launch that misses so few is drawn from again,
	moreDraws = 48 // so often
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
	which, meet := "smallest", "and meet the accesses of other threads as in any of them"
	if r.Partial {
		which, meet = "first", "and which covers most"
	}
	out := fmt.Sprintf("the %s of %d in which %d of %d instructions that synchronize are executed %s",
		which, c.Tried-c.Unusable, c.Sync, c.Sync+len(r.Missing), meet)
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
	metBlock               // it accesses what another of the block does, and one writes; or a barrier
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

// met adds the meetings of an execution. At a barrier, threads meet if they complete a generation
// together.
func (c coverage) met(e *explore.Execution) {
	g := &e.Graph
	arrivals := map[int][]int{}
	for a := range g.Events {
		if n := g.Events[a].Generation; n > 0 {
			arrivals[n] = append(arrivals[n], a)
		}
	}
	for _, together := range arrivals {
		for _, a := range together {
			if len(together) > 1 {
				c[point{e.Inst(a).Site.(*ir.Instr), metBlock}] = true
			}
		}
	}
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
	prog *explore.Program
	opt  explore.Options
	seen coverage

	drawn         uint64
	work          int
	found, ended  bool // an execution was, and one in which every thread ends
	exhausted     bool // there are no other executions
	err           error
	unsupportedAt *ir.Instr
}

// usable returns why a launch is not usable, or nil.
func (c *candidate) usable() error {
	switch {
	case c.err != nil:
		return c.err
	case !c.found:
		return fmt.Errorf("no execution is found among %d partial ones", drawStates)
	case !c.ended:
		return errNoEnd
	}
	return nil
}

// errNoEnd is why a launch is not usable.
var errNoEnd = errors.New("no execution ends")

// shrink chooses a launch and explores it.
func (x *examiner) shrink(ctx context.Context) (*Result, error) {
	named, errs := launch.Resolve(x.job.Kernel, x.job.Launch, x.job.Module.Facts)
	if len(errs) > 0 {
		named = nil
	}
	tried, err := x.try(ctx, named)
	if err != nil {
		return nil, err
	}
	res := &Result{Choice: &Choice{Tried: len(tried)}}
	if named != nil && !(named.Origins["grid"].Guessed() && named.Origins["block"].Guessed()) {
		res.Choice.Named = named.Shape()
	}
	best, all, err := x.best(ctx, tried, res)
	if best == nil || err != nil {
		return res, err
	}
	res.Config, res.Partial = best.cfg, !best.seen.covers(all)
	cov, err := x.explore(ctx, res, best.prog, x.opt.Options, false)
	if err != nil || res.Err != nil {
		return res, err
	}
	wanted, err := x.wanted(named)
	if err != nil {
		return nil, err
	}
	for _, p := range wanted {
		if !all[p] && !slices.Contains(res.Unmet, p.in) {
			res.Unmet = append(res.Unmet, p.in)
		}
	}
	for _, in := range x.synchronizing() {
		if cov[point{in, executed}] {
			res.Choice.Sync++
		} else {
			res.Missing = append(res.Missing, in)
		}
	}
	return res, nil
}

// Bounds of the launch of the program, of which one interleaving is executed.
const (
	meantThreads = 2048
	meantSteps   = 4_000_000
)

// TooLarge reports whether a launch has more threads than an exploration takes.
func TooLarge(cfg *launch.Config) bool {
	return cfg.Geometry.Blocks()*uint64(cfg.Geometry.ThreadsPerBlock()) > kernel.MaxThreads
}

// meant returns the launch that the user's files or flags name; nil if there is none.
func (x *examiner) meant() *launch.Config {
	cfg, errs := launch.Resolve(x.job.Kernel, x.job.Launch, x.job.Module.Facts)
	if len(errs) > 0 || cfg.Origins["grid"].Guessed() || cfg.Origins["block"].Guessed() {
		return nil
	}
	return cfg
}

// wanted returns the meetings of accesses, with a write among them, in one interleaving of the launch
// that the program names. None if there is no such launch, it is too large, or that interleaving does
// not end.
func (x *examiner) wanted(named *launch.Config) ([]point, error) {
	if named == nil || named.Origins["grid"].Guessed() || named.Origins["block"].Guessed() ||
		named.Geometry.Blocks()*uint64(named.Geometry.ThreadsPerBlock()) > meantThreads {
		return nil, nil
	}
	p, err := kernel.Meant(x.fn, named)
	if err != nil {
		return nil, nil // of the launches that were tried, one was translated
	}
	type user struct {
		in     *ir.Instr
		writes bool
	}
	type location struct {
		area int
		addr uint64
	}
	users := map[location]map[int]map[user]bool{} // by thread
	if !p.Sample(meantSteps, func(t, inst int, at explore.Location) {
		in := &p.Threads[t].Code[inst]
		l := location{at.Area, at.Addr}
		if users[l] == nil {
			users[l] = map[int]map[user]bool{}
		}
		if users[l][t] == nil {
			users[l][t] = map[user]bool{}
		}
		users[l][t][user{in.Site.(*ir.Instr), in.Kind != explore.Load}] = true
	}) {
		return nil, nil
	}
	found := coverage{}
	for _, threads := range users {
		meet := func(t, u int, a, b user) {
			if a.writes || b.writes {
				how := metBlock
				if p.Threads[t].Position.CTA != p.Threads[u].Position.CTA {
					how = metBlocks
				}
				found[point{a.in, how}], found[point{b.in, how}] = true, true
			}
		}
		few := 0
		for t := range threads {
			if few++; few > 64 { // of many threads at one location, some are enough
				break
			}
			for u := range threads {
				for a := range threads[t] {
					for b := range threads[u] {
						if t != u {
							meet(t, u, a, b)
						}
					}
				}
			}
		}
	}
	return x.ordered(found), nil
}

// ordered returns points in the order of their instructions.
func (x *examiner) ordered(c coverage) (out []point) {
	for _, b := range x.fn.Blocks {
		for _, in := range b.Instrs {
			for how := executed; how <= metBlocks; how++ {
				if c[point{in, how}] {
					out = append(out, point{in, how})
				}
			}
		}
	}
	return out
}

// try draws executions of all small launches.
func (x *examiner) try(ctx context.Context, named *launch.Config) ([]*candidate, error) {
	var tried []*candidate
	for _, s := range x.sizes(named) {
		cfg := x.launch(s)
		if cfg == nil {
			continue
		}
		c := &candidate{cfg: cfg, opt: x.opt.Options, seen: coverage{}}
		c.opt.FirstEnd, c.opt.MaxStates, c.opt.Known = true, drawStates, &explore.Known{}
		c.opt.Symmetry = false
		res := &Result{Config: cfg}
		c.prog = x.program(res)
		c.err, c.unsupportedAt = res.Err, res.At
		if err := x.draw(ctx, c, draws, idleDraws, nil); err != nil {
			return nil, err
		}
		tried = append(tried, c)
		if c.unsupportedAt != nil { // no launch makes the instruction supported
			break
		}
	}
	return tried, nil
}

// best returns the first launch that covers what all usable ones cover together, or one that covers
// most; nil, with the reason in the result, if none is usable.
func (x *examiner) best(ctx context.Context, tried []*candidate, res *Result) (best *candidate,
	all coverage, err error) {
	var usable []*candidate
	all = coverage{}
	var why *candidate // that is not usable, and says most
	for _, c := range tried {
		if c.usable() == nil {
			usable = append(usable, c)
			maps.Copy(all, c.seen)
		} else if why == nil || errors.Is(why.usable(), errNoEnd) {
			why = c
		}
	}
	res.Choice.Unusable = len(tried) - len(usable)
	switch {
	case why != nil && why.unsupportedAt != nil:
		res.Err, res.At, res.Choice = why.err, why.unsupportedAt, nil
		return nil, nil, nil
	case len(tried) == 0:
		res.Err = errors.New("no small launch agrees with what fixes its grid and block")
		return nil, nil, nil
	case len(usable) == 0:
		res.Err = fmt.Errorf("no launch of at most %d threads is usable: with %s, %w", maxAuto,
			why.cfg.Shape(), why.usable())
		return nil, nil, nil
	}
	for _, c := range usable {
		if len(all)-len(c.seen) <= fewPoints { // what is rare may not have been drawn
			if err := x.draw(ctx, c, c.drawn+moreDraws, moreDraws, all); err != nil {
				return nil, nil, err
			}
		}
		if c.seen.covers(all) {
			return c, all, nil
		}
		if best == nil || len(c.seen) > len(best.seen) {
			best = c
		}
	}
	return best, all, nil
}

// draw draws executions of a launch until the given number, or until idle ones in a row add nothing
// and one has ended, or until what they cover includes the wanted points.
func (x *examiner) draw(ctx context.Context, c *candidate, most, idle uint64, want coverage) error {
	for same := uint64(0); c.err == nil && !c.exhausted && c.drawn < most; {
		if same >= idle && c.ended || want != nil && c.seen.covers(want) {
			break
		}
		if c.opt.MaxWork = drawWork - c.work; c.opt.MaxWork <= 0 {
			break
		}
		c.drawn++
		c.opt.Order = c.drawn
		res := &Result{Config: c.cfg}
		cov, err := x.explore(ctx, res, c.prog, c.opt, true)
		if err != nil {
			return err
		}
		if c.err = res.Err; c.err != nil {
			break
		}
		if f := res.Report.Faults; len(f) > 0 {
			c.err = fmt.Errorf("%s %s", f[0].Describe(), f[0].What)
			break
		}
		s := &res.Report.Stats
		c.work += s.Work
		c.found, c.ended = c.found || s.Executions+s.Cut > 0, c.ended || s.Complete > 0
		c.exhausted = !s.Stopped
		before := len(c.seen)
		maps.Copy(c.seen, cov)
		if same++; len(c.seen) > before {
			same = 0
		}
	}
	return nil
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
