package run

import (
	"cmp"
	"context"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/emu"
	"heddle/internal/event"
	"heddle/internal/launch"
	"heddle/internal/race"
)

// What a user leaves unspecified of a launch is guessed, and a counterexample of a proof may have
// any number there: an image 0 pixels wide, on which all threads write one pixel. Only the user
// knows whether such a finding is a bug. So the kernel is run with other guesses. A finding depends
// on the guess if at least half of the runs in which at least as many threads execute the same two
// instructions do not show it: it becomes a warning, and the verdict names the values. Contents of
// buffers are not guesses in this sense: a kernel has to be correct for all data.
//
// This can take a bug for a finding that depends on guesses, never the other way around, and it
// hides none.

const (
	guessRuns     = 32         // alternatives that are run for one kernel
	guessSteps    = 4_000_000  // warp instructions of one of them
	guessAllSteps = 12_000_000 // and of all together, less than the run before may have taken
)

// Guesses are the values of a launch that were guessed, and what its runs show with other guesses.
type Guesses struct {
	job     *driver.Job
	seed    uint64
	cfg     *launch.Config // as it was guessed
	grid    bool           // is a guess
	block   bool
	scalars []int // parameters whose values are guesses
	others  []*guessRun
	tried   bool
	spent   uint64
	touched map[*launch.Config]map[event.Site]int // threads at each site, of runs with findings
	// what the verdict reports of findings that depend on guesses
	depends []string
}

// guessRun is what a run with other guesses shows.
type guessRun struct {
	cfg     *launch.Config
	threads map[event.Site]int
	found   map[Key]bool
}

// NewGuesses is nil if nothing was guessed that other guesses could change.
func NewGuesses(job *driver.Job, cfg *launch.Config, seed uint64) *Guesses {
	g := &Guesses{job: job, seed: seed, cfg: cfg, touched: map[*launch.Config]map[event.Site]int{}}
	g.grid, g.block = cfg.Origins["grid"] == launch.Default, cfg.Origins["block"] == launch.Default
	for i, v := range job.Kernel.Params {
		a := &cfg.Args[i]
		integer := v.Size == v.Type.Size() && v.Size <= 8 && !v.Type.IsFloat() && !a.Float
		if cfg.Origins["arg "+a.Name] == launch.Default && integer && !v.Pointer &&
			a.Buffer == nil && a.Local == nil && len(v.PtrFields) == 0 {
			g.scalars = append(g.scalars, i)
		}
	}
	if !g.grid && !g.block && len(g.scalars) == 0 {
		return nil
	}
	return g
}

// dependsOn reports whether a finding of a run with cfg depends on guesses, and adds that to it.
func (g *Guesses) dependsOn(ctx context.Context, key Key, cfg *launch.Config,
	f *diag.Diagnostic) bool {
	if g == nil || f.Severity != diag.Error {
		return false
	}
	// Only runs in which at least as many threads execute both sites are comparable: in a smaller
	// launch the finding may be absent because its threads are.
	at := g.sites(ctx, cfg)
	// an assertion has no accesses, by which threads are counted
	counted := key.code != diag.CodeAssertFailed
	if at == nil || counted && at[key.a] == 0 && at[key.b] == 0 && !endsRun(key.code) {
		return false
	}
	g.try(ctx)
	comparable, without := 0, (*guessRun)(nil)
	clean := 0
	for _, o := range g.others {
		if counted && (o.threads[key.a] < max(at[key.a], 1) || o.threads[key.b] < max(at[key.b], 1)) {
			continue
		}
		if comparable++; !o.shows(key) {
			clean++
			if without == nil || without.cfg.Geometry != cfg.Geometry && o.cfg.Geometry == cfg.Geometry {
				without = o // the one that is easiest to compare
			}
		}
	}
	if clean == 0 || 2*clean < comparable {
		return false
	}
	f.Severity = diag.Warning
	if f.Witness != nil {
		f.Witness.Status = "depends on guesses"
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

// Reason is the reason of a verdict that rests on findings that depend on guesses; empty: there are
// none.
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

// shows reports whether a run shows a finding, or for barriers one at the same place.
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

// try runs the kernel with other guesses, once.
func (g *Guesses) try(ctx context.Context) {
	if g.tried {
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
			// a number that the type does not hold
			if cfg, errs = launch.Resolve(g.job.Kernel, req, g.job.Module.Facts); len(errs) > 0 {
				continue
			}
		} else if i >= len(shapes) {
			return
		}
		if o := g.run(ctx, cfg); o != nil {
			g.others = append(g.others, o)
		}
	}
}

// shapes are the blocks that are tried; nil is what the launch specifies or guesses. They have the
// dimensions of the guess, which are those that the kernel reads: in another dimension all threads
// would do the same.
func (g *Guesses) shapes() []*event.Dim3 {
	out := []*event.Dim3{nil}
	if was := g.cfg.Geometry.Block; g.block && was.Z == 1 {
		list := []event.Dim3{{X: 128, Y: 1, Z: 1}, {X: 256, Y: 1, Z: 1}}
		if was.Y > 1 {
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

// numbers are the values of the scalars in attempt i: first sizes that cover the launch, the same
// for all scalars; then mixed sizes, with small numbers among them, as strides are.
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

// running is how each of these launches is executed.
func (g *Guesses) running() emu.Options {
	return emu.Options{
		Model: g.job.Options().Warp, Seed: g.seed, MaxSteps: guessSteps, Workers: 1,
	}
}

// run executes a launch; nil if it does not end within its steps.
func (g *Guesses) run(ctx context.Context, cfg *launch.Config) *guessRun {
	m, err := emu.New(g.job.Kernel, cfg)
	if err != nil {
		return nil
	}
	det := Watch(g.job.Options(), g.job.Kernel, cfg, m, true)
	s := &threadsAt{Detector: det, sets: map[event.Site][]uint64{}, geo: cfg.Geometry}
	res, err := m.Run(ctx, g.running(), s)
	if err != nil {
		return nil
	}
	out := &guessRun{cfg: cfg, threads: s.counts(), found: map[Key]bool{}}
	switch g.spent += res.Steps; res.Status {
	case emu.Completed, emu.Stalled:
	case emu.Stopped:
		code, isBug := stopCodes[res.Stop.Kind]
		if !isBug {
			return nil
		}
		out.found[Key{code, res.Stop.Site, res.Stop.Site}] = true
	default:
		return nil
	}
	rep := det.Report()
	for i := range rep.Races {
		out.found[raceKey(&rep.Races[i])] = true
	}
	for i := range rep.Barriers {
		if key, ok := barrierKey(&rep.Barriers[i]); ok {
			out.found[key] = true
		}
	}
	return out
}

// sites counts the threads at each site of a launch; nil if it takes too many steps.
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

// nothing is a detector that reports nothing.
type nothing struct{ event.Discard }

func (nothing) Report() *race.Report { return &race.Report{} }

// threadsAt keeps, for each site that accesses memory or arrives at a barrier, the threads that
// were there.
type threadsAt struct {
	Detector
	sets map[event.Site][]uint64 // one bit for each thread
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
