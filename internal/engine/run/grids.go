package run

import (
	"context"
	"fmt"

	"heddle/internal/diag"
	"heddle/internal/emu"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/race"
	"heddle/internal/source"
)

// Grids that threads of a kernel launch. Each is examined as a launch of its own kernel: by a
// detector for races within it, and for invalid accesses. Its findings count for the kernel that
// the run is about. A race of a grid with its parent, or with another grid that the parent has
// launched, is a finding of the parent's detector (race-grid).

// grids examines the grids below one run.
type grids struct {
	r       *Run
	ctx     context.Context
	seed    uint64
	watch   bool // with detectors
	emu     *emu.Grids
	running []runningGrid
}

// runningGrid is a grid that has begun.
type runningGrid struct {
	grid *emu.Grid
	det  Detector // nil: races are not looked for
}

// gridKey identifies a finding in a grid.
type gridKey struct {
	kernel *ir.Func
	Key
}

// watchGrids lets a run with opt examine the grids that threads launch.
func (r *Run) watchGrids(ctx context.Context, opt *emu.Options, seed uint64, watch bool) {
	g := &grids{r: r, ctx: ctx, seed: seed, watch: watch}
	g.emu = &emu.Grids{Begin: g.begin, End: g.end}
	opt.Grids, r.grids = g.emu, g
}

// begin returns the consumer of the events of a grid.
func (g *grids) begin(of *emu.Grid) event.Sink {
	started := runningGrid{grid: of}
	if g.watch {
		job := g.r.Job
		started.det = newDetector(of.Machine.Kernel(), detectorOptions(job.Options(),
			of.Machine.Kernel(), of.Config, of.Machine, true))
	}
	g.running = append(g.running, started)
	if started.det == nil {
		return nil
	}
	return started.det
}

// end reports what was found in a grid.
func (g *grids) end(_ *emu.Grid, res *emu.Result) {
	last := len(g.running) - 1
	of := g.running[last]
	g.running = g.running[:last]
	sub := g.r.gridRun(of.grid.Machine.Kernel())
	sub.Config, sub.Machine, sub.protocol, sub.grids = of.grid.Config, of.grid.Machine, nil, g
	sub.inconclusive, sub.unchecked, sub.Unsupported = "", "", nil
	line := g.r.reproduce(g.seed)
	sub.line, sub.Mark = &line, func(d *diag.Diagnostic) { g.mark(of.grid, d) }
	sub.depends = nil
	if g.r.Guess != nil {
		sub.depends = func(key Key, _ *race.Race, d *diag.Diagnostic) bool {
			return g.r.Guess.gridDependsOn(g.ctx, gridKey{of.grid.Machine.Kernel(), key}, d)
		}
	}
	bugs, guessed, warnings := sub.Bugs, sub.Guessed, sub.Warnings
	if of.det != nil {
		sub.Findings(of.det.Report(), g.seed)
		sub.annotations(res, g.seed)
	}
	if res.Stop == nil || res.Stop.Kind != emu.GridFailed && res.Stop.Kind != emu.OutsideAssumptions {
		sub.Ended(res, g.seed)
	}
	g.r.Bugs += sub.Bugs - bugs
	g.r.Guessed += sub.Guessed - guessed
	g.r.Warnings += sub.Warnings - warnings
	g.r.addAside(sub)
	g.r.notCovered(of.grid, sub, res)
}

// addAside takes over what was set aside in a grid.
func (r *Run) addAside(sub *Run) {
	r.Aside.Suppressed += sub.Aside.Suppressed
	r.Aside.Known += sub.Aside.Known
	sub.Aside.Suppressed, sub.Aside.Known = 0, 0
	r.hidden += sub.hidden
	sub.hidden = 0
	r.apart = append(r.apart, sub.apart...)
	sub.apart = nil
}

// notCovered notes why a run did not cover a grid.
func (r *Run) notCovered(g *emu.Grid, sub *Run, res *emu.Result) {
	why := sub.open()
	if res.Dropped && why == "" {
		why = "the race detector ran out of memory"
	}
	if why != "" && r.gridReason == "" {
		r.gridReason = fmt.Sprintf("in a grid of %s, launched at %s: %s",
			g.Machine.Kernel().Demangled, r.Job.Format(gridPlace(g).Start), why)
	}
}

// gridRun returns the examination of the grids of a kernel.
func (r *Run) gridRun(k *ir.Func) *Run {
	if r.below == nil {
		r.below = make(map[*ir.Func]*Run)
	}
	if r.below[k] == nil {
		sub := New(r.Job.For(k), r.opt, nil)
		sub.Counts, sub.parts = r.Counts, ir.OrdersParts(k)
		r.below[k] = sub
	}
	return r.below[k]
}

// gridPlace is the place of a launch by a thread.
func gridPlace(g *emu.Grid) source.Span { return place(g.At.Site(g.Site)) }

// mark adds to a finding where its grid was launched.
func (g *grids) mark(of *emu.Grid, d *diag.Diagnostic) {
	for at := of; at != nil; at = at.Parent {
		info := at.At.Site(at.Site)
		span, frames := g.r.userPlace(info)
		text := fmt.Sprintf("the grid was launched here by %s of %s",
			fullName(at.At.Geometry(), at.Thread), at.At.Kernel().Demangled)
		if at.Tail {
			text += ", to begin at the end of that grid"
		}
		if at != of {
			text = fmt.Sprintf("whose grid was launched here by %s of %s",
				fullName(at.At.Geometry(), at.Thread), at.At.Kernel().Demangled)
		}
		d.Related = append(d.Related, diag.Related{Span: span, Stack: frames, Message: text})
		if len(d.Related) > 4 { // of a recursion
			break
		}
	}
	if g.r.Mark != nil {
		g.r.Mark(d)
	}
}

// gridFailed reports what a run does not cover because of an error in a grid.
func (r *Run) gridFailed(s *emu.Stop) {
	if r.gridReason == "" {
		r.gridReason = s.Message
	}
	r.inconclusive = r.gridReason
}

// gridSide is one side of a race in which grids take part.
type gridSide struct {
	accessWords
	who string // "thread 0 of block 1"
	// of a grid: where it was launched
	grid     bool
	launch   source.Span
	launched []source.Frame
}

// gridSideOf describes one side of such a race.
func (r *Run) gridSideOf(a *race.Access) gridSide {
	info := r.Machine.Site(a.Site)
	side := gridSide{who: fullName(r.Config.Geometry, a.Thread), grid: a.Grid}
	if !a.Grid {
		side.accessWords = r.accessOf(a, info)
		return side
	}
	side.launch, side.launched = r.userPlace(info)
	m, site, ok := r.grids.emu.Place(a.Origin)
	if !ok {
		side.accessWords = accessWords{"accesses it", "accessed", side.launch, side.launched}
		side.who, side.grid = "a copy that "+side.who+" enqueues", false
		return side
	}
	own := *a
	info = m.Site(site)
	if act := info.Instr.Action(); act == isa.ActAtomic || act == isa.ActReduce {
		own.Kind = event.Atomic
	}
	side.accessWords = r.accessOf(&own, info)
	side.who = fmt.Sprintf("the grid of %s that %s launches", m.Kernel().Demangled, side.who)
	return side
}

// gridFinding is the diagnostic of a race in which a grid takes part that a thread has launched.
func (r *Run) gridFinding(rc *race.Race, seed uint64) diag.Diagnostic {
	hazards := rc.Hazards
	rc = shown(rc)
	one, two := r.gridSideOf(&rc.First), r.gridSideOf(&rc.Second)
	lo := max(rc.First.Addr, rc.Second.Addr)
	hi := min(rc.First.Addr+uint64(rc.First.Size), rc.Second.Addr+uint64(rc.Second.Size))
	mem := r.memoryAt(rc.Space, rc.Block, lo, max(hi, lo+1)-lo)
	d := diag.Diagnostic{
		Code: diag.CodeRaceGrid, Severity: diag.Error, Kernel: r.Job.Kernel.Demangled, Count: hazards,
		Message: fmt.Sprintf("data race on %v: %s %s and %s %s, in either order", mem, one.who, one.verb,
			two.who, two.verb),
		Span: two.at, Stack: two.stack,
		Label: fmt.Sprintf("(2) %s here by %s", two.done, two.who),
		Related: []diag.Related{{Span: one.at, Stack: one.stack,
			Message: fmt.Sprintf("(1) %s here by %s", one.done, one.who)}},
		Notes:     []string{gridUnordered(rc)},
		Launch:    r.Config.Describe(),
		Reproduce: r.reproduce(seed),
	}
	for i, s := range []gridSide{one, two} {
		if s.grid {
			d.Related = append(d.Related, diag.Related{Span: s.launch, Stack: s.launched,
				Message: fmt.Sprintf("the grid of (%d) is launched here", i+1)})
		}
	}
	d.Help = append(d.Help, gridRemedy(rc))
	if hazards > 1 {
		d.Notes = append(d.Notes, fmt.Sprintf("%d such conflicts were seen in this launch", hazards))
	}
	if rc.First.AfterFault || rc.Second.AfterFault {
		d.Notes = append(d.Notes, afterFault)
	}
	return d
}

// gridUnordered names the rule that leaves the two accesses unordered.
func gridUnordered(rc *race.Race) string {
	switch {
	case rc.First.Grid && rc.Second.Grid:
		return "nothing orders the two grids: only grids that threads of one block launch into its NULL " +
			"stream, or that are launched into one stream that the device has created, follow each other"
	case rc.First.Grid:
		return "a kernel cannot wait for a grid that it launches: what the grid does may happen at any " +
			"time up to the end of the kernel that launches it"
	}
	return "a grid begins with what the launching thread knows at the launch, and nothing orders the " +
		"access of the other thread before that"
}

// gridRemedy says what to do about such a race.
func gridRemedy(rc *race.Race) string {
	switch {
	case rc.First.Grid && rc.Second.Grid:
		return "launch both grids into one stream, or let a grid in cudaStreamTailLaunch do what needs " +
			"the results of the others"
	case rc.First.Grid:
		return "do (2) before the launch, or in a grid that is launched into cudaStreamTailLaunch"
	}
	return "put a barrier between (1) and the launch; for threads of other blocks, launch the grid from " +
		"the host, or into cudaStreamTailLaunch"
}

// gridDependsOn reports whether a finding in a grid depends on guesses, as dependsOn. Runs with
// other guesses in which no grid of the kernel is launched say nothing.
func (g *Guesses) gridDependsOn(ctx context.Context, key gridKey, f *diag.Diagnostic) bool {
	if f.Severity != diag.Error {
		return false
	}
	bounds := key.code == diag.CodeOutOfBounds || key.code == diag.CodeMisaligned
	reason := ""
	if bounds && g.anything() {
		reason = "heddle does not examine on which of them"
	} else {
		g.try(ctx)
		comparable, clean := 0, 0
		for _, o := range g.others {
			if !o.launched[key.kernel] {
				continue
			}
			if comparable++; !o.grids[key] {
				clean++
			}
		}
		if clean == 0 || 2*clean < comparable {
			return false
		}
		reason = fmt.Sprintf("it does not occur in %d of %d runs with other values", clean, comparable)
	}
	f.Severity = diag.Warning
	f.Notes = append(f.Notes, "this may depend on launch values that heddle guessed: "+reason+
		"; specify them with flags, a comment above the kernel or heddle.toml")
	g.depends = append(g.depends, fmt.Sprintf("%s (%s) may depend on guessed launch values", f.Code,
		g.job.Format(f.Span.Start)))
	return true
}

// anything reports whether something about the launch is a guess.
func (g *Guesses) anything() bool {
	for _, o := range g.cfg.Origins {
		if o.Guessed() {
			return true
		}
	}
	return false
}

// watchGrids lets a run with other guesses collect the findings in grids.
func (o *guessRun) watchGrids(ctx context.Context, of *Guesses, m *emu.Machine, opt *emu.Options) {
	r := &Run{Job: of.job.Into(func(diag.Diagnostic) {}), Config: o.cfg, Machine: m, opt: new(Options),
		Seen: make(map[Key]bool)}
	g := &grids{r: r, ctx: ctx, seed: opt.Seed, watch: true}
	o.launched, o.grids = make(map[*ir.Func]bool), make(map[gridKey]bool)
	g.emu = &emu.Grids{Begin: g.begin, End: func(grid *emu.Grid, res *emu.Result) {
		k := grid.Machine.Kernel()
		o.launched[k] = true
		g.end(grid, res)
		for key := range r.gridRun(k).Seen {
			o.grids[gridKey{k, key}] = true
		}
	}}
	opt.Grids, r.grids = g.emu, g
}
