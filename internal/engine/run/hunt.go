package run

import (
	"cmp"
	"context"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/emu"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/launch"
)

// The search for inputs that expose a bug when those of the launch do not. It has the role of
// Simulee's evolutionary search in AuCS (section II.D). What the user specified of a launch is
// kept; the rest is mutated. A launch scores higher if more words of memory are accessed by several
// threads, at least one of which writes, if more instructions are executed by part of a warp, and
// if more of the kernel's accesses are executed at all. Half of the numbers come from a fixed list,
// the other half from the kernel's comparisons: a kernel changes its behaviour at and next to the
// constants that it compares with.
//
// It deviates from Simulee in the fitness function and in its size: a handful of parents, half a
// second of steps. It misses a bug that needs two unusual values at once unless the score rises on
// the way there. A search without a result proves nothing.

const (
	huntRuns   = 300 // launches that are tried for one kernel
	huntKeep   = 4   // launches with the best scores, which are mutated further
	huntBlocks = 4   // blocks of a grid at most
	// HuntSteps is the number of warp instructions after which no more launches are tried: about half
	// a second. It is not a time, so equal seeds have equal results.
	HuntSteps = 500_000
)

// Hunt is a search for a launch that exposes a bug.
type Hunt struct {
	Job  *driver.Job
	Seed uint64
	// Try runs a launch and reports whether it exposes a bug. It fails for a launch that cannot run.
	Try func(context.Context, Trial) (found bool, err error)
	Ran *uint64 // warp instructions so far; Try adds to it as well
	// Sample returns the blocks of a launch that are run; nil: all.
	Sample func(*launch.Config) []uint32
}

// Trial is a launch and a schedule.
type Trial struct {
	Launch launch.Request
	Seed   uint64
	Blocks []uint32 // the only blocks to run; nil: all
}

// hunter is the state of one search.
type hunter struct {
	*Hunt
	rng     *rand.Rand
	free    []int // parameters whose values are unspecified
	shape   bool  // the block is unspecified, and the kernel reads its size, so any should do
	numbers []int64
	near    []int64 // constants of the kernel's comparisons, and their neighbours
	parents []scored
	seeds   uint64 // schedules to choose from
}

// scored is a launch that exposed nothing, with its fitness.
type scored struct {
	req   launch.Request
	score int
}

// Search looks for a launch that exposes a bug; nil: none was found, or everything is specified.
// Equal seeds try the same launches.
func (s *Hunt) Search(ctx context.Context) *Trial {
	k := s.Job.Kernel
	cfg, errs := launch.Resolve(k, s.Job.Launch, s.Job.Module.Facts)
	if len(errs) > 0 {
		return nil
	}
	h := &hunter{Hunt: s, rng: rand.New(rand.NewPCG(s.Seed, 1)), seeds: 4}
	// With made-up contents of a flag or a lock, an unusual order of the blocks exposes races that no
	// host causes.
	if m, err := emu.New(k, cfg); err == nil && m.SyncsThroughMemory() {
		h.seeds = 1
	}
	h.shape = cfg.Origins["block"].Guessed() && asksShape(k)
	for i := range k.Params {
		a := cfg.Args[i]
		if cfg.Origins["arg "+a.Name].Guessed() && a.Local == nil && a.Func == "" &&
			len(a.Fields) == 0 {
			h.free = append(h.free, i)
		}
	}
	if !h.shape && len(h.free) == 0 {
		return nil
	}
	h.numbers = []int64{0, 1, 2, 3, 7, 31, 32, 33, 63, 64, 65, 100, 128}
	h.near = compared(k)
	h.parents = []scored{{req: s.Job.Launch}}
	return h.search(ctx)
}

// search mutates the best launches until one exposes a bug or a limit is reached. Launches that
// were tried before are skipped, but count towards huntRuns.
func (h *hunter) search(ctx context.Context) *Trial {
	most, tried := *h.Ran+HuntSteps, map[string]bool{}
	for range huntRuns {
		if ctx.Err() != nil || *h.Ran > most {
			return nil
		}
		parent := h.parents[h.rng.IntN(len(h.parents))]
		req := parent.req
		for range 1 + h.rng.IntN(len(h.free)+1) {
			req = h.mutate(req)
		}
		t := Trial{Launch: req, Seed: h.rng.Uint64() % h.seeds}
		key := requestKey(req)
		if tried[key] {
			continue
		}
		tried[key] = true
		found, err := h.Try(ctx, t)
		if err != nil {
			continue
		}
		if found {
			return &t
		}
		h.parents = append(h.parents, scored{t.Launch, h.score(ctx, t)})
		slices.SortStableFunc(h.parents, func(a, b scored) int { return b.score - a.score })
		h.parents = h.parents[:min(len(h.parents), huntKeep)]
	}
	return nil
}

// asksShape reports whether a kernel, or a function of its module, reads the size of its block. A
// kernel that does not is written for one shape, and a failure with another shape is not its bug.
func asksShape(k *ir.Func) bool {
	for _, f := range k.Module.Funcs {
		if f.Kernel && f != k {
			continue
		}
		for _, b := range f.Blocks {
			for _, in := range b.Instrs {
				for _, s := range in.Src {
					if s.Kind == ir.Special && (s.Sreg == ir.NtidX || s.Sreg == ir.NtidY || s.Sreg == ir.NtidZ) {
						return true
					}
				}
			}
		}
	}
	return false
}

// partial are blocks of which the last warp is not full.
var partial = []uint32{31, 48}

// PartialWarps runs a kernel whose threads met at different barriers of the source once more, with
// blocks that are not a number of full warps, if the block is a guess and the kernel asks for its
// size. Where the branches part within a warp, PTX does not define the barriers either, and that is
// a bug. Hunt tries such blocks as well.
func (r *Run) PartialWarps(ctx context.Context) {
	k := r.Job.Kernel
	if !r.met || r.Bugs > 0 || !r.Config.Origins["block"].Guessed() || !asksShape(k) {
		return
	}
	for _, n := range partial {
		req := r.Job.Launch
		req.Block = &event.Dim3{X: n, Y: 1, Z: 1}
		cfg, errs := launch.Resolve(k, req, r.Job.Module.Facts)
		if len(errs) > 0 {
			continue
		}
		other := New(r.Job, r.opt, cfg)
		other.MaxSteps = QuickSteps(r.Job.Options(), cfg, nil)
		other.Counts = func(c diag.Code) bool { return c == diag.CodeBarrierDivergence }
		other.Aside = r.Aside
		if other.Start() != nil {
			return
		}
		other.Once(ctx, r.opt.Seed)
		r.Aside = other.Aside
		if r.Bugs += other.Bugs; r.Bugs > 0 {
			return
		}
	}
}

// mutate returns a launch in which one unspecified value has changed: the shape, a scalar, or the
// initial contents of a buffer.
func (h *hunter) mutate(req launch.Request) launch.Request {
	if n := len(h.free); h.shape && (n == 0 || h.rng.IntN(n+1) == 0) {
		shapes := []uint32{1, 31, 32, 33, 48, 64, 96, 128, 256}
		block := event.Dim3{X: shapes[h.rng.IntN(len(shapes))], Y: 1, Z: 1}
		grid := event.Dim3{X: 1 + h.rng.Uint32N(huntBlocks), Y: 1, Z: 1}
		req.Block, req.Grid = &block, &grid
		return req
	}
	i := h.free[h.rng.IntN(len(h.free))]
	spec := launch.ArgSpec{Param: fmt.Sprint(i), Offset: -1}
	switch {
	case h.Job.Kernel.Params[i].Pointer:
		spec.Kind = launch.ArgBuffer
		switch h.rng.IntN(4) {
		case 0, 1:
			spec.Fill, spec.Value = launch.FillValue, uint32(h.number())
		case 2:
			spec.Fill = launch.FillIota
		default:
			spec.Fill, spec.Seed = launch.FillRandom, h.rng.Uint64()
		}
	default:
		spec.Kind, spec.Text = launch.ArgValue, fmt.Sprint(h.number())
	}
	same := func(a launch.ArgSpec) bool { return a.Param == spec.Param }
	req.Guesses = slices.DeleteFunc(slices.Clone(req.Guesses), same)
	req.Guesses = append(req.Guesses, spec)
	slices.SortStableFunc(req.Guesses, func(a, b launch.ArgSpec) int {
		return cmp.Compare(a.Param, b.Param)
	})
	return req
}

// requestKey is equal for requests that ask for the same launch.
func requestKey(req launch.Request) string {
	key := req.Inputs()
	if req.Block != nil && req.Grid != nil {
		key += fmt.Sprint(*req.Block, *req.Grid)
	}
	return key
}

// number returns one of the numbers to try.
func (h *hunter) number() int64 {
	list := h.numbers
	if len(h.near) > 0 && h.rng.IntN(2) == 0 {
		list = h.near
	}
	return list[h.rng.IntN(len(list))]
}

// compared returns the constants that a kernel compares with and their neighbours. Only those below
// 1<<15 are used, which fit any integer parameter of 16 bits or more.
func compared(k *ir.Func) []int64 {
	var out []int64
	for _, b := range k.Blocks {
		for _, in := range b.Instrs {
			if in.Operation() != isa.Comparison {
				continue
			}
			for _, s := range in.Src {
				if c := int64(s.Val); s.Kind == ir.Imm && c >= 0 && c < 1<<15 {
					for _, n := range []int64{max(c-1, 0), c, c + 1} {
						if !slices.Contains(out, n) {
							out = append(out, n)
						}
					}
				}
			}
		}
	}
	return out
}

// score runs a launch once more and computes its fitness. A site executed by part of a warp weighs
// as much as 16 contended words, and a site that is executed at all as much as 64.
func (h *hunter) score(ctx context.Context, t Trial) int {
	cfg, errs := launch.Resolve(h.Job.Kernel, t.Launch, h.Job.Module.Facts)
	if len(errs) > 0 {
		return 0
	}
	m, err := emu.New(h.Job.Kernel, cfg)
	if err != nil {
		return 0
	}
	s := &contention{
		cells: map[cell]toucher{}, parts: map[event.Site]bool{}, sites: map[event.Site]bool{},
	}
	blocks := h.Sample(cfg)
	opt := emu.Options{Seed: t.Seed, MaxSteps: QuickSteps(h.Job.Options(), cfg, blocks), Workers: 1,
		Memory: h.Job.Options().Memory, Blocks: blocks}
	res, err := m.Run(ctx, opt, s)
	if err != nil {
		return 0
	}
	*h.Ran += res.Steps
	return s.contended + 16*len(s.parts) + 64*len(s.sites)
}

// contention counts words that several threads access, at least one of them writing, and collects
// the sites that are executed, and those executed by only part of a warp. Synchronization between
// the threads is ignored: this is a score, not a race detector.
type contention struct {
	event.Discard
	cells     map[cell]toucher
	parts     map[event.Site]bool
	sites     map[event.Site]bool // accesses that were executed
	contended int
}

// cell is a 32-bit word of memory, by its address. Shared memory of different blocks is not told
// apart.
type cell struct {
	space event.Space
	addr  uint64
}

// toucher is the state of a cell: the first thread that accessed it, and what is known since.
type toucher struct {
	by               event.Thread
	wrote, contended bool
}

func (c *contention) Access(a *event.Access) {
	c.sites[a.Site] = true
	if bits.OnesCount32(a.Mask) < bits.OnesCount32(a.Active) || a.Active != ^uint32(0) {
		c.parts[a.Site] = true
	}
	for m := a.Mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		k, th := cell{a.Space, a.Addr[l] &^ 3}, event.ThreadOf(a.Warp, l)
		t, ok := c.cells[k]
		switch {
		case !ok:
			t = toucher{by: th, wrote: a.Kind.Writes()}
		case t.by != th && (t.wrote || a.Kind.Writes()) && !t.contended:
			t.contended = true
			c.contended++
		default:
			t.wrote = t.wrote || a.Kind.Writes()
		}
		c.cells[k] = t
	}
}
