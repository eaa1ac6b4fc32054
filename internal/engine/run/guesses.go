package run

import (
	"cmp"
	"context"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"

	"heddle/internal/depend"
	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/emu"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/launch"
	"heddle/internal/race"
)

// heddle guesses the parts of a launch that the user leaves unspecified, and a counterexample of a
// proof may have any number there: an image 0 pixels wide, in which all threads write one pixel. If
// the addresses of a finding depend on a guess, evidence.go says so. What no address shows, such as
// the size of the block, is decided by runs with other guesses. A run is comparable if at least as
// many threads execute the same two instructions. A finding depends on the guess if at least half
// of the comparable runs do not show it: it becomes a warning, and the verdict is unknown and names
// the values. For a guessed block of two or three dimensions a single run with another shape
// suffices that executes both instructions by several threads: code for tiles is right for the
// tiles that it was written for, and a barrier that is missing is missing in every shape.
//
// The heuristic may downgrade a real bug to a warning. It never drops a finding, and it never makes
// a kernel clean.

const (
	guessRuns     = 32        // alternative launches that are run for one kernel, at most
	guessSteps    = 1_000_000 // limit of one of them, in warp instructions
	guessAllSteps = 3_000_000 // no further launch is started after this many in total
)

// Guesses are the values of a launch that were guessed, and what its runs show with other guesses.
type Guesses struct {
	job     *driver.Job
	seed    uint64
	cfg     *launch.Config // with the original guesses
	grid    bool           // the grid is a guess
	block   bool           // the block is a guess
	scalars []int          // indices of parameters whose values are guesses
	others  []*guessRun    // runs with other guesses; filled by try
	tried   bool
	spent   uint64                                // warp instructions of others
	touched map[*launch.Config]map[event.Site]int // threads at each site, of runs with findings
	depends []string                              // one reason per finding that depends on guesses
	facts   *depend.Kernel                        // nil until a finding asks for it
	anyway  map[Key]bool                          // invalid accesses by a thread of every block
	shared  map[Key]bool                          // invalid accesses to shared memory
	shape   bool                                  // arguments and contents count as given
}

// guessRun is the result of a run with other guesses: the number of threads that executed each
// site, and the findings.
type guessRun struct {
	cfg     *launch.Config
	threads map[event.Site]int
	found   map[Key]bool
	// kernels of the grids that threads have launched, and the findings in them
	launched map[*ir.Func]bool
	grids    map[gridKey]bool
	shaped   bool // its block has another shape of several dimensions than the guess
}

// NewGuesses collects what was guessed of a launch: grid, block, arguments and contents of arrays.
func NewGuesses(job *driver.Job, cfg *launch.Config, seed uint64) *Guesses {
	g := &Guesses{job: job, seed: seed, cfg: cfg, touched: map[*launch.Config]map[event.Site]int{}}
	g.grid, g.block = cfg.Origins["grid"].Guessed(), cfg.Origins["block"].Guessed()
	for i, v := range job.Kernel.Params {
		a := &cfg.Args[i]
		integer := v.Size == v.Type.Size() && v.Size <= 8 && !v.Type.IsFloat() && !a.Float
		if cfg.Origins["arg "+a.Name].Guessed() && integer && !v.Pointer &&
			a.Buffer == nil && a.Local == nil && len(v.PtrFields) == 0 {
			g.scalars = append(g.scalars, i)
		}
	}
	return g
}

// NewShapeGuesses is for a proof for all inputs, which may have any arguments and contents: only
// the grid and the block can be guesses, and runs with other arguments say nothing about it. grid
// and block tell which of them are.
func NewShapeGuesses(job *driver.Job, cfg *launch.Config, grid, block bool) *Guesses {
	g := NewGuesses(job, cfg, 0)
	g.grid, g.block = grid, block
	g.shape, g.scalars, g.tried = true, nil, true
	return g
}

// dependences are those of the kernel.
func (g *Guesses) dependences() *depend.Kernel {
	if g.facts == nil {
		g.facts = depend.New(g.job.Kernel)
	}
	return g.facts
}

// use makes seed the schedule of the runs with other guesses: that of the run whose findings are
// examined next. Another schedule need not show them.
func (g *Guesses) use(seed uint64) {
	if g == nil || g.shape || g.seed == seed {
		return
	}
	g.seed, g.others, g.tried, g.spent = seed, nil, false, 0
	clear(g.touched)
}

// dependsOn reports whether a finding of a run with cfg depends on guesses. If so, it turns the
// finding into a warning and adds a note with both sets of values.
func (g *Guesses) dependsOn(ctx context.Context, key Key, rc *race.Race, r *Run,
	f *diag.Diagnostic) bool {
	if g == nil || f.Severity != diag.Error {
		return false
	}
	if on := g.restsOn(key, rc, r.Machine, r.Config); len(on) > 0 {
		g.warn(f, on)
		return true
	}
	cfg := r.Config
	// Only runs in which at least as many threads execute both sites are comparable: in a smaller
	// launch the finding may be absent because its threads are.
	at := g.sites(ctx, cfg)
	// A failed assertion has no memory access, and threads are counted at those: every run is
	// comparable.
	counted := key.code != diag.CodeAssertFailed
	if at == nil || counted && at[key.a] == 0 && at[key.b] == 0 && !endsRun(key.code) {
		return false
	}
	g.try(ctx)
	comparable, without := 0, (*guessRun)(nil)
	clean := 0
	for _, o := range g.others {
		if counted && o.shaped && !o.shows(key) && min(o.threads[key.a], o.threads[key.b]) > 1 {
			comparable, clean, without = 1, 1, o
			break
		}
		if counted && (o.threads[key.a] < max(at[key.a], 1) || o.threads[key.b] < max(at[key.b], 1)) {
			continue
		}
		if comparable++; !o.shows(key) {
			clean++
			if without == nil || without.cfg.Geometry != cfg.Geometry && o.cfg.Geometry == cfg.Geometry {
				without = o // prefer a launch of the same shape: the note then names scalars only
			}
		}
	}
	if clean == 0 || 2*clean < comparable {
		return false
	}
	f.Severity = diag.Warning
	if f.Witness != nil {
		f.Witness.Status = diag.StatusGuess
	}
	was := cmp.Or(g.text(cfg, without.cfg), "these buffer contents")
	other := cmp.Or(g.text(without.cfg, cfg), "other buffer contents")
	f.Notes = append(f.Notes, fmt.Sprintf("this depends on launch values that heddle guessed: it "+
		"occurs with %s but not with %s; specify them with flags, a comment above the kernel or "+
		"heddle.toml", was, other))
	g.depends = append(g.depends, fmt.Sprintf("%s (%s) depends on guessed launch values: it occurs "+
		"with %s but not with %s", f.Code, g.job.Format(f.Span.Start), was, other))
	return true
}

// Reason is the reason of an unknown verdict: the first finding that depends on guesses, and how
// many more there are. It is empty if there are none.
func (g *Guesses) Reason() string {
	if g == nil || len(g.depends) == 0 {
		return ""
	}
	text := g.depends[0]
	if n := len(g.depends) - 1; n > 0 {
		text += fmt.Sprintf(" (and %d more)", n)
	}
	return text
}

// shows reports whether a run shows a finding. A barrier error also counts if only one of its two
// sites agrees, since the schedule decides which threads are waiting when it is found.
func (o *guessRun) shows(key Key) bool {
	if o.found[key] {
		return true
	}
	for k := range o.found {
		race := k.code == diag.CodeRaceShared || k.code == diag.CodeRaceGlobal
		if k.code == key.code && !race && (k.a == key.a || k.b == key.b) {
			return true
		}
	}
	return false
}

// text names the guessed values in which cfg differs from other; empty if the launches differ in
// the contents of buffers only.
func (g *Guesses) text(cfg, other *launch.Config) string {
	var parts []string
	if g.grid && cfg.Geometry.Grid != other.Geometry.Grid {
		parts = append(parts, "grid "+launch.Dims(cfg.Geometry.Grid))
	}
	if g.block && cfg.Geometry.Block != other.Geometry.Block {
		parts = append(parts, "block "+launch.Dims(cfg.Geometry.Block))
	}
	for _, i := range g.scalars {
		if a := &cfg.Args[i]; !slices.Equal(a.Bits, other.Args[i].Bits) {
			parts = append(parts, a.Name+" = "+a.Value())
		}
	}
	return strings.Join(parts, ", ")
}

// try fills others with runs under other guesses. Only the first call does anything. A launch that
// cannot be resolved, or does not end, is left out.
func (g *Guesses) try(ctx context.Context) {
	if g.tried || !g.grid && !g.block && len(g.scalars) == 0 {
		return
	}
	g.tried = true
	// A fixed seed: equal kernels and launches get equal verdicts.
	rng := rand.New(rand.NewPCG(1, uint64(len(g.scalars))))
	shapes := g.shapes()
	for i := range guessRuns {
		if ctx.Err() != nil || g.spent > guessAllSteps {
			return
		}
		req := g.job.Launch
		req.Block = shapes[i%len(shapes)]
		cfg, errs := launch.Resolve(g.job.Kernel, req, g.job.Module.Facts)
		if len(errs) > 0 {
			continue
		}
		if len(g.scalars) > 0 {
			for j, n := range g.numbers(cfg.Geometry, i/len(shapes), rng) {
				req.Args = append(slices.Clip(req.Args), launch.ArgSpec{
					Param: fmt.Sprint(g.scalars[j]), Offset: -1,
					Kind: launch.ArgValue, Text: fmt.Sprint(n),
				})
			}
			// fails for a number that does not fit the type
			if cfg, errs = launch.Resolve(g.job.Kernel, req, g.job.Module.Facts); len(errs) > 0 {
				continue
			}
		} else if i >= len(shapes) {
			return
		}
		if o := g.run(ctx, cfg); o != nil {
			block := cfg.Geometry.Block
			o.shaped = block != g.cfg.Geometry.Block && block.Y > 1
			g.others = append(g.others, o)
		}
	}
}

// shapes are the block sizes to try; nil keeps the block of the launch. They extend in the same
// dimensions as the guess, which are those that the kernel reads: threads that differ in another
// dimension only would all do the same.
func (g *Guesses) shapes() []*event.Dim3 {
	out := []*event.Dim3{nil}
	if was := g.cfg.Geometry.Block; g.block {
		list := []event.Dim3{{X: 128, Y: 1, Z: 1}, {X: 256, Y: 1, Z: 1}}
		switch {
		case was.Z > 1:
			list = []event.Dim3{{X: 4, Y: 4, Z: 4}, {X: 8, Y: 8, Z: 2}, {X: 32, Y: 4, Z: 2}}
		case was.Y > 1:
			list = []event.Dim3{
				{X: 8, Y: 8, Z: 1}, {X: 16, Y: 16, Z: 1}, {X: 32, Y: 8, Z: 1}, {X: 32, Y: 32, Z: 1},
			}
		}
		for _, d := range list {
			if d != was {
				out = append(out, &d)
			}
		}
	}
	return out
}

// numbers are the values of the scalars in attempt i. Attempts 0 to 2 give all scalars one size
// that covers the launch. Attempts 3 and 4 give sizes that fall or rise by factors of four. Later
// attempts are random mixes of sizes and of small numbers, which strides often are.
func (g *Guesses) numbers(geo event.Geometry, i int, rng *rand.Rand) []uint64 {
	t := uint64(geo.Grid.X) * uint64(geo.Block.X)
	all := geo.Blocks() * uint64(geo.ThreadsPerBlock())
	sizes := []uint64{t, 4*t + 3, all, 16 * t, t + 1, 64*t + 1}
	small := []uint64{0, 1, 2, 3, 16, uint64(geo.Block.X)}
	out := make([]uint64, len(g.scalars))
	for j := range out {
		switch {
		case i < 3:
			out[j] = sizes[i]
		case i == 3: // the first is the largest
			out[j] = max(16*t>>(2*j), 1)
		case i == 4:
			out[j] = max(16*t>>(2*(len(out)-1-j)), 1)
		case rng.IntN(4) == 0:
			out[j] = small[rng.IntN(len(small))]
		default:
			out[j] = sizes[rng.IntN(len(sizes))]
		}
	}
	return out
}

// running are the emulator options of these launches.
func (g *Guesses) running() emu.Options {
	return emu.Options{
		Model: g.job.Options().Warp, Seed: g.seed, MaxSteps: guessSteps, Workers: 1,
		Memory: g.job.Options().Memory,
	}
}

// run executes a launch and collects its findings. It is nil if the run is no basis for a
// comparison: it exceeded guessSteps, was interrupted, or needs something heddle does not support.
func (g *Guesses) run(ctx context.Context, cfg *launch.Config) *guessRun {
	m, err := emu.New(g.job.Kernel, cfg)
	if err != nil {
		return nil
	}
	det := Watch(g.job.Options(), g.job.Kernel, cfg, m, true)
	s := &threadsAt{Detector: det, sets: map[event.Site][]uint64{}, geo: cfg.Geometry}
	out := &guessRun{cfg: cfg, found: map[Key]bool{}}
	opt := g.running()
	out.watchGrids(ctx, g, m, &opt)
	res, err := m.Run(ctx, opt, s)
	if err != nil {
		return nil
	}
	out.threads = s.counts()
	switch g.spent += res.Steps; res.Status {
	case emu.Completed, emu.Stalled:
	case emu.Stopped:
		code, isBug := stopCodes[res.Stop.Kind]
		if !isBug && res.Stop.Kind != emu.GridFailed {
			return nil
		}
		if isBug {
			out.found[stopKey(code, res)] = true
		}
		for i := range res.Faults {
			f := &res.Faults[i]
			out.found[Key{stopCodes[f.Kind], f.Site, f.Site}] = true
		}
	default:
		return nil
	}
	for i := range res.Leftovers {
		at := res.Leftovers[i].Site
		out.found[Key{diag.CodeAsyncUnfinished, at, at}] = true
	}
	rep := det.Report()
	for i := range rep.Races {
		out.found[raceKey(&rep.Races[i])] = true
	}
	p := newProtocols(g.job.Kernel, m)
	for i := range rep.Exchanges {
		if x := &rep.Exchanges[i]; p.excuse(x) == noExcuse {
			out.found[exchangeKey(x)] = true
		}
	}
	for i := range rep.Barriers {
		if key, ok := barrierKey(&rep.Barriers[i]); ok {
			out.found[key] = true
		}
	}
	return out
}

// sites counts the threads at each site of a launch, by running it once more without a detector;
// nil if it exceeds guessSteps. The result is kept for further findings of the same launch.
func (g *Guesses) sites(ctx context.Context, cfg *launch.Config) map[event.Site]int {
	if at, ok := g.touched[cfg]; ok {
		return at
	}
	var at map[event.Site]int
	s := &threadsAt{Detector: nothing{}, sets: map[event.Site][]uint64{}, geo: cfg.Geometry}
	if m, err := emu.New(g.job.Kernel, cfg); err == nil {
		res, err := m.Run(ctx, g.running(), s)
		if err == nil && res.Status != emu.StepLimit && res.Status != emu.Interrupted {
			at = s.counts()
		}
	}
	g.touched[cfg] = at
	return at
}

// nothing is a detector that ignores all events and reports nothing.
type nothing struct{ event.Discard }

func (nothing) Report() *race.Report { return &race.Report{} }

func (nothing) Memory() uint64 { return 0 }

// threadsAt records which threads execute each site that accesses memory or arrives at a barrier,
// and passes all events on to a detector.
type threadsAt struct {
	Detector
	sets map[event.Site][]uint64 // one bit for each thread of the launch, two warps a word
	geo  event.Geometry
}

func (t *threadsAt) Access(a *event.Access) {
	t.add(a.Site, a.Warp, a.Mask)
	t.Detector.Access(a)
}

func (t *threadsAt) Arrive(a *event.Arrive) {
	t.add(a.Site, a.Warp, a.Mask)
	t.Detector.Arrive(a)
}

// Launch implements event.LaunchSink.
func (t *threadsAt) Launch(e *event.Launch) {
	t.add(e.Site, e.Warp, 1<<e.Lane)
	if sink, ok := t.Detector.(event.LaunchSink); ok {
		sink.Launch(e)
	}
}

func (t *threadsAt) add(s event.Site, w event.Warp, mask uint32) {
	set := t.sets[s]
	if set == nil {
		set = make([]uint64, (uint64(t.geo.Blocks())*uint64(t.geo.WarpsPerBlock())+1)/2)
		t.sets[s] = set
	}
	set[w/2] |= uint64(mask) << (event.WarpSize * (w % 2))
}

func (t *threadsAt) counts() map[event.Site]int {
	out := make(map[event.Site]int, len(t.sets))
	for s, set := range t.sets {
		for _, w := range set {
			out[s] += bits.OnesCount64(w)
		}
	}
	return out
}
